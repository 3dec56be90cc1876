// The named requests of a model, with Core Data's names.

import CairnModel
import CairnStore
import Foundation

extension NSManagedObjectModel {
    /// The named requests.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
        var all = requests.mapValues(\.copy)
        for name in declaredTemplateNames where all[name] == nil {
            all[name] = fetchRequestTemplate(forName: name)
        }
        return all
    }

    /// The named request; nil if there is none. What a program changes in it, it changes in a copy.
    public func fetchRequestTemplate(
        forName name: String
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        if let request = requests[name] { return request.copy }
        return declaredTemplate(named: name).map(NSFetchRequest.init)
    }

    /// Sets a named request; nil removes it.
    public func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        willChange()
        requests[name] = fetchRequestTemplate.map(DeclaredRequest.init)
        if fetchRequestTemplate == nil { removeDeclaredTemplate(named: name) }
    }

    /// The named request with values in the place of its predicate's variables; nil if there is no such request.
    ///
    /// A variable without a value ends the program with a sentence.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let request = fetchRequestTemplate(forName: name) else { return nil }
        request.predicate = request.predicate?.withSubstitutionVariables(variables)
        return request
    }

    /// Cairn's descriptions: those that the model was read with, in their order, and those that were set.
    func describedTemplates(
        _ declared: [FetchRequestTemplate], _ errors: inout [ModelError]
    ) -> [FetchRequestTemplate] {
        var made = declared
        for (name, request) in requests.sorted(by: { $0.key < $1.key }) {
            let place = made.firstIndex { $0.name == name }
            var template =
                place.map { made[$0] }
                ?? FetchRequestTemplate(name, entityName: "", predicateFormat: nil)
            do {
                try template.take(request)
            } catch {
                errors.append(
                    ModelError(
                        .invalidElement, "the fetch request cannot be used: \(error)",
                        element: "fetch request \(name)"))
            }
            if let place { made[place] = template } else { made.append(template) }
        }
        return made
    }
}

extension NSFetchRequest where ResultType == any NSFetchRequestResult {
    /// The request of a template.
    fileprivate convenience init(_ template: FetchRequestTemplate) {
        self.init(entityName: template.entityName)
        predicate = template.predicateFormat.map { NSPredicate(format: $0) }
        fetchLimit = template.fetchLimit
        fetchBatchSize = template.fetchBatchSize
        resultType = NSFetchRequestResultType(rawValue: UInt(max(0, template.resultType)))
        includesSubentities = template.includesSubentities
        includesPropertyValues = template.includesPropertyValues
        includesPendingChanges = template.includesPendingChanges
        returnsObjectsAsFaults = template.returnsObjectsAsFaults
        returnsDistinctResults = template.returnsDistinctResults
    }
}

extension FetchRequestTemplate {
    /// Takes what a request says.
    fileprivate mutating func take(_ declared: DeclaredRequest) throws(StoreError) {
        entityName = declared.entityName
        predicateFormat = try declared.predicateFormat
        let request = declared.copy
        fetchLimit = request.fetchLimit
        fetchBatchSize = request.fetchBatchSize
        resultType = Int(request.resultType.rawValue)
        includesSubentities = request.includesSubentities
        includesPropertyValues = request.includesPropertyValues
        includesPendingChanges = request.includesPendingChanges
        returnsObjectsAsFaults = request.returnsObjectsAsFaults
        returnsDistinctResults = request.returnsDistinctResults
    }
}

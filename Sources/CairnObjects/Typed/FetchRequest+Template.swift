// Requests that a model describes.

public import CairnModel
public import CairnStore

extension FetchRequest {
    /// Creates a request from a template of a model, with values for the variables of its predicate.
    ///
    /// `Result` determines the kind of results, whatever the template specifies.
    ///
    /// ```swift
    /// let request = try FetchRequest<Product>(
    ///     template: "cheaperThan", of: container.schema.model, substitutionVariables: ["LIMIT": 10.0])
    /// ```
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if there is no such template, its predicate is invalid, or a variable
    ///   has no value.
    public init(
        template name: String, of model: ManagedObjectModel,
        substitutionVariables variables: [String: any PredicateArgument] = [:]
    ) throws(StoreError) {
        guard let template = model.fetchRequestTemplates.first(where: { $0.name == name }) else {
            let names = model.fetchRequestTemplates.map(\.name).sorted()
            let known = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw StoreError(
                .invalidRequest, "the model has no fetch request template \(name). It has: \(known)"
            )
        }
        terms = FetchTerms(entityName: template.entityName, predicate: nil)
        do throws(PredicateFormatError) {
            if let format = template.predicateFormat {
                terms.predicate = try PredicateNode(format: format)
                    .substituting(variables: variables.mapValues(\.expression))
            }
        } catch {
            throw StoreError(
                error, entity: template.entityName, about: "the fetch request template \(name): ")
        }
        terms.fetchLimit = template.fetchLimit
        terms.includesSubentities = template.includesSubentities
        terms.includesPendingChanges = template.includesPendingChanges
        terms.returnsObjectsAsFaults = template.returnsObjectsAsFaults
        terms.rarer.fetchBatchSize = template.fetchBatchSize
        terms.rarer.includesPropertyValues = template.includesPropertyValues
        if resultType == .dictionary {
            terms.rarer.returnsDistinctResults = template.returnsDistinctResults
        }
    }
}

extension ManagedObjectModel {
    /// Creates a request for objects from a template; see ``FetchRequest/init(template:of:substitutionVariables:)``, which
    /// can also request objects of a class, ids, values and counts.
    ///
    /// - Throws: As that.
    public func fetchRequest(
        fromTemplate name: String,
        substitutionVariables variables: [String: any PredicateArgument] = [:]
    ) throws(StoreError) -> FetchRequest<ManagedObject> {
        try FetchRequest<ManagedObject>(
            template: name, of: self, substitutionVariables: variables)
    }
}

extension PredicateArgument {
    fileprivate var expression: ExpressionNode {
        switch _predicateArgument {
        case .value(let value): .constant(value)
        case .list(let values): .list(values)
        case .expression(let node): node
        }
    }
}

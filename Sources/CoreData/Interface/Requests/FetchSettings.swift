// What a fetch request says, whatever its results are, and the request that it becomes.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

/// The parts of a fetch request: see ``NSFetchRequest`` for each.
struct FetchSettings {
    var entity: NSEntityDescription?
    var entityName: String?
    /// The class whose entity is asked about.
    var objectClass: NSManagedObject.Type?
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor]?
    var fetchLimit = 0
    var fetchOffset = 0
    var includesSubentities = true
    var includesPendingChanges = true
    var resultType = NSFetchRequestResultType.managedObjectResultType
    var returnsObjectsAsFaults = true
    var includesPropertyValues = true
    var shouldRefreshRefetchedObjects = false
    var fetchBatchSize = 0
    var relationshipKeyPathsForPrefetching: [String]?
    var propertiesToFetch: [Any]?
    var propertiesToGroupBy: [Any]?
    var havingPredicate: NSPredicate?
    var returnsDistinctResults = false

    /// The entity's name in a context.
    func name(in context: NSManagedObjectContext) throws(StoreError) -> String {
        if let name = entity?.name ?? entityName { return name }
        if let objectClass { return context.core.entity(for: objectClass).name }
        throw StoreError(.invalidRequest, "the fetch request has no entity")
    }

    /// The request as a context of Cairn understands it.
    func request<Result: FetchRequestResult>(
        for type: Result.Type, in context: NSManagedObjectContext, _ stores: [NSPersistentStore]?
    ) throws(StoreError) -> FetchRequest<Result> {
        let name = try name(in: context)
        var request = FetchRequest<Result>(
            entityName: name, predicate: try predicate?.node(for: name, in: context))
        for descriptor in sortDescriptors ?? [] {
            request.sortDescriptors.append(try descriptor.sortKey)
        }
        request.fetchLimit = fetchLimit
        request.fetchOffset = fetchOffset
        request.includesSubentities = includesSubentities
        request.includesPendingChanges = includesPendingChanges
        request.returnsObjectsAsFaults = returnsObjectsAsFaults
        // What few requests say lies in a box, which is not made for nothing.
        if let stores, !stores.isEmpty { request.affectedStores = stores.map(\.core) }
        if type == DictionaryResult.self { return try asking(for: request, context) }
        if !includesPropertyValues { request.includesPropertyValues = false }
        if shouldRefreshRefetchedObjects { request.shouldRefreshRefetchedObjects = true }
        if fetchBatchSize > 0 { request.fetchBatchSize = fetchBatchSize }
        if let paths = relationshipKeyPathsForPrefetching, !paths.isEmpty {
            request.relationshipKeyPathsForPrefetching = paths
        }
        return request
    }

    /// The same request, asking for values.
    private func asking<Result>(
        for request: FetchRequest<Result>, _ context: NSManagedObjectContext
    ) throws(StoreError) -> FetchRequest<Result> {
        var request = request
        let name = request.entityName
        request.propertiesToFetch = try properties(propertiesToFetch, of: name, context)
        request.propertiesToGroupBy = try properties(propertiesToGroupBy, of: name, context)
        request.havingPredicate = try havingPredicate?.node(for: name, in: context)
        request.returnsDistinctResults = returnsDistinctResults
        return request
    }

    private func properties(
        _ given: [Any]?, of entityName: String, _ context: NSManagedObjectContext
    ) throws(StoreError) -> [PropertyToFetch] {
        let schema = context.core.schema
        let entity = schema.entity(named: entityName)
        var properties: [PropertyToFetch] = []
        for any in given ?? [] {
            properties.append(
                try PropertyToFetch(any: any) { node in
                    entity.map { node.withoutAnyOfOneValue(of: $0, in: schema) } ?? node
                })
        }
        return properties
    }
}

extension PropertyToFetch {
    /// What a program names: a key path, or a description.
    fileprivate init(any: Any, adapt: (ExpressionNode) -> ExpressionNode) throws(StoreError) {
        switch any {
        case let name as String: self = .property(name)
        case let description as NSExpressionDescription:
            // Without an expression it stands for the property of its name.
            guard let expression = description.expression else {
                self = .property(description.name)
                return
            }
            self = .expression(
                ExpressionDescription(
                    description.name, expression: adapt(try expression.node),
                    resultType: description.resultType.legacy.core))
        case let description as NSPropertyDescription: self = .property(description.name)
        default:
            throw StoreError(
                .invalidRequest,
                "\(any) is neither the name of a property nor the description of one")
        }
    }
}

extension NSFetchRequest {
    /// The entity's name; empty if there is none.
    var nameOfEntity: String { entityName ?? "" }

    /// A request that says the same, of results of any kind; this one, if it is one.
    var erased: NSFetchRequest<any NSFetchRequestResult> {
        self as? NSFetchRequest<any NSFetchRequestResult>
            ?? NSFetchRequest<
                any NSFetchRequestResult
            >(settings, affectedStores)
    }

    /// The request for objects, whatever it says of its results.
    func objectRequest(in context: NSManagedObjectContext) throws -> FetchRequest<ManagedObject> {
        try settings.request(for: ManagedObject.self, in: context, affectedStores)
    }
}

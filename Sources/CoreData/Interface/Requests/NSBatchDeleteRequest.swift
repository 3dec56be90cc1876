// Batch deletes with Core Data's names.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

/// Deletes many objects without making them. The model's delete rules hold.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    private enum Target {
        case found(FetchSettings)
        case ids([NSManagedObjectID])
    }

    private let target: Target
    /// What the result has.
    open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

    /// Deletes what a fetch request finds.
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        target = .found(fetch.settings)
        super.init()
        affectedStores = fetch.affectedStores
    }

    /// Deletes what a fetch request finds.
    @_disfavoredOverload
    public init<T>(fetchRequest fetch: NSFetchRequest<T>) {
        target = .found(fetch.settings)
        super.init()
        affectedStores = fetch.affectedStores
    }

    /// Deletes objects by their ids, which are of one hierarchy.
    public init(objectIDs objects: [NSManagedObjectID]) { target = .ids(objects) }

    /// The request for what is deleted.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
        switch target {
        case .found(let settings): return NSFetchRequest(settings, affectedStores)
        case .ids(let ids):
            let request = NSFetchRequest<any NSFetchRequestResult>()
            request.entity = ids.first?.entity
            request.predicate = NSPredicate(format: "SELF IN %@", ids)
            return request
        }
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    override func carryOut(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        var request =
            switch target {
            case .found(let settings):
                BatchDeleteRequest(
                    fetchRequest: try settings.request(
                        for: ManagedObject.self, in: context, affectedStores))
            case .ids(let ids): BatchDeleteRequest(objectIDs: ids.map(\.core))
            }
        request.affectedStores = affectedIdentifiers
        if resultType == .resultTypeObjectIDs { request.resultType = .objectIDs }
        let result = try context.core.execute(request)
        return NSBatchDeleteResult(
            resultType,
            BatchAnswer(count: result.deletedCount, ids: result.objectIDs)
                .result(resultType.rawValue, in: context))
    }
}

/// What the result of a batch delete has.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it has succeeded.
    case resultTypeStatusOnly = 0
    /// The ids of the deleted objects.
    case resultTypeObjectIDs = 1
    /// How many objects the request named and deleted, without those that a delete rule reached.
    case resultTypeCount = 2
}

/// What has come of a batch delete.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// Whether it has succeeded, ids, or a number, as ``resultType`` says.
    public let result: Any?
    /// What the result has.
    public let resultType: NSBatchDeleteRequestResultType

    init(_ type: NSBatchDeleteRequestResultType, _ result: Any?) {
        self.result = result
        resultType = type
    }
}

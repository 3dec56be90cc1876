// What stores are asked, with Core Data's names: what all requests have in common.
//
// Threads: that of the context which carries the request out.

import CairnStore
public import Foundation

/// A request to stores.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores that are asked; nil means all.
    open var affectedStores: [NSPersistentStore]?

    /// What kind of request it is.
    open var requestType: NSPersistentStoreRequestType {
        fatalError("\(type(of: self)) does not say what kind of request it is")
    }

    /// A request of a kind that a subclass says.
    public override init() {}

    /// A request that says the same.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Carries the request out for a context, on its queue.
    func carryOut(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        throw StoreError(.invalidRequest, "a \(type(of: self)) cannot be executed")
    }

    /// The stores as requests of Cairn name them.
    var affectedIdentifiers: [UUID]? {
        guard let affectedStores, !affectedStores.isEmpty else { return nil }
        return affectedStores.map(\.core.identity.identifier)
    }
}

/// The kinds of requests, with the numbers that Core Data has for them.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// For objects, their ids, values or their number.
    case fetchRequestType = 1
    /// To save changes.
    case saveRequestType = 2
    /// To insert and update many rows.
    case batchInsertRequestType = 5
    /// To update many objects.
    case batchUpdateRequestType = 6
    /// To delete many objects.
    case batchDeleteRequestType = 7
}

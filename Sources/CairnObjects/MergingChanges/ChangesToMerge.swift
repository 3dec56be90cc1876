// What somebody else has saved, as a context is given it: by ids, in one form or another.
//
// Threads: a value.

import CairnModel
import CairnStore
import Foundation

/// Ids of objects that somebody else has written.
struct ChangesToMerge {
    var inserted: [ObjectID] = []
    var updated: [ObjectID] = []
    var deleted: [ObjectID] = []
    /// Whether everything may have changed.
    var isEverything = false

    init() {}

    /// Everything may have changed.
    static var everything: ChangesToMerge {
        var changes = ChangesToMerge()
        changes.isEverything = true
        return changes
    }

    /// What a context has saved.
    init(_ saved: SavedObjects) {
        inserted = Self.sorted(saved.insertedIDs)
        updated = Self.sorted(saved.updatedIDs)
        deleted = Self.sorted(saved.deletedIDs)
    }

    /// What a context has merged.
    init(_ merged: MergedObjectIDs) {
        inserted = Self.sorted(merged.inserted)
        updated = Self.sorted(merged.updated.union(merged.refreshed))
        deleted = Self.sorted(merged.deleted)
        isEverything = merged.isEverything
    }

    /// What a save of another context wrote.
    init(_ save: ContextSave) {
        inserted = Self.sorted(save.insertedObjectIDs)
        updated = Self.sorted(save.updatedObjectIDs)
        deleted = Self.sorted(save.deletedObjectIDs)
    }

    /// What a transaction of the history changed.
    init(_ transaction: PersistentHistoryTransaction) {
        inserted = Self.sorted(transaction.insertedObjectIDs)
        updated = Self.sorted(transaction.updatedObjectIDs)
        deleted = Self.sorted(transaction.deletedObjectIDs)
    }

    /// What a dictionary holds: lists or sets by the keys of notifications, of ids, objects, or URIs of ids.
    init(_ info: [AnyHashable: Any]) {
        typealias Key = ManagedObjectContext.NotificationKey
        for (key, value) in info {
            let key = (key.base as? Key) ?? (key.base as? String).flatMap(Key.init(rawValue:))
            switch key {
            case .insertedObjects, .insertedObjectIDs: inserted += Self.ids(value)
            case .updatedObjects, .updatedObjectIDs, .refreshedObjects, .refreshedObjectIDs:
                updated += Self.ids(value)
            case .deletedObjects, .deletedObjectIDs: deleted += Self.ids(value)
            case .invalidatedAllObjects: isEverything = true
            case .queryGeneration, .historyToken, nil: continue
            }
        }
    }

    private static func ids(_ value: Any) -> [ObjectID] {
        switch value {
        case let ids as Set<ObjectID>: return sorted(ids)
        case let objects as Set<ManagedObject>: return sorted(objects.map(\.objectID))
        case let list as [Any]: return list.compactMap(id)
        case let set as Set<AnyHashable>: return sorted(set.compactMap { id($0.base) })
        default: return []
        }
    }

    private static func id(_ value: Any) -> ObjectID? {
        switch value {
        case let id as ObjectID: id
        case let object as ManagedObject: object.objectID
        case let url as URL: ObjectID(uriRepresentation: url)
        case let text as String: URL(string: text).flatMap(ObjectID.init(uriRepresentation:))
        default: nil
        }
    }

    /// In an order that does not depend on how a set lies in memory.
    private static func sorted(_ ids: some Sequence<ObjectID>) -> [ObjectID] {
        ids.sorted { ($0.hierarchy, $0.reference) < ($1.hierarchy, $1.reference) }
    }
}

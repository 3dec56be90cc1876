// What a context tells those who watch it: within the module, to closures; and by that to everybody else.
//
// Threads: the context's.

import CairnModel
import CairnStore
import FoundationEssentials

/// Something that happened in a context.
enum ContextEvent {
    /// A run of edits is over.
    case didChange(ObjectChanges)
    /// A save begins; nothing has been done yet.
    case willSave
    /// A save is done.
    case didSave(SavedObjects)
    /// What others have written was merged, be it nothing: what was told of since that began belongs to it.
    case didMerge(MergedObjectIDs)
    /// New objects have got their permanent ids before they are saved.
    case didRename

    var kind: Kinds {
        switch self {
        case .didChange: .changes
        case .willSave: .beginnings
        case .didSave: .saves
        case .didMerge: .merges
        case .didRename: .renames
        }
    }

    /// Kinds of events.
    struct Kinds: OptionSet {
        let rawValue: UInt32

        static let changes = Kinds(rawValue: 1)
        static let beginnings = Kinds(rawValue: 2)
        static let saves = Kinds(rawValue: 4)
        static let merges = Kinds(rawValue: 8)
        /// For the module alone.
        static let renames = Kinds(rawValue: 32)
        /// No event: what saves tell says what differs in the objects. For the module alone.
        static let differences = Kinds(rawValue: 64)
    }
}

/// One change of a run of edits: each object is in one of the lists at most, in the order in which it came there.
struct ObjectChanges {
    /// New objects.
    var inserted: [ManagedObject] = []
    /// Objects in which somebody has set something.
    var updated: [ManagedObject] = []
    /// Objects that are no more.
    var deleted: [ManagedObject] = []
    /// Objects that were brought up to date.
    var refreshed: [ManagedObject] = []
    /// The ids of all objects that the context had, if it has forgotten them.
    var invalidatedAll: [ObjectID] = []

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty
            && invalidatedAll.isEmpty
    }
}

/// What a save has done.
struct SavedObjects {
    /// New objects that are stored now.
    var inserted: [ManagedObject] = []
    /// Changed objects, and others whose rows the save wrote besides.
    var updated: [ManagedObject] = []
    /// Those of them of which nothing has changed but who leads to them.
    var linked: Set<ObjectIdentifier> = []
    /// Whether it is wanted what differs in the objects.
    var notesDifferences = false
    /// What differs in changed and deleted objects, of those of which it is known what was stored before.
    private(set) var differences: [ObjectIdentifier: RowDifference] = [:]
    /// By to-many relationship, to whom those led.
    private(set) var formerOwners: [MemberList: Set<ObjectID>] = [:]
    /// By entity.
    private var memberLists: [Int: [(column: Int, list: MemberList)]] = [:]
    /// Stored objects into which others were merged: what led to those leads to them now.
    var survivors: Set<ObjectID> = []
    /// Objects that are no more.
    var deleted: [ManagedObject] = []
    /// Objects that the context does not have, but whose rows the save wrote.
    var updatedElsewhere: [ObjectID] = []
    /// Objects that the context does not have, but that the save deleted.
    var deletedElsewhere: [ObjectID] = []
    /// Whether anything was written.
    var isWritten = false
    /// The number of the commit; nil if nothing was written to the store.
    var commit: UInt64?
    /// By store, if there are several.
    var commits: [UUID: UInt64] = [:]

    /// The numbers of the commits, by store; none if a parent was saved to.
    func commits(in context: ManagedObjectContext) -> [UUID: UInt64] {
        commits.isEmpty ? commit.map { [context.identity.identifier: $0] } ?? [:] : commits
    }

    /// Notes a changed object, before its edits are taken for what is stored.
    ///
    /// - Parameters:
    ///   - row: what is stored now; nil if that was not written, or is not known.
    ///   - isRecomputed: whether it may have been written though there is no row.
    mutating func noteUpdate(of object: ManagedObject, _ row: Row?, isRecomputed: Bool = true) {
        updated.append(object)
        if object.isOnlyLinked { linked.insert(ObjectIdentifier(object)) }
        noteOrder(of: object)
        if row == nil, !isRecomputed, notesDifferences, object.editedColumns.isEmpty {
            differences[ObjectIdentifier(object)] = RowDifference(
                relationships: changedPairs(of: object))
        } else {
            noteDifference(of: object, row)
        }
    }

    /// Notes what differs between what the context took for stored and a row that was written: before the object gets it. If
    /// somebody else has written in between, nobody says what.
    mutating func noteDifference(of object: ManagedObject, _ row: Row?) {
        guard notesDifferences, let row, let old = object.row, row.version == old.version &+ 1,
            !object.flags.contains(.hasOlderCells)
        else { return }
        let entity = object.entity
        var difference = RowDifference(relationships: changedPairs(of: object))
        for column in entity.columns.indices
        where !old.cells.isEqual(row.cells, column: column, of: entity) {
            difference.columns.insert(column)
        }
        note(difference, of: object, old)
    }

    /// Members that stand elsewhere in a list have the same values as before: their owner says it.
    private mutating func noteOrder(of object: ManagedObject) {
        guard notesDifferences else { return }
        for (index, state) in object.rarer?.toMany ?? [:] where state.hasOrderChange {
            let relationship = object.entity.relationships[index]
            guard case .inverseColumn = relationship.storage else { continue }
            let list = MemberList(entity: relationship.declaringEntity, relationship: index)
            formerOwners[list, default: []].insert(object.objectID)
        }
    }

    /// The relationships of an object that are kept as pairs and were changed.
    private func changedPairs(of object: ManagedObject) -> ColumnSet {
        var changed = ColumnSet()
        for (index, state) in object.rarer?.toMany ?? [:] where state.hasChanges {
            if case .pairs = object.entity.relationships[index].storage { changed.insert(index) }
        }
        return changed
    }

    /// Notes a deleted object.
    ///
    /// - Parameter isCurrent: whether nobody else has written it since the context has read it.
    mutating func noteDeletion(of object: ManagedObject, isCurrent: Bool) {
        deleted.append(object)
        guard notesDifferences, isCurrent, let old = object.row,
            !object.flags.contains(.hasOlderCells)
        else { return }
        note(RowDifference(isEverything: true), of: object, old)
    }

    private mutating func note(
        _ difference: RowDifference, of object: ManagedObject, _ old: Row
    ) {
        guard let context = object.managedObjectContext else { return }
        let entity = object.entity
        differences[ObjectIdentifier(object)] = difference
        if memberLists[entity.index] == nil {
            memberLists[entity.index] = context.schema.memberLists(in: entity)
        }
        for (column, list) in memberLists[entity.index] ?? []
        where difference.concerns(column) {
            let owner = old.cells.value(column, of: entity, in: context.identity).reference
            if let owner { formerOwners[list, default: []].insert(owner) }
        }
    }

    var insertedIDs: Set<ObjectID> { Set(inserted.lazy.map(\.objectID)) }
    var updatedIDs: Set<ObjectID> { Set(updated.lazy.map(\.objectID)).union(updatedElsewhere) }
    var deletedIDs: Set<ObjectID> { Set(deleted.lazy.map(\.objectID)).union(deletedElsewhere) }
}

/// What was merged into a context.
struct MergedObjectIDs {
    /// Objects that others have made, changed and deleted.
    var inserted: Set<ObjectID> = []
    var updated: Set<ObjectID> = []
    var deleted: Set<ObjectID> = []
    /// What differs in the rows of all these; nil if that is not known.
    var rows: RowChanges?
    /// Objects of the context that show other values than before.
    var refreshed: Set<ObjectID> = []
    /// Whether more may have changed than is said here.
    var isEverything = false

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty
    }
}

/// Somebody in the module who watches a context.
final class ContextObserver {
    let kinds: ContextEvent.Kinds
    /// Called when it happens, after the context has done its part. Returns false to be called no more.
    let receive: (ContextEvent, ManagedObjectContext) -> Bool

    init(
        _ kinds: ContextEvent.Kinds,
        _ receive: @escaping (ContextEvent, ManagedObjectContext) -> Bool
    ) {
        self.kinds = kinds
        self.receive = receive
    }
}

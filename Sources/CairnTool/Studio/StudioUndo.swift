// Undoes a change: a save that restores the state before it.
//
//   1. It is created with the change, from the states before and after it, if the change is small.
//   2. It is an ordinary save, with the error policy: later changes of others conflict with it.
//   3. It refers to columns by index: after a change of the model it cannot be used.
//
// Threads: a value.

import CairnInspection
import CairnModel
import CairnStore

/// The undo of the last change.
struct StudioUndo: Sendable {
    /// The schema that the request's columns refer to.
    let schema: Schema
    /// The commit to undo.
    let commit: UInt64
    /// The number of objects that the commit changed.
    let objects: Int
    let request: SaveRequest

    /// The maximum number of changed objects.
    static let most = 50_000

    /// Returns the undo of a commit; nil if it changed too much, or if another change came between it and the
    /// state before.
    ///
    /// - Parameter before: a state from before the commit.
    static func of(
        _ changes: ChangeSet, before: any StoreSnapshot, _ store: any CommandStore
    ) throws -> StudioUndo? {
        let entities = try changes.entities()
        let count = entities.reduce(0) {
            $0 + $1.inserted.count + $1.updated.count + $1.deleted.count
        }
        guard changes.commits.count == 1, count > 0, count <= Self.most else { return nil }
        let states = (before: before, after: try store.snapshot())
        // Pairs have no versions, and those of deleted objects are not compared: then no other commit is
        // allowed in between.
        let isAlone =
            before.commit + 1 == changes.commit && states.after.commit == changes.commit
        guard isAlone || entities.allSatisfy({ hasVersions($0, store.schema) }) else { return nil }
        var request = SaveRequest()
        request.author = StudioStore.author
        for part in entities {
            guard try add(part, states, store, to: &request) else { return nil }
        }
        let removed = Set(request.deleted.map(\.id))
        request.pairChanges.removeAll { pair in
            // The pairs of a deleted object are deleted with it.
            !pair.isAddition
                && (removed.contains(pair.source) || removed.contains(pair.destination))
        }
        return StudioUndo(
            schema: store.schema, commit: changes.commit, objects: count, request: request)
    }

    /// Returns whether versions reveal all changes of others to the same objects.
    private static func hasVersions(_ part: EntityChanges, _ schema: Schema) -> Bool {
        part.deleted.count == 0
            && !schema.entities[part.entity].relationships.contains { relationship in
                if case .pairs = relationship.storage { return true }
                return relationship.keepsOrder
            }
    }

    private typealias States = (before: any StoreSnapshot, after: any StoreSnapshot)

    /// Adds the undo of an entity's changes; returns false if another commit has changed an object since.
    private static func add(
        _ part: EntityChanges, _ states: States, _ store: any CommandStore,
        to request: inout SaveRequest
    ) throws -> Bool {
        let entity = store.schema.entities[part.entity]
        let identity = store.identity
        let inserted = part.inserted.map { identity.id($0, entity: part.entity) }
        let updated = part.updated.map { identity.id($0, entity: part.entity) }
        let deleted = part.deleted.map { identity.id($0, entity: part.entity) }
        for row in try states.after.rows(inserted) {
            guard let row, row.version == 1 else { return false }
            request.deleted.append(
                .init(id: row.id, entity: row.entity, version: row.version, base: row))
        }
        for (old, new) in zip(try states.before.rows(updated), try states.after.rows(updated)) {
            // One more: no other commit has changed it between the state before and the commit, or since.
            guard let old, let new, new.version == old.version || new.version == old.version + 1
            else { return false }
            var changes: [(column: Int, value: Value)] = []
            for column in entity.columns.indices {
                let value = old.cells.value(column, of: entity, in: identity)
                if value != new.cells.value(column, of: entity, in: identity) {
                    changes.append((column, value))
                }
            }
            guard !changes.isEmpty else { continue }
            request.updated.append(
                .init(id: new.id, entity: new.entity, base: new, changes: changes))
        }
        for old in try states.before.rows(deleted) {
            guard let old else { return false }
            let values = entity.columns.indices.map {
                old.cells.value($0, of: entity, in: identity)
            }
            request.inserted.append(
                .init(
                    id: old.id, entity: old.entity, values: values,
                    assigned: ColumnSet(entity.columns.indices), version: old.version))
        }
        try addPairs(of: entity, updated + deleted, states, to: &request)
        try addOrders(of: entity, inserted + updated + deleted, states, store, to: &request)
        return true
    }

    /// Adds members that were added or removed, if they are stored as pairs.
    private static func addPairs(
        of entity: SchemaEntity, _ owners: [ObjectID], _ states: States,
        to request: inout SaveRequest
    ) throws {
        guard !owners.isEmpty else { return }
        var pairs = Set(request.pairChanges)
        for (index, relationship) in entity.relationships.enumerated() {
            guard case .pairs(let number, let isSource) = relationship.storage else { continue }
            let old = try states.before.members(
                ofRelationship: index, entity: entity.index, owners: owners)
            let new = try states.after.members(
                ofRelationship: index, entity: entity.index, owners: owners)
            for (place, owner) in owners.enumerated() where old[place] != new[place] {
                for (members, isAddition) in [
                    (Set(old[place]).subtracting(new[place]), true),
                    (Set(new[place]).subtracting(old[place]), false),
                ] {
                    for member in members {
                        pairs.insert(
                            .init(
                                pairs: number, source: isSource ? owner : member,
                                destination: isSource ? member : owner, isAddition: isAddition))
                    }
                }
            }
            guard relationship.keepsOrder else { continue }
            try addOrders(of: entity.index, index, Set(owners), states, to: &request)
        }
        request.pairChanges = Array(pairs)
    }

    /// Adds the orders of lists that the objects are or were members of through a column.
    private static func addOrders(
        of entity: SchemaEntity, _ members: [ObjectID], _ states: States,
        _ store: any CommandStore, to request: inout SaveRequest
    ) throws {
        for (column, list) in store.schema.memberLists(in: entity)
        where store.schema.entities[list.entity].relationships[list.relationship].keepsOrder {
            var owners: Set<ObjectID> = []
            for state in [states.before, states.after] {
                for row in try state.rows(members) {
                    guard let row,
                        case .objectID(let owner) = row.cells.value(
                            column, of: entity, in: store.identity)
                    else { continue }
                    owners.insert(owner)
                }
            }
            try addOrders(of: list.entity, list.relationship, owners, states, to: &request)
        }
    }

    /// Adds the old orders of some owners' lists.
    private static func addOrders(
        of entity: Int, _ relationship: Int, _ owners: Set<ObjectID>, _ states: States,
        to request: inout SaveRequest
    ) throws {
        let owners = owners.sorted { $0.reference < $1.reference }
        guard !owners.isEmpty else { return }
        let old = try states.before.members(
            ofRelationship: relationship, entity: entity, owners: owners)
        let new = try states.after.members(
            ofRelationship: relationship, entity: entity, owners: owners)
        let known = try states.after.rows(owners)
        for (place, owner) in owners.enumerated() where old[place].count > 1 {
            let change = SaveRequest.OrderChange(
                owner: owner, entity: entity, relationship: relationship, members: old[place],
                base: known[place] == nil ? nil : new[place])
            let isThere = request.orderChanges.contains {
                $0.owner == owner && $0.relationship == relationship
            }
            if old[place] != new[place], !isThere { request.orderChanges.append(change) }
        }
    }

    /// Undoes the change.
    ///
    /// - Throws: `StudioConflict` if another commit has changed the same objects since.
    func run(_ store: any CommandStore) throws -> UInt64? {
        guard store.schema === schema else {
            throw StudioConflict(
                message: "the model of the store has changed since: the change stays", entries: [])
        }
        do {
            guard case .saved(let result) = try store.save(request) else { return nil }
            return result.commit
        } catch {
            let entries = error.conflicts.compactMap { conflict -> StudioConflict.Entry? in
                guard case .version(let version) = conflict else { return nil }
                return .init(
                    id: "p\(version.id.reference)", entity: version.entityName, property: nil,
                    mine: .null, theirs: .null, was: .null, isDeleted: version.stored == nil)
            }
            guard !entries.isEmpty else { throw StudioRefusal(error) }
            throw StudioConflict(
                message: "somebody else has changed the same objects since: the change stays",
                entries: entries)
        }
    }
}

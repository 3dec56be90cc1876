// Reading ahead along relationships: for each step all objects at once.
//
//   1. A path is followed from the objects that were fetched. Where an object is known, its relationship is as it is now,
//      changes included; else its row says where a to-one relationship leads.
//   2. To-one: the rows of all targets that are not known are read together. To-many: first the members of all owners that
//      have not been asked for, then the rows as before; a store that has both at once is asked once.
//   3. Known faults take their rows; the rest is kept for objects that will be made.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Reads ahead. What was read ahead before is forgotten.
    func prefetch(
        _ paths: [PrefetchPath], of objects: [ManagedObject], _ terms: FetchTerms,
        _ origin: FaultOrigin?
    ) throws(StoreError) {
        prefetched = nil
        var ahead = PrefetchedRows()
        for path in paths {
            var ids = objects.map(\.objectID)
            var watch = PrefetchWatch(terms, origin, in: self)
            for name in path {
                watch?.begin(ahead)
                do throws(StoreError) {
                    let reached = try step(name, from: ids, &ahead)
                    var seen: Set<ObjectID> = []
                    ids = reached.filter { seen.insert($0).inserted }
                    try readRows(ids, &ahead)
                } catch {
                    watch?.fail(name, error, in: self)
                    throw error
                }
                watch?.end(name, ids, ahead, in: self)
            }
        }
        prefetched = ahead
    }

    /// The ids that a relationship leads to from objects; members that are not known are read.
    private func step(
        _ name: String, from owners: [ObjectID], _ ahead: inout PrefetchedRows
    ) throws(StoreError) -> [ObjectID] {
        var reached: [ObjectID] = []
        // By entity: relationships of one name have the same index in all descendants, but their owners are asked by entity.
        var unknown: [Int: (index: Int, owners: [ObjectID])] = [:]
        for owner in owners {
            let object = registry.object(for: owner)
            let row = object == nil ? ahead.rows[owner] : nil
            guard let entity = object?.entity ?? row.map({ schema.entities[$0.entity] }),
                let index = entity.relationshipIndex(named: name)
            else { continue }
            let relationship = entity.relationships[index]
            if !relationship.description.isToMany {
                if let object {
                    if let id = targetID(of: object, index) { reached.append(id) }
                } else if let row, case .column(let column) = relationship.storage,
                    let id = row.cells.value(column, of: entity, in: identity).reference
                {
                    reached.append(id)
                }
                continue
            }
            let isKnown =
                object.map {
                    $0.toMany[index]?.isLoaded == true || $0.isInserted || $0.isGone
                        || $0.hasTemporaryID && parent == nil
                } ?? false
            if isKnown || relationship.storage == .transient {
                if let object { reached += memberIDs(of: object, index) }
            } else if let members = ahead.members[.init(owner: owner, index: index)] {
                reached += members
            } else {
                unknown[entity.index, default: (index, [])].owners.append(owner)
            }
        }
        for (entity, question) in unknown.inKeyOrder() {
            let source = try source()
            let members: [[ObjectID]]
            if let source = source as? any MemberRows {
                let read = try source.membersWithRows(
                    ofRelationship: question.index, entity: entity, owners: question.owners)
                members = read.members
                dropUnresolvedFaults(read.rows)
                for row in read.rows where isMissing(row.id, ahead) { keep(row, &ahead) }
            } else {
                members = try source.members(
                    ofRelationship: question.index, entity: entity, owners: question.owners)
            }
            for (owner, ids) in zip(question.owners, members) {
                ahead.members[.init(owner: owner, index: question.index)] = ids
                reached += ids
            }
        }
        return reached
    }

    /// Reads the rows of objects that are neither known nor read.
    private func readRows(_ ids: [ObjectID], _ ahead: inout PrefetchedRows) throws(StoreError) {
        let missing = ids.filter { isMissing($0, ahead) }
        if missing.isEmpty { return }
        for row in try read(missing) {
            if let row { keep(row, &ahead) }
        }
    }

    /// Whether the row of an object is neither known nor read.
    private func isMissing(_ id: ObjectID, _ ahead: PrefetchedRows) -> Bool {
        guard !id.isTemporary || parent != nil, ahead.rows[id] == nil else { return false }
        guard let object = registry.object(for: id) else { return true }
        return object.isFault && !object.hasCells
    }

    private func keep(_ row: Row, _ ahead: inout PrefetchedRows) {
        ahead.rows[row.id] = row
        if let object = registry.object(for: row.id), object.isFault { object.take(row) }
    }
}

// Writing to several stores: one after the other, each all or nothing.
//
//   1. The request is divided; what no store may write is refused.
//   2. Stores that are only compared with are asked first. Those behind the first that is written are looked at beforehand:
//      if somebody has changed an object of the save since it was read, nothing is written at all. The merge policies that
//      decide about that themselves, within the store, need not be asked.
//   3. Stores that have metadata to write are written too, also if no object of theirs is changed.
//   4. The stores are written in the order in which they were added, up to the first that refuses. What only a store can
//      tell, whether a key is unique or the disk has room, it can tell when others are written.

import CairnModel
public import CairnStore
import FoundationEssentials
import Synchronization

/// How far a save to several stores has come.
struct CoordinatedOutcome {
    /// How it ended.
    enum End {
        case done
        /// Neither the store that reports them nor any later store is written.
        case conflicts([SaveConflict])
        /// Neither the store that fails nor any later store is written.
        case failed(StoreError)
    }

    var end = End.done
    /// What became of the objects of the stores that were written.
    var result = SaveResult()
    /// Whether a store was written, and another was not.
    var isPartial = false
    /// The stores that were not written, and the new objects that were to go there.
    fileprivate(set) var leftStores: [UUID] = []
    fileprivate var leftObjects: Set<ObjectID> = []

    /// Whether an object is as unsaved as it was.
    func leaves(_ id: ObjectID) -> Bool {
        leftObjects.contains(id) || !id.isTemporary && leftStores.contains(id.store)
    }
}

extension PersistentStoreCoordinator {
    /// Writes a request to the stores that it concerns.
    ///
    /// - Parameters:
    ///   - assigned: the stores of new objects that were assigned to one.
    ///   - known: the version of the coordinator whose stores the request was made for; nil: that of now.
    /// - Throws: `StoreError` that says what is refused before anything is written.
    func write(_ request: SaveRequest, assigned: [ObjectID: UUID], known: Int? = nil)
        throws(StoreError) -> CoordinatedOutcome
    {
        let division = try SaveDivision(request, assigned: assigned, self)
        if let known, version.load(ordering: .acquiring) != known {
            throw StoreError(
                .unusable,
                "stores were added to or removed from the coordinator during the save: save again")
        }
        let parts = division.parts.filter {
            !$0.store.isReadOnly && ($0.request.writes || $0.store.hasMetadataToWrite)
        }
        var outcome = CoordinatedOutcome()
        var conflicts: [SaveConflict] = []
        for part in division.parts where part.store.identifier != parts.first?.store.identifier {
            do throws(StoreError) {
                conflicts += try versionConflicts(part)
            } catch {
                outcome.end = .failed(moved(error, part))
                return outcome
            }
        }
        if !conflicts.isEmpty {
            if request.resolution == .policy(.error) { throw StoreError(conflicts) }
            outcome.end = .conflicts(conflicts)
            return outcome
        }
        for (index, part) in parts.enumerated() {
            do throws(StoreError) {
                // Another store in its place may have other rows under the same versions. Once something is written, that it
                // was only moved is likelier.
                let saved = try writing(to: part.store, isSame: known != nil && index == 0) {
                    store throws(StoreError) in
                    try store.saving(part.request)
                }
                switch saved {
                case .saved(let result):
                    outcome.result.add(result, part, self)
                    continue
                case .conflicts(let conflicts):
                    outcome.end = .conflicts(conflicts.map { moved($0, part) })
                }
            } catch {
                outcome.end = .failed(moved(error, part))
            }
            outcome.isPartial = index > 0
            for left in parts[index...] {
                outcome.leftStores.append(left.store.identifier)
                for object in left.request.inserted {
                    outcome.leftObjects.insert(left.names[object.id] ?? object.id)
                }
            }
            return outcome
        }
        return outcome
    }

    /// What somebody has changed since it was read, of the objects of a save that are in one of the stores; none if the policy
    /// is one that the store carries out.
    private func versionConflicts(_ part: SaveDivision.Part) throws(StoreError) -> [SaveConflict] {
        guard [.policy(.error), .report].contains(part.request.resolution) else { return [] }
        var objects: [(id: ObjectID, entity: Int, version: UInt32, base: Row?, isDeletion: Bool)]
        objects = part.request.updated.map { ($0.id, $0.entity, $0.base.version, $0.base, false) }
        objects += part.request.locked.map { ($0.id, $0.entity, $0.base.version, $0.base, false) }
        for object in part.request.deleted {
            guard let version = object.version else { continue }
            objects.append((object.id, object.entity, version, object.base, true))
        }
        if objects.isEmpty { return [] }
        let rows = try part.store.store.snapshot().rows(objects.map(\.id))
        var known: Set<ObjectID> = []
        var conflicts: [SaveConflict] = []
        for (object, row) in zip(objects, rows) {
            // Whoever deletes what is deleted has what he wants.
            if row == nil, object.isDeletion { continue }
            if row?.version == object.version || isUnchanged(row, since: object.base) { continue }
            guard known.insert(object.id).inserted else { continue }
            let conflict = VersionConflict(
                id: object.id, entity: object.entity,
                entityName: schema.entities[object.entity].name,
                base: object.isDeletion ? nil : object.base, stored: row,
                isDeletion: object.isDeletion)
            conflicts.append(moved(.version(conflict), part))
        }
        return conflicts
    }

    /// Whether a row of another version differs from the one that was read in nothing but derived attributes and its place in
    /// lists, as stores look at it.
    private func isUnchanged(_ stored: Row?, since base: Row?) -> Bool {
        guard let stored, let base, stored.entity == base.entity else { return false }
        let derived = schema.derivations.entities[stored.entity]
        if derived.isEmpty, schema.orderedReferences[stored.entity].isEmpty { return false }
        let entity = schema.entities[stored.entity]
        return entity.columns.indices.allSatisfy { column in
            derived.contains { $0.column == column }
                || stored.cells.isEqual(base.cells, column: column, of: entity)
        }
    }

    /// Writes changes to each store, atomically per store. A context that saves does more: it keeps changes that a
    /// later store rejected after earlier stores were written.
    ///
    /// - Throws: `StoreError`: the errors of a store; `.incompleteSave` if other stores have already been written. Requests
    ///   are rejected before anything is written.
    public func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        let outcome = try write(request, assigned: [:])
        switch outcome.end {
        case .done: return .saved(outcome.result)
        case .failed(let error):
            if outcome.isPartial { throw StoreError(incomplete: error, outcome.leftStores) }
            throw error
        case .conflicts(let conflicts):
            if outcome.isPartial {
                throw StoreError(incomplete: StoreError(conflicts), outcome.leftStores)
            }
            return .conflicts(conflicts)
        }
    }

    // MARK: Answers of a store

    func moved(_ row: Row, _ part: SaveDivision.Part) -> Row {
        row.moved(to: part.store.number, references, in: schema)
    }

    private func moved(_ error: StoreError, _ part: SaveDivision.Part) -> StoreError {
        var error = error
        error.conflicts = error.conflicts.map { moved($0, part) }
        error.details = error.details.map { moved($0, part) }
        error.context.objectID = error.context.objectID.map { part.names[$0] ?? $0 }
        return error
    }

    private func moved(_ conflict: SaveConflict, _ part: SaveDivision.Part) -> SaveConflict {
        switch conflict {
        case .version(var conflict):
            conflict.base = conflict.base.map { moved($0, part) }
            conflict.stored = conflict.stored.map { moved($0, part) }
            return .version(conflict)
        case .constraint(var violation):
            violation.stored = violation.stored.map { moved($0, part) }
            violation.objects = violation.objects.map { part.names[$0] ?? $0 }
            violation.values = violation.values.map { value in
                guard case .objectID(let id) = value else { return value }
                return .objectID(part.names[id] ?? id)
            }
            return .constraint(violation)
        }
    }
}

extension SaveResult {
    /// Adds what one more store has done.
    fileprivate mutating func add(
        _ other: SaveResult, _ part: SaveDivision.Part, _ coordinator: PersistentStoreCoordinator
    ) {
        func name(_ id: ObjectID) -> ObjectID { part.names[id] ?? id }
        if let written = other.commit {
            commit = written
            commits[part.store.identifier] = written
        }
        for (id, permanent) in other.permanentIDs { permanentIDs[name(id)] = permanent }
        for (id, row) in other.rows { rows[id] = coordinator.moved(row, part) }
        for (id, survivor) in other.absorbed { absorbed[name(id)] = survivor }
        recomputed += other.recomputed
        reordered += other.reordered
        reverted += other.reverted
        displaced += other.displaced
        successors.merge(other.successors) { _, new in new }
        undeleted += other.undeleted
    }
}

extension SaveRequest {
    /// Whether there is anything to write, beyond what is only compared.
    fileprivate var writes: Bool {
        !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty || !pairChanges.isEmpty
            || !orderChanges.isEmpty || !redirects.isEmpty
    }
}

extension StoreError {
    /// A save that something stood against when some stores were written already.
    init(incomplete error: any Error, _ stores: [UUID]) {
        let refusal = error as? StoreError
        self.init(
            .incompleteSave,
            "some stores were saved, but the others could not be: their changes are not saved",
            details: refusal.map { [$0] } ?? [], conflicts: refusal?.conflicts ?? [],
            cause: refusal == nil ? error : nil)
        affectedStores = stores
    }

    /// The error of a save that conflicts stand against.
    fileprivate init(_ conflicts: [SaveConflict]) {
        let hasVersions = conflicts.contains { if case .version = $0 { true } else { false } }
        self.init(
            hasVersions ? .mergeConflict : .constraintConflict,
            hasVersions
                ? "objects of the save were changed elsewhere since they were read"
                : "objects of the save violate uniqueness constraints",
            conflicts: conflicts)
    }
}

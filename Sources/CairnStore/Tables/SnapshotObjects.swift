// The objects of a snapshot for predicates and expressions, read only with what every store supports.
//
//   let objects = SnapshotObjects(snapshot)
//   let value = evaluator.value(for: objects.object(of: row))
//   try objects.rethrow()
//
// Evaluating does not throw: what could not be read is nil, the first error is kept here, and `rethrow` is called at the end.
// Each row is read once, and so are the members of each object: those that `load` is told of for many objects together, others
// one object at a time.
//
// Threads: owned by one reading in one thread.

package import CairnModel

/// The objects of a snapshot in one iteration.
package final class SnapshotObjects {
    /// The snapshot.
    package let snapshot: any StoreSnapshot
    private let schema: Schema
    fileprivate let identity: StoreIdentity
    private var known: [ObjectID: SnapshotObject] = [:]
    /// Members that were read ahead.
    private var lists: [MemberList: [ObjectID]] = [:]

    private struct MemberList: Hashable {
        let owner: ObjectID
        let relationship: Int
    }
    private var failure: StoreError?

    /// The objects of a snapshot; nothing is read yet.
    package init(_ snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
        schema = snapshot.schema
        identity = snapshot.identity
    }

    /// The object of a row.
    package func object(of row: Row) -> any EvaluatedObject {
        if let object = known[row.id] { return object }
        let object = SnapshotObject(
            self, id: row.id, cells: row.cells, entity: schema.entities[row.entity])
        known[row.id] = object
        return object
    }

    /// Takes rows, and reads what sort keys lead to from them: one reading for each step.
    package func load(_ rows: [Row], along paths: [SortPath]) {
        for path in paths where !path.steps.isEmpty {
            var reached = rows.map { object(of: $0) }
            for step in path.steps {
                let targets = reached.compactMap { object -> ObjectID? in
                    if case .objectID(let id) = object.evaluatedColumn(step.column) {
                        id
                    } else {
                        nil
                    }
                }
                reached = objects(targets, of: step.destination)
            }
        }
    }

    /// Takes rows, and reads what the paths of an expression lead to from them: one reading for the members of each step, and one
    /// for their rows.
    package func load(_ rows: [Row], along paths: Set<String>) {
        let rows = rows.map { object(of: $0) }
        for path in paths.sorted() {
            var reached = rows.compactMap { $0 as? SnapshotObject }
            for key in path.split(separator: ".") {
                if reached.isEmpty || failure != nil { break }
                reached = follow(String(key), from: reached)
            }
        }
    }

    /// The objects that a relationship leads to; nothing if it is none.
    private func follow(_ name: String, from owners: [SnapshotObject]) -> [SnapshotObject] {
        // By destination.
        var targets: [Int: [ObjectID]] = [:]
        // Relationships of one name have the same index in all descendants, but owners are asked by entity.
        for (entity, owners) in Dictionary(grouping: owners, by: \.evaluatedEntity.index) {
            let description = schema.entities[entity]
            guard let index = description.relationshipIndex(named: name) else { continue }
            let relationship = description.relationships[index]
            if case .column(let column) = relationship.storage {
                let ids = owners.compactMap { owner -> ObjectID? in
                    if case .objectID(let id) = owner.evaluatedColumn(column) { id } else { nil }
                }
                targets[relationship.destination, default: []] += ids
            } else if relationship.storage != .transient {
                targets[relationship.destination, default: []] += readMembers(index, of: owners)
            }
        }
        var seen: Set<ObjectID> = []
        return targets.sorted { $0.key < $1.key }.flatMap { entity, ids in
            objects(ids.filter { seen.insert($0).inserted }, of: entity)
        }
    }

    /// The members of objects of one entity.
    private func readMembers(_ relationship: Int, of owners: [SnapshotObject]) -> [ObjectID] {
        func list(_ owner: SnapshotObject) -> MemberList {
            MemberList(owner: owner.evaluatedID, relationship: relationship)
        }
        let stored = owners.filter(\.isStored)
        let unknown = stored.filter { lists[list($0)] == nil }
        if let first = unknown.first {
            let found = reading(or: []) { () throws(StoreError) in
                try snapshot.members(
                    ofRelationship: relationship, entity: first.evaluatedEntity.index,
                    owners: unknown.map(\.evaluatedID))
            }
            for (owner, ids) in zip(unknown, found) { lists[list(owner)] = ids }
        }
        return stored.flatMap { lists[list($0)] ?? [] }
    }

    /// What rows are sorted by, in the order of the rows; nothing where there is none.
    package func keys(of rows: [Row?], along paths: [SortPath]) throws(StoreError) -> [[Value]] {
        load(rows.compactMap(\.self), along: paths)
        let keys = rows.map { row -> [Value] in
            guard let row else { return [] }
            let object = self.object(of: row)
            return paths.map { $0.key(of: object) }
        }
        try rethrow()
        return keys
    }

    /// Throws what went wrong since it was last asked.
    package func rethrow() throws(StoreError) {
        guard let failure else { return }
        self.failure = nil
        throw failure
    }

    fileprivate func fail(_ error: StoreError) { if failure == nil { failure = error } }

    /// Reads; what goes wrong is kept, and gives the other value.
    private func reading<R>(or other: R, _ body: () throws(StoreError) -> R) -> R {
        do throws(StoreError) {
            return try body()
        } catch {
            fail(error)
            return other
        }
    }

    /// The objects of ids, which are of an entity or its descendants. One that has no row has nothing but nil: a to-one
    /// relationship without a rule for deletions may lead nowhere.
    fileprivate func objects(_ ids: [ObjectID], of entity: Int) -> [SnapshotObject] {
        var seen: Set<ObjectID> = []
        let missing = ids.filter { known[$0] == nil && seen.insert($0).inserted }
        if !missing.isEmpty {
            let rows = reading(or: []) { () throws(StoreError) in try snapshot.rows(missing) }
            for (index, id) in missing.enumerated() {
                let row = index < rows.count ? rows[index] : nil
                known[id] = SnapshotObject(
                    self, id: id, cells: row?.cells, entity: schema.entities[row?.entity ?? entity])
            }
        }
        return ids.compactMap { known[$0] }
    }

    fileprivate func members(_ relationship: Int, of object: SnapshotObject) -> [SnapshotObject] {
        let ids = readMembers(relationship, of: [object])
        return objects(
            ids, of: object.evaluatedEntity.relationships[relationship].destination)
    }
}

/// A stored object.
private final class SnapshotObject: EvaluatedObject {
    // Without a count of references: those who know objects know where they are known, and live as long.
    private unowned let objects: SnapshotObjects
    let evaluatedID: ObjectID
    let evaluatedEntity: SchemaEntity
    /// Its values; nil if there is no row.
    private let cells: RowCells?
    /// Whether there is a row.
    var isStored: Bool { cells != nil }

    init(_ objects: SnapshotObjects, id: ObjectID, cells: RowCells?, entity: SchemaEntity) {
        self.objects = objects
        evaluatedID = id
        evaluatedEntity = entity
        self.cells = cells
    }

    func evaluatedColumn(_ index: Int) -> Value {
        cells?.value(index, of: evaluatedEntity, in: objects.identity) ?? .null
    }

    func evaluatedAttribute(_ index: Int) -> Value {
        let attribute = evaluatedEntity.attributes[index]
        if attribute.description.isTransient {
            objects.fail(StoreError(transient: attribute.description, of: evaluatedEntity))
            return .null
        }
        return attribute.columns.count == 1
            ? evaluatedColumn(attribute.columns.lowerBound) : .null
    }

    func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)? {
        let description = evaluatedEntity.relationships[relationship]
        guard case .column(let column) = description.storage,
            case .objectID(let id) = evaluatedColumn(column)
        else { return nil }
        return objects.objects([id], of: description.destination).first
    }

    func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject] {
        guard cells != nil else { return [] }
        return objects.members(relationship, of: self)
    }
}

// Decides what a save writes: versions, uniqueness, merge policy, references.
//
//   1. Number the new objects; load the stored rows of updated and deleted ones.
//   2. Version check: base against stored. By policy: fail, merge by property, revert, recreate.
//   3. Uniqueness of the final state: every key that arrives is looked up among the rows of the save and in
//      the index; a row that leaves the key in this save is no obstacle. By policy: fail, merge, drop, displace.
//      Merging may bring new keys, so this repeats until nothing is shared. Where a reference that is cleared may make
//      a key, references are cleared first, each time: what is judged is how objects will be stored.
//   4. References: to absorbed objects they lead to the survivor, to deleted ones they are cleared, in rows
//      of the save and in stored ones, which the inverse tables name.
//   5. Pairs are added and removed by the same rules.
//   6. Derived attributes of everything that is written, and of whatever is computed from it; of that, what the save has not
//      met is written.
//   7. Order keys of what comes into lists, and of what moves in them.
//   8. Mandatory properties of everything that is written.
//   9. Redirects of objects that it deletes in favour of others, be it that it is asked to or that a policy decides so. What
//      leads to an object that was folded into another before leads to that one from the beginning.
//
// Invariants: nothing else is written here; failure forgets the planner, and the commit. Keys are compared as bytes.
// Threads: runs within the turn, in one thread.

import CairnModel
package import CairnStore

package struct SavePlanner {
    let catalog: Catalog
    var request: SaveRequest
    let identity: StoreIdentity
    var rows: [WorkingRow] = []
    /// Working rows by tree and number.
    private var indexOfNumber: [UInt64: Int] = [:]
    /// Numbers of new objects by the id they have in the request.
    private(set) var numberOfTemporary: [ObjectID: UInt32] = [:]
    /// Pairs to add and remove, after mapping.
    var pairAdditions: [(entity: Int, source: UInt32, destination: UInt32)] = []
    var pairRemovals: [(entity: Int, number: UInt32)] = []
    /// Order keys of new pairs, by place among the additions.
    var newPairKeys: [Int: [Int64?]] = [:]
    /// Order keys of stored pairs that change.
    var pairKeys: [(entity: Int, number: UInt32, keys: [Int64?])] = []
    /// Lists that came to be otherwise than the request said.
    var reordered: [SaveRequest.List] = []
    private var versionConflicts: [SaveConflict] = []
    /// Objects that are led to others, and such as are there again.
    var redirections: [Redirection] = []
    /// Rows that the overwrite policy deleted.
    var displaced: [Int] = []
    /// Rows that lost their key to another one though somebody may have their ids, and that one.
    var successors: [Int: Int] = [:]
    /// Rows that were merged into one of another entity that has not all of their properties, and the constraint that said so.
    var unlikeMerges: [Int: Int] = [:]
    /// Whether it writes a part of what a batch does: whether mandatory properties are there is asked when all is written then, and
    /// nobody is told of rows.
    var isPartOfBatch = false
    /// Rows besides, which are written already as derived attributes of theirs were computed anew.
    var recomputed: RecomputedRows?

    package init(_ request: SaveRequest, catalog: Catalog, identity: StoreIdentity) {
        self.request = request
        self.catalog = catalog
        self.identity = identity
    }

    /// The policy, as far as the store resolves anything itself.
    var policyKind: MergePolicyKind {
        if case .policy(let kind) = request.resolution { kind } else { .error }
    }

    /// Decides everything. The result is the list of conflicts that stand, empty if the save can go on.
    package mutating func plan(_ builder: inout CommitBuilder) throws(StoreError) -> [SaveConflict]
    {
        try load(&builder)
        if builder.state.redirects != nil { leadLateReferences(builder) }
        try checkVersions(&builder)
        if !versionConflicts.isEmpty {
            // Uniqueness conflicts are listed beside them: a policy sees the whole list.
            return versionConflicts + (try uniquenessConflicts(&builder))
        }
        // Every round ends the life, or the changes, of at least one row, so this ends.
        for _ in 0...rows.count * 2 + 10 {
            let groups = try conflictingGroups(&builder)
            if groups.isEmpty {
                try finish(&builder)
                // What sides of one-to-one relationships agree on may clear more of them.
                if catalog.hasReferenceRules { try refuseLateConflicts(&builder) }
                return []
            }
            if policyKind == .error { return conflicts(of: groups) }
            try resolve(groups, &builder)
        }
        return try uniquenessConflicts(&builder)
    }

    private mutating func uniquenessConflicts(_ builder: inout CommitBuilder) throws(StoreError)
        -> [SaveConflict]
    {
        // Not in one expression: the receiver would be read before the groups have added rows to it.
        let groups = try conflictingGroups(&builder)
        return conflicts(of: groups)
    }

    /// No policy decides between objects that only became equal as what they led to went.
    @inline(never)
    private mutating func refuseLateConflicts(_ builder: inout CommitBuilder) throws(StoreError) {
        let groups = try conflictingGroups(ofReferences: true, &builder)
        if groups.isEmpty { return }
        throw StoreError(
            .constraintConflict,
            "objects would have the same key once the objects they refer to are replaced",
            conflicts: conflicts(of: groups))
    }

    // MARK: 1 Loading

    private func key(tree: Int, number: UInt32) -> UInt64 { UInt64(tree) << 32 | UInt64(number) }

    private mutating func load(_ builder: inout CommitBuilder) throws(StoreError) {
        rows.reserveCapacity(request.inserted.count + request.updated.count + request.deleted.count)
        for object in request.inserted { try loadInserted(object, &builder) }
        for object in request.updated {
            let number = try number(of: object.id, entity: object.entity)
            try claim(object.id, entity: object.entity, number: number)
            let stored = try builder.storedRow(entity: object.entity, number: number)
            var values = stored?.values ?? []
            var assigned = ColumnSet()
            if stored == nil {
                // Deleted meanwhile: its full state may have to be written again.
                values = cells(of: object.base)
            }
            for (column, value) in object.changes {
                values[column] = value
                assigned.insert(column)
            }
            rows.append(
                WorkingRow(
                    kind: .updated, id: object.id, entity: object.entity, number: number,
                    values: values, assigned: assigned, keys: stored?.keys ?? [], stored: stored))
        }
        for object in request.deleted {
            let number = try number(of: object.id, entity: object.entity)
            guard let stored = try builder.storedRow(entity: object.entity, number: number) else {
                continue  // Deleted on both sides: done.
            }
            try claim(object.id, entity: object.entity, number: number)
            rows.append(
                WorkingRow(
                    kind: .deleted, id: object.id, entity: object.entity, number: number,
                    values: stored.values, assigned: ColumnSet(), keys: stored.keys, stored: stored,
                    expectedVersion: isUnchanged(stored, since: object.base, entity: object.entity)
                        ? stored.version : object.version, fate: .deleted))
        }
    }

    private mutating func loadInserted(
        _ object: SaveRequest.Inserted, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let tree = catalog.entities[object.entity].tree
        guard object.values.count == catalog.entities[object.entity].columns.count else {
            throw StoreError(
                .invalidRequest, "a new object needs exactly one value for each column",
                context: .init(entity: catalog.entities[object.entity].name, objectID: object.id))
        }
        let number: UInt32
        if object.id.isTemporary {
            number = try builder.issueNumber(tree: tree)
            numberOfTemporary[object.id] = number
        } else {
            number = try self.number(of: object.id, entity: object.entity)
            guard try builder.isIssuedAndFree(tree: tree, number: number) else {
                throw StoreError(
                    .invalidRequest, "a new object has the id of an object that is or was stored",
                    context: .init(
                        entity: catalog.entities[object.entity].name, objectID: object.id))
            }
        }
        try claim(object.id, entity: object.entity, number: number)
        rows.append(
            WorkingRow(
                kind: .inserted, id: object.id, entity: object.entity, number: number,
                values: object.values, assigned: object.assigned, stored: nil))
    }

    private mutating func claim(_ id: ObjectID, entity: Int, number: UInt32) throws(StoreError) {
        let key = key(tree: catalog.entities[entity].tree, number: number)
        guard indexOfNumber.updateValue(rows.count, forKey: key) == nil else {
            throw StoreError(
                .invalidRequest, "the save contains an object twice",
                context: .init(entity: catalog.entities[entity].name, objectID: id))
        }
    }

    @inline(__always)
    private func number(of id: ObjectID, entity: Int) throws(StoreError) -> UInt32 {
        guard identity.owns(id, entity: entity), let number = UInt32(exactly: id.reference) else {
            throw foreign(id, entity: entity)
        }
        return number
    }

    @inline(never)
    private func foreign(_ id: ObjectID, entity: Int) -> StoreError {
        StoreError(
            .foreignObject, "the object belongs to another store or entity",
            context: .init(entity: catalog.entities[entity].name, objectID: id))
    }

    private func cells(of row: Row) -> [Value] {
        let entity = catalog.schema.entities[row.entity]
        return entity.columns.indices.map { row.cells.value($0, of: entity, in: identity) }
    }

    /// The working row of a number, if the save has met it.
    func workingIndex(tree: Int, number: UInt32) -> Int? {
        indexOfNumber[key(tree: tree, number: number)]
    }

    /// The working row of an id of the request, or of a stored object that the save has met.
    func workingIndex(of id: ObjectID) -> Int? {
        guard let tree = catalog.treeIndex(id: id.hierarchy) else { return nil }
        if id.isTemporary {
            return numberOfTemporary[id].flatMap { indexOfNumber[key(tree: tree, number: $0)] }
        }
        guard id.store == identity.identifier, let number = UInt32(exactly: id.reference) else {
            return nil
        }
        return indexOfNumber[key(tree: tree, number: number)]
    }

    /// The working row of a stored one, loaded if the save has not met it yet; nil if there is none.
    mutating func meet(entity: Int, number: UInt32, _ builder: inout CommitBuilder)
        throws(StoreError) -> Int?
    {
        let tree = catalog.entities[entity].tree
        let key = key(tree: tree, number: number)
        if let known = indexOfNumber[key] { return known }
        guard let row = try storedRow(tree: tree, number: number, &builder) else { return nil }
        indexOfNumber[key] = rows.count
        rows.append(row)
        return rows.count - 1
    }

    /// A stored row as one that the save has met, which it does not remember.
    func storedRow(tree: Int, number: UInt32, _ builder: inout CommitBuilder) throws(StoreError)
        -> WorkingRow?
    {
        guard let concrete = builder.entity(tree: tree, number: number),
            let stored = try builder.storedRow(entity: concrete, number: number)
        else { return nil }
        return WorkingRow(
            kind: .met, id: identity.id(UInt64(number), entity: catalog.schemaEntity(concrete)),
            entity: concrete, number: number, values: stored.values, assigned: ColumnSet(),
            keys: stored.keys, stored: stored)
    }

    // MARK: 2 Versions

    private mutating func checkVersions(_ builder: inout CommitBuilder) throws(StoreError) {
        for (offset, object) in request.updated.enumerated() {
            let index = request.inserted.count + offset
            guard rows[index].stored?.version != object.base.version,
                !isUnchanged(rows[index].stored, since: object.base, entity: object.entity)
            else { continue }
            if policyKind == .error {
                versionConflicts.append(
                    .version(
                        VersionConflict(
                            id: object.id, entity: object.entity,
                            entityName: catalog.entities[object.entity].name, base: object.base,
                            stored: row(of: rows[index]), isDeletion: false)))
                continue
            }
            try merge(index, base: object.base, &builder)
        }
        if policyKind == .error, !request.locked.isEmpty { try checkLocked(&builder) }
        for index in rows.indices where rows[index].kind == .deleted {
            guard let expected = rows[index].expectedVersion, let stored = rows[index].stored,
                stored.version != expected
            else { continue }
            if policyKind == .error {
                versionConflicts.append(
                    .version(
                        VersionConflict(
                            id: rows[index].id, entity: rows[index].entity,
                            entityName: catalog.entities[rows[index].entity].name, base: nil,
                            stored: row(of: rows[index]), isDeletion: true)))
            } else if !keepsOurs(index) {
                rows[index].fate = .live
                rows[index].isUndeleted = true
            }
        }
    }

    /// Whether a row of another version differs from the one that was read in nothing but derived attributes and its place
    /// in lists, which are nobody's change.
    private func isUnchanged(_ stored: StoredRow?, since base: Row?, entity: Int) -> Bool {
        guard let stored, let base,
            !catalog.schema.derivations.entities[entity].isEmpty
                || !catalog.entities[entity].orders.isEmpty
        else { return false }
        return catalog.schema.derivations.isEqualButDerived(
            stored.values, cells(of: base), entity: base.entity)
    }

    /// Objects that the save relies on without changing them.
    @inline(never)
    private mutating func checkLocked(_ builder: inout CommitBuilder) throws(StoreError) {
        // What is gone on both sides is no working row.
        let deleted = Set(request.deleted.map(\.id))
        for object in request.locked where !deleted.contains(object.id) {
            let number = try number(of: object.id, entity: object.entity)
            let tree = catalog.entities[object.entity].tree
            if workingIndex(tree: tree, number: number) != nil { continue }
            let stored = try builder.storedRow(entity: object.entity, number: number)
            guard stored?.version != object.base.version,
                !isUnchanged(stored, since: object.base, entity: object.entity)
            else { continue }
            let now = stored.map { row(of: $0, object.id, entity: object.base.entity) }
            versionConflicts.append(
                .version(
                    VersionConflict(
                        id: object.id, entity: object.entity,
                        entityName: catalog.entities[object.entity].name, base: object.base,
                        stored: now, isDeletion: false)))
        }
    }

    /// Merges an updated object with what somebody else stored meanwhile.
    private mutating func merge(_ index: Int, base: Row, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        guard let stored = rows[index].stored else {
            // Created again under its id with the full state: mandatory values need not be among the changes.
            if keepsOurs(index) { rows[index].isMerged = true } else { rows[index].fate = .deleted }
            return
        }
        rows[index].isMerged = true
        switch policyKind {
        case .rollback: try revert(index, &builder)
        case .declared: try mergeDeclared(index, base: cells(of: base), stored.values)
        case .overwrite:
            let old = cells(of: base)
            for column in stored.values.indices where !rows[index].assigned.contains(column) {
                rows[index].values[column] = old[column]
            }
        case .mergeByPropertyStoreTrump:
            let old = cells(of: base)
            for column in rows[index].assigned where stored.values[column] != old[column] {
                rows[index].values[column] = stored.values[column]
                rows[index].assigned.remove(column)
            }
        case .mergeByPropertyObjectTrump, .error: break
        }
    }

    /// Whether a row that one side has deleted becomes what the save says of it.
    private func keepsOurs(_ index: Int) -> Bool {
        ConflictRules.keepsOurs(
            policyKind, ofDeleted: catalog.schema.entities[rows[index].entity])
    }

    /// Merges an updated object with what somebody else stored meanwhile, as the model's rules say.
    @inline(never)
    private mutating func mergeDeclared(_ index: Int, base: [Value], _ stored: [Value])
        throws(StoreError)
    {
        var ours = base
        for column in rows[index].assigned { ours[column] = rows[index].values[column] }
        let values = try ConflictRules.declaredValues(
            catalog.schema.entities[rows[index].entity], base: base, ours: ours,
            changed: rows[index].assigned, theirs: stored)
        for (column, value) in values.enumerated() {
            // What nobody sets is computed later.
            if value != stored[column] {
                rows[index].assigned.insert(column)
            } else {
                rows[index].assigned.remove(column)
            }
        }
        rows[index].values = values
    }

    /// The stored form of a working row, for a conflict's report.
    func row(of working: WorkingRow) -> Row? {
        guard let stored = working.stored else { return nil }
        return row(
            of: stored,
            identity.id(UInt64(working.number), entity: catalog.schemaEntity(working.entity)),
            entity: working.entity)
    }

    private func row(of stored: StoredRow, _ id: ObjectID, entity: Int) -> Row {
        var builder = RowCellsBuilder(columns: stored.values.count)
        for (column, value) in stored.values.enumerated() { builder.set(column, value: value) }
        return Row(id: id, entity: entity, version: stored.version, cells: builder.finish())
    }
}

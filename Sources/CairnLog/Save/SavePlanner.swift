// Decides what a save writes: versions, uniqueness, merge policy, references.
//
//   1. Number the new objects; load the stored rows of updated and deleted ones.
//   2. Version check: base against stored. By policy: fail, merge by property, revert, recreate.
//   3. Uniqueness of the final state: every new key is looked up among the rows of the save and in the index;
//      a row that gives up the key in this save does not conflict. By policy: fail, merge, drop, displace.
//      Merging may produce new keys, so this repeats until no key is shared. If a cleared reference may
//      produce a key, references are cleared first, each time: what counts is how objects will be stored.
//   4. References: those to absorbed objects refer to the survivor, those to deleted objects are cleared, in
//      rows of the save and in stored ones, which the inverse tables contain.
//   5. Pairs are added and removed by the same rules.
//   6. Derived attributes of all written rows, and of all rows computed from them; of these, the ones that
//      the save has not loaded are written.
//   7. Order keys of members that are added to lists, or moved within them.
//   8. Required properties of all written rows.
//   9. Redirects of objects that are merged into others, by request or by policy. References to an object
//      that was merged before refer to the survivor from the start.
//
// Invariants: nothing else is written here; a failure discards the planner, and the commit. Keys are compared
// as bytes.
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
    /// Numbers of new objects by their id in the request.
    private(set) var numberOfTemporary: [ObjectID: UInt32] = [:]
    /// Pairs to add and remove, after mapping.
    var pairAdditions: [(entity: Int, source: UInt32, destination: UInt32)] = []
    var pairRemovals: [(entity: Int, number: UInt32)] = []
    /// Order keys of new pairs, by position among the additions.
    var newPairKeys: [Int: [Int64?]] = [:]
    /// Order keys of stored pairs that change.
    var pairKeys: [(entity: Int, number: UInt32, keys: [Int64?])] = []
    /// Lists whose final order differs from the requested one.
    var reordered: [SaveRequest.List] = []
    private var versionConflicts: [SaveConflict] = []
    /// Objects that redirect to others, and recreated objects.
    var redirections: [Redirection] = []
    /// Rows that the overwrite policy deleted.
    var displaced: [Int] = []
    /// Rows that lost their key to another row although their ids may be in use, and that other row.
    var successors: [Int: Int] = [:]
    /// Rows merged into a row of another entity that lacks some of their properties, and the constraint that
    /// caused it.
    var unlikeMerges: [Int: Int] = [:]
    /// Whether it writes a part of a batch: required properties are then checked after everything is written,
    /// and no rows are reported.
    var isPartOfBatch = false
    /// Other rows, which are already written because their derived attributes were recomputed.
    var recomputed: RecomputedRows?

    package init(_ request: SaveRequest, catalog: Catalog, identity: StoreIdentity) {
        self.request = request
        self.catalog = catalog
        self.identity = identity
    }

    /// The policy, as far as the store resolves conflicts itself.
    var policyKind: MergePolicyKind {
        if case .policy(let kind) = request.resolution { kind } else { .error }
    }

    /// Decides everything. Returns the list of remaining conflicts, empty if the save can proceed.
    package mutating func plan(_ builder: inout CommitBuilder) throws(StoreError) -> [SaveConflict]
    {
        try load(&builder)
        if builder.state.redirects != nil { leadLateReferences(builder) }
        try checkVersions(&builder)
        if !versionConflicts.isEmpty {
            // Uniqueness conflicts are included: a policy sees the whole list.
            return versionConflicts + (try uniquenessConflicts(&builder))
        }
        // Every round removes at least one row, or drops its changes, so this terminates.
        for _ in 0...rows.count * 2 + 10 {
            let groups = try conflictingGroups(&builder)
            if groups.isEmpty {
                try finish(&builder)
                // The matching of one-to-one sides may clear more references.
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

    /// Throws for objects that only became equal because the targets of their references were deleted: no
    /// policy resolves that.
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
                // Deleted concurrently: its full state may have to be rewritten.
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

    /// Returns the working row of a number, if the save has loaded it.
    func workingIndex(tree: Int, number: UInt32) -> Int? {
        indexOfNumber[key(tree: tree, number: number)]
    }

    /// Returns the working row of an id of the request, or of a stored object that the save has loaded.
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

    /// Returns the working row of a stored one; loads it if necessary; nil if there is none.
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

    /// Returns a stored row in the form of a loaded one, without keeping it.
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

    /// Whether a row of another version only differs from the one that was read in derived attributes and its
    /// position in lists, which are not changes by a user.
    private func isUnchanged(_ stored: StoredRow?, since base: Row?, entity: Int) -> Bool {
        guard let stored, let base,
            !catalog.schema.derivations.entities[entity].isEmpty
                || !catalog.entities[entity].orders.isEmpty
        else { return false }
        return catalog.schema.derivations.isEqualButDerived(
            stored.values, cells(of: base), entity: base.entity)
    }

    /// Checks objects that the save relies on without changing them.
    @inline(never)
    private mutating func checkLocked(_ builder: inout CommitBuilder) throws(StoreError) {
        // An object that is deleted on both sides has no working row.
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

    /// Merges an updated object with concurrently stored changes.
    private mutating func merge(_ index: Int, base: Row, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        guard let stored = rows[index].stored else {
            // Recreated with its id and its full state: required values need not be among the changes.
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

    /// Whether a row that one side has deleted keeps the save's version.
    private func keepsOurs(_ index: Int) -> Bool {
        ConflictRules.keepsOurs(
            policyKind, ofDeleted: catalog.schema.entities[rows[index].entity])
    }

    /// Merges an updated object with concurrently stored changes by the model's rules.
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
            // A column that is not assigned is computed later.
            if value != stored[column] {
                rows[index].assigned.insert(column)
            } else {
                rows[index].assigned.remove(column)
            }
        }
        rows[index].values = values
    }

    /// Returns the stored form of a working row, for a conflict's report.
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

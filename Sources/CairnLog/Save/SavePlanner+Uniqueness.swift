// Finds and resolves what violates uniqueness in the final state of a save.

import CairnModel
import CairnStore

extension SavePlanner {
    /// Rows that would have one key: working rows, in the order stored first, then of creation.
    struct Group {
        let unique: Int
        let members: [Int]
    }

    /// The rows whose final key is shared.
    mutating func conflictingGroups(_ builder: inout CommitBuilder) throws(StoreError) -> [Group] {
        var groups: [Group] = []
        for unique in catalog.uniques.indices {
            try findGroups(unique, &builder, into: &groups)
        }
        return groups
    }

    private mutating func findGroups(
        _ unique: Int, _ builder: inout CommitBuilder, into groups: inout [Group]
    ) throws(StoreError) {
        let columns = catalog.uniques[unique].columns
        let entity = catalog.uniques[unique].entity
        // Hidden entities are kept unique when their pairs are planned.
        guard entity < catalog.schema.entities.count else { return }
        var first: [UInt64: Int] = [:]
        var members: [Int: [Int]] = [:]
        var here = KeyBuffer()
        var there = KeyBuffer()
        var index = 0
        // Rows that the index names are met on the way and join the loop at its end.
        while index < rows.count {
            defer { index += 1 }
            guard rows[index].fate == .live,
                catalog.entities[rows[index].entity].uniques.contains(unique),
                loadKey(of: rows[index].values, columns, into: &here)
            else { continue }
            if arrives(rows[index], columns),
                let number = try builder.find(unique: unique, key: here),
                number != rows[index].number
            {
                _ = try meet(entity: entity, number: number, &builder)
            }
            let hash = here.hash(seed: builder.seed)
            guard let other = first[hash] else {
                first[hash] = index
                continue
            }
            guard loadKey(of: rows[other].values, columns, into: &there), here.equals(there) else {
                // Two keys of one 64-bit hash in one save: compared the slow way.
                try addSlowly(index, unique, columns, to: &members)
                continue
            }
            members[other, default: [other]].append(index)
        }
        for list in members.values.sorted(by: { $0[0] < $1[0] }) {
            groups.append(Group(unique: unique, members: order(list)))
        }
    }

    /// Whether the row's key is new in this save, so that the index has to be asked.
    private func arrives(_ row: WorkingRow, _ columns: [Int]) -> Bool {
        guard let stored = row.stored else { return true }
        return columns.contains { row.values[$0] != stored.values[$0] }
    }

    private mutating func addSlowly(
        _ index: Int, _ unique: Int, _ columns: [Int], to members: inout [Int: [Int]]
    ) throws(StoreError) {
        var here = KeyBuffer()
        var there = KeyBuffer()
        guard loadKey(of: rows[index].values, columns, into: &here) else { return }
        for other in 0..<index where rows[other].fate == .live {
            guard catalog.entities[rows[other].entity].uniques.contains(unique),
                loadKey(of: rows[other].values, columns, into: &there), here.equals(there)
            else { continue }
            members[other, default: [other]].append(index)
            return
        }
    }

    func loadKey(of values: [Value], _ columns: [Int], into key: inout KeyBuffer) -> Bool {
        key.load(values, columns: columns) { number(ofTarget: $0) }
    }

    /// The number of a reference's target, if it is one that the store knows or will know.
    func number(ofTarget id: ObjectID) -> UInt32? {
        if let index = survivor(of: id) { return rows[index].number }
        if id.isTemporary { return numberOfTemporary[id] }
        return UInt32(exactly: id.reference)
    }

    /// Stored rows that keep their key come first, then changed ones, then new ones in their order.
    private func order(_ members: [Int]) -> [Int] {
        func rank(_ index: Int) -> Int {
            switch rows[index].kind {
            case .met: 0
            case .updated, .deleted: 1
            case .inserted: 2
            }
        }
        return members.sorted { (rank($0), $0) < (rank($1), $1) }
    }

    // MARK: Reporting

    /// The conflicts that groups stand for, as Core Data lists them: one among the new objects, and one for
    /// each object of the save against the stored row.
    func conflicts(of groups: [Group], _ builder: inout CommitBuilder) -> [SaveConflict] {
        var result: [SaveConflict] = []
        for group in groups {
            let unique = catalog.uniques[group.unique]
            let values = unique.columns.map { rows[group.members[0]].values[$0] }
            let met = group.members.first { rows[$0].kind == .met }
            let own = group.members.filter { rows[$0].kind != .met }
            func violation(_ stored: Row?, _ objects: [Int]) -> SaveConflict {
                .constraint(
                    ConstraintViolation(
                        entity: unique.entity, constraint: unique.names, values: values,
                        stored: stored,
                        objects: objects.map { rows[$0].id }))
            }
            if own.count > 1 { result.append(violation(nil, own)) }
            if let met, let object = own.first {
                result.append(violation(row(of: rows[met]), [object]))
            }
        }
        return result
    }

    // MARK: Resolving

    /// Applies the policy to one group, member by member against the first that is left.
    mutating func resolve(_ group: Group, _ builder: inout CommitBuilder) throws(StoreError) {
        // New ones are folded into the first of them, then that one meets the row.
        let live = group.members.filter { rows[$0].fate == .live }
        guard live.count > 1 else { return }
        let new = live.filter { rows[$0].kind == .inserted }
        if let survivor = new.first {
            for other in new.dropFirst() { fold(other, into: survivor) }
        }
        let old = live.filter { rows[$0].kind != .inserted }
        if let first = old.first {
            for other in old.dropFirst() where rows[first].fate == .live {
                try updatedMeetsRow(other, row: first, &builder)
            }
            if let survivor = new.first, rows[first].fate == .live {
                try newMeetsRow(survivor, row: first, group, &builder)
            }
        }
    }

    /// Two new objects of one save: the one created first survives, in every policy.
    private mutating func fold(_ loser: Int, into survivor: Int) {
        if request.mergesAssignedOnly
            && (policyKind == .mergeByPropertyObjectTrump || policyKind == .overwrite)
        {
            for column in rows[loser].values.indices where rows[loser].assigned.contains(column) {
                guard shares(column, loser, survivor) else { continue }
                rows[survivor].values[column] = rows[loser].values[column]
                rows[survivor].assigned.insert(column)
                rows[survivor].isMerged = true
            }
        }
        rows[loser].fate = .absorbed(into: survivor)
    }

    /// A new object has the key of a row.
    private mutating func newMeetsRow(
        _ new: Int, row: Int, _ group: Group, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        switch policyKind {
        case .error: break
        case .mergeByPropertyStoreTrump, .rollback:
            rows[new].fate = .absorbed(into: row)
        case .mergeByPropertyObjectTrump:
            // Through another constraint the object may be tied to a different row: no survivor is right.
            for unique in catalog.entities[rows[new].entity].uniques where unique != group.unique {
                var key = KeyBuffer()
                guard loadKey(of: rows[new].values, catalog.uniques[unique].columns, into: &key),
                    let number = try builder.find(unique: unique, key: key),
                    number != rows[row].number,
                    let other = try meet(
                        entity: catalog.uniques[unique].entity, number: number, &builder),
                    rows[other].fate == .live
                else { continue }
                var kept = KeyBuffer()
                guard loadKey(of: rows[other].values, catalog.uniques[unique].columns, into: &kept),
                    key.equals(kept)
                else { continue }
                throw StoreError(
                    .constraintConflict,
                    "a new object has the keys of two different objects, so neither can take its values",
                    context: .init(
                        entity: catalog.entities[rows[new].entity].name, objectID: rows[new].id),
                    conflicts: conflicts(
                        of: [
                            Group(unique: group.unique, members: [row, new]),
                            Group(unique: unique, members: [other, new]),
                        ], &builder))
            }
            take(from: new, into: row, onlyChanged: false)
            rows[new].fate = .absorbed(into: row)
        case .overwrite:
            rows[row].fate = .deleted
            displaced.append(row)
        }
    }

    /// An updated object got the key of another row.
    private mutating func updatedMeetsRow(_ updated: Int, row: Int, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        switch policyKind {
        case .error: break
        case .mergeByPropertyStoreTrump, .rollback:
            guard let stored = rows[updated].stored else { return }
            rows[updated].values = stored.values
            rows[updated].assigned = ColumnSet()
            rows[updated].isReverted = true
        case .mergeByPropertyObjectTrump:
            take(from: updated, into: row, onlyChanged: true)
            rows[updated].fate = .absorbed(into: row)
        case .overwrite:
            rows[row].fate = .deleted
            displaced.append(row)
        }
    }

    /// Whether a column is the same property in two rows, which may be of different entities.
    private func shares(_ column: Int, _ one: Int, _ other: Int) -> Bool {
        let left = catalog.entities[rows[one].entity].columns
        let right = catalog.entities[rows[other].entity].columns
        return column < left.count && column < right.count
            && left[column].propertyID == right[column].propertyID
    }

    /// Gives a row the values of an object that is merged into it.
    private mutating func take(from object: Int, into row: Int, onlyChanged: Bool) {
        let entity = catalog.entities[rows[row].entity]
        for column in rows[object].values.indices where shares(column, object, row) {
            let isReference = entity.columns[column].target != nil
            // A relationship that nobody touched on the new object keeps what the row has.
            if isReference || onlyChanged || request.mergesAssignedOnly {
                guard rows[object].assigned.contains(column) else { continue }
            }
            if rows[row].values[column] != rows[object].values[column] {
                rows[row].values[column] = rows[object].values[column]
                rows[row].assigned.insert(column)
                rows[row].isMerged = true
            }
        }
    }
}

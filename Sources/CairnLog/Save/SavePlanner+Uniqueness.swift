// Finds and resolves violations of uniqueness constraints in the final state of a save.

import CairnModel
import CairnStore

extension SavePlanner {
    /// Rows that would have the same key: working rows, stored ones first, then in the order of creation.
    struct Group {
        let unique: Int
        let members: [Int]
    }

    /// Returns the rows that share their final key.
    ///
    /// - Parameter ofReferences: only checks constraints under which a cleared reference produces a key.
    mutating func conflictingGroups(ofReferences: Bool = false, _ builder: inout CommitBuilder)
        throws(StoreError) -> [Group]
    {
        var groups: [Group] = []
        if catalog.hasReferenceRules, !ofReferences { try settleReferences(&builder) }
        for unique in catalog.uniques.indices
        where !ofReferences || catalog.uniques[unique].form.watchesReferences {
            try findGroups(unique, &builder, into: &groups)
        }
        return groups
    }

    private mutating func findGroups(
        _ unique: Int, _ builder: inout CommitBuilder, into groups: inout [Group]
    ) throws(StoreError) {
        let form = catalog.uniques[unique].form
        let columns = form.columns
        let entity = catalog.uniques[unique].entity
        // Pairs of hidden entities are made unique when they are planned.
        guard entity < catalog.schema.entities.count else { return }
        let hasReferences = columns.contains { catalog.entities[entity].columns[$0].target != nil }
        var first: [UInt64: Int] = [:]
        var members: [Int: [Int]] = [:]
        var here = KeyBuffer()
        var there = KeyBuffer()
        var index = 0
        // Rows found in the index are loaded on the way and appended to the rows of this loop.
        while index < rows.count {
            defer { index += 1 }
            guard rows[index].fate == .live,
                catalog.entities[rows[index].entity].uniques.contains(unique),
                loadKey(of: index, form, hasReferences, into: &here)
            else { continue }
            if arrives(index, form.watched),
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
            guard loadKey(of: other, form, hasReferences, into: &there), here.equals(there)
            else {
                // Two keys with the same 64-bit hash in one save: compared the slow way.
                try addSlowly(index, unique, form, to: &members)
                continue
            }
            members[other, default: [other]].append(index)
        }
        for list in members.values.sorted(by: { $0[0] < $1[0] }) {
            groups.append(Group(unique: unique, members: order(list, form)))
        }
    }

    /// Whether the row's key is new in this save, so that the index must be searched.
    @inline(__always)
    private mutating func arrives(_ index: Int, _ columns: [Int]) -> Bool {
        for column in columns {
            guard let stored = rows[index].stored else { return true }
            if rows[index].values[column] != stored.values[column] { return true }
        }
        return false
    }

    /// Loads the key of a working row. If no part is a reference, references are not resolved, which would
    /// copy the planner for each row.
    @inline(__always)
    private mutating func loadKey(
        of index: Int, _ form: KeyForm, _ hasReferences: Bool, into key: inout KeyBuffer
    ) -> Bool {
        hasReferences
            ? loadKey(of: rows[index].values, form, into: &key)
            : key.load(rows[index].values, form, number: { $0.number })
    }

    private mutating func addSlowly(
        _ index: Int, _ unique: Int, _ form: KeyForm, to members: inout [Int: [Int]]
    ) throws(StoreError) {
        var here = KeyBuffer()
        var there = KeyBuffer()
        guard loadKey(of: rows[index].values, form, into: &here) else { return }
        for other in 0..<index where rows[other].fate == .live {
            guard catalog.entities[rows[other].entity].uniques.contains(unique),
                loadKey(of: rows[other].values, form, into: &there), here.equals(there)
            else { continue }
            members[other, default: [other]].append(index)
            return
        }
    }

    func loadKey(of values: [Value], _ form: KeyForm, into key: inout KeyBuffer) -> Bool {
        key.load(values, form) { number(ofTarget: $0) }
    }

    /// Returns the number of a reference's target, if the store knows it or will know it.
    func number(ofTarget id: ObjectID) -> UInt32? {
        if let index = survivor(of: id) { return rows[index].number }
        if id.isTemporary { return numberOfTemporary[id] }
        return UInt32(exactly: id.reference)
    }

    /// Returns the members in order: rows that had the key before, then rows changed to it, then new rows in
    /// their order.
    private func order(_ members: [Int], _ form: KeyForm) -> [Int] {
        func rank(_ index: Int) -> Int {
            guard let stored = rows[index].stored, rows[index].kind != .inserted else { return 2 }
            if form.watched.allSatisfy({ stored.values[$0] == rows[index].values[$0] }) { return 0 }
            // Other values may produce the same key if the constraint ignores case.
            return form.rule != nil && hadKey(index, stored, form) ? 0 : 1
        }
        return members.sorted { (rank($0), $0) < (rank($1), $1) }
    }

    /// Whether a row is already stored with its key.
    private func hadKey(_ index: Int, _ stored: StoredRow, _ form: KeyForm) -> Bool {
        var before = KeyBuffer()
        var now = KeyBuffer()
        return before.load(stored.values, form, number: { $0.number })
            && loadKey(of: rows[index].values, form, into: &now) && now.equals(before)
    }

    // MARK: Reporting

    /// Returns the conflicts of groups, as Core Data lists them: those among the objects of the save, then
    /// one for each key that a stored row has.
    func conflicts(of groups: [Group]) -> [SaveConflict] {
        var among: [SaveConflict] = []
        var against: [SaveConflict] = []
        for group in groups {
            let unique = catalog.uniques[group.unique]
            let values = unique.columns.map { asNamed(rows[group.members[0]].values[$0]) }
            let met = group.members.first { rows[$0].kind == .met }
            let own = group.members.filter { rows[$0].kind != .met }
            func violation(_ stored: Row?, _ objects: [Int]) -> SaveConflict {
                .constraint(
                    ConstraintViolation(
                        entity: unique.entity, entityName: catalog.entities[unique.entity].name,
                        constraint: unique.names, values: values, stored: stored,
                        objects: objects.map { rows[$0].id },
                        options: unique.form.rule?.rule))
            }
            if own.count > 1 { among.append(violation(nil, own)) }
            if let met, let object = own.first {
                against.append(violation(row(of: rows[met]), [object]))
            } else if own.isEmpty {
                // The save contains none of them.
                among.append(violation(nil, group.members))
            }
        }
        return among + against
    }

    /// Returns a value in which a new object has its id from the request.
    private func asNamed(_ value: Value) -> Value {
        guard case .objectID(let id) = value, let index = workingIndex(of: id),
            rows[index].kind == .inserted
        else { return value }
        return .objectID(rows[index].id)
    }

    // MARK: Resolving

    /// Lets the policy proceed: first new objects are merged into each other, then stored rows are
    /// considered.
    mutating func resolve(_ groups: [Group], _ builder: inout CommitBuilder) throws(StoreError) {
        var hasFolded = false
        for group in groups {
            let new = group.members.filter { rows[$0].kind == .inserted && rows[$0].fate == .live }
            guard let survivor = new.first else { continue }
            for other in new.dropFirst() {
                try fold(other, into: survivor, group.unique, &builder)
                hasFolded = true
            }
        }
        if hasFolded { return }
        // A save may have as many groups as objects: finding the groups of one object must not search all of
        // them.
        var groupsOfRow: [Int: [Group]] = [:]
        if policyKind == .mergeByPropertyObjectTrump || policyKind == .declared {
            for group in groups {
                for member in group.members { groupsOfRow[member, default: []].append(group) }
            }
        }
        for group in groups {
            // The first live member has the key; later members that still share it conflict with that one.
            var first = 0
            for position in group.members.indices.dropFirst() {
                while first < position, rows[group.members[first]].fate != .live { first += 1 }
                let (row, other) = (group.members[first], group.members[position])
                guard first < position, rows[other].fate == .live,
                    sharesKey(row, other, group.unique)
                else { continue }
                try step(row, other, group.unique, groupsOfRow[other] ?? [], &builder)
            }
        }
    }

    private func sharesKey(_ one: Int, _ other: Int, _ unique: Int) -> Bool {
        let form = catalog.uniques[unique].form
        var left = KeyBuffer()
        var right = KeyBuffer()
        return loadKey(of: rows[one].values, form, into: &left)
            && loadKey(of: rows[other].values, form, into: &right) && left.equals(right)
    }

    /// Resolves the conflict of two rows with one key: one of them is merged into the other, reverted, or
    /// deleted. `groups` are those of the other row, which an updating policy needs.
    private mutating func step(
        _ row: Int, _ other: Int, _ unique: Int, _ groups: [Group], _ builder: inout CommitBuilder
    ) throws(StoreError) {
        switch ConflictRules.objectMeetsRow(
            policyKind, isNew: rows[other].kind == .inserted, setOnly: request.mergesAssignedOnly)
        {
        case .fail: preconditionFailure("the error policy resolves nothing")
        case .merge(let gift):
            if gift != .nothing { try refuseSeveralRows(other, groups) }
            try refuseLoss(of: other, in: row, unique)
            switch gift {
            case .nothing: break
            case .everything, .edits:
                try take(from: other, into: row, isWhole: gift == .everything, &builder)
            case .declared: try takeDeclared(from: other, into: row, &builder)
            }
            absorb(other, into: row)
        case .revert: try revert(other, &builder)
        case .displace:
            rows[row].fate = .deleted
            displaced.append(row)
            successors[row] = other
        }
    }

    /// Throws if an object conflicts with two other rows in its groups: it cannot become both.
    private func refuseSeveralRows(_ object: Int, _ groups: [Group]) throws(StoreError) {
        let against = groups.filter { group in
            guard let first = group.members.first(where: { rows[$0].fate == .live }) else {
                return false
            }
            return first != object && sharesKey(first, object, group.unique)
        }
        guard Set(against.map { $0.members.first { rows[$0].fate == .live } }).count > 1 else {
            return
        }
        throw StoreError(
            .constraintConflict,
            "an object has the keys of two other objects, so it cannot be merged into either",
            context: .init(
                entity: catalog.entities[rows[object].entity].name, objectID: rows[object].id),
            conflicts: conflicts(of: against))
    }

    /// Drops the changes of an updated object.
    mutating func revert(_ index: Int, _ builder: inout CommitBuilder) throws(StoreError) {
        guard let stored = rows[index].stored else { return }
        try loosen(index, &builder)
        rows[index].values = stored.values
        rows[index].assigned = ColumnSet()
        rows[index].isReverted = true
    }

    /// Merges two new objects of one save: the one created first survives, with every policy.
    private mutating func fold(
        _ loser: Int, into survivor: Int, _ unique: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        try refuseLoss(of: loser, in: survivor, unique)
        let gift = ConflictRules.newObjectsMeet(policyKind, setOnly: request.mergesAssignedOnly)
        if gift == .declared {
            try takeDeclared(from: loser, into: survivor, &builder)
        } else if gift == .edits {
            for column in rows[loser].values.indices where rows[loser].assigned.contains(column) {
                guard shares(column, loser, survivor) else { continue }
                rows[survivor].values[column] = rows[loser].values[column]
                rows[survivor].assigned.insert(column)
                rows[survivor].isMerged = true
            }
        }
        absorb(loser, into: survivor)
    }

    /// Merges a row into another one. If its id may be in use, the id redirects to the survivor from this
    /// save on.
    private mutating func absorb(_ loser: Int, into survivor: Int) {
        rows[loser].fate = .absorbed(into: survivor)
        if rows[loser].stored != nil || !rows[loser].id.isTemporary {
            successors[loser] = survivor
        }
    }

    /// Whether a column is the same property in two rows, which may belong to different entities.
    private func shares(_ column: Int, _ one: Int, _ other: Int) -> Bool {
        let left = catalog.entities[rows[one].entity].columns
        let right = catalog.entities[rows[other].entity].columns
        return column < left.count && column < right.count
            && left[column].propertyID == right[column].propertyID
    }

    /// Copies the values of an object that is merged into a row: all attributes and the references that were
    /// set, or only what was set.
    private mutating func take(
        from object: Int, into row: Int, isWhole: Bool, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let columns = catalog.entities[rows[row].entity].columns
        for column in rows[object].values.indices where shares(column, object, row) {
            let isReference = columns[column].target != nil
            guard rows[object].assigned.contains(column) || (isWhole && !isReference) else {
                continue
            }
            let value = rows[object].values[column]
            guard rows[row].values[column] != value else { continue }
            if case .objectID(let target) = value, try !isAlive(target, column, row, &builder) {
                continue  // never to a dead object
            }
            try releasePartner(of: row, column, &builder)
            rows[row].values[column] = value
            rows[row].assigned.insert(column)
            rows[row].isMerged = true
        }
    }

    /// Sets a row to the values that the model's rules derive from its own and those of an object that is
    /// merged into it.
    @inline(never)
    private mutating func takeDeclared(
        from object: Int, into row: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let entity = catalog.schema.entities[rows[row].entity]
        var given = [Value](repeating: .null, count: entity.columns.count)
        var assigned = ColumnSet()
        var counted = ColumnSet()
        let isStored = rows[object].kind != .inserted
        for column in entity.columns.indices where shares(column, object, row) {
            given[column] = rows[object].values[column]
            let isSet = rows[object].assigned.contains(column)
            if isSet { assigned.insert(column) }
            if isSet || isStored { counted.insert(column) }
        }
        let values = try ConflictRules.declaredValues(
            entity, given: given, assigned: assigned, counted: counted,
            kept: rows[row].values,
            keptAssigned: rows[row].kind == .inserted ? rows[row].assigned : nil)
        for (column, value) in values.enumerated() where rows[row].values[column] != value {
            if case .objectID(let target) = value, try !isAlive(target, column, row, &builder) {
                continue  // never to a dead object
            }
            try releasePartner(of: row, column, &builder)
            rows[row].values[column] = value
            rows[row].assigned.insert(column)
            rows[row].isMerged = true
        }
    }
}

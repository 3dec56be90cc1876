// Makes references refer to objects that exist after the save.

import CairnModel
import CairnStore

extension SavePlanner {
    /// Returns the working row for an id, following absorptions; nil if the save does not contain the id.
    func survivor(of id: ObjectID) -> Int? {
        guard var index = workingIndex(of: id) else { return nil }
        while case .absorbed(let next) = rows[index].fate { index = next }
        return index
    }

    /// Steps 4 to 9: references, pairs, derived attributes, order keys, required properties, redirects.
    mutating func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        try mapOwnReferences(&builder)
        try clearIncoming(&builder)
        try agreeOnOneToOne(&builder)
        try planPairs(&builder)
        if !catalog.schema.derivations.isEmpty {
            try derive(StaleDerivations(), isTold: !isPartOfBatch, &builder)
        }
        if catalog.schema.hasOrder { try planOrder(&builder) }
        if !isPartOfBatch, !request.leavesMandatoryOpen { try checkMandatory() }
        try planRedirects(builder)
    }

    /// Clears references to deleted rows, and maps those to absorbed rows, as far as these are known. Later
    /// rounds do not restore such rows, so none of this has to be undone.
    @inline(never)
    mutating func settleReferences(_ builder: inout CommitBuilder) throws(StoreError) {
        try mapOwnReferences(&builder)
        try clearIncoming(&builder)
    }

    // MARK: Own references

    /// Maps references of the rows of the save: temporary ids become permanent, absorbed targets become
    /// survivors, and targets that are deleted, or that the relationship cannot refer to, become nil.
    private mutating func mapOwnReferences(_ builder: inout CommitBuilder) throws(StoreError) {
        for index in rows.indices where rows[index].fate == .live {
            for reference in catalog.entities[rows[index].entity].references {
                let column = catalog.references[reference].column
                guard case .objectID(let id) = rows[index].values[column] else { continue }
                rows[index].values[column] = try mapped(id, row: index, column, &builder)
            }
        }
    }

    private func mapped(
        _ id: ObjectID, row: Int, _ column: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Value {
        if let index = survivor(of: id) {
            guard rows[index].fate == .live else {
                // With delete rule no action, the row keeps its reference to the deleted object, if it had it
                // before.
                let isKept =
                    rows[row].stored?.values[column] == .objectID(id)
                    && ruleOfColumn(column, rows[row].entity) == .noAction
                    && rows[index].kind == .deleted
                return isKept ? .objectID(id) : .null
            }
            guard isDestination(rows[index].entity, ofColumn: column, rows[row].entity) else {
                throw lostReference(to: workingIndex(of: id) ?? index, row: row, column)
            }
            return .objectID(permanentID(of: index))
        }
        guard !id.isTemporary, id.store == identity.identifier,
            let tree = catalog.entities[rows[row].entity].columns[column].target,
            id.hierarchy == catalog.trees[tree].id, let number = UInt32(exactly: id.reference)
        else { throw wrongTarget(row, column) }
        guard let entity = builder.entity(tree: tree, number: number) else {
            // Dangling before: unchanged. Deleted concurrently by another writer: cleared.
            return rows[row].stored?.values[column] == .objectID(id) ? .objectID(id) : .null
        }
        guard isDestination(entity, ofColumn: column, rows[row].entity) else {
            throw wrongTarget(row, column)
        }
        return .objectID(id)
    }

    /// Returns the error of a row's reference that cannot refer to its target, or to the object that the
    /// target was merged into.
    private func lostReference(to target: Int, row: Int, _ column: Int) -> StoreError {
        let entity = catalog.entities[rows[row].entity]
        return lostReference(to: target, entity: entity.name, key: entity.columns[column].name)
            ?? wrongTarget(row, column)
    }

    private func wrongTarget(_ row: Int, _ column: Int) -> StoreError {
        let entity = catalog.entities[rows[row].entity]
        return StoreError(
            .foreignObject, "the target of the relationship belongs to another store or entity",
            context: .init(
                entity: entity.name, key: entity.columns[column].name, objectID: rows[row].id))
    }

    /// Returns the relationship that is stored in a column of an entity.
    private func relationship(_ column: Int, _ entity: Int) -> SchemaRelationship? {
        guard entity < catalog.schema.entities.count else { return nil }
        let owner = catalog.schema.entities[entity]
        return owner.columns[column].relationship.map { owner.relationships[$0] }
    }

    func isDestination(_ entity: Int, ofColumn column: Int, _ owner: Int) -> Bool {
        relationship(column, owner).map {
            catalog.schema.entities[$0.destination].family.contains(entity)
        } ?? true
    }

    private func ruleOfColumn(_ column: Int, _ entity: Int) -> DeleteRule? {
        catalog.entities[entity].references
            .first { catalog.references[$0].column == column }
            .map { catalog.references[$0].rule }
    }

    /// Whether a reference's target will exist after the save.
    func isAlive(_ id: ObjectID, _ column: Int, _ row: Int, _ builder: inout CommitBuilder)
        throws(StoreError) -> Bool
    {
        if let index = survivor(of: id) { return rows[index].fate == .live }
        guard let tree = catalog.entities[rows[row].entity].columns[column].target,
            let number = UInt32(exactly: id.reference)
        else { return false }
        if id.isTemporary { return false }
        return try builder.hasRow(tree: tree, number)
    }

    // MARK: One-to-one

    /// Returns the column of the other side, if both sides of a relationship are to-one.
    func backColumn(of column: Int, _ entity: Int) -> Int? {
        guard let relationship = relationship(column, entity), let inverse = relationship.inverse,
            case .column(let back) = catalog.schema.entities[relationship.destination]
                .relationships[inverse].storage
        else { return nil }
        return back
    }

    /// Returns the working row that a reference refers to; loads it if it is only stored.
    private mutating func target(
        of row: Int, _ column: Int, value: Value, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Int? {
        guard case .objectID(let id) = value else { return nil }
        if let index = survivor(of: id) { return index }
        guard let tree = catalog.entities[rows[row].entity].columns[column].target,
            !id.isTemporary, let number = UInt32(exactly: id.reference)
        else { return nil }
        return try meet(entity: catalog.trees[tree].root, number: number, &builder)
    }

    private func leads(_ row: Int, _ column: Int, to other: Int) -> Bool {
        guard case .objectID(let id) = rows[row].values[column] else { return false }
        return survivor(of: id) == other
    }

    /// Clears the reference of a one-to-one partner, because the row gets another partner.
    mutating func releasePartner(of row: Int, _ column: Int, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        guard let back = backColumn(of: column, rows[row].entity),
            let partner = try target(of: row, column, value: rows[row].values[column], &builder),
            leads(partner, back, to: row)
        else { return }
        rows[partner].values[back] = .null
        rows[partner].isMerged = true
    }

    /// Clears the references that the dropped changes of a row had caused in its partners.
    mutating func loosen(_ row: Int, _ builder: inout CommitBuilder) throws(StoreError) {
        for column in rows[row].assigned {
            guard let back = backColumn(of: column, rows[row].entity),
                rows[row].stored?.values[column] != rows[row].values[column],
                let partner = try target(
                    of: row, column, value: rows[row].values[column], &builder),
                leads(partner, back, to: row)
            else { continue }
            rows[partner].values[back] = .null
            rows[partner].isMerged = true
        }
    }

    /// If A refers to B but B does not refer to A, then B is set to A if it was nil; otherwise A is cleared.
    private mutating func agreeOnOneToOne(_ builder: inout CommitBuilder) throws(StoreError) {
        let count = rows.count
        var concerned: Set<Int> = []
        for index in 0..<count {
            let entity = catalog.entities[rows[index].entity]
            for reference in entity.references {
                let column = catalog.references[reference].column
                guard let back = backColumn(of: column, rows[index].entity) else { continue }
                if rows[index].fate == .live { concerned.insert(index) }
                if let stored = rows[index].stored,
                    let old = try target(of: index, column, value: stored.values[column], &builder)
                {
                    concerned.insert(old)
                }
                if let new = try target(
                    of: index, column, value: rows[index].values[column], &builder)
                {
                    concerned.insert(new)
                }
                try meetSources(of: index, column, back, &concerned, &builder)
            }
        }
        for index in concerned.sorted(by: { (rows[$0].number, $0) < (rows[$1].number, $1) })
        where rows[index].fate == .live {
            for reference in catalog.entities[rows[index].entity].references {
                try agree(index, catalog.references[reference].column, &builder)
            }
        }
    }

    /// Loads the stored rows that refer to a row through the other side of a one-to-one relationship.
    private mutating func meetSources(
        of index: Int, _ column: Int, _ back: Int, _ concerned: inout Set<Int>,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard rows[index].fate == .live, rows[index].stored != nil,
            let destination = relationship(column, rows[index].entity)?.destination
        else { return }
        var sources: [UInt32] = []
        for reference in catalog.entities[destination].references
        where catalog.references[reference].column == back {
            builder.sources(reference: reference, target: rows[index].number, into: &sources)
        }
        for source in sources {
            if let other = try meet(entity: destination, number: source, &builder) {
                concerned.insert(other)
            }
        }
    }

    private mutating func agree(_ index: Int, _ column: Int, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        guard let back = backColumn(of: column, rows[index].entity),
            let other = try target(of: index, column, value: rows[index].values[column], &builder),
            rows[other].fate == .live
        else { return }
        if rows[other].values[back].isNull {
            rows[other].values[back] = .objectID(permanentID(of: index))
            rows[other].isMerged = true
        } else if !leads(other, back, to: index) {
            rows[index].values[column] = .null
            rows[index].isMerged = true
        }
    }

    // MARK: Incoming references

    /// Returns the id under which a working row is, or will be, stored.
    func permanentID(of index: Int) -> ObjectID {
        identity.id(UInt64(rows[index].number), entity: catalog.schemaEntity(rows[index].entity))
    }

    /// Stored rows that refer to an object that is removed: redirected to its survivor, or cleared.
    private mutating func clearIncoming(_ builder: inout CommitBuilder) throws(StoreError) {
        var sources: [UInt32] = []
        var index = 0
        while index < rows.count {
            defer { index += 1 }
            guard rows[index].fate != .live, rows[index].stored != nil else { continue }
            let tree = catalog.entities[rows[index].entity].tree
            let replacement: Value
            if case .absorbed = rows[index].fate, let survivor = survivor(of: rows[index].id),
                rows[survivor].fate == .live
            {
                replacement = .objectID(permanentID(of: survivor))
            } else {
                replacement = .null
            }
            for (position, reference) in catalog.references.enumerated()
            where reference.target == tree {
                guard reference.entity < catalog.schema.entities.count else { continue }
                if replacement.isNull && reference.rule == .noAction { continue }
                sources.removeAll(keepingCapacity: true)
                builder.sources(reference: position, target: rows[index].number, into: &sources)
                for source in sources {
                    guard let other = try meet(entity: reference.entity, number: source, &builder),
                        rows[other].fate == .live,
                        case .objectID(let id) = rows[other].values[reference.column],
                        id.reference == UInt64(rows[index].number)
                    else { continue }
                    if case .objectID = replacement, let survivor = survivor(of: rows[index].id),
                        !isDestination(
                            rows[survivor].entity, ofColumn: reference.column, rows[other].entity)
                    {
                        throw lostReference(to: index, row: other, reference.column)
                    }
                    rows[other].values[reference.column] = replacement
                    rows[other].assigned.insert(reference.column)
                    rows[other].isMerged = true
                }
            }
        }
    }

    // MARK: Pairs

    private mutating func planPairs(_ builder: inout CommitBuilder) throws(StoreError) {
        var plan = PairPlan()
        for change in request.pairChanges where !change.isAddition {
            guard let pair = try pairKey(change, mapsSurvivors: false, &builder) else { continue }
            try remove(pair, &plan, &builder)
        }
        for change in request.pairChanges where change.isAddition {
            guard let pair = try pairKey(change, mapsSurvivors: true, &builder) else { continue }
            try add(pair, &plan, &builder)
        }
        try movePairs(&plan, &builder)
        pairAdditions = plan.additions.map { ($0.entity, $0.source, $0.destination) }
        pairRemovals = plan.removals
    }

    private struct PairPlan {
        var additions: [PairKey] = []
        var added: Set<PairKey> = []
        var removals: [(entity: Int, number: UInt32)] = []
        var removed: Set<PairKey> = []
    }

    private struct PairKey: Hashable {
        let entity: Int
        let source: UInt32
        let destination: UInt32

        var mirrored: PairKey {
            PairKey(entity: entity, source: destination, destination: source)
        }
    }

    /// Returns the pairs of a hidden entity.
    private func pairs(_ entity: Int) -> SchemaPairs {
        catalog.schema.pairs[entity - catalog.schema.entities.count]
    }

    /// Whether the relationship is its own inverse, so that a pair has no direction.
    func isSymmetric(_ entity: Int) -> Bool {
        pairs(entity).isSymmetric(catalog.schema.entities)
    }

    private func forms(of pair: PairKey) -> [PairKey] {
        isSymmetric(pair.entity) && pair.source != pair.destination
            ? [pair, pair.mirrored] : [pair]
    }

    private func remove(
        _ pair: PairKey, _ plan: inout PairPlan, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        for form in forms(of: pair) {
            guard
                let number = try builder.findPair(
                    entity: form.entity, source: form.source, destination: form.destination),
                plan.removed.insert(form).inserted
            else { continue }
            plan.removals.append((form.entity, number))
        }
    }

    private func add(
        _ pair: PairKey, _ plan: inout PairPlan, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        for form in forms(of: pair) {
            if plan.added.contains(form) { return }
            if !plan.removed.contains(form),
                try builder.findPair(
                    entity: form.entity, source: form.source, destination: form.destination) != nil
            {
                return
            }
        }
        plan.added.insert(pair)
        plan.additions.append(pair)
    }

    /// Moves pairs of removed objects to the survivor, if it can have them; deletes them otherwise.
    private func movePairs(_ plan: inout PairPlan, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        var numbers: [UInt32] = []
        for index in rows.indices where rows[index].fate != .live && rows[index].stored != nil {
            let tree = catalog.entities[rows[index].entity].tree
            for (position, reference) in catalog.references.enumerated()
            where reference.target == tree && reference.entity >= catalog.schema.entities.count {
                numbers.removeAll(keepingCapacity: true)
                builder.sources(reference: position, target: rows[index].number, into: &numbers)
                for number in numbers {
                    let ends = try builder.pair(entity: reference.entity, number: number)
                    let old = PairKey(
                        entity: reference.entity, source: ends.0, destination: ends.1)
                    guard plan.removed.insert(old).inserted else { continue }
                    plan.removals.append((reference.entity, number))
                    if let pair = try mapped(old, &builder) { try add(pair, &plan, &builder) }
                }
            }
        }
    }

    private func pairKey(
        _ change: SaveRequest.PairChange, mapsSurvivors: Bool, _ builder: inout CommitBuilder
    ) throws(StoreError) -> PairKey? {
        let entity = catalog.entityIndex(ofPairs: change.pairs)
        guard let one = try number(of: change.source, column: 0, entity),
            let other = try number(of: change.destination, column: 1, entity)
        else { return nil }
        let pair = PairKey(entity: entity, source: one, destination: other)
        return mapsSurvivors ? try mapped(pair, &builder) : pair
    }

    /// Returns a pair between the objects that its ends refer to after the save; nil if one of them does not
    /// exist.
    private func mapped(_ pair: PairKey, _ builder: inout CommitBuilder) throws(StoreError)
        -> PairKey?
    {
        let source = end(number: pair.source, column: 0, pair.entity, &builder)
        let destination = end(number: pair.destination, column: 1, pair.entity, &builder)
        if let source, let destination {
            return PairKey(entity: pair.entity, source: source, destination: destination)
        }
        // A deleted object's pairs are deleted with it, but not those of an object that was merged into
        // another.
        let lostSource = source == nil ? lostEnd(pair.source, column: 0, pair.entity) : nil
        let lostDestination =
            destination == nil ? lostEnd(pair.destination, column: 1, pair.entity) : nil
        guard let target = lostDestination ?? lostSource,
            source != nil || lostSource != nil, destination != nil || lostDestination != nil
        else { return nil }
        let pairs = pairs(pair.entity)
        let owner = catalog.schema.entities[pairs.source]
        let lost = lostReference(
            to: target, entity: owner.name,
            key: owner.relationships[pairs.sourceRelationship].description.name)
        if let lost { throw lost }
        return nil
    }

    /// Returns the working row of a pair's end that was merged into an object which cannot have the pair; nil
    /// if there is none.
    private func lostEnd(_ number: UInt32, column: Int, _ entity: Int) -> Int? {
        guard let tree = catalog.entities[entity].columns[column].target,
            let target = workingIndex(tree: tree, number: number)
        else { return nil }
        var index = target
        while case .absorbed(let next) = rows[index].fate { index = next }
        return index != target && rows[index].fate == .live ? target : nil
    }

    /// Returns the number of an end of a pair, as the request names it.
    private func number(of id: ObjectID, column: Int, _ entity: Int) throws(StoreError) -> UInt32? {
        if id.isTemporary {
            if let number = numberOfTemporary[id] { return number }
        } else if let tree = catalog.entities[entity].columns[column].target,
            id.store == identity.identifier, id.hierarchy == catalog.trees[tree].id
        {
            return UInt32(exactly: id.reference)
        }
        throw StoreError(
            .foreignObject, "a relationship refers to an object of another store or entity",
            context: .init(entity: catalog.entities[entity].name, objectID: id))
    }

    /// Returns the object that an end refers to after the save; nil if none can be there.
    private func end(number: UInt32, column: Int, _ entity: Int, _ builder: inout CommitBuilder)
        -> UInt32?
    {
        guard let tree = catalog.entities[entity].columns[column].target else { return nil }
        let side = column == 0 ? pairs(entity).source : pairs(entity).destination
        let family = catalog.schema.entities[side].family
        if var index = workingIndex(tree: tree, number: number) {
            while case .absorbed(let next) = rows[index].fate { index = next }
            guard rows[index].fate == .live, family.contains(rows[index].entity) else { return nil }
            return rows[index].number
        }
        guard let concrete = builder.entity(tree: tree, number: number) else {
            // It was concurrently merged into another object.
            return builder.state.redirected(number, tree: tree).flatMap {
                end(number: $0, column: column, entity, &builder)
            }
        }
        return family.contains(concrete) ? number : nil
    }

    // MARK: Mandatory

    private func checkMandatory() throws(StoreError) {
        var failures: [StoreError] = []
        for row in rows where row.fate == .live && row.entity < catalog.schema.entities.count {
            let entity = catalog.schema.entities[row.entity]
            for (column, description) in entity.columns.enumerated()
            where !description.isOptional && row.values[column].isNull {
                // The store computes derived values, and a value that was nil before is not an error of this
                // save.
                if description.attribute?.derivationExpression != nil { continue }
                if let stored = row.stored, stored.values[column].isNull { continue }
                failures.append(
                    StoreError(
                        .missingMandatory, "a required property is nil",
                        context: .init(entity: entity.name, key: description.name, objectID: row.id)
                    ))
            }
        }
        guard let first = failures.first else { return }
        if !displaced.isEmpty {
            throw StoreError(
                .constraintConflict,
                "the save would replace an object that a required relationship of another object refers to: \(first.message)",
                context: first.context, details: failures)
        }
        if failures.count == 1 { throw first }
        throw StoreError(.multiple, "several properties are invalid", details: failures)
    }
}

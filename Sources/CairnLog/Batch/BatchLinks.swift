// Resolves the targets of the relationships in a batch's rows.
//
//   1. Before the rows of a column batch are applied, each existing target is found, and its number is put
//      into the cell.
//   2. A target with a key that no object has is noted with the row's object: it may come later.
//   3. Before a block is written, the pending targets of its rows are looked up again, because they may be in
//      it themselves. Keys were made of the rows as they came, so columns that are part of a key wait for the
//      end, where keys are moved.
//   4. If the inverse must be updated, because it is to-one or ordered too, a target always waits for the
//      end; so do the members of to-many relationships. See `LateLinks`.
//   5. At the end, pending targets are looked up once more, and their rows are rewritten. A target that is
//      still missing makes the batch fail, or becomes nil, as the request says.
//
// If several rows are about one object, the last one that names a relationship wins, unless the model's merge
// rules apply and decide otherwise.
//
// Threads: within the turn, in one thread.

import CairnFormat
import CairnModel
import CairnStore

/// The relationships that a batch has to set. Created only if a row names a target.
final class BatchLinks {
    /// A target that did not exist, or is not looked up before the end.
    struct Open {
        /// The row's number in the request.
        let row: Int
        /// Nil if the relationship is to become nil.
        let wanted: RowLinkPlan.Wanted?
        /// Whether the row was unchanged apart from this.
        var isUnchanged = false
        /// Targets that gave way to it by the model's merge rules, even existing ones. Used if it never
        /// appears.
        var others: [RowLinkPlan.Wanted] = []
        /// Whether the greatest of those wins, and not the first.
        var takesGreatest = false
    }

    /// A row's value of a to-one relationship whose target always waits for the end.
    struct LateTarget {
        let number: UInt32
        let column: Int
        let open: Open
    }

    /// A row's value of a to-many relationship.
    struct List {
        /// The row's number in the request.
        let row: Int
        let number: UInt32
        /// The relationship, as an index of the batch's entity.
        let relationship: Int
        let targets: RowTargets
        /// Whether the row was unchanged apart from this.
        let isUnchanged: Bool
    }

    /// A target that does not exist when a row of the column batch is examined.
    struct Wait {
        let column: Int
        var open: Open
        /// The index of another target that the row waits for, or -1.
        let next: Int
        /// Whether the row no longer waits for it.
        var isDropped = false
    }

    /// An object and a column of it.
    struct Cell: Hashable, Comparable {
        private let bits: UInt64

        init(_ number: UInt32, _ column: Int) {
            bits = UInt64(number) << 32 | UInt64(UInt32(truncatingIfNeeded: column))
        }

        var number: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
        var column: Int { Int(UInt32(truncatingIfNeeded: bits)) }

        static func < (one: Cell, other: Cell) -> Bool { one.bits < other.bits }
    }

    /// The columns whose targets always wait for the end.
    let late: ColumnSet
    /// What applied rows set in these columns: all of it, because each may have taken a target from another
    /// object.
    private(set) var lateTargets: [LateTarget] = []
    /// What they set in to-many relationships.
    private(set) var lists: [List] = []
    /// What the rows of the column batch set in these, and how many of the entries are processed.
    private var given: [RowLists.List] = []
    private var givenCount = 0
    /// The objects whose relationships changed at the end: rows may set more than their columns hold.
    var changedLate: Set<UInt32> = []
    /// Rows of the request that were unchanged, and count as updates because their targets appeared.
    var counted: Set<Int> = []
    /// By column.
    var plans: [Int: RowLinkPlan] = [:]
    /// By column: which rows of the column batch set the target, or set it to nil.
    private var named: [Int: [Bool]] = [:]
    /// The targets that rows of the column batch wait for.
    private(set) var waits: [Wait] = []
    /// By row of the column batch: the index of its first wait, or -1.
    private var firstWaits: [Int] = []
    /// Targets that did not exist yet when the rows that name them came.
    private(set) var open: [Cell: Open] = [:]

    init(_ entity: SchemaEntity, in schema: Schema) {
        let ordered = schema.orderedReferences[entity.index]
        late = ColumnSet(
            entity.columns.indices.filter { column in
                guard let index = entity.columns[column].relationship else { return false }
                return schema.isOneToOne(entity.relationships[index]) || ordered.contains(column)
            })
    }

    /// Whether nothing is pending.
    var isIdle: Bool { waits.isEmpty && open.isEmpty && given.isEmpty }

    /// Starts another column batch.
    func begin(_ lists: RowLists) {
        given = lists.all
        givenCount = 0
        if !named.isEmpty { named.removeAll(keepingCapacity: true) }
        if waits.isEmpty { return }
        waits.removeAll(keepingCapacity: true)
        for row in firstWaits.indices { firstWaits[row] = -1 }
    }

    /// Records which rows of the column batch set the target, or set it to nil.
    func name(_ rows: [Bool], _ column: Int) { named[column] = rows }

    func wait(_ row: Int, _ column: Int, _ open: Open) {
        while firstWaits.count <= row { firstWaits.append(-1) }
        waits.append(Wait(column: column, open: open, next: firstWaits[row]))
        firstWaits[row] = waits.count - 1
    }

    /// The index of a row's first wait; -1 for none.
    func firstWait(_ row: Int) -> Int { row < firstWaits.count ? firstWaits[row] : -1 }

    /// The wait of a row in a column; nil if there is none.
    func wait(_ row: Int, _ column: Int) -> Wait? {
        var place = firstWait(row)
        while place >= 0 {
            if waits[place].column == column {
                return waits[place].isDropped ? nil : waits[place]
            }
            place = waits[place].next
        }
        return nil
    }

    /// Makes a row leave a column alone, because its object keeps the target that it has.
    func drop(_ row: Int, _ column: Int) {
        if named[column] == nil { return }
        named[column]?[row] = false
        var place = firstWait(row)
        while place >= 0 {
            if waits[place].column == column { waits[place].isDropped = true }
            place = waits[place].next
        }
    }

    /// Lets a target give way to the one that an object waits for.
    func giveWay(_ other: RowLinkPlan.Wanted, _ number: UInt32, _ column: Int, isTie: Bool) {
        open[Cell(number, column)]?.others.append(other)
        open[Cell(number, column)]?.takesGreatest = isTie
    }

    /// Lets the current target of an object give way to the one that a row waits for.
    func giveWay(_ other: RowLinkPlan.Wanted, row: Int, _ column: Int) {
        var place = firstWait(row)
        while place >= 0 {
            if waits[place].column == column {
                waits[place].open.others.append(other)
                waits[place].open.takesGreatest = true
            }
            place = waits[place].next
        }
    }

    /// Ends an object's wait for a target that is now known.
    func close(_ number: UInt32, _ column: Int) { open[Cell(number, column)] = nil }

    /// Records that a row was applied: the targets it names are now those that its object is to have.
    ///
    /// - Parameters:
    ///   - requestRow: its number in the request.
    ///   - isUnchanged: whether it equalled what was stored.
    func settle(_ row: Int, _ number: UInt32, requestRow: Int, isUnchanged: Bool) {
        if !open.isEmpty {
            for (column, rows) in named where rows[row] { open[Cell(number, column)] = nil }
        }
        var place = firstWait(row)
        while place >= 0 {
            if !waits[place].isDropped {
                var target = waits[place].open
                target.isUnchanged = isUnchanged
                let column = waits[place].column
                open[Cell(number, column)] = target
                if late.contains(column) {
                    lateTargets.append(
                        LateTarget(number: number, column: column, open: target))
                }
            }
            place = waits[place].next
        }
        // Skips the lists of rows that were left out.
        while givenCount < given.count, given[givenCount].row <= row {
            let list = given[givenCount]
            givenCount += 1
            guard list.row == row else { continue }
            lists.append(
                List(
                    row: requestRow, number: number, relationship: list.relationship,
                    targets: list.targets, isUnchanged: isUnchanged))
        }
    }
}

extension BatchInserter {
    /// Replaces the targets that the rows of a column batch name by their numbers.
    mutating func resolveLinks(_ batch: ColumnBatch, firstRow: Int, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        let isLinked = entity.references.contains {
            batch.columns[builder.catalog.references[$0].column].mayBeLinked
        }
        if links == nil, isLinked || !batch.lists.pointee.all.isEmpty {
            links = BatchLinks(
                builder.catalog.description(of: entityIndex), in: builder.catalog.schema)
        }
        guard let links else { return }
        links.begin(batch.lists.pointee)
        if !isLinked { return }
        for reference in entity.references {
            let column = builder.catalog.references[reference].column
            guard batch.columns[column].mayBeLinked else { continue }
            try resolve(column, batch, firstRow, links, &builder)
        }
    }

    @inline(never)
    private mutating func resolve(
        _ column: Int, _ batch: ColumnBatch, _ firstRow: Int, _ links: BatchLinks,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let description = builder.catalog.description(of: entityIndex)
        var plan: RowLinkPlan
        if let known = links.plans[column] {
            plan = known
        } else {
            plan = RowLinkPlan(
                column, of: description, in: builder.catalog.schema,
                allowsMore: request.createsTargets)
        }
        if makesEarly(plan, builder.catalog), !links.late.contains(column) {
            var targets = MadeTargets()
            for row in 0..<batch.rows
            where batch.columns[column].states[row] == ColumnBuffer.State.linked {
                let target = try plan.wanted(
                    batch.columns[column].link(row: row), row: firstRow + row)
                try want(target, plan, firstRow + row, &targets, &builder)
            }
            try make(targets, &builder)
        }
        let isLate = links.late.contains(column)
        var named = [Bool](repeating: false, count: batch.rows)
        for row in 0..<batch.rows
        where batch.columns[column].states[row] == ColumnBuffer.State.linked {
            named[row] = true
            let requestRow = firstRow + row
            let target = try plan.wanted(batch.columns[column].link(row: row), row: requestRow)
            if isLate {
                batch.columns[column].states[row] = ColumnBuffer.State.untouched
                links.wait(row, column, BatchLinks.Open(row: requestRow, wanted: target))
                continue
            }
            guard let wanted = target else {
                batch.columns[column].setNil(row: row)
                continue
            }
            if let number = try find(wanted, plan, requestRow, &builder) {
                batch.columns[column].setInteger(Int64(number), row: row)
            } else if case .key = wanted {
                batch.columns[column].states[row] = ColumnBuffer.State.untouched
                links.wait(row, column, BatchLinks.Open(row: requestRow, wanted: wanted))
            } else {
                try checkMayBeMissing(wanted, plan, requestRow)
                batch.columns[column].setNil(row: row)
            }
        }
        links.plans[column] = plan
        links.name(named, column)
    }

    /// Throws for a missing target, unless the request then sets its relationship to nil.
    private func checkMayBeMissing(
        _ wanted: RowLinkPlan.Wanted, _ plan: RowLinkPlan, _ row: Int
    ) throws(StoreError) {
        guard request.ignoresMissingTargets, plan.isOptional else {
            throw plan.missing(wanted, row: row)
        }
    }

    /// The number of a target; nil if it does not exist.
    mutating func find(
        _ wanted: RowLinkPlan.Wanted, _ plan: RowLinkPlan, _ row: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> UInt32? {
        let destination = plan.destination.index
        let target = builder.catalog.entities[destination]
        switch wanted {
        case .object(let id):
            guard identity.owns(id, entity: destination), let number = UInt32(exactly: id.reference)
            else { throw plan.foreign(id, row: row) }
            guard let found = builder.entity(tree: target.tree, number: number) else {
                // It has been merged into another object.
                guard let next = builder.state.redirected(number, tree: target.tree),
                    let found = builder.entity(tree: target.tree, number: next),
                    builder.catalog.family(of: destination).contains(found)
                else { return nil }
                return next
            }
            guard builder.catalog.family(of: destination).contains(found) else {
                throw plan.foreign(id, row: row)
            }
            return number
        case .key(let constraint, let values):
            guard
                let unique = builder.catalog.plainUnique(
                    of: destination, columns: constraint.columns)
            else { return nil }
            let form = builder.catalog.uniques[unique].form
            guard room.key.load(values, form, number: { $0.number }),
                let number = try builder.find(unique: unique, key: room.key),
                let found = builder.entity(tree: target.tree, number: number),
                builder.catalog.family(of: destination).contains(found)
            else { return nil }
            return number
        }
    }

    /// The number of the target that an object waits for; if it does not exist, and may be missing, that of
    /// one that gave way to it.
    mutating func find(
        _ open: BatchLinks.Open, _ plan: RowLinkPlan, _ builder: inout CommitBuilder
    ) throws(StoreError) -> UInt32? {
        guard let wanted = open.wanted else { return nil }
        if let number = try find(wanted, plan, open.row, &builder) { return number }
        guard request.ignoresMissingTargets, plan.isOptional else { return nil }
        var greatest: UInt32?
        for other in open.others {
            guard let number = try find(other, plan, open.row, &builder) else { continue }
            if !open.takesGreatest { return number }
            greatest = max(greatest ?? 0, number)
        }
        return greatest
    }

    // MARK: The open block

    /// Looks up targets of the open block's rows among all rows so far, including those of the block.
    /// Otherwise, a list whose rows refer to each other would be written twice, and wait in memory until its
    /// end.
    @inline(never)
    mutating func settleWaiting(
        _ links: BatchLinks, _ batch: ColumnBatch, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        // Finding attributes that derive from a row reads blocks, and this one is not written.
        if isConcerned { return }
        for slot in room.rows.selection.indices {
            let (row, number) = (Int(room.rows.selection[slot]), room.rows.numbers[slot])
            var place = links.firstWait(row)
            while place >= 0 {
                let wait = links.waits[place]
                let column = wait.column
                place = wait.next
                // A later row about the object may have named another one.
                guard !room.keyColumns.contains(column), !links.late.contains(column),
                    let wanted = wait.open.wanted,
                    links.open[BatchLinks.Cell(number, column)]?.row == wait.open.row,
                    let plan = links.plans[column],
                    builder.catalog.entities[plan.destination.index].tree == entity.tree,
                    let found = try findHere(wanted, plan, &builder)
                else { continue }
                let before = batch.columns[column].target(row)
                for reference in entity.references
                where builder.catalog.references[reference].column == column && before != found {
                    if let before {
                        builder.removeReference(reference, source: number, target: before)
                    }
                    builder.state.inverses[reference].insert(
                        source: number, target: found, in: &builder.pages)
                }
                batch.columns[column].setInteger(Int64(found), row: row)
                links.close(number, column)
            }
        }
    }

    /// The number of the target with a key, which may be a row of the open block.
    private mutating func findHere(
        _ wanted: RowLinkPlan.Wanted, _ plan: RowLinkPlan, _ builder: inout CommitBuilder
    ) throws(StoreError) -> UInt32? {
        guard case .key(let constraint, let values) = wanted,
            let unique = builder.catalog.plainUnique(
                of: plan.destination.index, columns: constraint.columns),
            room.key.load(
                values, builder.catalog.uniques[unique].form, number: { $0.number })
        else { return nil }
        builder.tools.partial?.ask(unique: unique, room.key.bytes)
        let candidates = builder.state.uniques[unique]
            .firstCandidate(hash: room.key.hash(seed: builder.seed), forCommit: true)
        guard let number = try holder(unique, among: candidates, &builder),
            let found = builder.entity(tree: entity.tree, number: number),
            builder.catalog.family(of: plan.destination.index).contains(found)
        else { return nil }
        return number
    }

    // MARK: Rows that are stored

    /// Moves a row that is about to be rewritten from the inverses of its old targets to those of the new
    /// ones.
    @inline(never)
    mutating func moveReferences(
        _ number: UInt32, _ row: Int, of batch: ColumnBatch, _ builder: inout CommitBuilder,
        old: (Int) -> UInt32?
    ) throws(StoreError) {
        var isNoted = false
        for reference in entity.references {
            let column = builder.catalog.references[reference].column
            let before = old(column)
            let after = batch.columns[column].target(row)
            if before == after { continue }
            if !isNoted {
                isNoted = true
                try noteSource(number, &builder)
            }
            if let before { builder.removeReference(reference, source: number, target: before) }
            if let after {
                builder.state.inverses[reference].insert(
                    source: number, target: after, in: &builder.pages)
            }
        }
    }

    /// Notes the attributes that derive from a row as it is stored, and its own that derive from its new
    /// targets.
    func noteSource(_ number: UInt32, _ builder: inout CommitBuilder) throws(StoreError) {
        guard isConcerned, let derivations,
            let concrete = builder.entity(tree: entity.tree, number: number)
        else { return }
        try derivations.stale.noteRow(entity: concrete, number: number, &builder)
        noteTargets(number, entity: concrete, builder.catalog)
    }

    /// Notes the attributes that derive from a row as it will be, and its own that derive from its new
    /// targets.
    func noteTargets(_ number: UInt32, entity concrete: Int, _ catalog: Catalog) {
        guard let derivations else { return }
        derivations.changed.append(number)
        for derivation in catalog.schema.derivations.entities[concrete]
        where !derivation.isLocal && !derivation.isOfMembers {
            derivations.stale.insert(derivation.number, tree: entity.tree, number)
        }
    }

    // MARK: The end

    /// Looks up missing targets again, and rewrites the rows that refer to them.
    mutating func finishLinks(_ builder: inout CommitBuilder) throws(StoreError) {
        guard let links, !links.open.isEmpty else { return }
        try makeOpenTargets(links, &builder)
        var missing = MissingTargets()
        var pending = PendingRows()
        var rest = links.open.keys.sorted()[...]
        while let number = rest.first?.number {
            let cells = rest.prefix { $0.number == number }
            rest = rest.dropFirst(cells.count)
            guard let concrete = builder.entity(tree: entity.tree, number: number),
                let old = try builder.storedRow(entity: concrete, number: number)
            else { continue }
            var values = old.values
            var row = 0
            for cell in cells {
                let column = cell.column
                guard !links.late.contains(column), let plan = links.plans[column],
                    let open = links.open[cell], let wanted = open.wanted,
                    case .reference(let root) = builder.catalog.description(of: concrete)
                        .columns[column].kind
                else { continue }
                row = open.row
                if let target = try find(open, plan, &builder) {
                    values[column] = .objectID(identity.id(UInt64(target), entity: root))
                } else if request.ignoresMissingTargets, plan.isOptional {
                    values[column] = .null
                } else {
                    missing.note(plan, wanted, row: open.row)
                }
            }
            if values == old.values || missing.count > 0 { continue }
            try write(values, over: old, concrete, number, row: row, &pending, &builder)
        }
        try missing.check(entity.name)
        for (concrete, rows) in pending.byEntity.inKeyOrder() {
            try builder.write(rows, entity: concrete)
        }
    }

    /// Throws if a new object still lacks the target of a required relationship: no row about it has named
    /// one.
    mutating func checkLacking(_ builder: inout CommitBuilder) throws(StoreError) {
        var errors: [StoreError] = []
        var count = 0
        for (row, column, number) in lacking {
            guard
                let value = try builder.value(tree: entity.tree, number: number, column: column),
                value.isNull
            else { continue }
            count += 1
            guard errors.count < 100 else { continue }
            errors.append(
                StoreError(
                    .missingMandatory, "a required relationship is nil",
                    context: .init(
                        entity: entity.name, key: entity.columns[column].name, row: row)))
        }
        if count == 1 { throw errors[0] }
        if count > 1 {
            throw StoreError(
                .multiple, "\(count) required relationships are nil",
                context: .init(entity: entity.name), details: errors)
        }
    }

    private mutating func write(
        _ given: [Value], over old: StoredRow, _ concrete: Int, _ number: UInt32, row: Int,
        _ pending: inout PendingRows, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var values = given
        try noteSource(number, &builder)
        if isConcerned {
            try DerivedColumns(concrete, builder.catalog.schema).compute(&values, at: moment)
        }
        let isYoung = builder.isYoung(old.handle)
        pending.byEntity[concrete, default: []].append(
            builder.replace(entity: concrete, number: number, old: old, values: values))
        for unique in builder.catalog.entities[concrete].uniques {
            let form = builder.catalog.uniques[unique].form
            // Whether another object has the key is checked when all rows are written.
            guard form.watched.contains(where: { values[$0] != old.values[$0] }),
                room.key.load(values, form, number: { $0.number })
            else { continue }
            suspects.append((row, unique, number, room.key.hash(seed: builder.seed)))
        }
        if !isYoung { countUpdate(row, number) }
        if let rows = pending.byEntity[concrete], rows.count >= builder.tools.sizes.rowsPerBlock {
            pending.byEntity[concrete] = nil
            try builder.write(rows, entity: concrete)
        }
    }
}

extension BatchInserter {
    /// Counts a row as updated that counted as unchanged: a target that it waited for has changed its object.
    mutating func countUpdate(_ row: Int, _ number: UInt32) {
        guard let links, links.counted.insert(row).inserted else { return }
        result.updatedCount += 1
        result.unchangedCount -= 1
        if request.reportsOutcomes { result.outcomes[row] = .updated }
        listID(number)
    }
}

extension Catalog {
    /// The uniqueness constraint of an entity that has no options and exactly these columns.
    fileprivate func plainUnique(of entity: Int, columns: [Int]) -> Int? {
        entities[entity].uniques.first { uniques[$0].isPlain && uniques[$0].columns == columns }
    }
}

extension ColumnBuffer {
    /// The number that a cell of a column of references refers to.
    func target(_ row: Int) -> UInt32? {
        guard hasValue(row) else { return nil }
        return UInt32(
            truncatingIfNeeded: values.load(fromByteOffset: row * 8, as: UInt64.self))
    }
}

// Executes a batch update, block by block.
//
//   1. The new values are calculated: constants are there already, arithmetic is done for whole columns, and
//      everything else is evaluated object by object. All of it reads the state before the update, which the
//      writes do not change.
//   2. Rows that have the values already are skipped (BL4).
//   3. Keys and references of the others move. A key that another row has then is noted; whether it is shared
//      is known at the end, when all rows have their keys.
//   4. The rows of a full block stay together if all of them change, or many do and only in columns: a patch
//      has the columns that change, or, if these are more than half of the block and most rows change, all
//      others are copied as they are encoded (`BlockEncoder.rewrite`). Other rows are gathered and written as
//      new blocks.
// If no keys, references or objects are involved, several threads make such blocks: `takeTogether`.
// At the end, noted keys are checked, and attributes that derive from the rows are recomputed.
//
// Invariants: each row is processed once. Between its death and the writing of its new block, a gathered row
// has no block: nothing looks it up before all are written.
// Threads: within the turn; one owner.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// Executes a batch update.
final class BatchUpdater {
    /// A key that another row had when a row got it.
    private struct Suspect {
        let unique: Int
        let number: UInt32
        let hash: UInt64
        /// The hash of key and constraint, by which suspects are counted.
        var counted: UInt64 { hash &+ UInt64(truncatingIfNeeded: unique) &* 0x9E37_79B9_7F4A_7C15 }
    }

    let plan: BatchUpdatePlan
    let reader: StoreReader
    let tools: CommitTools
    private let identity: StoreIdentity
    let catalog: Catalog
    private let tree: Int
    /// The state before the update.
    private let before: EngineState
    private let writtenLSN: UInt64
    private let objects: StoredObjects
    /// By entity of the catalog.
    private var targets: [Int: UpdateTarget] = [:]
    private let moment: Date
    /// Pending work for derived attributes; nil if there are none.
    private let derivations: BatchDerivations?
    // Loaded for every row whose key may change: with one owner, no exclusivity check is needed.
    @exclusivity(unchecked) private var key = KeyBuffer()
    @exclusivity(unchecked) private var other = KeyBuffer()
    private var suspects: [Suspect] = []
    /// Frequent keys of suspects, by some bits of their hashes. The count is how many more suspects had this
    /// key than other keys.
    private var crowds = [(hash: UInt64, count: Int)](repeating: (0, 0), count: 256)
    /// Whether enough rows got the same key to know that it is shared, so that no more rows are examined.
    private var isCrowded = false
    /// The key that they got, as suspects are counted.
    private var crowded: UInt64?
    private var refused: [StoreError] = []
    /// The rows that changed, if their ids are requested.
    private var changed: [(number: UInt32, entity: Int)]?
    var result = BatchUpdateResult()

    private let rowsThatChange = UnsafeMutablePointer<UInt16>.allocate(
        capacity: FormatLimits.maximumRows)
    /// The block that is rewritten here.
    private lazy var made = RewrittenBlock()

    /// The maximum number of errors that are listed.
    private static let mostErrors = 100
    /// The number of rows with the same key from which on they cannot all part again.
    private static let mostOfOneKey = 1000

    /// - Parameter derivations: collects what must be recomputed, for the caller to settle; nil only if the
    ///   schema has no derived attributes.
    init(
        _ plan: BatchUpdatePlan, listsIDs: Bool, moment: Date, _ derivations: BatchDerivations?,
        _ builder: borrowing CommitBuilder
    ) {
        reader = builder.reader
        tools = builder.tools
        identity = builder.reader.identity
        // The id of an object that was merged into another one stands for the survivor.
        if builder.state.redirects == nil {
            self.plan = plan
        } else {
            let (state, identity) = (builder.state, builder.reader.identity)
            self.plan = plan.replacingObjectIDs { state.redirected($0, identity) }
        }
        catalog = builder.catalog
        tree = builder.catalog.entities[plan.entity.index].tree
        before = builder.state
        writtenLSN = builder.writtenLSN
        objects = StoredObjects(
            reader: builder.reader, state: builder.state, writtenLSN: builder.writtenLSN)
        self.moment = moment
        self.derivations = derivations
        changed = listsIDs ? [] : nil
    }

    deinit { rowsThatChange.deallocate() }

    // MARK: Finding

    func run(_ builder: inout CommitBuilder) throws(StoreError) {
        try checkTargets(builder)
        let runner = try FetchRunner(
            reader: reader, state: before, fetch: plan.fetch, writtenLSN: writtenLSN)
        var order: [UInt32]?
        if plan.fetch.limit != nil || plan.fetch.offset > 0 {
            let hits = try runner.hits().hits
            if changed != nil, !plan.fetch.sort.isEmpty { order = hits.map(\.number) }
            try take(hits, &builder)
        } else if let found = try runner.indexed() {
            try take(found.hits, &builder)
        } else if isPlain(runner) {
            try takeTogether(runner, &builder)
        } else {
            try runner.scan { block, entity, slots throws(StoreError) in
                try take(block, entity, UnsafeBufferPointer(slots), &builder)
                return goesOn
            }
        }
        try end(&builder)
        try derivations?.settle(tree, identity, &builder)
        listIDs(order)
    }

    /// Updates objects that the caller has found. The caller settles derived attributes.
    func run(_ numbers: [UInt32], _ builder: inout CommitBuilder) throws(StoreError) {
        try checkTargets(builder)
        var hits: [RowHit] = []
        hits.reserveCapacity(numbers.count)
        let directory = before.directories[tree]
        for number in numbers {
            if let hit = before.hit(number, in: directory) { hits.append(hit) }
        }
        try take(hits, &builder)
        try end(&builder)
        listIDs(nil)
    }

    /// Writes what is left, and throws if values were rejected or keys are shared.
    private func end(_ builder: inout CommitBuilder) throws(StoreError) {
        for target in targets.values.sorted(by: { $0.entity < $1.entity }) {
            try builder.writeParts(&target.gathered)
            target.end(reader.batches)
        }
        try throwRefused(
            .multiple, "several objects would get values that violate the model")
        try judge(&builder)
    }

    /// Whether it is worthwhile to examine more rows.
    var goesOn: Bool {
        refused.count < Self.mostErrors && !isCrowded
    }

    private func take(_ hits: [RowHit], _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        let hits = hits.sorted {
            ($0.cell.handle.raw, $0.cell.slot) < ($1.cell.handle.raw, $1.cell.slot)
        }
        var slots: [UInt16] = []
        for (index, hit) in hits.enumerated() {
            slots.append(UInt16(hit.cell.slot))
            if index + 1 < hits.count, hits[index + 1].cell.handle == hit.cell.handle { continue }
            let block = try builder.block(of: before.blocks.entry(hit.cell.handle))
            try slots.withUnsafeBufferPointer { slots throws(StoreError) in
                try take(block, hit.entity, slots, &builder)
            }
            if !goesOn { return }
            slots.removeAll(keepingCapacity: true)
        }
    }

    /// Throws if a target that relationships are to refer to does not exist.
    private func checkTargets(_ builder: borrowing CommitBuilder) throws(StoreError) {
        for assignment in plan.assignments {
            guard case .constant(.objectID(let id)) = assignment.content,
                let relationship = plan.entity.columns[assignment.column].relationship
            else { continue }
            let destination = plan.entity.relationships[relationship].destination
            let context = StoreError.Context(
                entity: plan.entity.name, key: plan.entity.columns[assignment.column].name,
                objectID: id)
            guard identity.owns(id, entity: destination), let number = UInt32(exactly: id.reference)
            else {
                throw StoreError(
                    .foreignObject,
                    "the target of the relationship belongs to another store or entity",
                    context: context)
            }
            guard
                let entity = builder.entity(
                    tree: catalog.entities[destination].tree, number: number)
            else {
                throw StoreError(
                    .objectNotFound, "the target of the relationship does not exist",
                    context: context)
            }
            guard catalog.family(of: destination).contains(entity) else {
                throw StoreError(
                    .foreignObject,
                    "the target of the relationship belongs to another store or entity",
                    context: context)
            }
        }
    }

    func target(of entity: Int) -> UpdateTarget {
        if let known = targets[entity] { return known }
        let target = UpdateTarget(plan, entity: entity, catalog: catalog, batches: reader.batches)
        targets[entity] = target
        return target
    }

    // MARK: The rows of a block

    /// - Parameter fillsBlocks: false if the rows of the block are known to fill no block any longer.
    func take(
        _ block: CachedBlock, _ entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        fillsBlocks: Bool = true, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let target = target(of: entity)
        guard try calculate(target, block, slots) else { return }
        let view = try target.views.make(block, target.stored, entity: entity)
        defer { view.free() }
        let count = try target.changes(view, slots, into: rowsThatChange)
        let rows = UnsafeBufferPointer(start: rowsThatChange, count: count)
        result.unchangedCount += slots.count - rows.count
        result.updatedCount += rows.count
        if rows.isEmpty { return }
        let first = before.directories[target.stored.tree][
            try block.numbers().number(Int(slots[0]))]
        let entry = before.blocks.entry(first.handle)
        if fillsBlocks, rows.count == block.rows,
            target.keepsTogether(block, entry, catalog, changes: rows.count),
            target.areSmall(block.rows, tools.sizes),
            try rewrite(target, block, view, first.handle, entry, &builder)
        {
            return
        }
        try gather(target, block, view, rows, slots, first.handle, &builder)
    }

    /// Calculates the target's values for the rows in some slots. Returns false if one of them is rejected.
    private func calculate(
        _ target: UpdateTarget, _ block: CachedBlock, _ slots: UnsafeBufferPointer<UInt16>
    ) throws(StoreError) -> Bool {
        let before = refused.count
        for (place, assignment) in plan.assignments.enumerated() {
            guard case .expression(let evaluator) = assignment.content else { continue }
            target.clear(assignment.column, rows: ColumnBatch.capacity)
            if let kernel = target.kernels[place],
                try kernel.calculate(
                    block, target.stored, slots, into: &target.values.columns[assignment.column])
            {
                continue
            }
            try evaluate(evaluator, assignment, target, block, slots)
        }
        return refused.count == before
    }

    private func evaluate(
        _ evaluator: ExpressionEvaluator, _ assignment: BatchUpdatePlan.Assignment,
        _ target: UpdateTarget, _ block: CachedBlock, _ slots: UnsafeBufferPointer<UInt16>
    ) throws(StoreError) {
        let numbers = try block.numbers()
        for (row, slot) in slots.enumerated() {
            let number = numbers.number(Int(slot))
            let cell = before.directories[tree][number]
            let object = objects.object(number, cell, of: target.entity, in: block)
            let given = evaluator.value(for: object).plain
            if row & 63 == 63 { try objects.rethrow() }
            do throws(StoreError) {
                let value = try assignment.fitted(given)
                guard target.values.columns[assignment.column].store(value, row: row) else {
                    preconditionFailure("a plan has values of the columns' types")
                }
            } catch {
                // A value that could not be read is nil, so a read error comes first.
                try objects.rethrow()
                target.values.columns[assignment.column].setNil(row: row)
                refuse(error, number, target.entity)
            }
        }
        try objects.rethrow()
    }

    /// Rewrites the rows of a block together. Returns false if they would no longer fill a block.
    private func rewrite(
        _ target: UpdateTarget, _ block: CachedBlock, _ view: BlockView, _ handle: BlockHandle,
        _ entry: BlockEntry, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Bool {
        try made.take(block)
        guard
            try made.make(
                block, target, target.values, catalog, tools.sizes,
                isPacking: builder.log.segment.header.flags.allowsPackedColumns,
                &tools.memory.encoder.pointee)
        else { return false }
        if target.isWatched || changed != nil || !target.constraints.isEmpty
            || !target.references.isEmpty
        {
            for column in target.keyColumns { target.clear(column, rows: ColumnBatch.capacity) }
            for slot in 0..<block.rows {
                for (place, column) in target.keyColumns.enumerated() {
                    try target.values.columns[column].copyCell(
                        from: view.cells[target.columns.count + place], view, slot, to: slot,
                        isWhole: true)
                }
                try move(
                    target, block, view, slot, target.values, slot, made.numbers[slot], &builder)
            }
        }
        try builder.replace(handle, entry, by: made)
        return true
    }

    private func gather(
        _ target: UpdateTarget, _ block: CachedBlock, _ view: BlockView,
        _ rows: UnsafeBufferPointer<UInt16>,
        _ slots: UnsafeBufferPointer<UInt16>, _ handle: BlockHandle,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let (numbers, versions) = (try block.numbers(), try block.versions())
        let stored = target.stored
        let whole = try target.wholeViews.make(block, stored, entity: target.entity)
        defer { whole.free() }
        let (values, batch) = (target.values, target.gathered.batch)
        let withLarge = stored.columns.indices.filter { whole.cells[$0].externals != nil }
        for row in rows {
            let slot = Int(slots[Int(row)])
            let number = numbers.number(slot)
            let to = batch.rows
            for column in stored.columns.indices {
                if target.isUpdated[column] {
                    batch.columns[column].copyCell(
                        of: UnsafePointer(values.columns.baseAddress.unsafelyUnwrapped + column),
                        from: Int(row), to: to)
                } else {
                    try batch.columns[column].copyCell(
                        from: whole.cells[column], whole, slot, to: to,
                        isWhole: target.wholeColumns.contains(column))
                }
            }
            if !stored.orders.isEmpty { try batch.copyOrder(of: stored, block, slot, to: to) }
            if target.derives {
                try target.derived.compute(to, of: batch, isNew: false, at: moment)
                for derivation in target.derived.missing({ batch.columns[$0].isNil(row: to) }) {
                    derivations?.stale.insert(derivation, tree: tree, number)
                }
            }
            try move(target, block, view, slot, batch, to, number, &builder)
            for column in withLarge where whole.cells[column].isExternal(slot) {
                try batch.columns[column].keepReference(
                    to: whole.cells + column, whole, slot, row: to)
            }
            builder.kill(handle, slot: slot)
            builder.updatedCount += 1
            target.gathered.add(number, version: DirectoryCell.next(versions.number(slot)))
            if batch.rows == tools.sizes.rowsPerBlock || batch.byteCount > ColumnBatch.largeSize {
                try builder.writeParts(&target.gathered)
            }
        }
    }

    // MARK: Keys and references

    /// Moves a row's keys and references from those in a block to those in a batch.
    private func move(
        _ target: UpdateTarget, _ block: CachedBlock, _ view: BlockView, _ slot: Int,
        _ batch: ColumnBatch, _ row: Int, _ number: UInt32, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        changed?.append((number, target.entity))
        if target.isWatched, let derivations {
            try derivations.stale.noteRow(entity: target.entity, number: number, &builder)
            derivations.changed.append(number)
        }
        for reference in target.references {
            let cells = view.cells[reference.place]
            let old = cells.isNil(slot) ? nil : UInt32(truncatingIfNeeded: cells.integer(slot))
            if old == reference.target { continue }
            if let old { builder.removeReference(reference.index, source: number, target: old) }
            if let new = reference.target {
                builder.state.inverses[reference.index].insert(
                    source: number, target: new, in: &builder.pages)
            }
        }
        for constraint in target.constraints {
            let had = try other.load(block, row: slot, entity: target.stored, constraint.form)
            let has = key.load(batch, row: row, constraint.form)
            if had && has && key.equals(other) { continue }
            if had {
                builder.removeKey(
                    other.hash(seed: builder.seed), number: number, unique: constraint.index)
            }
            if has { enter(constraint.index, number, &builder) }
        }
    }

    /// Enters the loaded key into an index, and notes it if another row may have it.
    private func enter(_ unique: Int, _ number: UInt32, _ builder: inout CommitBuilder) {
        let hash = key.hash(seed: builder.seed)
        builder.tools.partial?.ask(unique: unique, key.bytes)
        if !builder.state.uniques[unique].firstCandidate(hash: hash, forCommit: true).isEmpty {
            let suspect = Suspect(unique: unique, number: number, hash: hash)
            noteSuspect(suspect.counted)
            suspects.append(suspect)
        }
        builder.insertKey(hash, number: number, unique: unique)
        // Too many rows share a key to reject them one by one.
        if builder.state.uniques[unique].isCrowded { isCrowded = true }
    }

    /// Counts the suspects that get the same key, even with others in between. A key that many get is shared
    /// at the end, because each row is processed once; and an index in which many share a key is slow.
    private func noteSuspect(_ hash: UInt64) {
        let place = Int(truncatingIfNeeded: hash &>> 32 & 255)
        if crowds[place].hash == hash {
            crowds[place].count += 1
            if crowds[place].count == Self.mostOfOneKey, !isCrowded {
                isCrowded = true
                crowded = hash
            }
        } else if crowds[place].count > 0 {
            crowds[place].count -= 1
        } else {
            crowds[place] = (hash, 1)
        }
    }

    /// Throws if keys are shared in the state after the update.
    private func judge(_ builder: inout CommitBuilder) throws(StoreError) {
        // If not all rows were processed, keys other than the crowded one may be held by rows that have not
        // moved yet.
        for suspect in suspects
        where refused.count < Self.mostErrors && (!isCrowded || suspect.counted == crowded) {
            guard
                try builder.loadKey(of: suspect.number, unique: suspect.unique, into: &key),
                key.hash(seed: builder.seed) == suspect.hash,
                let rival = try builder.find(
                    unique: suspect.unique, key: key, except: suspect.number),
                let entity = builder.entity(tree: tree, number: suspect.number)
            else { continue }
            let definition = catalog.uniques[suspect.unique]
            let value = try builder.keyText(
                of: suspect.number, entity: entity, unique: suspect.unique)
            var error = StoreError(
                .constraintConflict, "another object already has this key",
                context: .init(
                    entity: catalog.entities[entity].name,
                    key: definition.names.joined(separator: ", ")))
            error.context.detail =
                "\(value) belongs to \(identity.id(UInt64(rival), entity: catalog.schemaEntity(entity))), too"
                + (definition.isPlain ? "" : " (\(definition.words))")
            refuse(error, suspect.number, entity)
        }
        try throwRefused(
            .constraintConflict, "several objects would get keys of other objects")
        if isCrowded {
            throw builder.crowding
                ?? StoreError(
                    .constraintConflict, "too many objects would have the same key",
                    context: .init(entity: plan.entity.name))
        }
    }

    // MARK: Telling

    private func refuse(_ error: StoreError, _ number: UInt32, _ entity: Int) {
        guard refused.count < Self.mostErrors else { return }
        var error = error
        error.context.entity = catalog.entities[entity].name
        error.context.objectID = identity.id(UInt64(number), entity: entity)
        refused.append(error)
    }

    private func throwRefused(_ code: StoreError.Code, _ message: String) throws(StoreError) {
        if refused.isEmpty { return }
        if refused.count == 1 { throw refused[0] }
        throw StoreError(
            code,
            refused.count < Self.mostErrors
                ? message : "\(message); the first \(refused.count) are listed",
            context: .init(entity: plan.entity.name, key: refused[0].context.key), details: refused)
    }

    /// Notes the objects of a rewritten block.
    func noteChanged(_ made: RewrittenBlock, _ entity: Int) {
        guard changed != nil else { return }
        for place in 0..<made.count {
            changed?.append((made.numbers[Int(made.slots[place])], entity))
        }
    }

    private func listIDs(_ order: [UInt32]?) {
        guard var changed else { return }
        changed.sort { $0.number < $1.number }
        if let order {
            let entities = Dictionary(uniqueKeysWithValues: changed.map { ($0.number, $0.entity) })
            changed = order.compactMap { number in entities[number].map { (number, $0) } }
        }
        result.objectIDs = changed.map { identity.id(UInt64($0.number), entity: $0.entity) }
    }
}

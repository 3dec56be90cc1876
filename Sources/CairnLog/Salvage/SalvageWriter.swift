// Writes the remaining rows of a store into a new one.
//
//   1. Block by block in the order of the log: the cells of rows that are kept go into batches, by entity. A
//      value that cannot be read becomes nil, and so does a reference to a missing object.
//   2. A full batch is written as a block, with the previous numbers and versions of the rows.
//   3. From time to time a commit is made; the last one records the next numbers.
//
// Invariants: BL1, as each number is kept once; IX1, as no two rows that are kept have the same key.
// Threads: one writer in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct SalvageWriter: ~Copyable {
    /// The number of rows per commit.
    private static let rowsPerCommit = 65_536

    private var content: SalvageContent
    private let engine: Engine
    private let catalog: Catalog
    /// By entity: rows to be written in a block.
    private var fillers: [Int: BlockFiller] = [:]
    private var position = 0
    /// By tree: smaller numbers were issued, or are named by a reference.
    private var nextNumbers: [UInt32]
    private let skipsNumbers: Bool
    private let keepsIdentifier: Bool

    /// The number of numbers to skip if lost objects may have had some.
    private static let gap: UInt32 = 1 << 20

    init(_ content: consuming SalvageContent, _ engine: Engine, keepsIdentifier: Bool) {
        self.engine = engine
        catalog = content.catalog
        nextNumbers = content.catalog.trees.map { content.inventory.counters[$0.id] ?? 1 }
        // An id of the old store that is still in use must not refer to a future object.
        skipsNumbers = keepsIdentifier && !content.report.isWhole
        self.keepsIdentifier = keepsIdentifier
        self.content = content
    }

    /// Writes everything.
    consuming func run(progress: (Int, Int) -> Void) throws(StoreError) -> SalvageReport {
        do throws(StoreError) {
            let total = content.blocks.count
            if content.inventory.metadata != nil { try engine.allowMetadata() }
            if !content.inventory.redirects.isEmpty { try engine.allowRedirects() }
            while position < total {
                progress(position, total)
                try commit { writer, builder throws(StoreError) in
                    var rows = 0
                    while writer.position < total, rows < Self.rowsPerCommit {
                        rows += try writer.copy(writer.position, &builder)
                        writer.position += 1
                    }
                }
            }
            try commit { writer, builder throws(StoreError) in try writer.finish(&builder) }
            progress(total, total)
        } catch {
            _ = content.finish()
            throw error
        }
        return content.finish()
    }

    private mutating func commit(
        _ body: (inout SalvageWriter, inout CommitBuilder) throws(StoreError) -> Void
    ) throws(StoreError) {
        _ = try engine.commit(author: "cairn salvage", contextName: nil) {
            builder throws(StoreError) in
            try body(&self, &builder)
        }
    }

    // MARK: Rows

    /// Copies the rows of a block that are kept; returns how many there are.
    private mutating func copy(_ index: Int, _ builder: inout CommitBuilder) throws(StoreError)
        -> Int
    {
        let salvaged = content.blocks[index]
        guard let entityIndex = catalog.entityIndex(id: salvaged.entity),
            let block = try? content.block(index), let numbers = try? block.numbers()
        else { return 0 }
        let entity = catalog.entities[entityIndex]
        var kept: [(slot: Int, number: UInt32, version: UInt32)] = []
        for slot in 0..<block.rows {
            guard let number = UInt32(exactly: numbers.integer(at: slot)),
                content.isKept(number, tree: entity.tree, index, slot)
            else { continue }
            kept.append((slot, number, content.directories[entity.tree][number].version))
        }
        guard !kept.isEmpty else { return 0 }
        if (try? block.versions()) == nil {
            for row in kept {
                content.note(
                    .value, salvaged, entityIndex, number: row.number, key: "version",
                    "the row version cannot be read; it starts again at 1")
            }
        }
        let usable = try UsableRows(
            block, entity: entityIndex, catalog: catalog, except: SlotSet())
        for row in kept {
            try copy(row, of: block, salvaged, entityIndex, usable, &builder)
        }
        return kept.count
    }

    private mutating func copy(
        _ row: (slot: Int, number: UInt32, version: UInt32), of block: CachedBlock,
        _ salvaged: SalvagedBlock, _ entityIndex: Int, _ usable: UsableRows,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let entity = catalog.entities[entityIndex]
        var filler =
            fillers.removeValue(forKey: entityIndex)
            ?? BlockFiller(entityIndex, catalog, engine.reader.batches)
        defer { fillers[entityIndex] = filler }
        let batch = filler.batch
        let target = batch.rows
        for (index, column) in entity.columns.enumerated() {
            if usable.isLost(index, row.slot) {
                batch.columns[index].setNil(row: target)
                content.note(
                    .value, salvaged, entityIndex, number: row.number, key: column.name,
                    "the value cannot be read")
                continue
            }
            try batch.columns[index].copyCell(
                from: block, column, row.slot, to: target, isWhole: true)
        }
        for (index, order) in entity.orders.enumerated() {
            // A key that cannot be read is nil: the number of the member determines its position.
            let cells = try? block.column(order.column)
            batch.columns[entity.columns.count + index].copyCell(
                from: cells ?? nil, row.slot, to: target)
        }
        for reference in entity.references {
            let definition = catalog.references[reference]
            let column = entity.columns[definition.column]
            guard !usable.isLost(definition.column, row.slot),
                let cells = try block.column(column), !cells.isNil(at: row.slot)
            else { continue }
            let word = UInt64(bitPattern: cells.integer(at: row.slot))
            if let number = content.target(word, definition.column, of: entity) {
                // The number of a missing object is not issued again.
                nextNumbers[definition.target] = max(nextNumbers[definition.target], number + 1)
                continue
            }
            let number = UInt32(exactly: word) ?? 0
            content.note(
                .reference, salvaged, entityIndex, number: row.number, key: column.name,
                "object \(number) does not exist")
            // A pair is itself a reference.
            if entity.isHidden { return }
            batch.columns[definition.column].setNil(row: target)
        }
        filler.add(row.number, version: row.version)
        nextNumbers[entity.tree] = max(nextNumbers[entity.tree], row.number + 1)
        content.noteKept(salvaged, entityIndex)
        if builder.isFull(filler) { try write(&filler, &builder) }
    }

    // MARK: Blocks

    private mutating func write(
        _ filler: inout BlockFiller, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let entity = catalog.entities[filler.entity]
        let (batch, numbers) = (filler.batch, filler.rows.numbers)
        if numbers.isEmpty { return }
        var key = KeyBuffer()
        for (row, number) in numbers.enumerated() {
            for unique in entity.uniques
            where key.load(batch, row: row, catalog.uniques[unique].form) {
                builder.insertKey(
                    key.hash(seed: builder.seed), number: number, unique: unique)
            }
            for reference in entity.references {
                let column = batch.columns[catalog.references[reference].column]
                guard column.hasValue(row), let target = UInt32(exactly: column.word(row)) else {
                    continue
                }
                builder.state.inverses[reference].insert(
                    source: number, target: target, in: &builder.pages)
            }
        }
        try builder.write(&filler)
        builder.insertedCount += entity.isHidden ? 0 : numbers.count
        raiseNumbers(&builder)
    }

    private mutating func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        for (_, var filler) in fillers.inKeyOrder() {
            try write(&filler, &builder)
            try builder.finish(&filler)
        }
        fillers = [:]
        if skipsNumbers {
            for tree in nextNumbers.indices {
                let (next, isTooLarge) = nextNumbers[tree].addingReportingOverflow(Self.gap)
                nextNumbers[tree] = isTooLarge ? FormatLimits.maximumNumber : next
            }
        }
        let redirections = redirections(builder.state)
        raiseNumbers(&builder)
        try builder.redirect(redirections)
        if let metadata = content.inventory.metadata {
            try builder.write(
                PendingMetadata(
                    values: metadata.values,
                    identifier: keepsIdentifier ? metadata.identifier : nil))
        }
        builder.hasChanges = true
    }

    /// Returns the redirects of objects that were merged into others. An object that still exists is not
    /// redirected.
    private mutating func redirections(_ state: EngineState) -> [Redirection] {
        var redirections: [Redirection] = []
        for (key, entry) in content.inventory.redirects.inKeyOrder() {
            guard entry.target != 0, let tree = catalog.treeIndex(id: key.tree),
                state.directories[tree][key.number].isEmpty
            else { continue }
            // Neither number is issued again.
            nextNumbers[tree] = max(nextNumbers[tree], key.number + 1, entry.target + 1)
            redirections.append(
                Redirection(tree: tree, number: key.number, target: entry.target))
        }
        return redirections
    }

    /// Excludes issued numbers from being issued again.
    private func raiseNumbers(_ builder: inout CommitBuilder) {
        for tree in nextNumbers.indices {
            builder.state.nextNumbers[tree] = max(
                builder.state.nextNumbers[tree],
                min(nextNumbers[tree], FormatLimits.maximumNumber))
        }
    }
}

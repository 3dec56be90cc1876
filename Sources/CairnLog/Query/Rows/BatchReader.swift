// Reads the rows of a fetch batch by batch.
//
// If order and number of rows are free and no index helps, the blocks are scanned: a batch is the block
// itself, read through the list of slots that match. Only if a block has values with frames of their own are
// its rows gathered. All other fetches find their rows first, and then gather them in order.
//
// Threads: one reader in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct BatchReader {
    private let request: StoreRead
    private let reader: StoreReader
    private let pinned: PinnedState<EngineState>

    init(_ request: StoreRead, _ reader: StoreReader, _ pinned: PinnedState<EngineState>) {
        self.request = request
        self.reader = reader
        self.pinned = pinned
    }

    func run(_ body: (borrowing RowBatch) -> Bool) throws(StoreError) {
        var fetch = request.fetch
        fetch.entity = request.entity.index
        var rows = RowGatherer(
            reader, pinned, entity: fetch.entity, columns: request.columns)
        defer { rows.finish() }
        if let (hits, _) = FirstRows.hits(fetch, pinned.state) {
            return try gather(hits, &rows, body)
        }
        let runner = try FetchRunner(reader: reader, state: pinned.state, fetch: fetch)
        let isFree = fetch.sort.isEmpty && fetch.limit == nil && fetch.offset == 0
        if !isFree {
            try gather(try runner.hits().hits, &rows, body)
        } else if let hits = try runner.indexed()?.hits {
            try gather(hits, &rows, body)
        } else {
            try scan(runner, &rows, body)
        }
    }

    // MARK: Gathering

    private func gather(
        _ hits: [RowHit], _ rows: inout RowGatherer, _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        var targets: [RowGatherer.Target] = []
        targets.reserveCapacity(RowGatherer.group)
        for start in stride(from: 0, to: hits.count, by: RowGatherer.group) {
            rows.begin()
            targets.removeAll(keepingCapacity: true)
            for position in start..<min(start + RowGatherer.group, hits.count) {
                let hit = hits[position]
                let target = RowGatherer.Target(
                    number: hit.number, slot: hit.cell.slot, view: try rows.view(hit.cell.handle),
                    position: position)
                rows.prefetch(target)
                targets.append(target)
            }
            for target in targets { rows.prefetchBytes(target) }
            for target in targets { rows.prefetchEntries(target) }
            for target in targets where try !rows.read(target, body) { return }
        }
        _ = rows.flush(body)
    }

    // MARK: Scanning

    private func scan(
        _ runner: FetchRunner, _ rows: inout RowGatherer, _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        // By column of the entity, then the numbers.
        let width = request.entity.columns.count
        let cells = UnsafeMutablePointer<CellColumn>.allocate(capacity: width + 1)
        cells.initialize(repeating: .absent, count: width + 1)
        defer { cells.deallocate() }
        let columns = Array(request.columns)
        let isText = request.entity.columns.map { $0.kind == .attribute(.string) }
        var texts = SharedTexts(columns: width)
        var position = 0
        var goesOn = true
        try runner.scan { block, entity, slots throws(StoreError) in
            let slots = UnsafeBufferPointer(slots)
            let stored = pinned.state.catalog.entities[entity]
            var hasReferences = false
            for column in columns {
                cells[column] = try block.cells(stored.columns[column], at: column).pointee
                if cells[column].externals != nil { hasReferences = true }
            }
            cells[width] = try block.numberCells()
            defer { position += slots.count }
            if hasReferences {
                goesOn = try gather(
                    block, entity, slots, cells + width, position, &rows, body)
                return goesOn
            }
            let isAll = slots.count == block.rows
            if slots.count * 4 < block.rows { prefetch(cells, columns, slots) }
            for column in columns where isText[column] && cells[column].codes != nil {
                guard let dictionary = try block.column(stored.columns[column]) else { continue }
                // If hardly two rows have the same string, there is nothing to gain.
                if dictionary.dictionaryCount * 2 > slots.count { continue }
                texts.make(for: &cells[column], entries: dictionary.dictionaryCount, at: column)
            }
            goesOn = withExtendedLifetime(block) {
                body(
                    RowBatch(
                        count: slots.count, layout: request.entity.layout, origin: rows.origin,
                        columns: cells, numbers: cells + width,
                        slots: isAll ? nil : slots.baseAddress, firstPosition: position))
            }
            return goesOn
        }
    }

    /// Collects rows of a block, and passes them before those of the next block.
    private func gather(
        _ block: CachedBlock, _ entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        _ numbers: UnsafePointer<CellColumn>, _ first: Int, _ rows: inout RowGatherer,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) -> Bool {
        let view = try rows.passingView(block, entity: entity)
        defer { view.free() }
        for (index, slot) in slots.enumerated() {
            let target = RowGatherer.Target(
                number: UInt32(truncatingIfNeeded: numbers.pointee.integer(Int(slot))),
                slot: Int(slot), view: view, position: first + index)
            if try !rows.read(target, body) { return false }
        }
        return rows.flush(body)
    }

    /// Prefetches the memory of the rows if only a few of a block match.
    private func prefetch(
        _ cells: UnsafePointer<CellColumn>, _ columns: [Int], _ slots: UnsafeBufferPointer<UInt16>
    ) {
        for column in columns {
            for slot in slots { cells[column].prefetch(Int(slot)) }
        }
        for column in columns where cells[column].kind == .bytes {
            for slot in slots { cells[column].prefetchBytes(Int(slot)) }
        }
    }
}

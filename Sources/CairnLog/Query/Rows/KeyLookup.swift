// Looks up objects by the keys of a uniqueness constraint, many at a time.
//
//   1. Keys are filled into a column batch, like the rows of a batch insert.
//   2. Group by group: hash; prefetch the partition, then the slot, then the directory cell, then the cells
//      of the row, then their bytes. Each step is done for the whole group before the next, so that the group
//      waits for memory once for each step.
//   3. The key is compared with the stored one. If the first candidate is another object, which happens once
//      in thousands of keys, the others are compared one by one.
//   4. The row is read.
//
// Many keys are looked up by several threads (`KeyLookupLine`).
//
// Threads: one lookup in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct KeyLookup: ~Copyable {
    private let request: StoreLookup
    private let reader: StoreReader
    private let pinned: PinnedState<EngineState>
    private let unique: Int
    /// The columns of the key, in the order of the constraint.
    private let columns: [Int]
    private let tree: Int
    private let entity: Int
    /// By entity: whether its objects were requested.
    private let isWanted: [Bool]
    private let single: Single?
    private var rows: RowGatherer
    private var key = KeyBuffer()
    private var other = KeyBuffer()
    /// One for each key of a group.
    private let probes: UnsafeMutablePointer<Probe>

    /// A key of one column that is compared without folding.
    private struct Single {
        let column: Int
        /// Its index in the views.
        let index: Int
    }

    /// What is known about a key so far.
    private struct Probe {
        var hash: UInt64 = 0
        /// The row of the batch of keys; negative for a key with a nil part.
        var row = 0
        /// The first candidate; 0 = none.
        var number: UInt32 = 0
        var target: RowGatherer.Target?
    }

    init(_ request: StoreLookup, _ reader: StoreReader, _ pinned: PinnedState<EngineState>)
        throws(StoreError)
    {
        let catalog = pinned.state.catalog
        let index = request.entity.index
        guard
            let unique = catalog.entities[index].uniques.first(where: {
                catalog.uniques[$0].isPlain
                    && ColumnSet(catalog.uniques[$0].columns) == request.key
            })
        else { throw request.noConstraint }
        self.request = request
        self.reader = reader
        self.pinned = pinned
        self.unique = unique
        columns = catalog.uniques[unique].columns
        entity = index
        tree = catalog.entities[index].tree
        var isWanted = catalog.entities.map { _ in false }
        for entity in catalog.family(of: index) { isWanted[entity] = true }
        self.isWanted = isWanted
        rows = RowGatherer(
            reader, pinned, entity: index, columns: request.columns, others: request.key)
        if let column = catalog.uniques[unique].form.plainColumn(of: catalog.entities[index]),
            let place = rows.index(of: column)
        {
            single = Single(column: column, index: place)
        } else {
            single = nil
        }
        probes = .allocate(capacity: RowGatherer.group)
        probes.initialize(repeating: Probe(), count: RowGatherer.group)
    }

    deinit { probes.deallocate() }

    var origin: RowOrigin { rows.origin }

    /// Returns the memory for reuse; nothing more is looked up.
    func finish() { rows.finish() }

    /// Passes the gathered rows; false if no more are wanted.
    func flush(_ body: (borrowing RowBatch) -> Bool) -> Bool { rows.flush(body) }

    mutating func run(
        keys: (borrowing RowWriter) -> Bool, _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        let batch = reader.batches.take(pinned.state.catalog.description(of: entity))
        defer {
            finish()
            reader.batches.give(batch)
        }
        var first = 0
        while true {
            let isEnd = batch.fillKeys(upTo: ColumnBatch.capacity, keys)
            guard try look(batch, from: 0, position: first, body), flush(body), !isEnd else {
                return
            }
            first += batch.rows
            batch.reset()
            if reader.crew.helpers > 0 {
                return try KeyLookupLine(request, reader, pinned, position: first)
                    .run(&self, keys: keys, body)
            }
        }
    }

    /// Looks up the keys of a batch from a row on, and passes the found rows whenever there are enough of
    /// them; false if no more are wanted.
    ///
    /// - Parameter position: the position of the batch's first key.
    mutating func look(
        _ batch: ColumnBatch, from start: Int, position: Int,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) -> Bool {
        var row = start
        while row < batch.rows {
            row += try look(batch, from: row, position: position)
            if rows.isFull, !rows.flush(body) { return false }
        }
        return true
    }

    /// Whether the gathered rows are to be passed before there are more.
    var isFull: Bool { rows.isFull }

    /// Exchanges the gathered rows for others of the same columns.
    mutating func exchange(_ found: inout GatheredRows) { rows.exchange(&found) }

    /// Says that so many lookups share what one reading may retain.
    mutating func share(among lookups: Int) { rows.sharers = lookups }

    /// Looks up the next group of keys of a batch, and gathers the found rows; returns the number of keys: fewer
    /// if there is no room for the rows of the others.
    ///
    /// - Parameter first: the position of the batch's first key.
    mutating func look(_ batch: ColumnBatch, from start: Int, position first: Int)
        throws(StoreError) -> Int
    {
        let count = min(RowGatherer.group, batch.rows - start)
        let position = first + start
        rows.begin()
        let probes = probes
        let seed = pinned.state.hashSeed
        let index = pinned.state.uniques[unique]
        let directory = pinned.state.directories[tree]
        for place in 0..<count {
            let hash = hash(batch, start + place, seed)
            probes[place].row = hash == nil ? -1 : start + place
            probes[place].hash = hash ?? 0
            probes[place].number = 0
            probes[place].target = nil
            if hash != nil { index.prefetchPartition(hash: probes[place].hash) }
        }
        for place in 0..<count where probes[place].row >= 0 {
            index.prefetchHome(hash: probes[place].hash)
        }
        for place in 0..<count where probes[place].row >= 0 {
            var cursor = index.firstCandidate(hash: probes[place].hash)
            guard let number = cursor.next() else { continue }
            probes[place].number = number
            directory.cells.table.prefetch(number)
        }
        for place in 0..<count where probes[place].number != 0 {
            let target = try target(probes[place].number, position: position + place, directory)
            guard isWanted[target.view.entity] else { continue }
            probes[place].target = target
            target.view.prefetchCells(columns: rows.width)
        }
        for place in 0..<count {
            if let target = probes[place].target { rows.prefetch(target) }
        }
        for place in 0..<count {
            if let target = probes[place].target { rows.prefetchBytes(target) }
        }
        for place in 0..<count {
            if let target = probes[place].target { rows.prefetchEntries(target) }
        }
        for place in 0..<count where probes[place].number != 0 {
            if rows.isFull { return place }
            if let target = probes[place].target, try isKey(target, batch, probes[place].row) {
                try rows.add(target)
            } else if let target = try findSlowly(
                batch, probes[place].row, probes[place].hash, position: position + place)
            {
                try rows.add(target)
            }
        }
        return count
    }

    /// Returns the place of a candidate.
    @inline(__always)
    private mutating func target(_ number: UInt32, position: Int, _ directory: RowDirectory)
        throws(StoreError) -> RowGatherer.Target
    {
        let cell = directory[number]
        guard !cell.isEmpty else {
            throw .damaged("a unique index names an object that does not exist")
        }
        return RowGatherer.Target(
            number: number, slot: cell.slot, view: try rows.view(cell.handle), position: position)
    }

    // MARK: Keys

    /// Returns the hash of a key; nil if a part is nil.
    @inline(__always)
    private mutating func hash(_ batch: ColumnBatch, _ row: Int, _ seed: UInt64) -> UInt64? {
        guard let single else {
            return key.load(batch, row: row, columns: columns) ? key.hash(seed: seed) : nil
        }
        let column = batch.columns.baseAddress.unsafelyUnwrapped + single.column
        return column.pointee.keyHash(row, seed: seed)
    }

    /// Whether a candidate has a key, as far as that can be decided without reading a value that has frames
    /// of its own.
    @inline(__always)
    private mutating func isKey(_ target: RowGatherer.Target, _ batch: ColumnBatch, _ row: Int)
        throws(StoreError) -> Bool
    {
        guard let single else { return try hasKey(target, batch, row) }
        let column = batch.columns.baseAddress.unsafelyUnwrapped + single.column
        return try column.pointee.isKey(
            row, target.view.cells + single.index, target.slot, target.view)
    }

    @inline(never)
    private mutating func hasKey(_ target: RowGatherer.Target, _ batch: ColumnBatch, _ row: Int)
        throws(StoreError) -> Bool
    {
        let stored = pinned.state.catalog.entities[target.view.entity]
        let block = target.view.block
        guard key.load(batch, row: row, columns: columns),
            try other.load(block, row: target.slot, entity: stored, columns: columns)
        else { return false }
        return key.equals(other)
    }

    /// Compares all candidates of a key.
    @inline(never)
    private mutating func findSlowly(
        _ batch: ColumnBatch, _ row: Int, _ hash: UInt64, position: Int
    ) throws(StoreError) -> RowGatherer.Target? {
        let directory = pinned.state.directories[tree]
        var cursor = pinned.state.uniques[unique].firstCandidate(hash: hash)
        while let number = cursor.next() {
            let target = try target(number, position: position, directory)
            if isWanted[target.view.entity], try hasKey(target, batch, row) { return target }
        }
        return nil
    }
}

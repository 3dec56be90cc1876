// Finds the objects with one of a list of keys, thousands at a time.
//
//   1. The keys are hashed group by group, and the memory of the partition, the slot and the directory cell
//      is prefetched, each step for the whole group before the next. The result is a candidate for each key.
//   2. Candidates are sorted by number, which is mostly the order in which rows are stored. A candidate found
//      twice, for a key that is listed twice, is returned once.
//   3. Each candidate's key is compared; memory is prefetched for some of them before the first is compared.
//      If the key differs, as two keys can share the stored part of a hash, all candidates of its hash are
//      compared one by one.
//
// Threads: one search in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct KeyListSearch: ~Copyable {
    /// A row that may have a key.
    private struct Candidate {
        let number: UInt32
        let key: UInt32
        let cell: DirectoryCell
    }

    /// What is known about a key so far.
    private struct Probe {
        let hash: UInt64
        /// The first candidate; 0 = none.
        var number: UInt32
        let key: UInt32
    }

    private let runner: FetchRunner
    private let index: KeyIndex
    private let values: [Value]
    /// By entity: whether its objects were requested.
    private let isWanted: [Bool]
    private var views: PointViews
    private var candidates: [Candidate] = []

    /// The number of keys that are looked up together.
    private static let group = 32

    init(_ runner: FetchRunner, _ index: KeyIndex, _ values: [Value]) {
        self.runner = runner
        self.index = index
        self.values = values
        var isWanted = runner.catalog.entities.map { _ in false }
        for entity in runner.family { isWanted[entity] = true }
        self.isWanted = isWanted
        views = PointViews(columns: [index.column])
    }

    /// Returns the objects, by number.
    consuming func hits() throws(StoreError) -> [RowHit] {
        collect()
        NumberSort.sort(&candidates) { $0.number }
        var hits: [RowHit] = []
        hits.reserveCapacity(candidates.count)
        var start = 0
        var isInOrder = true
        while start < candidates.count {
            let end = min(start + Self.group, candidates.count)
            try check(start..<end, &hits, &isInOrder)
            start = end
        }
        if !isInOrder {
            hits.sort { $0.number < $1.number }
            var last: UInt32 = 0
            hits.removeAll { hit in
                defer { last = hit.number }
                return hit.number == last
            }
        }
        return hits
    }

    // MARK: Candidates

    private mutating func collect() {
        let unique = runner.state.uniques[index.unique]
        let directory = runner.state.directories[index.tree]
        let seed = runner.state.hashSeed
        candidates.reserveCapacity(values.count)
        withUnsafeTemporaryAllocation(of: Probe.self, capacity: Self.group) { probes in
            var next = 0
            while next < values.count {
                var count = 0
                while next < values.count, count < Self.group {
                    if let hash = Self.hash(values[next], seed) {
                        unique.prefetchPartition(hash: hash)
                        probes[count] = Probe(
                            hash: hash, number: 0, key: UInt32(truncatingIfNeeded: next))
                        count += 1
                    }
                    next += 1
                }
                for place in 0..<count { unique.prefetchHome(hash: probes[place].hash) }
                for place in 0..<count {
                    var cursor = unique.firstCandidate(hash: probes[place].hash)
                    guard let number = cursor.next() else { continue }
                    probes[place].number = number
                    directory.cells.table.prefetch(number)
                }
                for place in 0..<count where probes[place].number != 0 {
                    let number = probes[place].number
                    candidates.append(
                        Candidate(
                            number: number, key: probes[place].key, cell: directory[number]))
                }
            }
        }
    }

    /// Returns the hash of a key; nil for nil, which no object has as its key.
    @inline(__always)
    private static func hash(_ value: Value, _ seed: UInt64) -> UInt64? {
        switch value {
        case .string(var text):
            text.withUTF8 { StoredHash.of(UnsafeRawBufferPointer($0), seed: seed) }
        case .integer(let number):
            StoredHash.of(word: UInt64(bitPattern: number), seed: seed)
        default: nil
        }
    }

    // MARK: Keys

    /// Adds the candidates that have their keys to the hits.
    private mutating func check(
        _ range: Range<Int>, _ hits: inout [RowHit], _ isInOrder: inout Bool
    ) throws(StoreError) {
        views.trim(to: runner.reader.cache.readingBudget)
        for place in range {
            let cell = candidates[place].cell
            guard !cell.isEmpty else {
                throw .damaged("a unique index names an object that does not exist")
            }
            try view(cell.handle).prefetch(cell.slot, columns: 1)
        }
        for place in range {
            let cell = candidates[place].cell
            try view(cell.handle).prefetchBytes(cell.slot, columns: 1)
        }
        for place in range {
            let cell = candidates[place].cell
            try view(cell.handle).prefetchEntries(cell.slot, columns: 1)
        }
        for place in range {
            let candidate = candidates[place]
            let view = try view(candidate.cell.handle)
            let value = values[Int(candidate.key)]
            if try hasKey(view, candidate.cell.slot, value) {
                guard isWanted[view.entity], hits.last?.number != candidate.number else { continue }
                hits.append(
                    RowHit(
                        number: candidate.number, cell: candidate.cell, entity: view.entity))
            } else if let hit = try findSlowly(value) {
                hits.append(hit)
                isInOrder = false
            }
        }
    }

    @inline(__always)
    private func hasKey(_ view: PointView, _ slot: Int, _ value: Value) throws(StoreError) -> Bool {
        let cells = view.cells
        if cells.pointee.isNil(slot) { return false }
        switch value {
        case .integer(let number): return cells.pointee.integer(slot) == number
        case .string(var text):
            let has = text.withUTF8 { text in
                Result { () throws(StoreError) in
                    try view.block.hasBytes(cells.pointee, slot, UnsafeRawBufferPointer(text))
                }
            }
            return try has.get()
        default: return false
        }
    }

    /// Compares all candidates of a key.
    @inline(never)
    private func findSlowly(_ value: Value) throws(StoreError) -> RowHit? {
        var key = KeyBuffer()
        guard key.load(value) else { return nil }
        let state = runner.state
        return try index.find(
            key, state.uniques[index.unique], state.directories[index.tree], seed: state.hashSeed,
            runner.catalog
        ) { cell throws(StoreError) in
            let entry = state.blocks.entry(cell.handle)
            guard isWanted[Int(entry.entity)] else { return nil }
            return (try runner.block(entry), Int(entry.entity))
        }?.hit
    }

    @inline(__always)
    private mutating func view(_ handle: BlockHandle) throws(StoreError) -> PointView {
        if let view = views[handle] { return view }
        return try add(handle)
    }

    @inline(never)
    private mutating func add(_ handle: BlockHandle) throws(StoreError) -> PointView {
        let entry = runner.state.blocks.entry(handle)
        return try views.add(
            handle, try runner.block(entry), runner.catalog.entities[Int(entry.entity)],
            entity: Int(entry.entity))
    }
}

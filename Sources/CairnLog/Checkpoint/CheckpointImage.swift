// The parts of a checkpoint that are read on first access.                                    Format 85
//
// A state has records of `LatePage` instead of addresses of pages. Following one returns the page: on first
// access the part is read, verified and unpacked into pages born at the checkpoint's commit, and the record
// keeps their addresses. From then on, copy on write works as usual: nothing is written into a page of a
// state.
//
// A damaged part is taken from the log instead, as it was at the checkpoint's commit (CK1). The log can be
// read for that as long as the newest segment is the one of that commit or the first after it, so all parts
// are loaded before the log continues in another one.
//
// Invariants: a record's page is set once. A page is freed only when no state has the record any longer,
// because it is replaced like any other page.
// Threads: any; parts are loaded under a lock, records are read through an atomic.

import CairnFileSystem
import CairnFormat
import CairnStore
import Synchronization

/// Reads a checkpoint part by part.
final class CheckpointImage: LatePages, @unchecked Sendable {
    // Everything but `loading` and the pages of records is written before other threads see it.

    /// The content of a part.
    enum Part {
        /// Leaves of a tree's directory.
        case directory(tree: Int, CheckpointContents.Leaves)
        case partition(unique: Int, CheckpointContents.Partition)
        /// Both arrays of an inverse table; their lists span all of it.
        case inverse(Int, CheckpointContents.Inverse)
        /// Leaves of an ordered index; the first one has a position in its outline.
        case leaves(OrderedPlace, OrderedOutline, first: Int, CheckpointContents.Ordered.Run)
        /// A partition of the table of an index with postings.
        case postings(Int, CheckpointContents.Partition)
    }

    /// An ordered index of a state: that of a fetch index, or the lists of its postings.
    enum OrderedPlace {
        case ordered(Int), lists(Int)
    }

    /// Builds the state at the checkpoint's commit from the log alone.
    typealias Rebuild =
        @Sendable (CheckpointHeader, PagePool, [Catalog.FetchIndexDefinition])
        throws(StoreError) -> EngineState

    private struct Loading {
        var isLoaded: [Bool] = []
        /// Parts that could not be read, and why.
        var failed: [Int: StoreError] = [:]
        var rebuilt: EngineState?
    }

    private let file: any File
    private let pool: PagePool
    private let rebuild: Rebuild
    /// The pages of the state that was built from the log.
    private let rebuiltPool = PagePool()
    private let header: CheckpointHeader
    private let loading: LongLock<Loading>
    private let isStopped = Atomic(false)
    private let isAskedFor = Atomic(false)
    // Set by the creator of the image, before any other thread has it.
    @exclusivity(unchecked) private var parts: [Part] = []
    /// By part: the number of its first record; the last element is the number of all records.
    @exclusivity(unchecked) private var firstRecords = [0]
    @exclusivity(unchecked) private(set) var records = LateRecords()
    private var nextNumbers: [UInt32] = []
    private(set) var bits: [Int] = []
    private(set) var postingBits: [Int] = []
    private var fetchIndexes: [Catalog.FetchIndexDefinition] = []
    private var rowCount: UInt64 = 0
    private(set) var blocks = CheckpointBlocks()

    init(file: any File, header: CheckpointHeader, pool: PagePool, rebuild: @escaping Rebuild) {
        self.file = file
        self.header = header
        self.pool = pool
        self.rebuild = rebuild
        loading = LongLock(Loading())
    }

    deinit { records.deallocate() }

    // MARK: Making

    /// Ends the addition of parts, and notes what they are checked against.
    func describe(_ state: EngineState, _ blocks: CheckpointBlocks) {
        nextNumbers = state.nextNumbers
        bits = state.uniques.map(\.bits)
        postingBits = state.fetchIndexes.map(\.postings.table.bits)
        fetchIndexes = state.catalog.fetchIndexes
        rowCount = UInt64(state.counts.reduce(0) { $0 &+ $1 })
        self.blocks = blocks
        loading.withLock { $0.isLoaded = Array(repeating: false, count: parts.count) }
    }

    /// Adds a part; returns the numbers of the records of its pages.
    func add(_ part: Part, pages count: Int) -> Range<Int> {
        parts.append(part)
        let numbers = records.add(count, of: self)
        firstRecords.append(numbers.upperBound)
        return numbers
    }

    // MARK: Loading

    override func retry() {
        loading.withLock { loading in
            // Until all are loaded, no reader may trust the state: missing parts are read as empty.
            for part in loading.failed.keys.sorted() { load(part, &loading) }
            let error = loading.failed.min { $0.key < $1.key }?.value
            setFailure(error)
        }
    }

    /// The number of parts, and how many are loaded.
    var progress: (parts: Int, loaded: Int) {
        loading.withLock { ($0.isLoaded.count, $0.isLoaded.count { $0 }) }
    }

    /// Returns true for the first caller.
    func isToBeLoaded() -> Bool {
        !isAskedFor.load(ordering: .relaxed) && !isAskedFor.exchange(true, ordering: .relaxed)
    }

    /// Loads all parts, unless `stop` is called during that.
    func loadAll() {
        for part in parts.indices where !isStopped.load(ordering: .relaxed) { load(part) }
    }

    /// Loads all parts, even after `stop`.
    func loadWhole() {
        for part in parts.indices { load(part) }
    }

    /// Makes `loadAll` end early.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    override func load(record: Int) {
        // The last part that begins at the record or before it.
        var (low, high) = (0, parts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if firstRecords[middle] <= record { low = middle } else { high = middle }
        }
        load(low)
    }

    private func load(_ index: Int) {
        loading.withLock { loading in
            if !loading.isLoaded[index] { load(index, &loading) }
        }
    }

    private func load(_ index: Int, _ loading: inout Loading) {
        var pages = PageTransaction(epoch: header.commit, pool: pool)
        var found = try? unpack(parts[index], &pages)
        loading.failed[index] = nil
        if found == nil {
            pages.abandon()
            pages = PageTransaction(epoch: header.commit, pool: pool)
            do throws(StoreError) {
                if loading.rebuilt == nil {
                    loading.rebuilt = try rebuild(header, rebuiltPool, fetchIndexes)
                }
                found = loading.rebuilt.map { copy(parts[index], of: $0, &pages) }
            } catch {
                loading.failed[index] = error
                note(error)
                // If a retry failed, the replacement for the part is there already.
                if !loading.isLoaded[index] {
                    let count = firstRecords[index + 1] - firstRecords[index]
                    found = empty(parts[index], count, &pages)
                }
            }
        }
        pool.give(pages.commit().map(\.address))
        // Readers may have the pages that replaced a part before, so those are not freed.
        for (position, page) in (found ?? []).enumerated() {
            records.set(page, of: firstRecords[index] + position)
        }
        loading.isLoaded[index] = true
    }

    // MARK: From the file

    struct Wrong: Error {}

    func read<R>(
        _ unit: CheckpointUnit, _ body: (UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        let raw = try unit.read(from: file)
        return try body(raw.bytes)
    }

    private func unpack(_ part: Part, _ pages: inout PageTransaction) throws -> [Page] {
        switch part {
        case .directory(let tree, let leaves):
            return try read(leaves.unit) { bytes in
                try unpackDirectory(of: tree, leaves, bytes, &pages)
            }
        case .inverse(_, let inverse):
            var listed: UInt64 = 0
            return try unpack(inverse.heads, &pages) { head in
                listed &+= head & 0xFFFF_FFFF
                return listed <= rowCount
            } + unpack(inverse.links, &pages) { _ in true }
        case .partition(let unique, let partition):
            return try unpack(partition, bits: bits[unique], &pages)
        case .postings(let index, let partition):
            return try unpack(partition, bits: postingBits[index], &pages)
        case .leaves(_, let outline, let first, let run):
            return try read(run.unit) { bytes in
                try outline.unpack(bytes, first: first, count: Int(run.count), &pages)
                    ?? { throw Wrong() }()
            }
        }
    }

    private func unpack(
        _ partition: CheckpointContents.Partition, bits: Int, _ pages: inout PageTransaction
    ) throws -> [Page] {
        try read(partition.unit) { bytes in
            guard
                let table = HashPartition.make(
                    entries: bytes, capacity: Int(partition.capacity), number: partition.number,
                    bits: bits, in: &pages)
            else { throw Wrong() }
            return [table.header]
        }
    }

    /// Cells are stored as differences to the previous one. Most belong to consecutive rows of a block whose
    /// rows are all live: these are verified by the first of them.
    private func unpackDirectory(
        of tree: Int, _ leaves: CheckpointContents.Leaves, _ bytes: UnsafeRawBufferPointer,
        _ pages: inout PageTransaction
    ) throws -> [Page] {
        guard bytes.count == Int(leaves.count) * PageSize.large.bytes else { throw Wrong() }
        let next = UInt64(nextNumbers[tree])
        var row = blocks.row(ofTree: tree)
        var unpacked: [Page] = []
        unpacked.reserveCapacity(Int(leaves.count))
        pages.expect(Int(leaves.count), .large)
        var bits: UInt64 = 0
        for index in 0..<Int(leaves.count) {
            let differences = UnsafeRawBufferPointer(
                rebasing: bytes[index * PageSize.large.bytes..<(index + 1) * PageSize.large.bytes])
            let page = pages.allocate(.large)
            let first = (UInt64(leaves.first) + UInt64(index)) * 512
            var slot = 0
            while slot < 512 {
                let number = first | UInt64(truncatingIfNeeded: slot)
                bits &+= Self.word(slot, of: differences)
                page.data.storeBytes(of: bits, toByteOffset: slot &* 8, as: UInt64.self)
                slot &+= 1
                if bits == 0 { continue }
                let cell = DirectoryCell(bits: bits)
                guard number > 0, number < next, cell.version > 0, row.isLive(cell) else {
                    throw Wrong()
                }
                let end = min(
                    512, slot &+ row.restOfWholeBlock(behind: cell),
                    Int(truncatingIfNeeded: next &- first))
                while slot < end, Self.word(slot, of: differences) == DirectoryCell.nextSlot {
                    bits &+= DirectoryCell.nextSlot
                    page.data.storeBytes(of: bits, toByteOffset: slot &* 8, as: UInt64.self)
                    slot &+= 1
                }
            }
            unpacked.append(page)
        }
        return unpacked
    }

    @inline(__always)
    private static func word(_ index: Int, of bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
    }

    private func unpack(
        _ parts: [CheckpointContents.Leaves], _ pages: inout PageTransaction,
        isRight: (UInt64) -> Bool
    ) throws -> [Page] {
        var leaves: [Page] = []
        for part in parts {
            try read(part.unit) { bytes in
                guard bytes.count == Int(part.count) * PageSize.large.bytes else { throw Wrong() }
                var cell: UInt64 = 0
                var offset = 0
                for _ in 0..<part.count {
                    let leaf = pages.allocate(.large)
                    for slot in 0..<512 {
                        cell &+= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                        guard isRight(cell) else { throw Wrong() }
                        leaf.data.storeBytes(of: cell, toByteOffset: slot * 8, as: UInt64.self)
                        offset += 8
                    }
                    leaves.append(leaf)
                }
            }
        }
        return leaves
    }
}

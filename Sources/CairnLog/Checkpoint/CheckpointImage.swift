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
// Threads load different parts at the same time. Once a share of the parts was needed, the others are loaded
// in the background: whoever needs so many needs the rest soon.
//
// Invariants: a record's page is set once, or again if the part could not be read the first time. A page is
// freed only when no state has the record any longer,
// because it is replaced like any other page. A part is loaded by one thread, for which the others wait.
// Threads: any; records are read through an atomic.

import CairnFileSystem
import CairnFormat
import CairnStore
import Synchronization

/// Reads a checkpoint part by part.
final class CheckpointImage: LatePages, @unchecked Sendable {
    // Everything but `loading`, `rebuilt` and the pages of records is written before other threads see it.

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

    private enum Step { case waiting, loading, loaded }

    private struct Loading {
        /// By part.
        var steps: [Step] = []
        /// Parts that could not be read, and why.
        var failed: [Int: StoreError] = [:]
        /// The number of parts that were loaded on first access.
        var needed = 0

        /// Whether a part is waiting, and is now to be loaded by the caller.
        mutating func begin(_ part: Int) -> Bool {
            guard steps[part] == .waiting else { return false }
            steps[part] = .loading
            return true
        }
    }

    /// Why a part is read.
    private enum Reason {
        case needed
        /// It was needed before, and could not be read.
        case missing
        /// It will be needed.
        case ahead
    }

    private let file: any File
    private let pool: PagePool
    private let rebuild: Rebuild
    /// The pages of the state that was built from the log.
    private let rebuiltPool = PagePool()
    private let header: CheckpointHeader
    private let loading: Monitor<Loading>
    /// The state that was built from the log, once a part could not be read.
    private let rebuilt = LongLock<EngineState?>(nil)
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
    /// Called once so many parts were needed that the others will be.
    @exclusivity(unchecked) var loadsRest: (@Sendable () -> Void)?
    private var rowCount: UInt64 = 0
    private(set) var blocks = CheckpointBlocks()

    init(file: any File, header: CheckpointHeader, pool: PagePool, rebuild: @escaping Rebuild) {
        self.file = file
        self.header = header
        self.pool = pool
        self.rebuild = rebuild
        loading = Monitor(Loading())
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
        loading.withLock { $0.steps = Array(repeating: .waiting, count: parts.count) }
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
        for part in loading.withLock({ $0.failed.keys.sorted() }) {
            let isMine = loading.wait { loading -> Bool? in
                if loading.steps[part] == .loading { return nil }
                guard loading.failed[part] != nil else { return false }
                loading.steps[part] = .loading
                return true
            }
            if isMine { read(part, .missing) }
        }
        // Until all are loaded, no reader may trust the state: missing parts are read as empty.
        loading.withLock { loading in
            setFailure(loading.failed.min { $0.key < $1.key }?.value)
        }
    }

    /// The number of parts, and how many are loaded.
    var progress: (parts: Int, loaded: Int) {
        loading.withLock { ($0.steps.count, $0.steps.count { $0 == .loaded }) }
    }

    /// Returns true for the first caller.
    func isToBeLoaded() -> Bool {
        !isAskedFor.load(ordering: .relaxed) && !isAskedFor.exchange(true, ordering: .relaxed)
    }

    /// Loads all parts, unless `stop` is called during that.
    func loadAll() {
        loadAhead()
        for part in parts.indices where !isStopped.load(ordering: .relaxed) { load(part) }
    }

    /// Loads the parts that no thread is loading, unless `stop` is called during that. Those that cannot be
    /// read are left to whoever needs them.
    func loadAhead() {
        for part in parts.indices where !isStopped.load(ordering: .relaxed) {
            let isMine = loading.withLock { $0.begin(part) }
            if isMine { read(part, .ahead) }
        }
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
        guard load(low) else { return }
        let isDue = loading.withLock { loading in
            loading.needed += 1
            return loading.needed >= max(Self.fewParts, loading.steps.count / Self.shareOfMost)
        }
        if isDue { loadsRest?() }
    }

    /// So many parts, or this share of them if that is more, are loaded on first access before the others are
    /// in the background.
    private static let (fewParts, shareOfMost) = (16, 8)

    /// Loads a part, or waits until another thread has; returns whether this one did.
    @discardableResult
    private func load(_ index: Int) -> Bool {
        let isMine = loading.wait { loading -> Bool? in
            if loading.steps[index] == .loading { return nil }
            return loading.begin(index)
        }
        if isMine { read(index, .needed) }
        return isMine
    }

    /// Reads a part that this thread is to load.
    private func read(_ index: Int, _ reason: Reason) {
        var pages = PageTransaction(epoch: header.commit, pool: pool)
        var found = try? unpack(parts[index], &pages)
        var failure: StoreError?
        if found == nil {
            pages.abandon()
            pages = PageTransaction(epoch: header.commit, pool: pool)
            do throws(StoreError) {
                found = copy(parts[index], of: try rebuiltState(), &pages)
            } catch {
                if reason == .ahead {
                    pages.abandon()
                    return loading.update { $0.steps[index] = .waiting }
                }
                failure = error
                // If a retry failed, the replacement for the part is there already.
                if reason == .needed {
                    let count = firstRecords[index + 1] - firstRecords[index]
                    found = empty(parts[index], count, &pages)
                }
            }
        }
        pool.give(pages.commit().map(\.address))
        if let failure {
            // Before a reader can see what is missing.
            loading.withLock { loading in
                loading.failed[index] = failure
                note(failure)
            }
        }
        // Readers may have the pages that replaced a part before, so those are not freed.
        for (position, page) in (found ?? []).enumerated() {
            records.set(page, of: firstRecords[index] + position)
        }
        loading.update { loading in
            if failure == nil { loading.failed[index] = nil }
            loading.steps[index] = .loaded
        }
    }

    private func rebuiltState() throws(StoreError) -> EngineState {
        try rebuilt.withLock { known throws(StoreError) in
            if let known { return known }
            let state = try rebuild(header, rebuiltPool, fetchIndexes)
            known = state
            return state
        }
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

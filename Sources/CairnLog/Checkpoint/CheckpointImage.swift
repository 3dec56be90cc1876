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
// A part is compact at first where it can be: the sorted entries of a partition are searched as they lie in
// the file, and a directory has runs of cells. Such a page becomes whole when it is changed; partitions
// also do before the log continues in another segment.
//
// Threads load different parts at the same time. Once a share of the parts was needed, the others are loaded
// in the background: whoever needs so many needs the rest soon.
//
// Invariants: a record's page is set once, or again if the part could not be read the first time, or if it was
// compact. A page is freed only when no state has the record any longer, because it
// is replaced like any other page; the compact one of a partition that became whole is kept. A part is loaded by one thread, for which the others wait.
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

    private enum Step {
        case waiting, loading
        /// Its partition is compact, and its bytes are in the file.
        case compact
        case loaded
    }

    private struct Loading {
        /// By part.
        var steps: [Step] = []
        /// Parts that could not be read, and why.
        var failed: [Int: StoreError] = [:]
        /// The number of parts that were loaded on first access.
        var needed = 0

        /// Whether a part is now to be loaded by the caller.
        mutating func begin(_ part: Int, _ reason: Reason) -> Bool {
            guard steps[part] == .waiting || steps[part] == .compact && reason.isWhole else {
                return false
            }
            steps[part] = .loading
            return true
        }
    }

    /// Why a part is read.
    private enum Reason {
        /// It is needed, and may be compact.
        case toRead
        /// It is needed whole.
        case whole
        /// It was needed before, and could not be read.
        case missing
        /// It will be needed, and may be compact.
        case ahead
        /// It will be needed whole.
        case wholeAhead

        var isWhole: Bool { self != .toRead && self != .ahead }
        var isAhead: Bool { self == .ahead || self == .wholeAhead }
    }

    private let file: any File
    /// The file in memory, once it may be mapped.
    @exclusivity(unchecked) private var mapping: FileMapping?
    private let pool: PagePool
    private let rebuild: Rebuild
    /// The pages of the state that was built from the log.
    private let rebuiltPool = PagePool()
    private let header: CheckpointHeader
    private let fileLength: UInt64
    private let loading: Monitor<Loading>
    /// The state that was built from the log, once a part could not be read.
    private let rebuilt = LongLock<EngineState?>(nil)
    private let isStopped = Atomic(false)
    private let isAskedFor = Atomic(false)
    private let isAskedForWhole = Atomic(false)
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

    init(
        file: any File, length: UInt64, header: CheckpointHeader, pool: PagePool,
        rebuild: @escaping Rebuild
    ) {
        self.file = file
        fileLength = length
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

    /// The number of parts, how many of them are loaded, and how many of these are compact and need the file.
    var progress: (parts: Int, loaded: Int, compact: Int) {
        loading.withLock { loading in
            let compact = loading.steps.count { $0 == .compact }
            return (
                loading.steps.count, loading.steps.count { $0 == .loaded } + compact, compact
            )
        }
    }

    /// Returns true for the first caller that needs all parts, and for the first that needs them whole.
    func isToBeLoaded(wholly: Bool) -> Bool {
        if wholly {
            !isAskedForWhole.load(ordering: .relaxed)
                && !isAskedForWhole.exchange(true, ordering: .relaxed)
        } else {
            !isAskedFor.load(ordering: .relaxed) && !isAskedFor.exchange(true, ordering: .relaxed)
        }
    }

    /// Loads all parts so that the file is not needed any more, unless `stop` is called during that.
    func loadAll() {
        // Those first that no other thread is loading.
        loadAhead(wholly: true)
        for part in parts.indices where !isStopped.load(ordering: .relaxed) { load(part, .whole) }
    }

    /// Loads all parts so that the file is not needed any more, even after `stop`.
    func loadWhole() {
        for part in parts.indices { load(part, .whole) }
    }

    /// Loads the parts that no thread is loading, unless `stop` is called during that. Those that cannot be
    /// read are left to whoever needs them.
    func loadAhead(wholly: Bool) {
        let reason = wholly ? Reason.wholeAhead : .ahead
        for part in parts.indices where !isStopped.load(ordering: .relaxed) {
            let isMine = loading.withLock { $0.begin(part, reason) }
            if isMine { read(part, reason) }
        }
    }

    /// Makes `loadAll` and `loadAhead` end early.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    override func makeWhole(record: Int) { load(part(of: record), .whole) }

    /// Returns the part with a record: the last one that begins there or before it.
    private func part(of record: Int) -> Int {
        var (low, high) = (0, parts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if firstRecords[middle] <= record { low = middle } else { high = middle }
        }
        return low
    }

    override func load(record: Int) {
        guard load(part(of: record), .toRead) else { return }
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
    private func load(_ index: Int, _ reason: Reason) -> Bool {
        let isMine = loading.wait { loading -> Bool? in
            if loading.steps[index] == .loading { return nil }
            return loading.begin(index, reason)
        }
        if isMine { read(index, reason) }
        return isMine
    }

    /// Reads a part that this thread is to load.
    private func read(_ index: Int, _ reason: Reason) {
        var pages = PageTransaction(epoch: header.commit, pool: pool)
        if !reason.isWhole, let page = compact(parts[index], &pages) {
            _ = pages.commit()
            records.set(page, of: firstRecords[index])
            return loading.update { $0.steps[index] = .compact }
        }
        var found = try? unpack(parts[index], &pages)
        var failure: StoreError?
        if found == nil {
            pages.abandon()
            pages = PageTransaction(epoch: header.commit, pool: pool)
            do throws(StoreError) {
                found = copy(parts[index], of: try rebuiltState(), &pages)
            } catch {
                if reason.isAhead {
                    pages.abandon()
                    let step: Step = isCompact(index) ? .compact : .waiting
                    return loading.update { $0.steps[index] = step }
                }
                failure = error
                // If a retry failed, the replacement for the part is there already.
                if reason != .missing {
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

    /// Whether the page of a partition is compact.
    private func isCompact(_ part: Int) -> Bool {
        switch parts[part] {
        case .partition, .postings:
            LatePage.isCompact(records.page(of: firstRecords[part]))
        case .directory, .inverse, .leaves: false
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

    /// Lets partitions be read in the mapped file. Called before any other thread has the image.
    ///
    /// - Parameter isSynced: whether the file is certain to be on the disk. Otherwise it is synced: what the system
    ///   fails to write later may not be what it reads again.
    func map(isSynced: Bool) {
        guard FileMapping.isSupported, isSynced || (try? file.synchronizeData()) != nil else {
            return
        }
        mapping = file.map(at: 0, count: Int(fileLength))
    }

    /// Returns the compact header of a partition whose entries can be searched in the mapped file; nil if
    /// there is none.
    private func compact(_ part: Part, _ pages: inout PageTransaction) -> Page? {
        let (partition, bits): (CheckpointContents.Partition, Int)
        switch part {
        case .partition(let unique, let stored): (partition, bits) = (stored, self.bits[unique])
        case .postings(let index, let stored): (partition, bits) = (stored, postingBits[index])
        case .directory, .inverse, .leaves: return nil
        }
        let unit = partition.unit
        guard let mapping, !unit.isCompressed, unit.rawLength / 8 < partition.capacity
        else { return nil }
        let start = Int(unit.offset)
        guard let bytes = mapping.bytes(start..<start + Int(unit.storedLength)),
            (try? unit.verify(bytes)) != nil
        else { return nil }
        return SortedPartition.make(bytes, number: partition.number, bits: bits, in: &pages)
    }

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
        var row = blocks.row(ofTree: tree)
        var unpacked: [Page] = []
        unpacked.reserveCapacity(Int(leaves.count))
        var bits: UInt64 = 0
        for index in 0..<Int(leaves.count) {
            let differences = UnsafeRawBufferPointer(
                rebasing: bytes[index * PageSize.large.bytes..<(index + 1) * PageSize.large.bytes])
            let number = (UInt64(leaves.first) + UInt64(index)) * 512
            let start = bits
            if let page = try unpackRuns(
                differences, of: number, below: UInt64(nextNumbers[tree]), &bits, &row, &pages)
            {
                unpacked.append(page)
                continue
            }
            bits = start
            let page = pages.allocate(.large)
            for slot in 0..<512 {
                bits &+= Self.word(slot, of: differences)
                page.data.storeBytes(of: bits, toByteOffset: slot &* 8, as: UInt64.self)
            }
            unpacked.append(page)
        }
        return unpacked
    }

    /// Verifies the cells of a leaf, and returns it in compact form; nil if it has too many runs for that.
    private func unpackRuns(
        _ differences: UnsafeRawBufferPointer, of first: UInt64, below next: UInt64,
        _ bits: inout UInt64, _ row: inout CheckpointBlocks.Row, _ pages: inout PageTransaction
    ) throws -> Page? {
        let runs = CellRuns.make(in: &pages)
        var hasRoom = true
        var slot = 0
        while slot < 512 {
            let number = first | UInt64(truncatingIfNeeded: slot)
            let difference = Self.word(slot, of: differences)
            let continues = difference == (bits == 0 ? 0 : DirectoryCell.nextSlot)
            bits &+= difference
            if slot == 0 || !continues, hasRoom { hasRoom = runs.add(bits, at: slot) }
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
                slot &+= 1
            }
        }
        if hasRoom { return runs.compact }
        pages.release(LatePage.content(runs.compact))
        return nil
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

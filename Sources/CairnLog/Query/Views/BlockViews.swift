// The columns that one iteration needs of the blocks it reads, by handle.
//
// A block is looked up in the cache once; after that its cells are read without lock or reference count. It
// is kept as long as it is here, so when the blocks take more than the cache may, some of them are released:
// each time another eighth, so that an iteration that revisits more blocks than fit finds most of them here.
//
// Invariants: a view is valid until `trim`.
// Threads: owned by one reading.

import CairnFormat
import CairnStore

/// The blocks that an iteration over many rows has read.
typealias BlockViews = ViewedBlocks<CellColumn>

/// The blocks that an iteration over single rows has read.
typealias PointViews = ViewedBlocks<CellReader>

/// Placeholders for columns.
enum ViewedPlace {
    /// Nothing.
    static let absent = -1
    /// The object numbers.
    static let numbers = -2
}

/// The blocks that one iteration has read.
struct ViewedBlocks<Cells: ViewedCells>: ~Copyable {
    private struct Entry {
        var handle: UInt32 = 0
        /// The cost of the block when it was added.
        var cost: UInt32 = 0
        var view: ViewedBlock<Cells>?
    }

    /// The columns, by index of the entity to read, or placeholders.
    let columns: [Int]
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity = 32
    private var count = 0
    private var cost = 0
    /// Memory for views that only need a head, from ended views or not used yet.
    private var spareHeads: [UnsafeMutableRawPointer] = []
    private var headChunks: [UnsafeMutableRawPointer] = []
    private static var headsPerChunk: Int { 16 }
    /// The part of the entries that is released next.
    private var nextPart = 0
    private static var parts: Int { 8 }

    /// By the version of the catalog: whether a block's own list of all its columns is sufficient.
    private let version: UInt32?

    /// - Parameter version: the version of the catalog, if the columns are all those of the entity to read,
    ///   in their order.
    init(columns: [Int], version: UInt32? = nil) {
        self.columns = columns
        self.version = version
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(), count: capacity)
    }

    deinit {
        for index in 0..<capacity {
            guard let view = entries[index].view else { continue }
            if version == nil { view.free() } else { view.endHead() }
        }
        entries.deallocate()
        for chunk in headChunks { chunk.deallocate() }
    }

    /// Ends the view of an entry.
    private mutating func end(_ view: ViewedBlock<Cells>) {
        if version == nil { return view.free() }
        view.endHead()
        spareHeads.append(view.memory)
    }

    /// Returns memory for a head alone.
    private mutating func head() -> UnsafeMutableRawPointer {
        if let head = spareHeads.popLast() { return head }
        let size = MemoryLayout<ViewHead>.stride
        let chunk = UnsafeMutableRawPointer.allocate(
            byteCount: Self.headsPerChunk * size, alignment: MemoryLayout<ViewHead>.alignment)
        headChunks.append(chunk)
        for index in 1..<Self.headsPerChunk { spareHeads.append(chunk + index * size) }
        return chunk
    }

    /// Returns the view of a block, if it is here.
    @inline(__always)
    subscript(_ handle: BlockHandle) -> ViewedBlock<Cells>? {
        var index = home(handle.raw)
        while let view = entries[index].view {
            if entries[index].handle == handle.raw { return view }
            index = (index &+ 1) & (capacity &- 1)
        }
        return nil
    }

    @inline(__always)
    private func home(_ handle: UInt32) -> Int {
        // Handles are dense.
        Int(handle) & (capacity &- 1)
    }

    /// Adds a block.
    mutating func add(
        _ handle: BlockHandle, _ block: CachedBlock, _ stored: Catalog.StoredEntity, entity: Int
    ) throws(StoreError) -> ViewedBlock<Cells> {
        let view: ViewedBlock<Cells>
        if let version {
            // The columns of a descendant begin with those of the entity.
            let cells = try Cells.all(block, stored.columns, version: version)
            let memory = head()
            memory.initializeMemory(
                as: ViewHead.self, to: ViewHead(block: block, entity: entity))
            view = ViewedBlock(memory: memory, cells: cells)
        } else {
            view = try make(block, stored, entity: entity)
        }
        if (count + 1) * 2 > capacity { grow() }
        let entry = Entry(handle: handle.raw, cost: UInt32(clamping: block.cost), view: view)
        put(entry)
        count += 1
        cost += Int(entry.cost)
        return view
    }

    /// Adds a block of a state.
    @inline(never)
    mutating func add(
        _ handle: BlockHandle, _ reader: StoreReader, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> ViewedBlock<Cells> {
        let entry = pinned.entry(handle)
        let entity = Int(entry.entity)
        return try add(
            handle, reader.block(entry, in: pinned), pinned.catalog.entities[entity],
            entity: entity)
    }

    /// Returns a view that is not kept here: the caller frees it. A column that the block's entity does not
    /// have is nil in all its rows.
    func make(_ block: CachedBlock, _ stored: Catalog.StoredEntity, entity: Int)
        throws(StoreError) -> ViewedBlock<Cells>
    {
        let size = MemoryLayout<Cells>.stride
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: ViewedBlock<Cells>.headSize + columns.count * size,
            alignment: ViewedBlock<Cells>.lineSize)
        let cells = memory + ViewedBlock<Cells>.headSize
        do throws(StoreError) {
            for (position, column) in columns.enumerated() {
                cells.storeBytes(
                    of: try self.cells(of: column, block, stored), toByteOffset: position * size,
                    as: Cells.self)
            }
        } catch {
            memory.deallocate()
            throw error
        }
        memory.initializeMemory(
            as: ViewHead.self, to: ViewHead(block: block, entity: entity))
        return ViewedBlock(
            memory: memory, cells: UnsafePointer(cells.assumingMemoryBound(to: Cells.self)))
    }

    private func cells(
        of column: Int, _ block: CachedBlock, _ stored: Catalog.StoredEntity
    ) throws(StoreError) -> Cells {
        if column == ViewedPlace.numbers { return try Cells.numbers(block) }
        guard column >= 0, column < stored.columns.count else { return .absent }
        return try Cells.one(block, stored.columns[column], at: column)
    }

    private func put(_ entry: Entry) {
        var index = home(entry.handle)
        while entries[index].view != nil { index = (index + 1) & (capacity - 1) }
        entries[index] = entry
    }

    private mutating func grow() { move(to: capacity * 4) { _ in true } }

    /// Rebuilds the table with the remaining entries; ends the views of the others.
    private mutating func move(to capacity: Int, _ stays: (Int) -> Bool) {
        let (old, oldCapacity) = (entries, self.capacity)
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(), count: capacity)
        for index in 0..<oldCapacity {
            guard let view = old[index].view else { continue }
            if stays(index) {
                put(old[index])
            } else {
                count -= 1
                cost -= Int(old[index].cost)
                end(view)
            }
        }
        old.deallocate()
    }

    /// Releases blocks until the rest takes at most `budget` bytes; returns whether any was released.
    @discardableResult
    mutating func trim(to budget: Int) -> Bool {
        guard cost > budget, count > 0 else { return false }
        while cost > budget, count > 0 {
            let length = capacity / Self.parts
            let first = nextPart * length
            nextPart = (nextPart + 1) % Self.parts
            move(to: capacity) { $0 < first || $0 >= first + length }
        }
        return true
    }
}

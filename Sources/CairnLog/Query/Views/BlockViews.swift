// The columns that one reading needs of the blocks it meets, by handle.
//
// A block is looked for in the cache once; after that its cells are read without lock or reference count. It is kept as
// long as it is here, so when the blocks take more than the cache may, all of them are let go.
//
// Invariants: a view is good until `trim`.
// Threads: owned by one reading.

import CairnFormat
import CairnStore

/// The blocks that a reading of many rows has met.
typealias BlockViews = ViewedBlocks<CellColumn>

/// The blocks that a reading of single rows has met.
typealias PointViews = ViewedBlocks<CellReader>

/// What stands in place of a column.
enum ViewedPlace {
    /// Nothing.
    static let absent = -1
    /// The object numbers.
    static let numbers = -2
}

/// The blocks that one reading has met.
struct ViewedBlocks<Cells: ViewedCells>: ~Copyable {
    private struct Entry {
        var handle: UInt32 = 0
        var view: ViewedBlock<Cells>?
    }

    /// The columns, by index of the entity that is read, and what stands for other things.
    let columns: [Int]
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity = 16
    private var count = 0
    private var cost = 0

    /// By the version of the catalog: whether a block's own list of all its columns will do.
    private let version: UInt32?

    /// - Parameter version: that of the catalog, if the columns are all of the entity that is read, in their order.
    init(columns: [Int], version: UInt32? = nil) {
        self.columns = columns
        self.version = version
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(), count: capacity)
    }

    deinit {
        for index in 0..<capacity { entries[index].view?.free() }
        entries.deallocate()
    }

    /// The view of a block, if it is here.
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

    /// Takes a block in.
    mutating func add(
        _ handle: BlockHandle, _ block: CachedBlock, _ stored: Catalog.StoredEntity, entity: Int
    ) throws(StoreError) -> ViewedBlock<Cells> {
        let view = try make(block, stored, entity: entity)
        if (count + 1) * 2 > capacity { grow() }
        put(handle.raw, view)
        count += 1
        cost += block.cost
        return view
    }

    /// Takes a block of a state in.
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

    /// A view that is not kept here: whoever asks frees it. A column that the block's entity does not have is nil in all
    /// its rows.
    func make(_ block: CachedBlock, _ stored: Catalog.StoredEntity, entity: Int)
        throws(StoreError) -> ViewedBlock<Cells>
    {
        if let version {
            // Those of a descendant begin with the columns of the entity.
            let cells = try Cells.all(block, stored.columns, version: version)
            let memory = UnsafeMutableRawPointer.allocate(
                byteCount: ViewedBlock<Cells>.headSize,
                alignment: ViewedBlock<Cells>.lineSize)
            memory.initializeMemory(
                as: ViewHead.self, to: ViewHead(block: block, entity: entity))
            return ViewedBlock(memory: memory, cells: cells)
        }
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

    private func put(_ handle: UInt32, _ view: ViewedBlock<Cells>) {
        var index = home(handle)
        while entries[index].view != nil { index = (index + 1) & (capacity - 1) }
        entries[index] = Entry(handle: handle, view: view)
    }

    private mutating func grow() {
        let (old, oldCapacity) = (entries, capacity)
        capacity *= 4
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(), count: capacity)
        for index in 0..<oldCapacity {
            if let view = old[index].view { put(old[index].handle, view) }
        }
        old.deallocate()
    }

    /// Lets all blocks go if they take more than so many bytes; whether it did.
    @discardableResult
    mutating func trim(to budget: Int) -> Bool {
        guard cost > budget, count > 0 else { return false }
        for index in 0..<capacity {
            entries[index].view?.free()
            entries[index] = Entry()
        }
        count = 0
        cost = 0
        return true
    }
}

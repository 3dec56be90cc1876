import CCairn
import CairnFormat
import CairnStore

/// Cells of a column in a view: decoded, if many rows of a block are read, or as stored.
protocol ViewedCells: BitwiseCopyable {
    /// The cells of all columns of a block's entity.
    static func all(_ block: CachedBlock, _ columns: [Catalog.StoredColumn], version: UInt32)
        throws(StoreError) -> UnsafePointer<Self>
    /// The cells of one column, whose position among those of its entity is known.
    static func one(_ block: CachedBlock, _ column: Catalog.StoredColumn, at place: Int)
        throws(StoreError) -> Self
    /// The object numbers.
    static func numbers(_ block: CachedBlock) throws(StoreError) -> Self
    /// The cells of a column that was not requested.
    static var absent: Self { get }

    /// Prefetches the memory of a cell, apart from its bytes.
    func prefetch(_ row: Int)
    /// Prefetches the bytes of a cell; for a cell with a dictionary, the offset of its entry.
    func prefetchBytes(_ row: Int)
    /// Prefetches the bytes of a cell with a dictionary.
    func prefetchEntry(_ row: Int)
}

/// A view of a block for reading many rows.
typealias BlockView = ViewedBlock<CellColumn>

/// A view of a block for reading single rows.
typealias PointView = ViewedBlock<CellReader>

/// A view of a block with the columns that a reader needs.
struct ViewedBlock<Cells: ViewedCells> {
    let memory: UnsafeMutableRawPointer
    /// The columns that the reader needs, in its order.
    let cells: UnsafePointer<Cells>

    /// A cache line, so that each cell of that size is in a single line.
    static var headSize: Int { lineSize }
    static var lineSize: Int { 64 }

    /// The block's concrete entity.
    @inline(__always) var entity: Int { memory.load(fromByteOffset: 8, as: Int.self) }

    /// The block itself, as long as the view exists.
    var block: CachedBlock { memory.load(as: ViewHead.self).block }

    init(memory: UnsafeMutableRawPointer, cells: UnsafePointer<Cells>) {
        self.memory = memory
        self.cells = cells
    }

    /// Frees a view that nothing refers to.
    func free() {
        endHead()
        memory.deallocate()
    }

    /// Ends a view whose memory another view uses.
    func endHead() { memory.assumingMemoryBound(to: ViewHead.self).deinitialize(count: 1) }

    /// Prefetches the view itself.
    @inline(__always) func prefetchCells(columns: Int) {
        for index in 0..<columns { cairn_prefetch(cells + index) }
    }

    /// Prefetches the memory of a row, apart from its bytes.
    @inline(__always) func prefetch(_ slot: Int, columns: Int) {
        for index in 0..<columns { (cells + index).pointee.prefetch(slot) }
    }

    /// Prefetches a row's bytes.
    @inline(__always) func prefetchBytes(_ slot: Int, columns: Int) {
        for index in 0..<columns { (cells + index).pointee.prefetchBytes(slot) }
    }

    /// Prefetches a row's bytes that are in dictionaries.
    @inline(__always) func prefetchEntries(_ slot: Int, columns: Int) {
        for index in 0..<columns { (cells + index).pointee.prefetchEntry(slot) }
    }
}

/// The head of a view's memory.
struct ViewHead {
    let block: CachedBlock
    let entity: Int
}

extension CellColumn: ViewedCells {
    @inline(__always)
    static func all(_ block: CachedBlock, _ columns: [Catalog.StoredColumn], version: UInt32)
        throws(StoreError) -> UnsafePointer<CellColumn>
    { try block.allCells(columns, version: version) }

    static func one(_ block: CachedBlock, _ column: Catalog.StoredColumn, at place: Int)
        throws(StoreError) -> CellColumn
    { try block.cells(column, at: place).pointee }

    static func numbers(_ block: CachedBlock) throws(StoreError) -> CellColumn {
        try block.numberCells()
    }
}

extension CellReader: ViewedCells {
    @inline(__always)
    static func all(_ block: CachedBlock, _ columns: [Catalog.StoredColumn], version: UInt32)
        throws(StoreError) -> UnsafePointer<CellReader>
    { try block.allReaders(columns, version: version) }

    static func one(_ block: CachedBlock, _ column: Catalog.StoredColumn, at place: Int)
        throws(StoreError) -> CellReader
    { try block.reader(column, at: place) }

    static func numbers(_ block: CachedBlock) throws(StoreError) -> CellReader {
        try block.numberReader()
    }

    static var absent: CellReader { CellReader(allNil: .integer) }

    @inline(__always) func prefetch(_ row: Int) {
        if let nils = nilAddress(row) { cairn_prefetch(nils) }
        cairn_prefetch(address(row))
    }

    @inline(__always) func prefetchBytes(_ row: Int) {
        switch form {
        case .cells, .symbols:
            let bytes = dataAddress(row)
            cairn_prefetch(bytes)
            // Most strings end in the next line at the latest.
            cairn_prefetch(bytes + 32)
        case .dictionary: cairn_prefetch(entryAddress(row))
        case .integers, .decimals, .bits, .fixed16: break
        }
    }

    @inline(__always) func prefetchEntry(_ row: Int) {
        if case .dictionary = form { cairn_prefetch(dataAddress(row)) }
    }
}

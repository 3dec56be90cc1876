import CCairn
import CairnStore

/// A block as one reading sees it.
struct BlockView {
    let memory: UnsafeMutableRawPointer
    /// The columns that the reading needs, in its order.
    let cells: UnsafePointer<CellColumn>

    struct Head {
        let block: CachedBlock
        let entity: Int
    }

    static let headSize = MemoryLayout<Head>.stride

    /// The block's concrete entity.
    @inline(__always) var entity: Int { memory.load(fromByteOffset: 8, as: Int.self) }

    /// The block itself, as long as the view is there.
    var block: CachedBlock { memory.load(as: Head.self).block }

    init(memory: UnsafeMutableRawPointer, cells: UnsafePointer<CellColumn>) {
        self.memory = memory
        self.cells = cells
    }

    /// Ends a view that nobody keeps.
    func free() {
        memory.assumingMemoryBound(to: Head.self).deinitialize(count: 1)
        memory.deallocate()
    }

    /// Asks for the view itself.
    @inline(__always) func prefetchCells(columns: Int) {
        for index in 0..<columns { cairn_prefetch(cells + index) }
    }

    /// Asks for the memory of a row, apart from its bytes.
    @inline(__always) func prefetch(_ slot: Int, columns: Int) {
        for index in 0..<columns { (cells + index).pointee.prefetch(slot) }
    }

    /// Asks for the memory of a row's bytes.
    @inline(__always) func prefetchBytes(_ slot: Int, columns: Int) {
        for index in 0..<columns where (cells + index).pointee.kind.isBytes {
            (cells + index).pointee.prefetchBytes(slot)
        }
    }

    /// Asks for the memory of a row's bytes that lie in dictionaries.
    @inline(__always) func prefetchEntries(_ slot: Int, columns: Int) {
        for index in 0..<columns where (cells + index).pointee.codes != nil {
            (cells + index).pointee.prefetchEntry(slot)
        }
    }
}

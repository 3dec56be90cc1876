// The blocks at a checkpoint's commit, against which the cells of its directories are checked.
//
// Invariants: once it is finished, handles ascend.
// Threads: filled by one, read by any once it is finished.

import CairnFormat

/// The blocks of a checkpoint, by handle.
struct CheckpointBlocks {
    private struct Block {
        let handle: UInt32
        let place: Place
        let rows: UInt16
        let tree: UInt16
        /// If some rows are dead: the index in `liveWords` of their live bits; else -1.
        let firstWord: Int32
    }

    private static let words = 16
    private var blocks: [Block] = []
    private var liveWords: [UInt64] = []

    mutating func reserve(_ count: Int) { blocks.reserveCapacity(count) }

    /// Adds a block with its handle.
    ///
    /// - Parameter live: if some are dead, a bit for each of 1,024 rows.
    @inline(__always)
    mutating func add(
        _ handle: UInt32, _ place: Place, rows: UInt16, tree: Int, live: UnsafeRawBufferPointer?
    ) {
        blocks.append(
            Block(
                handle: handle, place: place, rows: rows,
                tree: UInt16(truncatingIfNeeded: tree),
                firstWord: live == nil ? -1 : Int32(truncatingIfNeeded: liveWords.count)))
        guard let live else { return }
        for word in 0..<Self.words {
            liveWords.append(live.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self))
        }
    }

    /// Ends the addition of blocks.
    mutating func finish() {
        // They are written in the order of their lists, which is that of their handles as long as none was
        // freed.
        for index in blocks.indices.dropFirst()
        where blocks[index].handle < blocks[index - 1].handle {
            blocks.sort { $0.handle < $1.handle }
            return
        }
    }

    /// Handles by place.
    var handles: [Place: UInt32] {
        Dictionary(
            blocks.map { ($0.place, $0.handle) }, uniquingKeysWith: { first, _ in first })
    }

    private func block(_ handle: UInt32) -> Block? {
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            if blocks[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low < blocks.count && blocks[low].handle == handle ? blocks[low] : nil
    }

    /// A cursor over rows of a tree.
    func row(ofTree tree: Int) -> Row { Row(blocks: self, tree: tree) }

    /// Examines rows of a tree. Consecutive cells usually refer to the same block, so it is looked up only
    /// when it changes.
    struct Row {
        fileprivate let blocks: CheckpointBlocks
        fileprivate let tree: Int
        private var handle = BlockHandle.none
        /// 0 if the block does not exist, or belongs to another tree.
        private var rows = 0
        private var firstWord = -1

        fileprivate init(blocks: CheckpointBlocks, tree: Int) {
            self.blocks = blocks
            self.tree = tree
        }

        /// The number of rows after the last requested one, if all rows of its block are live; else 0.
        @inline(__always)
        func restOfWholeBlock(behind cell: DirectoryCell) -> Int {
            firstWord < 0 ? rows &- 1 &- cell.slot : 0
        }

        /// Whether a cell refers to a live row of the tree.
        @inline(__always)
        mutating func isLive(_ cell: DirectoryCell) -> Bool {
            if cell.handle != handle { goTo(cell.handle) }
            guard cell.slot < rows else { return false }
            return firstWord < 0
                || blocks.liveWords[firstWord &+ cell.slot >> 6] & (1 << UInt64(cell.slot & 63))
                    != 0
        }

        @inline(never)
        private mutating func goTo(_ handle: BlockHandle) {
            self.handle = handle
            let block = blocks.block(handle.raw)
            rows = block.map { Int($0.tree) == tree ? Int($0.rows) : 0 } ?? 0
            firstWord = Int(block?.firstWord ?? -1)
        }
    }
}

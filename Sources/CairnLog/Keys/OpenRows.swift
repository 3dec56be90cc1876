// Rows of a block that are compared with others, column by column.
//
// Threads: a value of one thread.

import CairnFormat
import CairnStore

/// The block that was read last.
struct OpenRows {
    /// The rows of a block.
    struct Rows {
        private let block: CachedBlock
        /// The columns of the entity, then its order keys; nil where the block has none, so that all cells
        /// are nil.
        private let columns: [DecodedColumn?]

        /// - Parameter read: the columns that will be read, order keys after the entity's; nil = all.
        init(_ block: CachedBlock, _ entity: Catalog.StoredEntity, only read: ColumnSet? = nil)
            throws(StoreError)
        {
            self.block = block
            var columns = [DecodedColumn?](repeating: nil, count: entity.allColumns.count)
            for (index, column) in entity.allColumns.enumerated()
            where read?.contains(index) ?? true {
                columns[index] = try block.column(column)
            }
            self.columns = columns
        }

        /// Returns the number of the object that a reference points to.
        func reference(_ column: Int, _ slot: Int) -> UInt32? {
            guard let cells = columns[column], !cells.isNil(at: slot) else { return nil }
            return UInt32(exactly: cells.integer(at: slot))
        }

        /// Whether a cell differs from that of the same column in another row.
        func differs(from other: Rows, _ column: Int, _ slot: Int, _ otherSlot: Int) -> Bool {
            let (mine, theirs) = (columns[column], other.columns[column])
            let (isNil, isOtherNil) = (
                mine?.isNil(at: slot) ?? true, theirs?.isNil(at: otherSlot) ?? true
            )
            guard !isNil, !isOtherNil, let mine, let theirs else { return isNil != isOtherNil }
            guard mine.kind == theirs.kind else { return true }
            switch mine.kind {
            case .integer: return mine.integer(at: slot) != theirs.integer(at: otherSlot)
            case .double:
                return mine.double(at: slot).bitPattern != theirs.double(at: otherSlot).bitPattern
            case .float: return mine.floats[slot].bitPattern != theirs.floats[otherSlot].bitPattern
            case .bytes, .fixed16:
                // A large value that is not rewritten keeps its reference.
                guard mine.isExternal(at: slot) == theirs.isExternal(at: otherSlot) else {
                    return true
                }
                return !mine.cell(slot).elementsEqual(theirs.cell(otherSlot))
            }
        }

        /// Returns a value to be kept.
        func cell(_ column: Int, _ slot: Int) -> ChangesPayload.Cell {
            guard let cells = columns[column], !cells.isNil(at: slot) else { return .none }
            if cells.isExternal(at: slot) { return .notKept }
            switch cells.kind {
            case .integer: return .integer(cells.integer(at: slot))
            case .double: return .double(cells.double(at: slot).bitPattern)
            case .float: return .float(cells.floats[slot].bitPattern)
            case .bytes: return .bytes(Array(cells.bytes(at: slot)))
            case .fixed16: return .fixed16(Array(cells.fixed16(at: slot)))
            }
        }
    }

    private var handle = BlockHandle.none
    private var rows: Rows?

    /// Returns the rows of a block, if it is the one that was read last.
    func rows(_ handle: BlockHandle) -> Rows? { handle == self.handle ? rows : nil }

    mutating func keep(_ rows: Rows, _ handle: BlockHandle) {
        self.rows = rows
        self.handle = handle
    }
}

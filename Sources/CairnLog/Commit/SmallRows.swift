// The rows of small blocks as they were before they were encoded, so that merging those blocks reads nothing.
//
//   1. Whoever writes a tiny block leaves its rows here.
//   2. When tiny blocks are merged and all of them are here, their rows are picked out. Else the blocks are read, and
//      what is here is forgotten.
//
// Invariants: what is here under a handle and a place is what the block there holds. A place is used again after a
// commit has failed, so everything is forgotten then.
// Threads: used by the holder of the turn alone.

import CairnFormat
import CairnModel
import CairnStore

/// The rows of an entity's small blocks.
struct SmallRows {
    /// A block whose rows are here.
    struct Block {
        let handle: BlockHandle
        let place: Place
        /// The row of the batch that is in its first slot.
        let firstRow: Int
        /// The bytes of a row before compression, on average.
        let rowLength: Double
    }

    let batch: ColumnBatch
    private var numbers: [UInt32] = []
    private var versions: [UInt32] = []
    private var blocks: [Block] = []

    init(_ entity: SchemaEntity) { batch = ColumnBatch(entity) }

    /// More than that is not kept.
    private static let mostBytes = 1 << 20

    /// Takes the rows of a block that was just written.
    mutating func add(
        _ handle: BlockHandle, _ written: WrittenBlock, of other: ColumnBatch,
        _ selection: [UInt16], _ numbers: [UInt32], _ versions: [UInt32]
    ) {
        if batch.rows + selection.count > ColumnBatch.capacity || batch.byteCount > Self.mostBytes {
            forget()
        }
        let first = batch.rows
        blocks.append(
            Block(
                handle: handle, place: written.place, firstRow: first,
                rowLength: Double(written.rawLength) / Double(selection.count)))
        for (index, column) in other.columns.enumerated() {
            for (position, row) in selection.enumerated() {
                batch.columns[index].copyCell(of: column, from: Int(row), to: first + position)
            }
        }
        batch.rows = first + selection.count
        self.numbers += numbers
        self.versions += versions
    }

    mutating func forget() {
        batch.reset()
        numbers.removeAll(keepingCapacity: true)
        versions.removeAll(keepingCapacity: true)
        blocks.removeAll(keepingCapacity: true)
    }

    /// The same blocks as known here; nil if some are not.
    ///
    /// - Parameter handles: in the order in which they were written.
    func find(_ handles: [BlockHandle], in table: BlockTable) -> [Block]? {
        var found: [Block] = []
        found.reserveCapacity(handles.count)
        var position = 0
        for handle in handles {
            let place = table.entry(handle).place
            while position < blocks.count,
                blocks[position].handle != handle || blocks[position].place != place
            {
                position += 1
            }
            guard position < blocks.count else { return nil }
            found.append(blocks[position])
        }
        return found
    }

    func number(_ row: Int) -> UInt32 { numbers[row] }
    func version(_ row: Int) -> UInt32 { versions[row] }
}

/// The small rows of a few entities.
struct SmallRowsByEntity {
    private var rows: [SmallRows?] = []
    private var count = 0

    /// How many entities have theirs kept: a batch has room for 1,024 rows.
    private static let most = 8

    /// Keeps the rows of a block that was just written.
    mutating func add(
        _ handle: BlockHandle, _ written: WrittenBlock, entity: Int, of batch: ColumnBatch,
        _ selection: [UInt16], _ numbers: [UInt32], _ versions: [UInt32]
    ) {
        if entity >= rows.count {
            rows.append(contentsOf: repeatElement(nil, count: entity + 1 - rows.count))
        }
        if rows[entity]?.batch.entity !== batch.entity {
            if count >= Self.most { forget() }
            rows[entity] = SmallRows(batch.entity)
            count += 1
        }
        rows[entity]?.add(handle, written, of: batch, selection, numbers, versions)
    }

    subscript(entity: Int) -> SmallRows? { entity < rows.count ? rows[entity] : nil }

    mutating func forget(_ entity: Int) {
        if entity < rows.count { rows[entity]?.forget() }
    }

    /// Nothing that was written last is known to be there.
    mutating func forget() {
        for entity in rows.indices { rows[entity] = nil }
        count = 0
    }
}

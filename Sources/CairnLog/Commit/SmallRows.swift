// The rows of small blocks before encoding, so that merging those blocks reads nothing.
//
//   1. The writer of a tiny block leaves its rows here, and so does the merging of tiny blocks with those of
//      the partial block that it makes.
//   2. When tiny blocks are merged and all of them are here, their rows are selected. Otherwise those that
//      are here are copied, and the others are read. After that, the rows of the level are forgotten.
//
// Invariants: the rows here under a handle and a place are what the block there holds. A place is reused
// after a commit has failed, so everything is forgotten then.
// Threads: used by the holder of the turn alone.

import CairnFormat
import CairnModel
import CairnStore

/// The rows in the small blocks of one level of an entity.
struct SmallRows: ~Copyable {
    /// A block whose rows are here.
    struct Block {
        let handle: BlockHandle
        let place: Place
        /// The row of the batch that is in its first slot.
        let firstRow: Int
        /// The average size of a row before compression, in bytes.
        let rowLength: Double
    }

    let batch: ColumnBatch
    private var numbers: [UInt32] = []
    private var versions: [UInt32] = []
    private var blocks: [Block] = []

    init(_ entity: SchemaEntity, orders: Int) { batch = ColumnBatch(entity, orders: orders) }

    /// The maximum size of the rows that are kept, in bytes.
    private static var mostBytes: Int { 1 << 20 }

    /// Whether this many more rows can be kept.
    func hasRoom(for rows: Int) -> Bool {
        batch.rows + rows <= ColumnBatch.capacity && batch.byteCount <= Self.mostBytes
    }

    /// Adds the rows of a block that was just written from another batch.
    mutating func add(
        _ handle: BlockHandle, _ written: WrittenBlock, of other: ColumnBatch, _ rows: RowList
    ) {
        guard let sources = other.columns.baseAddress, let targets = batch.columns.baseAddress
        else { return }
        if !hasRoom(for: rows.count) { forget() }
        let first = batch.rows
        blocks.append(
            Block(
                handle: handle, place: written.place, firstRow: first,
                rowLength: Double(written.rawLength) / Double(rows.count)))
        // Rows that never had order keys may come without room for them.
        for index in other.columns.indices {
            for position in rows.selection.indices {
                targets[index].copyCell(
                    of: sources + index, from: Int(rows.selection[position]), to: first + position)
            }
        }
        batch.rows = first + rows.count
        for position in rows.selection.indices {
            numbers.append(rows.numbers[position])
            versions.append(rows.versions[position])
        }
    }

    mutating func forget() {
        batch.reset()
        numbers.removeAll(keepingCapacity: true)
        versions.removeAll(keepingCapacity: true)
        blocks.removeAll(keepingCapacity: true)
    }

    /// The same blocks as known here; nil if some are unknown.
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

    /// A block, if it is known here, searched from a position on that advances if it is found.
    func find(_ handle: BlockHandle, _ place: Place, from position: inout Int) -> Block? {
        for index in position..<max(position, blocks.count)
        where blocks[index].handle == handle && blocks[index].place == place {
            position = index + 1
            return blocks[index]
        }
        return nil
    }

    /// Copies a row after those of another batch of the entity, without counting it there.
    func copy(_ row: Int, to other: ColumnBatch) {
        guard let sources = batch.columns.baseAddress, let targets = other.columns.baseAddress
        else { return }
        for index in batch.columns.indices {
            targets[index].copyCell(of: sources + index, from: row, to: other.rows)
        }
    }

    func number(_ row: Int) -> UInt32 { numbers[row] }
    func version(_ row: Int) -> UInt32 { versions[row] }
}

/// The small rows of a few entities.
struct SmallRowsByEntity: ~Copyable {
    /// By entity and level.
    private var kept: [UnsafeMutablePointer<SmallRows>?] = []
    private var count = 0

    /// The maximum number that is kept: a batch has room for 1,024 rows.
    private static var most: Int { 16 }

    deinit {
        for known in kept { Self.free(known) }
    }

    private static func free(_ known: UnsafeMutablePointer<SmallRows>?) {
        known?.deinitialize(count: 1)
        known?.deallocate()
    }

    private static func index(_ entity: Int, _ level: BlockLevel) -> Int {
        entity * 2 + (level == .tiny ? 0 : 1)
    }

    /// Keeps the rows of a tiny block that was just written, or of a partial one that was just merged from
    /// tiny ones. Nothing is kept of the blocks that are being merged, because the rows come from here.
    mutating func add(
        _ handle: BlockHandle, _ written: WrittenBlock, entity: Int, orders: Int,
        _ level: BlockLevel, of batch: ColumnBatch, _ rows: RowList
    ) {
        let index = Self.index(entity, level)
        if let known = known(index), known.pointee.batch.entity === batch.entity {
            // Partial blocks have many rows each: reading one again is better than reading all of them.
            if level != .tiny, !known.pointee.hasRoom(for: rows.count) { return }
            return known.pointee.add(handle, written, of: batch, rows)
        }
        if count >= Self.most {
            // The rows that are merged into a partial block are still here.
            if level != .tiny { return }
            forget()
        }
        while index >= kept.count { kept.append(nil) }
        if kept[index] == nil { count += 1 } else { Self.free(kept[index]) }
        let known = UnsafeMutablePointer<SmallRows>.allocate(capacity: 1)
        known.initialize(to: SmallRows(batch.entity, orders: orders))
        kept[index] = known
        known.pointee.add(handle, written, of: batch, rows)
    }

    private func known(_ index: Int) -> UnsafeMutablePointer<SmallRows>? {
        index < kept.count ? kept[index] : nil
    }

    /// The rows that are kept for an entity's blocks of a level; valid until more is kept or forgotten.
    subscript(entity: Int, level: BlockLevel) -> UnsafeMutablePointer<SmallRows>? {
        known(Self.index(entity, level))
    }

    mutating func forget(_ entity: Int, _ level: BlockLevel) {
        self[entity, level]?.pointee.forget()
    }

    /// Forgets everything, because the blocks that were written last may not exist.
    mutating func forget() {
        for index in kept.indices {
            Self.free(kept[index])
            kept[index] = nil
        }
        count = 0
    }
}

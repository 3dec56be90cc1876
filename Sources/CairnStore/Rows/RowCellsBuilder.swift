// Builds the cells of one row; reused from row to row.

package import CairnModel
import FoundationEssentials

/// Collects the cells of a row. Every column starts as nil; setting one again replaces its cell.
///
/// Equal cells have equal bytes, in whatever order they are set: if that was not the order of the columns, the tail is
/// reordered at the end.
package struct RowCellsBuilder: ~Copyable {
    /// A bit for each column whose bytes are in the tail, then room for a row. What is finished is copied out of it, so that
    /// a row costs one allocation of its size.
    private var memory: UnsafeMutableRawPointer
    private var room: UnsafeMutableRawPointer
    private var capacity: Int
    private var count: Int
    private let columns: Int
    private let start: Int
    /// The last column whose bytes are in the tail, and whether all before it are of columns before it.
    private var last = -1
    private var isOrdered = true

    /// A builder for rows with that many columns.
    package init(columns: Int) {
        self.columns = columns
        start = RowCells.start(columns)
        count = start + columns * 8
        capacity = count + 256
        memory = .allocate(byteCount: start + capacity, alignment: 8)
        room = memory + start
        reset()
    }

    deinit { memory.deallocate() }

    private mutating func reset() {
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: start)
        room.initializeMemory(as: UInt8.self, repeating: 0xFF, count: start)
        (room + start).initializeMemory(as: UInt8.self, repeating: 0, count: columns * 8)
        count = start + columns * 8
        last = -1
        isOrdered = true
    }

    @inline(__always) private func isInTail(_ column: Int) -> Bool {
        memory.load(fromByteOffset: column >> 3, as: UInt8.self)
            & (1 << UInt8(truncatingIfNeeded: column & 7)) != 0
    }

    /// Sets a cell of a fixed kind to its bits.
    @inline(__always) package mutating func set(_ column: Int, word: UInt64) {
        precondition(column >= 0 && column < columns, "the row has no such column")
        let nils = room + (8 &+ column >> 3)
        nils.storeBytes(
            of: nils.load(as: UInt8.self) & ~(1 << UInt8(truncatingIfNeeded: column & 7)),
            as: UInt8.self)
        room.storeBytes(of: word, toByteOffset: start &+ column &* 8, as: UInt64.self)
    }

    /// Sets a cell of a variable kind to its bytes.
    package mutating func set(_ column: Int, bytes cell: UnsafeRawBufferPointer) {
        let offset = count
        precondition(offset + cell.count <= Int(UInt32.max), "the values of a row exceed 4 GiB")
        if capacity - count < cell.count { grow(cell.count) }
        if let base = cell.baseAddress {
            (room + count).copyMemory(from: base, byteCount: cell.count)
            count += cell.count
        }
        noteTail(column, from: offset)
    }

    /// Sets a cell of a variable kind to what a closure writes, and says the length of.
    ///
    /// - Parameter most: how much room there has to be for it.
    package mutating func set(
        _ column: Int, upTo most: Int, _ write: (UnsafeMutableRawPointer) -> Int
    ) {
        let offset = count
        precondition(offset + most <= Int(UInt32.max), "the values of a row exceed 4 GiB")
        if capacity - count < most { grow(most) }
        count += write(room + count)
        noteTail(column, from: offset)
    }

    /// The bytes behind an offset are those of a column.
    private mutating func noteTail(_ column: Int, from offset: Int) {
        if column <= last { isOrdered = false }
        last = column
        let mark = memory + (column >> 3)
        mark.storeBytes(
            of: mark.load(as: UInt8.self) | 1 << UInt8(truncatingIfNeeded: column & 7),
            as: UInt8.self)
        set(column, word: UInt64(offset) << 32 | UInt64(count - offset))
    }

    private mutating func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let bigger = UnsafeMutableRawPointer.allocate(byteCount: start + capacity, alignment: 8)
        bigger.copyMemory(from: memory, byteCount: start + count)
        memory.deallocate()
        memory = bigger
        room = memory + start
    }

    /// Sets a cell to nil.
    package mutating func setNil(_ column: Int) {
        set(column, word: 0)
        let nils = room + (8 &+ column >> 3)
        nils.storeBytes(
            of: nils.load(as: UInt8.self) | 1 << UInt8(column & 7), as: UInt8.self)
        if isInTail(column) { isOrdered = false }
    }

    /// Sets a cell to a value of the column's kind.
    package mutating func set(_ column: Int, value: Value) {
        switch value {
        case .null: setNil(column)
        case .integer(let value): set(column, word: UInt64(bitPattern: value))
        case .boolean(let value): set(column, word: value ? 1 : 0)
        case .double(let value): set(column, word: value.bitPattern)
        case .float(let value): set(column, word: UInt64(value.bitPattern))
        case .date(let value):
            set(column, word: value.timeIntervalSinceReferenceDate.bitPattern)
        case .objectID(let value):
            set(
                column,
                word: value.isTemporary
                    ? value.reference | StoreIdentity.temporaryMark : value.reference)
        case .string(var value):
            value.withUTF8 { set(column, bytes: UnsafeRawBufferPointer($0)) }
        case .uri(let value):
            var text = value.absoluteString
            text.withUTF8 { set(column, bytes: UnsafeRawBufferPointer($0)) }
        case .binary(let value):
            value.withUnsafeBytes { set(column, bytes: $0) }
        case .decimal(let value):
            // NaN, which only an unsaved object can have, is no bytes.
            let bytes = value.isNaN ? [] : DecimalCoding.encode(value)
            bytes.withUnsafeBytes { set(column, bytes: $0) }
        case .uuid(let value):
            withUnsafeBytes(of: value.uuid) { set(column, bytes: $0) }
        }
    }

    /// The row; the builder starts anew.
    package mutating func finish() -> RowCells {
        if !isOrdered { orderTail() }
        let cells = copy()
        reset()
        return cells
    }

    /// What has been set so far.
    private func copy() -> RowCells {
        let slab = CellSlab.make(byteCount: count)
        let base = slab.base
        base.copyMemory(from: room, byteCount: count)
        RowCells.begin(base, length: count, in: slab)
        return RowCells(base, in: slab)
    }

    /// Writes the tail anew, in the order of the columns and without what was replaced.
    private mutating func orderTail() {
        let old = copy()
        count = start + columns * 8
        for column in 0..<columns where isInTail(column) && !old.isNull(column) {
            let word = old.word(column, columns: columns)
            let offset = count
            // The tail only becomes shorter, so there is room.
            old.withTail(word) { tail in
                guard let base = tail.baseAddress else { return }
                (room + count).copyMemory(from: base, byteCount: tail.count)
                count += tail.count
            }
            set(column, word: UInt64(offset) << 32 | word & 0xFFFF_FFFF)
        }
    }
}

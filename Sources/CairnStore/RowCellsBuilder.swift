// Builds the cells of one row; reused from row to row.

package import CairnModel
import FoundationEssentials

/// Collects the cells of a row. Every column starts as nil; setting one again replaces its cell.
///
/// Equal cells make equal bytes, in whatever order they are set: if that was not the order of the
/// columns, the tail is put in order at the end.
package struct RowCellsBuilder: ~Copyable {
    private var bytes: [UInt8] = []
    private let columns: Int
    private let start: Int
    /// The columns whose bytes are in the tail, in the order they were set.
    private var variable: [Int] = []
    private var isOrdered = true

    /// A builder for rows with that many columns.
    package init(columns: Int) {
        self.columns = columns
        start = RowCells.start(columns)
        reset()
    }

    private mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: repeatElement(0xFF, count: start))
        bytes.append(contentsOf: repeatElement(0, count: columns * 8))
        variable.removeAll(keepingCapacity: true)
        isOrdered = true
    }

    /// Sets a cell of a fixed kind to its bits.
    package mutating func set(_ column: Int, word: UInt64) {
        bytes[column >> 3] &= ~(1 << UInt8(column & 7))
        let at = start + column * 8
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: word, toByteOffset: at, as: UInt64.self) }
    }

    /// Sets a cell of a variable kind to its bytes.
    package mutating func set(_ column: Int, bytes cell: UnsafeRawBufferPointer) {
        let offset = bytes.count
        precondition(offset + cell.count <= Int(UInt32.max), "the values of a row exceed 4 GiB")
        bytes.append(contentsOf: cell)
        if let last = variable.last, last >= column { isOrdered = false }
        variable.append(column)
        set(column, word: UInt64(offset) << 32 | UInt64(cell.count))
    }

    /// Sets a cell to nil.
    package mutating func setNil(_ column: Int) {
        set(column, word: 0)
        bytes[column >> 3] |= 1 << UInt8(column & 7)
        if variable.contains(column) { isOrdered = false }
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
        case .objectID(let value): set(column, word: value.reference)
        case .string(var value):
            value.withUTF8 { set(column, bytes: UnsafeRawBufferPointer($0)) }
        case .uri(let value):
            var text = value.absoluteString
            text.withUTF8 { set(column, bytes: UnsafeRawBufferPointer($0)) }
        case .binary(let value):
            value.withUnsafeBytes { set(column, bytes: $0) }
        case .decimal(let value):
            DecimalCoding.encode(value).withUnsafeBytes { set(column, bytes: $0) }
        case .uuid(let value):
            withUnsafeBytes(of: value.uuid) { set(column, bytes: $0) }
        }
    }

    /// The row; the builder starts anew.
    package mutating func finish() -> RowCells {
        if !isOrdered { orderTail() }
        let cells = RowCells(bytes: bytes)
        reset()
        return cells
    }

    /// Writes the tail anew, in the order of the columns and without what was replaced.
    private mutating func orderTail() {
        let end = start + columns * 8
        let old = RowCells(bytes: bytes)
        bytes.removeSubrange(end...)
        for column in Set(variable).sorted() where !old.isNull(column) {
            let word = old.word(column, columns: columns)
            let offset = bytes.count
            old.withTail(word) { bytes.append(contentsOf: $0) }
            set(column, word: UInt64(offset) << 32 | word & 0xFFFF_FFFF)
        }
    }
}

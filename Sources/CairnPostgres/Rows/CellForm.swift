// How the cells of a column are copied from a result into rows and batches: as bytes and words, without creating values.
//
// Threads: plain values.

import CairnModel
import CairnStore
import FoundationEssentials

/// The form of a column's cells.
enum CellForm {
    case int16, int32, int64, boolean, double, float, decimal, text, uri, bytes, uuid

    init(_ column: SchemaColumn) {
        switch column.kind {
        case .reference: self = .int64
        case .attribute(let type):
            switch type {
            case .integer16: self = .int16
            case .integer32: self = .int32
            case .integer64: self = .int64
            case .decimal: self = .decimal
            case .double, .date: self = .double
            case .float: self = .float
            case .string: self = .text
            case .boolean: self = .boolean
            case .binary, .transformable: self = .bytes
            case .uuid: self = .uuid
            case .uri: self = .uri
            case .undefined, .objectID, .composite:
                preconditionFailure("no column has values of the type \(type)")
            }
        }
    }

    /// Carries a cell into a row that has nil there.
    @inline(__always)
    func carry(
        _ result: PostgresResult, _ row: Int, _ place: Int, to cells: inout RowCellsBuilder,
        _ column: Int
    ) throws(SQLFailure) {
        guard let cell = result.bytesIfAny(row, place) else { return }
        switch self {
        case .int16: cells.set(column, word: UInt64(bitPattern: Int64(try Self.int16(cell))))
        case .int32: cells.set(column, word: UInt64(bitPattern: Int64(try Self.int32(cell))))
        case .int64, .double: cells.set(column, word: try Self.word(cell))
        case .float: cells.set(column, word: UInt64(UInt32(bitPattern: try Self.int32(cell))))
        case .boolean: cells.set(column, word: try Self.byte(cell) != 0 ? 1 : 0)
        case .text, .uri, .bytes, .uuid: cells.set(column, bytes: try checked(cell))
        case .decimal:
            var failure: SQLFailure?
            cells.set(column, upTo: DecimalCoding.longest) { target in
                Self.decimal(cell, target, &failure)
            }
            if let failure { throw failure }
        }
    }

    /// Carries a cell into a column of a batch.
    @inline(__always)
    func carry(
        _ result: PostgresResult, _ row: Int, _ place: Int, to buffer: inout ColumnBuffer,
        _ target: Int
    ) throws(SQLFailure) {
        guard let cell = result.bytesIfAny(row, place) else { return buffer.setNil(row: target) }
        switch self {
        case .int16: buffer.setInteger(Int64(try Self.int16(cell)), row: target)
        case .int32: buffer.setInteger(Int64(try Self.int32(cell)), row: target)
        case .int64: buffer.setInteger(Int64(bitPattern: try Self.word(cell)), row: target)
        case .double: buffer.setDouble(Double(bitPattern: try Self.word(cell)), row: target)
        case .float:
            buffer.setFloat(
                Float(bitPattern: UInt32(bitPattern: try Self.int32(cell))), row: target)
        case .boolean: buffer.setInteger(try Self.byte(cell) != 0 ? 1 : 0, row: target)
        case .text, .uri, .bytes: buffer.setBytes(try checked(cell), row: target)
        case .uuid: buffer.setFixed16(try checked(cell), row: target)
        case .decimal:
            var failure: SQLFailure?
            buffer.setBytes(upTo: DecimalCoding.longest, row: target) { bytes in
                Self.decimal(cell, bytes, &failure)
            }
            if let failure { throw failure }
        }
    }

    // MARK: Cells

    private static func int16(_ cell: UnsafeRawBufferPointer) throws(SQLFailure) -> Int16 {
        guard cell.count == 2 else { throw wrongLength(cell, 2) }
        return Int16(bigEndian: cell.loadUnaligned(as: Int16.self))
    }

    private static func int32(_ cell: UnsafeRawBufferPointer) throws(SQLFailure) -> Int32 {
        guard cell.count == 4 else { throw wrongLength(cell, 4) }
        return Int32(bigEndian: cell.loadUnaligned(as: Int32.self))
    }

    private static func word(_ cell: UnsafeRawBufferPointer) throws(SQLFailure) -> UInt64 {
        guard cell.count == 8 else { throw wrongLength(cell, 8) }
        return UInt64(bigEndian: cell.loadUnaligned(as: UInt64.self))
    }

    private static func byte(_ cell: UnsafeRawBufferPointer) throws(SQLFailure) -> UInt8 {
        guard cell.count == 1 else { throw wrongLength(cell, 1) }
        return cell[0]
    }

    /// The bytes of a cell, if they are what they stand for.
    private func checked(_ cell: UnsafeRawBufferPointer) throws(SQLFailure)
        -> UnsafeRawBufferPointer
    {
        switch self {
        case .text where !cell.isUTF8: throw SQLFailure(.unreadable, "a string is not UTF-8")
        case .uri where URL(string: String(decoding: cell, as: UTF8.self)) == nil:
            throw SQLFailure(.unreadable, "a string in place of a URI is not a URI")
        case .uuid where cell.count != 16: throw Self.wrongLength(cell, 16)
        default: return cell
        }
    }

    /// Writes a decimal number as rows have it, and says how many bytes that are.
    private static func decimal(
        _ cell: UnsafeRawBufferPointer, _ target: UnsafeMutableRawPointer,
        _ failure: inout SQLFailure?
    ) -> Int {
        let target = UnsafeMutableRawBufferPointer(start: target, count: DecimalCoding.longest)
        if let (isNegative, exponent, coefficient) = NumericForm.parts(cell),
            let count = DecimalCoding.encode(
                negative: isNegative, exponent: exponent, coefficient: coefficient, into: target)
        {
            return count
        }
        // With the zeros that fill its first and last four digits it may have more than it has.
        guard let text = NumericForm.text(cell), let number = Decimal(exactText: text),
            !number.isNaN
        else {
            failure = SQLFailure(
                .unreadable, "a decimal number has too many digits")
            return 0
        }
        return DecimalCoding.encode(number, into: target)
    }

    private static func wrongLength(_ cell: UnsafeRawBufferPointer, _ length: Int) -> SQLFailure {
        SQLFailure(.unreadable, "a cell has \(cell.count) bytes instead of \(length)")
    }
}

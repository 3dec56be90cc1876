// How the cells of a column are carried from an answer into rows and batches: as bytes and words, without a value of each.
//
// Threads: plain values.

import CairnModel
import CairnStore
import FoundationEssentials

/// What the cells of a column are.
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

    /// What a cell is that is not nil.
    private enum Content {
        case word(UInt64)
        case bytes(UnsafeRawBufferPointer)
        case decimal(Decimal)
    }

    @inline(__always)
    private func content(_ result: PostgresResult, _ row: Int, _ place: Int) throws(SQLFailure)
        -> Content
    {
        switch self {
        case .int16: return .word(UInt64(bitPattern: Int64(try result.int16(row, place))))
        case .int32: return .word(UInt64(bitPattern: Int64(try result.int32(row, place))))
        case .int64: return .word(UInt64(bitPattern: try result.int64(row, place)))
        case .boolean: return .word(try result.bool(row, place) ? 1 : 0)
        case .double: return .word(try result.double(row, place).bitPattern)
        case .float: return .word(UInt64(try result.float(row, place).bitPattern))
        case .text: return .bytes(try result.text(row, place))
        case .uri:
            guard URL(string: try result.string(row, place)) != nil else {
                throw SQLFailure(.unreadable, "a text that is no URI stands for one")
            }
            return .bytes(try result.bytes(row, place))
        case .bytes: return .bytes(try result.bytes(row, place))
        case .uuid:
            let bytes = try result.bytes(row, place)
            guard bytes.count == 16 else {
                throw SQLFailure(.unreadable, "a UUID has \(bytes.count) bytes instead of 16")
            }
            return .bytes(bytes)
        case .decimal:
            guard let number = Decimal(exactText: try result.numeric(row, place)) else {
                throw SQLFailure(.unreadable, "a decimal number has more digits than can be held")
            }
            return .decimal(number)
        }
    }

    /// Carries a cell into a row.
    @inline(__always)
    func carry(
        _ result: PostgresResult, _ row: Int, _ place: Int, to cells: inout RowCellsBuilder,
        _ column: Int
    ) throws(SQLFailure) {
        if result.isNull(row, place) { return }
        switch try content(result, row, place) {
        case .word(let word): cells.set(column, word: word)
        case .bytes(let bytes): cells.set(column, bytes: bytes)
        case .decimal(let number): cells.set(column, value: .decimal(number))
        }
    }

    /// Carries a cell into a column of a batch.
    @inline(__always)
    func carry(
        _ result: PostgresResult, _ row: Int, _ place: Int, to buffer: inout ColumnBuffer,
        _ target: Int
    ) throws(SQLFailure) {
        if result.isNull(row, place) { return buffer.setNil(row: target) }
        switch try content(result, row, place) {
        case .word(let word):
            switch self {
            case .double: buffer.setDouble(Double(bitPattern: word), row: target)
            case .float:
                buffer.setFloat(Float(bitPattern: UInt32(truncatingIfNeeded: word)), row: target)
            default: buffer.setInteger(Int64(bitPattern: word), row: target)
            }
        case .bytes(let bytes):
            if case .uuid = self {
                buffer.setFixed16(bytes, row: target)
            } else {
                buffer.setBytes(bytes, row: target)
            }
        case .decimal(let number):
            DecimalCoding.encode(number).withUnsafeBytes { buffer.setBytes($0, row: target) }
        }
    }
}

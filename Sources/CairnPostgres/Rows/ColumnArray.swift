// Values of one column as one parameter: as many as there are rows.
//
// Threads: one; a value.

import CairnModel
import CairnStore
import FoundationEssentials

/// Values on their way into a column.
struct ColumnArray {
    private let type: ColumnType
    private(set) var array: SQLArray

    init(_ type: ColumnType) {
        self.type = type
        array = SQLArray(of: type.parameter)
    }

    var parameter: SQLParameter { .array(array) }

    /// What stands for the parameter in a statement.
    static func sql(_ number: Int, _ type: ColumnType) -> String {
        "$\(number)::\(type.rawValue)[]"
    }

    mutating func append(_ value: Int64?) {
        if let value { array.append(number: value) } else { array.appendNull() }
    }

    /// Appends a value of the column's type.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if the database cannot keep the value.
    mutating func append(_ value: Value) throws(StoreError) {
        do throws(SQLFailure) {
            switch value {
            case .null: array.appendNull()
            case .integer(let number): append(integer: number)
            case .decimal(let number): try array.append(numeric: "\(number)")
            case .double(let number): array.append(double: number)
            case .float(let number): array.append(float: number)
            case .string(let text): try array.append(text: text)
            case .boolean(let truth): array.append(bool: truth)
            case .date(let date): array.append(double: date.timeIntervalSinceReferenceDate)
            case .binary(let data): try array.append(data: data)
            case .uuid(let uuid): array.append(uuid: uuid)
            case .uri(let url): try array.append(text: url.absoluteString)
            case .objectID(let id): array.append(number: Int64(bitPattern: id.reference))
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Appends a value as a key has it.
    mutating func append(key bytes: ArraySlice<UInt8>) throws(SQLFailure) {
        switch type {
        case .smallint, .integer, .bigint: append(integer: Int64(bitPattern: try Self.word(bytes)))
        case .boolean: array.append(bool: try Self.word(bytes) != 0)
        case .text:
            guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.unreadable }
            try array.append(text: text)
        case .bytea: try array.append(bytes: Array(bytes))
        case .uuid:
            guard bytes.count == 16 else { throw Self.unreadable }
            array.append(
                uuid: bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        case .numeric, .real, .double:
            preconditionFailure("keys with a \(type.rawValue) have a column of their own")
        }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) throws(SQLFailure) -> UInt64 {
        guard bytes.count == 8 else { throw unreadable }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static var unreadable: SQLFailure {
        SQLFailure(.unreadable, "a part of a key is no value of its column")
    }

    private mutating func append(integer number: Int64) {
        switch type {
        case .smallint: array.append(number: Int16(truncatingIfNeeded: number))
        case .integer: array.append(number: Int32(truncatingIfNeeded: number))
        default: array.append(number: number)
        }
    }
}

extension ColumnType {
    /// How values of it are sent.
    var parameter: SQLType {
        switch self {
        case .smallint: .int16
        case .integer: .int32
        case .bigint: .int64
        case .numeric: .numeric
        case .real: .float
        case .double: .double
        case .text: .text
        case .boolean: .bool
        case .bytea: .bytes
        case .uuid: .uuid
        }
    }
}

extension SQLParameter {
    /// Numbers of objects, rising.
    static func numbers(_ numbers: some Sequence<UInt32>) -> SQLParameter {
        var array = ColumnArray(.bigint)
        for number in numbers.sorted() { array.append(Int64(number)) }
        return array.parameter
    }
}

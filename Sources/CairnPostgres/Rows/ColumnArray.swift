// The values of one column as one parameter, with a value per row.
//
// Threads: one; a value.

import CairnModel
import CairnStore
import FoundationEssentials

/// Values to write into a column.
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
    mutating func append(_ value: Value) throws(SQLFailure) {
        let type = type
        try array.append(isNull: value.isNull) { (fields) throws(SQLFailure) in
            try fields.append(value, as: type)
        }
    }

    /// Appends a value as a key has it.
    mutating func append(key bytes: ArraySlice<UInt8>) throws(SQLFailure) {
        switch type {
        case .smallint, .integer, .bigint:
            try append(.integer(Int64(bitPattern: try Self.word(bytes))))
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

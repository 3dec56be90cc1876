// A value for `$1`.

import FoundationEssentials

/// A value with the type in which it is sent to the server.
enum SQLParameter: Sendable {
    /// Its type is the one that the statement had before, or that the server infers.
    case null
    case int16(Int16)
    case int32(Int32)
    case int64(Int64)
    case float(Float)
    case double(Double)
    case bool(Bool)
    /// Without U+0000, which PostgreSQL cannot store.
    case text(String)
    case bytes([UInt8])
    case data(Data)
    case uuid(UUID)
    /// A decimal number as text.
    case numeric(String)
    /// A time with time zone: microseconds since 2000-01-01 00:00 UTC.
    case timestamp(Int64)
    case array(SQLArray)

    var type: SQLType {
        switch self {
        case .null: .unspecified
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .float: .float
        case .double: .double
        case .bool: .bool
        case .text: .text
        case .bytes, .data: .bytes
        case .uuid: .uuid
        case .numeric: .numeric
        case .timestamp: .timestamp
        case .array(let array): array.elements.array
        }
    }
}

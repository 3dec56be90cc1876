// The PostgreSQL types of a store's values.

/// A type by its number in `pg_type`. These numbers are part of the protocol and never change.
struct SQLType: Sendable, Hashable {
    let oid: UInt32

    /// The server infers it.
    static let unspecified = SQLType(oid: 0)
    static let bool = SQLType(oid: 16)
    static let bytes = SQLType(oid: 17)
    static let int64 = SQLType(oid: 20)
    static let int16 = SQLType(oid: 21)
    static let int32 = SQLType(oid: 23)
    static let text = SQLType(oid: 25)
    static let float = SQLType(oid: 700)
    static let double = SQLType(oid: 701)
    static let timestamp = SQLType(oid: 1184)
    static let numeric = SQLType(oid: 1700)
    static let uuid = SQLType(oid: 2950)

    /// The type of arrays of it.
    var array: SQLType {
        switch self {
        case .bool: SQLType(oid: 1000)
        case .bytes: SQLType(oid: 1001)
        case .int16: SQLType(oid: 1005)
        case .int32: SQLType(oid: 1007)
        case .text: SQLType(oid: 1009)
        case .int64: SQLType(oid: 1016)
        case .float: SQLType(oid: 1021)
        case .double: SQLType(oid: 1022)
        case .timestamp: SQLType(oid: 1185)
        case .numeric: SQLType(oid: 1231)
        case .uuid: SQLType(oid: 2951)
        default: preconditionFailure("no arrays of type \(oid) are sent")
        }
    }
}

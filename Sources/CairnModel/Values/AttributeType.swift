// The types an attribute can have, with Core Data's numbers.

/// The type of an attribute.
public enum AttributeType: String, Sendable, Hashable, CaseIterable, Codable {
    /// Only for transient attributes.
    case undefined
    /// A 16-bit integer.
    case integer16
    /// A 32-bit integer.
    case integer32
    /// A 64-bit integer.
    case integer64
    /// An exact decimal number of up to 38 digits.
    case decimal
    /// A double-precision number.
    case double
    /// A single-precision number.
    case float
    /// A string.
    case string
    /// A Boolean.
    case boolean
    /// A date: seconds since 2001-01-01 UTC.
    case date
    /// Bytes.
    case binary
    /// A UUID.
    case uuid
    /// A URI.
    case uri
    /// A value that a named transformer converts to bytes.
    case transformable
    /// An object id: only as the result of expressions, never stored.
    case objectID
    /// A group of named elements, each an attribute of its own.
    case composite

    /// The number that Core Data uses for the type in its archives.
    public var code: Int {
        switch self {
        case .undefined: 0
        case .integer16: 100
        case .integer32: 200
        case .integer64: 300
        case .decimal: 400
        case .double: 500
        case .float: 600
        case .string: 700
        case .boolean: 800
        case .date: 900
        case .binary: 1000
        case .uuid: 1100
        case .uri: 1200
        case .transformable: 1800
        case .objectID: 2000
        case .composite: 2100
        }
    }
}

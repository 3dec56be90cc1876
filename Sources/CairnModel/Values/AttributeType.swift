// The types an attribute can have, with Core Data's numbers.

/// The type of an attribute.
public enum AttributeType: String, Sendable, Hashable, CaseIterable, Codable {
    /// Legal for transient attributes only.
    case undefined
    /// A whole number of 16 bits.
    case integer16
    /// A whole number of 32 bits.
    case integer32
    /// A whole number of 64 bits.
    case integer64
    /// An exact decimal number of up to 38 digits.
    case decimal
    /// A double-precision number.
    case double
    /// A single-precision number.
    case float
    /// Text.
    case string
    /// A truth value.
    case boolean
    /// A moment: seconds since 2001-01-01 UTC.
    case date
    /// Bytes.
    case binary
    /// A UUID.
    case uuid
    /// A URI.
    case uri
    /// A value that a named transformer turns into bytes.
    case transformable
    /// An object id: only the result of expressions, never stored.
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

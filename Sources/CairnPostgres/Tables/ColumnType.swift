// The types of columns, as all compatible databases have them.

import CairnModel

/// The type of a column.
enum ColumnType: String, Sendable, Hashable {
    case smallint, integer, bigint, numeric, real, text, boolean, bytea, uuid
    case double = "double precision"

    /// What holds the values of an attribute without a loss.
    ///
    /// A date is its seconds since 2001: a timestamp has no more than microseconds. The views show moments.
    init(_ type: AttributeType) {
        switch type {
        case .integer16: self = .smallint
        case .integer32: self = .integer
        case .integer64: self = .bigint
        case .decimal: self = .numeric
        case .double, .date: self = .double
        case .float: self = .real
        case .string, .uri: self = .text
        case .boolean: self = .boolean
        case .binary, .transformable: self = .bytea
        case .uuid: self = .uuid
        case .undefined, .objectID, .composite:
            preconditionFailure("no column has values of the type \(type)")
        }
    }

    /// What follows the name of a column where it is made. Texts are compared by their bytes.
    var declaration: String { self == .text ? "text COLLATE \"C\"" : rawValue }
}

// A value as code that works by key sees it.

package import CairnModel
import FoundationEssentials

extension Value {
    /// The Swift value; nil for nil. Integers come as `Int`.
    package var any: Any? {
        switch self {
        case .null: nil
        case .integer(let value): Int(value)
        case .decimal(let value): value
        case .double(let value): value
        case .float(let value): value
        case .string(let value): value
        case .boolean(let value): value
        case .date(let value): value
        case .binary(let value): value
        case .uuid(let value): value
        case .uri(let value): value
        case .objectID(let value): value
        }
    }

    /// The target of a to-one relationship.
    var reference: ObjectID? {
        if case .objectID(let id) = self { id } else { nil }
    }
}

extension Optional where Wrapped == ObjectID {
    /// The target as a column keeps it.
    var value: Value { map(Value.objectID) ?? .null }
}

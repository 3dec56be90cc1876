// The target of a to-one relationship in a batch's row.

public import CairnModel

/// The target of a to-one relationship in a row of a batch insert.
///
/// ```swift
/// let request = BatchInsertRequest(Product.self, from: feed) { row, item in
///     row.serialCode = item.code
///     row.shop = .key(item.shopName)
/// }
/// ```
///
/// A key belongs to one of the target entity's uniqueness constraints. The object can be stored, or be in the same batch,
/// even in a later row.
public struct RowTarget: Sendable, Hashable {
    /// How it is named.
    enum Name: Sendable, Hashable {
        /// By its id.
        case id(ObjectID)
        /// By the single value of its key.
        case key(Value)
        /// By the values of its key, by property name.
        case keys([String: Value])
    }

    let name: Name

    init(_ name: Name) { self.name = name }

    /// What a single value names: an object by its id or its URI, or by its key; nil names none.
    init?(_ value: Value) {
        switch value {
        case .null: return nil
        case .objectID(let id): self.init(.id(id))
        case .uri(let uri):
            self.init(ObjectID(uriRepresentation: uri).map { .id($0) } ?? .key(value))
        default: self.init(.key(value))
        }
    }

    /// The stored object with an id.
    public static func id(_ id: ObjectID) -> RowTarget { RowTarget(.id(id)) }

    /// The object with a unique value: that of the first uniqueness constraint of the target's entity that has only one
    /// property.
    public static func key(_ value: Value) -> RowTarget { RowTarget(.key(value)) }

    /// The object with a unique value of a Swift type.
    public static func key<V: AttributeValue>(_ value: V) -> RowTarget { key(value.attributeValue) }

    /// The object with a unique raw value.
    public static func key<V: RawRepresentable>(_ value: V) -> RowTarget
    where V.RawValue: AttributeValue { key(value.rawValue.attributeValue) }

    /// The object with values that are unique together, by the names of their properties. If the request
    /// ``BatchInsertRequest/createsTargets``, there can also be values of other attributes, for an object that is created.
    public static func keys(_ values: [String: Value]) -> RowTarget { RowTarget(.keys(values)) }
}

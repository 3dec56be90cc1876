// What a row of a batch says about the target of a to-one relationship.

public import CairnModel

/// The object that a row of a batch insert lets a to-one relationship lead to.
///
/// ```swift
/// let request = BatchInsertRequest(Product.self, from: feed) { row, item in
///     row.serialCode = item.code
///     row.shop = .key(item.shopName)
/// }
/// ```
///
/// A key is that of one of the target entity's uniqueness constraints. The object may be stored, or be one of the same batch,
/// also if its row comes later.
public struct RowTarget: Sendable, Hashable {
    /// How it is named.
    enum Name: Sendable, Hashable {
        /// By its id.
        case id(ObjectID)
        /// By the only value of its key.
        case key(Value)
        /// By the values of its key, by their names.
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

    /// The object with an id, which is stored.
    public static func id(_ id: ObjectID) -> RowTarget { RowTarget(.id(id)) }

    /// The object with a value that is unique: that of the first uniqueness constraint of the target's entity that is about one
    /// property.
    public static func key(_ value: Value) -> RowTarget { RowTarget(.key(value)) }

    /// The same by a value of one of Swift's types.
    public static func key<V: AttributeValue>(_ value: V) -> RowTarget { key(value.attributeValue) }

    /// The same by a raw value.
    public static func key<V: RawRepresentable>(_ value: V) -> RowTarget
    where V.RawValue: AttributeValue { key(value.rawValue.attributeValue) }

    /// The object with some values that are unique together, by the names of their properties. If the request
    /// ``BatchInsertRequest/createsTargets``, there may be other attributes besides, for an object that is made.
    public static func keys(_ values: [String: Value]) -> RowTarget { RowTarget(.keys(values)) }
}

// Key paths of typed classes where requests take keys.

public import CairnModel
import CairnStore

extension SortKey {
    /// Sorts by a property.
    ///
    /// ```swift
    /// let request = FetchRequest<Product>(sortBy: [SortKey(\Product.price, ascending: false)])
    /// ```
    ///
    /// - Precondition: the path leads to a persistent property of the class itself.
    public init<T: PersistentEntity>(
        _ path: PartialKeyPath<T>, ascending: Bool = true, comparison: Comparison = .binary
    ) {
        self.init(
            TypedEntity.of(T.self).requiredKey(of: path), ascending: ascending,
            comparison: comparison)
    }
}

extension PredicateNode {
    /// Compares a property with a value of its type.
    ///
    /// ```swift
    /// let cheap = PredicateNode.compare(\Product.price, .less, 10)
    /// let others = PredicateNode.compare(\Product.category, .notEqual, "toys")
    /// ```
    ///
    /// - Precondition: the path leads to a persistent property of the class itself, whose values are stored
    ///   as they are or by their raw value.
    public static func compare<T: PersistentEntity, V>(
        _ path: KeyPath<T, V>, _ operator: Comparison.Operator, _ value: V
    ) -> PredicateNode {
        let key = TypedEntity.of(T.self).requiredKey(of: path)
        guard let value = Value(typed: value) else {
            preconditionFailure("\(T.self).\(key): a \(V.self) cannot be compared in a store")
        }
        return compare(key, `operator`, value)
    }
}

extension TypedEntity {
    /// The name of the property that a key path leads to, which must be one.
    fileprivate func requiredKey(of path: AnyKeyPath) -> String {
        guard let key = key(of: path) else {
            preconditionFailure("\(path) does not lead to a persistent property of \(name)")
        }
        return key
    }
}

extension Value {
    /// The value of a property's type as it is stored: plain values, raw values, objects by their ids, and
    /// optionals of these; nil for all else.
    init?(typed any: Any) {
        switch any {
        case let value as any PropertyValue: self = value.attributeValue
        case let value as ObjectID: self = .objectID(value)
        case let value as ManagedObject: self = .objectID(value.objectID)
        case let value as any RawRepresentable:
            guard let raw = Value(typed: value.rawValue) else { return nil }
            self = raw
        case let value as any AnyNil where value.isNil: self = .null
        default: return nil
        }
    }
}

/// Tells whether an optional is nil.
private protocol AnyNil {
    var isNil: Bool { get }
}

extension Optional: AnyNil {
    fileprivate var isNil: Bool { self == nil }
}

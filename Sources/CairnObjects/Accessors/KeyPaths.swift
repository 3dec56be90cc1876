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
    /// The path may cross to-one relationships, `\Product.maker?.name`, and end in an element of a composite attribute,
    /// `\Person.home.city`; nil along the way results in nil. After a `?`, elements of non-optional composites and `!`
    /// are not supported, and there can be at most four relationships, or fewer in a very large model. A request with
    /// another path throws `StoreError` with `.invalidRequest` when it is executed: write such a key as a string,
    /// `SortKey("maker.address.city")`.
    public init<T: PersistentEntity>(
        _ path: PartialKeyPath<T>, ascending: Bool = true, comparison: Comparison = .binary,
        nulls: NullsPosition? = nil
    ) {
        self.init(
            TypedEntity.of(T.self).keyOrStandIn(of: path), ascending: ascending,
            comparison: comparison, nulls: nulls)
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
    /// The path follows the rules of ``SortKey``. Values that are stored neither directly nor by raw value
    /// cannot be compared: a request with such a condition throws `StoreError` with `.invalidRequest` when it is
    /// executed. For a composite attribute, compare its elements.
    public static func compare<T: PersistentEntity, V>(
        _ path: KeyPath<T, V>, _ operator: Comparison.Operator, _ value: V
    ) -> PredicateNode {
        let entity = TypedEntity.of(T.self)
        guard let value = Value(typed: value) else {
            let name = entity.key(of: path) ?? path.words
            return compare(
                KeyStandIn.key(
                    because:
                        "\(name) of \(entity.name): a store cannot compare \(V.self); compare its elements, if it has any"
                ), `operator`, .null)
        }
        return compare(entity.keyOrStandIn(of: path), `operator`, value)
    }
}

extension TypedEntity {
    /// The key that a key path stands for, or what says that there is none.
    fileprivate func keyOrStandIn(of path: AnyKeyPath) -> String {
        key(of: path)
            ?? KeyStandIn.key(
                because:
                    "\(path.words) does not lead from \(name) to a stored property, or cannot be followed: write the key as text"
            )
    }
}

extension AnyKeyPath {
    /// The path as a message says it. Of a computed property it has but an address, which says nothing to anybody.
    var words: String {
        let text = "\(self)"
        guard text.contains("0x") else { return text }
        return "a computed property of type \(type(of: self).valueType)"
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

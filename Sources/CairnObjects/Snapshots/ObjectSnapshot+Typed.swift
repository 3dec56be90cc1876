// The values of a snapshot in the types that the class has for them.
//
// The compiler chooses among the overloads by the type of the property, as it does for the accessors of the class. Where the
// class names a transformer, the type does not say what is stored: then the property does, in all of them.

public import CairnModel
import CairnStore

extension ObjectSnapshot where Entity: PersistentEntity {
    // MARK: Attributes

    /// The value of a property.
    public subscript<V: PropertyValue>(dynamicMember path: KeyPath<Entity, V>) -> V {
        let (property, name) = property(path)
        return value(named: name).flatMap { decode($0, property, V._value) } ?? fallback(property)
            ?? V._empty
    }

    /// The value of an optional property.
    public subscript<V: PropertyValue>(dynamicMember path: KeyPath<Entity, V?>) -> V? {
        let (property, name) = property(path)
        guard let value = value(named: name) else { return nil }
        let decoded: V?? = decode(value, property) { $0.isNull ? .some(nil) : V._value($0) }
        return decoded ?? nil
    }

    /// The value of a property with a raw value.
    public subscript<V: RawRepresentable & SendableMetatype>(
        dynamicMember path: KeyPath<Entity, V>
    ) -> V where V.RawValue: PropertyValue { value(path, TypedKind.of(V.self)) }

    /// The value of an optional property with a raw value.
    public subscript<V: RawRepresentable & SendableMetatype>(
        dynamicMember path: KeyPath<Entity, V?>
    ) -> V? where V.RawValue: PropertyValue { value(path, TypedKind.of(V?.self)) }

    /// The value of a composite property.
    public subscript<V: CompositeValue>(dynamicMember path: KeyPath<Entity, V>) -> V {
        composite(path, TypedKind.of(V.self))
    }

    /// The value of an optional composite property.
    public subscript<V: CompositeValue>(dynamicMember path: KeyPath<Entity, V?>) -> V? {
        composite(path, TypedKind.of(V?.self))
    }

    /// The value of a property that is stored as JSON, or with a transformer.
    @_disfavoredOverload
    public subscript<V>(dynamicMember path: KeyPath<Entity, V>) -> V {
        let (property, name) = property(path)
        return value(named: name).flatMap { decode($0, property) { _ in nil } }
            ?? fallback(property) ?? Self.none() ?? noValue(name)
    }

    // MARK: Relationships

    /// The id of the target of a to-one relationship.
    public subscript<T: ManagedObject>(dynamicMember path: KeyPath<Entity, T?>) -> ObjectID? {
        value(named: property(path).name)?.reference
    }

    /// The ids of the members of a to-many relationship that was included when the snapshot was taken.
    public subscript<T: ManagedObject>(dynamicMember path: KeyPath<Entity, Set<T>>) -> [ObjectID] {
        members(path)
    }

    /// The ids of the members of an ordered to-many relationship that was included when the snapshot was taken.
    public subscript<T: ManagedObject>(dynamicMember path: KeyPath<Entity, [T]>) -> [ObjectID] {
        members(path)
    }

    // MARK: Steps

    private func property(_ path: PartialKeyPath<Entity>) -> (TypedProperty, name: String) {
        let typed = TypedEntity.of(Entity.self)
        guard let number = typed.number(of: path), number != TypedEntity._identity else {
            preconditionFailure(
                "the snapshot of \(typed.name) has only persistent properties, and this is not one")
        }
        return (typed.properties[number], typed.properties[number].name)
    }

    private func value<V>(_ path: PartialKeyPath<Entity>, _ kind: AttributeKind<V>) -> V {
        let (property, name) = property(path)
        return value(named: name).flatMap { decode($0, property, kind.decode) }
            ?? fallback(property) ?? kind.empty() ?? noValue(name)
    }

    /// A stored value as the property's transformer gives it, or else as its type is stored.
    private func decode<V>(_ value: Value, _ property: TypedProperty, _ usual: (Value) -> V?) -> V?
    {
        guard let decoding = property.decoding else { return usual(value) }
        return (decoding as? StoredDecoding<V>)?.decode(value)
    }

    private func composite<V>(_ path: PartialKeyPath<Entity>, _ kind: AttributeKind<V>) -> V {
        let (property, name) = property(path)
        if property.decoding != nil { return self.value(path, kind) }
        var leaves: [Value] = []
        if case .attribute(let attribute, _) = property.content {
            leaves = EntityBinding.leafNames(attribute, prefix: name).map {
                value(named: $0) ?? .null
            }
        }
        var reader = CompositeReader(leaves)
        return kind.composite?.read(&reader) ?? fallback(property) ?? kind.empty()
            ?? noValue(name)
    }

    private func members(_ path: PartialKeyPath<Entity>) -> [ObjectID] {
        let name = property(path).name
        guard let ids = members[name] else {
            if !keys.isOfModel { return [] }
            preconditionFailure(
                "\(entityName).\(name) is not in the snapshot: ask for the members with snapshot(including:)"
            )
        }
        return ids
    }

    private func fallback<V>(_ property: TypedProperty) -> V? {
        (property.fallback as? DeclaredDefault<V>)?.make()
    }

    /// Nil, if that is a value of the type.
    private static func none<V>() -> V? {
        guard V.self is any AnyOptionalType.Type else { return nil }
        let nothing: Any? = nil
        return nothing as? V
    }

    private func noValue<V>(_ name: String) -> V {
        preconditionFailure(
            "\(entityName).\(name) has neither a value nor a default, and its type has no empty value"
        )
    }
}

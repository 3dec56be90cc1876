// Values of transformable attributes: by key through what is registered, typed by what the class says.

package import CairnModel
import CairnStore
import FoundationEssentials

extension ManagedObject {
    // MARK: By key

    /// The transformer of a column; nil if its values are what is stored.
    final func transformer(ofColumn column: Int) -> RegisteredTransformer? {
        guard layout.pointee.kinds[column] == .binary else { return nil }
        return entity.columns[column].attribute.flatMap { $0.transformer }
    }

    /// A column's value as code that works by key sees it.
    package final func untyped(_ value: Value, column: Int) -> Any? {
        guard case .binary(let data) = value, let transformer = transformer(ofColumn: column)
        else { return value.any }
        return untyped(data, transformer, key: entity.columns[column].name)
    }

    /// The value for a column of what code that works by key has; nil if it is none.
    final func stored(_ any: Any, column: Int) -> Value? {
        if let transformer = transformer(ofColumn: column) {
            return (try? transformer.data(any)).map { .binary($0) }
        }
        guard let value = Value(any: any), !value.isNull,
            case .attribute(let type) = entity.columns[column].kind
        else { return nil }
        return value.converted(to: type) ?? value
    }

    /// What bytes stand for; bytes that stand for nothing are told of by the next fetch or save.
    final func untyped(_ data: Data, _ transformer: RegisteredTransformer, key: String) -> Any? {
        do {
            return try transformer.value(data)
        } catch {
            noteUntransformable(key, transformer.typeName, error)
            return nil
        }
    }

    /// Bytes that are no value: a property cannot throw, so the next fetch or save does.
    final func noteUntransformable(_ key: String?, _ typeName: String, _ cause: any Error) {
        managedObjectContext?.readError = StoreError(
            .invalidRequest, "the stored bytes cannot be read as \(typeName)",
            context: .init(entity: entity.name, key: key, objectID: objectID), cause: cause)
    }

    // MARK: Typed

    /// The value of a transformed property. Generated accessors call it.
    public final func _read<T: AttributeTransformer>(_ property: Int, by transformer: T.Type)
        -> T.Transformed
    {
        refusedValue(property) ?? typedValue(property, T.self) ?? missingValue(property)
            ?? noValue(property)
    }

    /// The value of an optional transformed property. Generated accessors call it.
    public final func _read<T: AttributeTransformer>(_ property: Int, by transformer: T.Type)
        -> T.Transformed?
    {
        refusedValue(property) ?? typedValue(property, T.self)
    }

    /// Sets a transformed property. Generated accessors call it.
    public final func _write<T: AttributeTransformer>(
        _ property: Int, _ value: T.Transformed, by transformer: T.Type
    ) {
        setEncoded(property, value) { try TypedKind.bytes($0, T.self) }
    }

    /// Sets an optional transformed property. Generated accessors call it.
    public final func _write<T: AttributeTransformer>(
        _ property: Int, _ value: T.Transformed?, by transformer: T.Type
    ) {
        guard let value else { return setStoredValue(property, .null) }
        setEncoded(property, value) { try TypedKind.bytes($0, T.self) }
    }

    private func typedValue<T: AttributeTransformer>(_ property: Int, _ transformer: T.Type)
        -> T.Transformed?
    {
        guard case .binary(let data) = storedValue(property) else { return nil }
        do {
            return try T.value(from: data)
        } catch {
            noteUntransformable(
                binding.typed?.properties[property].name, "\(T.Transformed.self)", error)
            return nil
        }
    }

    // What is of another type than its transformer's is reported where the property is described: so these exist.

    /// Any other type.
    @_disfavoredOverload
    public final func _read<V, T: AttributeTransformer>(_ property: Int, by transformer: T.Type)
        -> V
    {
        binding.misuse(property, "is of another type than its transformer's values")
    }

    /// Any other type.
    @_disfavoredOverload
    public final func _write<V, T: AttributeTransformer>(
        _ property: Int, _ value: V, by transformer: T.Type
    ) {
        binding.misuse(property, "is of another type than its transformer's values")
    }
}

extension AttributeDescription {
    /// The registered transformer of the attribute's values; nil if they are what is stored.
    var transformer: RegisteredTransformer? {
        guard type == .transformable, valueTransformerName != JSONValue.transformerName else {
            return nil
        }
        return AttributeTransformers.transformer(named: valueTransformerName)
    }
}

extension TypedKind {
    /// A value that a transformer stores.
    public static func of<T: AttributeTransformer>(
        _ type: T.Transformed.Type, by transformer: T.Type
    ) -> AttributeKind<T.Transformed> {
        AttributeKind(
            .transformable, isOptional: false, fits: { $0 == .transformable || $0 == .binary },
            encode: { try bytes($0, T.self) }, decode: { value($0, T.self) }, empty: { nil },
            transformerName: T.transformerName, offersTransformer: offer(T.self))
    }

    /// A value that a transformer stores, or none.
    public static func of<T: AttributeTransformer>(
        _ type: T.Transformed?.Type, by transformer: T.Type
    ) -> AttributeKind<T.Transformed?> {
        AttributeKind(
            .transformable, isOptional: true, fits: { $0 == .transformable || $0 == .binary },
            encode: { try $0.map { try bytes($0, T.self) } ?? .null },
            decode: { $0.isNull ? .some(nil) : value($0, T.self).map { $0 } },
            empty: { .some(nil) }, transformerName: T.transformerName,
            offersTransformer: offer(T.self))
    }

    /// A value of another type than the transformer's.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the property is of another type than its transformer's values, or an optional of it"
    )
    public static func of<V, T: AttributeTransformer>(_ type: V.Type, by transformer: T.Type)
        -> AttributeKind<V>
    {
        preconditionFailure("unavailable")
    }

    /// The column of transformed values.
    public static func column<T: AttributeTransformer>(
        _ type: T.Transformed.Type, by transformer: T.Type
    ) -> ConvertedToken<T.Transformed> { ConvertedToken(of(type, by: T.self)) }

    /// The column of optional transformed values.
    public static func column<T: AttributeTransformer>(
        _ type: T.Transformed?.Type, by transformer: T.Type
    ) -> ConvertedToken<T.Transformed?> { ConvertedToken(of(type, by: T.self)) }

    /// Catches properties of another type: their misuse is reported where the property is declared.
    @_disfavoredOverload
    public static func column<V, T: AttributeTransformer>(_ type: V.Type, by transformer: T.Type)
        -> RelationshipToken<V>
    { RelationshipToken() }

    static func bytes<T: AttributeTransformer>(_ value: T.Transformed, _ transformer: T.Type)
        throws -> Value
    { .binary(try T.data(from: value)) }

    private static func value<T: AttributeTransformer>(_ value: Value, _ transformer: T.Type)
        -> T.Transformed?
    {
        guard case .binary(let data) = value else { return nil }
        return try? T.value(from: data)
    }

    private static func offer<T: AttributeTransformer>(_ transformer: T.Type)
        -> (@Sendable () -> Void)?
    {
        if T.transformerName == JSONValue.transformerName { return nil }
        return { AttributeTransformers.offer(T.self) }
    }
}

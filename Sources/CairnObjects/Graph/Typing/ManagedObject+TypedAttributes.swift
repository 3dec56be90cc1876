// What the generated accessors of attributes call: values by property number.
//
// A property without a value reads as its declared default, else as nil, else as the empty value of its
// type. That happens to new objects before they are given one and to objects whose row is gone.
//
// The overloads for the commonest types, which need no generic code, are in `ManagedObject+TypedScalars`.

import CairnModel
import CairnStore

extension ManagedObject {
    // MARK: Values as they are

    /// The value of a property. Generated accessors call it.
    public final func _read<V: PropertyValue>(_ property: Int) -> V {
        plainValue(property) ?? missingValue(property) ?? V._empty
    }

    /// The value of an optional property. Generated accessors call it.
    public final func _read<V: PropertyValue>(_ property: Int) -> V? {
        plainValue(property)
    }

    /// Sets a property. Generated accessors call it.
    public final func _write<V: PropertyValue>(_ property: Int, _ value: V) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property. Generated accessors call it.
    public final func _write<V: PropertyValue>(_ property: Int, _ value: V?) {
        setStoredValue(property, value.attributeValue)
    }

    // MARK: Raw values

    /// The value of a property with a raw value. Generated accessors call it.
    public final func _read<V: RawRepresentable>(_ property: Int) -> V
    where V.RawValue: PropertyValue {
        plainValue(property).flatMap(V.init(rawValue:)) ?? missingValue(property)
            ?? noValue(property)
    }

    /// The value of an optional property with a raw value. Generated accessors call it.
    public final func _read<V: RawRepresentable>(_ property: Int) -> V?
    where V.RawValue: PropertyValue {
        plainValue(property).flatMap(V.init(rawValue:))
    }

    /// Sets a property with a raw value. Generated accessors call it.
    public final func _write<V: RawRepresentable>(_ property: Int, _ value: V)
    where V.RawValue: PropertyValue {
        setStoredValue(property, value.rawValue.attributeValue)
    }

    /// Sets an optional property with a raw value. Generated accessors call it.
    public final func _write<V: RawRepresentable>(_ property: Int, _ value: V?)
    where V.RawValue: PropertyValue {
        setStoredValue(property, value?.rawValue.attributeValue ?? .null)
    }

    // MARK: Composite values

    /// The value of a composite property. Generated accessors call it.
    public final func _read<V: CompositeValue>(_ property: Int) -> V {
        if let refused: V = refusedValue(property) { return refused }
        var reader = CompositeReader(leaves(property))
        return V(_from: &reader) ?? missingValue(property) ?? noValue(property)
    }

    /// The value of an optional composite property: nil if all its leaves are. Generated accessors call it.
    public final func _read<V: CompositeValue>(_ property: Int) -> V? {
        if let refused: V = refusedValue(property) { return refused }
        let leaves = leaves(property)
        guard leaves.contains(where: { !$0.isNull }) else { return nil }
        var reader = CompositeReader(leaves)
        return V(_from: &reader)
    }

    /// Sets a composite property. Generated accessors call it.
    public final func _write<V: CompositeValue>(_ property: Int, _ value: V) {
        var writer = CompositeWriter()
        value._write(to: &writer)
        setLeaves(property, writer, value)
    }

    /// Sets an optional composite property. Generated accessors call it.
    public final func _write<V: CompositeValue>(_ property: Int, _ value: V?) {
        var writer = CompositeWriter()
        writer.writeOptional(value)
        setLeaves(property, writer, value)
    }

    // MARK: Values as JSON

    /// The value of a property of a Codable type. Generated accessors call it.
    @_disfavoredOverload
    public final func _read<V: Codable>(_ property: Int) -> V {
        if let refused: V = refusedValue(property) { return refused }
        let value = storedValue(property)
        if let decoded: V = JSONValue.decode(value) { return decoded }
        if !value.isNull { noteUnreadable(property, V.self) }
        return missingValue(property) ?? JSONValue.nilValue(of: V.self) ?? noValue(property)
    }

    /// Sets a property of a Codable type. Generated accessors call it.
    @_disfavoredOverload
    public final func _write<V: Codable>(_ property: Int, _ value: V) {
        setEncoded(property, value) { try JSONValue.encode($0) }
    }
}

// MARK: Steps

extension ManagedObject {
    /// A value that is stored as it is; nil if there is none.
    @inline(__always)
    final func plainValue<V: PropertyValue>(_ property: Int) -> V? {
        V._value(storedValue(property))
    }

    /// The stored value of an attribute that is not composite.
    final func storedValue(_ property: Int) -> Value {
        switch binding.slot(property) {
        case .column(let column):
            access(.column(column))
            return columnValue(column)
        case .transient(let attribute):
            access(.transient(attribute))
            return transients[attribute] ?? entity.attributes[attribute].description.defaultValue
        default: mismatch(property)
        }
    }

    /// Sets an attribute to what is stored of a value. One that cannot be encoded is kept, and refused by the next save.
    @inline(__always)
    final func setEncoded<V>(_ property: Int, _ value: V, _ encode: (V) throws -> Value) {
        do {
            setStoredValue(property, try encode(value))
        } catch {
            refuse(property, RefusedValue(value, "\(V.self)", error))
        }
    }

    /// Sets an attribute that is not composite.
    final func setStoredValue(_ property: Int, _ value: Value) {
        switch binding.slot(property) {
        case .column(let column):
            checkRange(column, value, property)
            setColumn(column, value)
        case .transient(let attribute): setTransient(attribute, value, isPrimitive: false)
        default: mismatch(property)
        }
    }

    /// An integer that the attribute has no room for is a mistake of the program.
    private func checkRange(_ column: Int, _ value: Value, _ property: Int) {
        guard case .integer(let number) = value else { return }
        if layout.pointee.kinds[column].hasRoom(for: UInt64(bitPattern: number)) { return }
        binding.misuse(property, "cannot hold the number: its attribute is narrower")
    }

    private func leaves(_ property: Int) -> [Value] {
        guard case .composite(let list) = binding.slot(property) else { mismatch(property) }
        return binding.columns(ofComposite: list).map { column in
            access(.column(column))
            return columnValue(column)
        }
    }

    /// Sets the leaves of a composite attribute. A leaf that is no value of its type, such as a raw value of another version of
    /// the program, is read as a default: it stays as it is stored if that is what it is set to, since whoever changes one element
    /// sets all of them. Nil leaves nothing.
    private func setLeaves<V: CompositeValue>(
        _ property: Int, _ writer: CompositeWriter, _ value: V?
    ) {
        guard case .composite(let list) = binding.slot(property) else { mismatch(property) }
        if let cause = writer.failure {
            return refuse(property, RefusedValue(value as Any, "\(V.self)", cause))
        }
        let columns = binding.columns(ofComposite: list)
        let values =
            value == nil
            ? writer.values
            : Self.keeping(columns.map { columnValue($0) }, in: writer.values, V.self)
        for (column, value) in zip(columns, values) {
            checkRange(column, value, property)
            setColumn(column, value)
        }
    }

    /// What the leaves of a composite value are set to, which is not nil, with those that stay as they are stored.
    private static func keeping<V: CompositeValue>(
        _ stored: [Value], in values: [Value], _ type: V.Type
    ) -> [Value] {
        guard stored != values, stored.contains(where: { !$0.isNull }) else { return values }
        func shown(_ leaves: [Value]) -> [Value]? {
            var reader = CompositeReader(leaves)
            var writer = CompositeWriter()
            V(_from: &reader)?._write(to: &writer)
            return writer.failure == nil && writer.values.count == leaves.count
                ? writer.values : nil
        }
        guard let before = shown(stored) else { return values }
        var kept = values
        for index in stored.indices where before[index] == values[index] {
            if stored[index].isNull || stored[index] == values[index] { continue }
            kept[index] = stored[index]
            // A composite value in this one was set to nil, and would be there again.
            if shown(kept)?.map(\.isNull) != values.map(\.isNull) { kept[index] = values[index] }
        }
        return kept
    }

    /// The declared default of a property without a value; nil if it has none.
    final func missingValue<V>(_ property: Int) -> V? {
        (binding.typed?.properties[property].fallback as? DeclaredDefault<V>)?.make()
    }

    /// Gives a new object the default of a property that nobody has set.
    final func giveDefault<V>(_ property: Int, _ value: V, _ kind: AttributeKind<V>) {
        do {
            switch binding.slot(property) {
            case .column(let column):
                guard columnValue(column).isNull else { return }
                setPrimitiveColumn(column, try kind.encode(value))
            case .transient(let attribute):
                guard storedValue(property).isNull else { return }
                setTransient(attribute, try kind.encode(value), isPrimitive: true)
            case .composite(let list):
                let isUntouched = binding.columns(ofComposite: list).allSatisfy {
                    columnValue($0) == entity.columns[$0].defaultValue
                }
                guard let composite = kind.composite, isUntouched else { return }
                var writer = CompositeWriter()
                composite.write(value, &writer)
                if let cause = writer.failure { throw cause }
                for (column, leaf) in zip(binding.columns(ofComposite: list), writer.values) {
                    setPrimitiveColumn(column, leaf)
                }
            default: mismatch(property)
            }
        } catch {
            refuse(property, RefusedValue(value, "\(V.self)", error))
        }
    }

    /// Gives a new object the defaults that have to be computed.
    final func giveComputedDefaults() {
        guard let typed = binding.typed, !typed.computedDefaults.isEmpty else { return }
        for number in typed.computedDefaults { typed.properties[number].prepare?(self, number) }
    }

    final func noValue<V>(_ property: Int) -> V {
        binding.misuse(
            property,
            "has neither a value nor a default, and its type has no empty value: give it a default or make it optional"
        )
    }

    /// The store's model does not have the property as the class declares it.
    final func mismatch(_ property: Int) -> Never {
        binding.misuse(
            property,
            "is not in the store's model, or has another type there than the class \(type(of: self)) declares"
        )
    }

    /// Bytes that are no value of the type: a property cannot throw, so the next fetch or save does.
    private func noteUnreadable<V>(_ property: Int, _ type: V.Type) {
        managedObjectContext?.readError = StoreError(
            .invalidRequest, "the stored JSON cannot be read as \(V.self)",
            context: .init(
                entity: entity.name, key: binding.typed?.properties[property].name,
                objectID: objectID))
    }
}

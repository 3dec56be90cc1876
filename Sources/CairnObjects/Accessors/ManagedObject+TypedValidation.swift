// What generated code calls for the `validate…` methods of a class: a value by key becomes one of the property's type,
// and what the method makes of it becomes a value by key again.
//
// A value that is none of the type is not shown to the method: what is wrong with it the model has said already, such as
// that nil is nothing for a property without `?`.

import CairnModel
import CairnStore

extension ManagedObject {
    /// Shows a value for an attribute to the class's own method. Generated code calls it.
    public final func _check<V>(
        _ property: Int, _ value: inout Any?, _ kind: AttributeKind<V>,
        _ method: (inout V) throws -> Void
    ) throws {
        if let composite = kind.composite {
            return try checkLeaves(property, &value, kind, composite, method)
        }
        if kind.offersTransformer != nil, let given = value as? V {
            // By key the value is what the transformer makes of the bytes.
            var typed = given
            try method(&typed)
            if Self.areEqual(typed, given) { return }
            let new = try encoded(typed, kind, property)
            if new != (try encoded(given, kind, property)) { value = new.isNull ? nil : typed }
            return
        }
        var exact = Value.null
        if let any = value, let given = Value(any: any), !given.isNull {
            exact = given.converted(to: kind.type) ?? given
        }
        guard var typed = kind.decode(exact) else { return }
        // The same value need not be encoded as it was: the members of a set have no order.
        let old = try encoded(typed, kind, property)
        try method(&typed)
        let new = try encoded(typed, kind, property)
        if new != old { value = new.any }
    }

    /// What a store takes of a value.
    private func encoded<V>(_ value: V, _ kind: AttributeKind<V>, _ property: Int)
        throws(StoreError) -> Value
    {
        do {
            return try kind.encode(value)
        } catch {
            throw refusal(of: V.self, property, error)
        }
    }

    private func refusal<V>(of type: V.Type, _ property: Int, _ cause: any Error) -> StoreError {
        refusal(binding.typed?.properties[property].name ?? "", "\(V.self)", cause)
    }

    private func checkLeaves<V>(
        _ property: Int, _ value: inout Any?, _ kind: AttributeKind<V>,
        _ composite: CompositeKind<V>, _ method: (inout V) throws -> Void
    ) throws {
        guard case .composite(let list) = binding.slot(property) else { mismatch(property) }
        guard let leaves = (value ?? [String: Any]()) as? [String: Any] else { return }
        let columns = binding.columns(ofComposite: list)
        let old = columns.map { column in
            leaves[entity.columns[column].name].flatMap { stored($0, column: column) } ?? .null
        }
        var reader = CompositeReader(old)
        guard var typed = composite.read(&reader) else { return }
        try method(&typed)
        var writer = CompositeWriter()
        composite.write(typed, &writer)
        if let cause = writer.failure { throw refusal(of: V.self, property, cause) }
        guard writer.values != old else { return }
        var changed: [String: Any] = [:]
        for (column, leaf) in zip(columns, writer.values) {
            changed[entity.columns[column].name] = untyped(leaf, column: column)
        }
        value = changed
    }

    /// Shows the target of a relationship to the class's own method. Generated code calls it.
    public final func _check<T: ManagedObject>(
        _ property: Int, _ value: inout Any?, _ kind: RelationshipKind<T?>,
        _ method: (inout T?) throws -> Void
    ) throws {
        var target = value as? T
        guard value == nil || target != nil else { return }
        try method(&target)
        value = target
    }

    /// Shows the members of a relationship to the class's own method. Generated code calls it.
    public final func _check<T: ManagedObject>(
        _ property: Int, _ value: inout Any?, _ kind: RelationshipKind<Set<T>>,
        _ method: (inout Set<T>) throws -> Void
    ) throws {
        let given = value as? Set<ManagedObject> ?? []
        var members = Set(given.compactMap { $0 as? T })
        guard members.count == given.count else { return }
        try method(&members)
        value = Set<ManagedObject>(members)
    }

    /// Shows the members of an ordered relationship to the class's own method. Generated code calls it.
    public final func _check<T: ManagedObject>(
        _ property: Int, _ value: inout Any?, _ kind: RelationshipKind<[T]>,
        _ method: (inout [T]) throws -> Void
    ) throws {
        let given = value as? [ManagedObject] ?? []
        var members = given.compactMap { $0 as? T }
        guard members.count == given.count else { return }
        try method(&members)
        value = members.map { $0 as ManagedObject }
    }

    /// A property whose type cannot be stored, which is reported where it is described.
    public final func _check<V>(
        _ property: Int, _ value: inout Any?, _ kind: UnstorableKind<V>,
        _ method: (inout V) throws -> Void
    ) throws {}
}

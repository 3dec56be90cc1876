// Reading and setting an object's properties by key.
//
// A key that the entity does not have, and a value that does not fit, are mistakes of the program and trap
// with a sentence.

import CairnModel
import CairnStore
import FoundationEssentials

extension ManagedObject {
    /// A property's value; see ``value(forKey:)``.
    public final subscript(_ key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The value of a property; reads the object's row if it is a fault.
    ///
    /// Integers come as `Int`, other attributes as their Swift type, a composite attribute as a dictionary
    /// of its leaves' (dotted) names, a to-one relationship as its object, a to-many as `Set<ManagedObject>`.
    /// An ordered to-many comes as `[ManagedObject]`, in its order. A transformable attribute whose
    /// transformer is registered gives what that makes of the bytes, see ``AttributeTransformers``; a fetched property
    /// its objects, as `[ManagedObject]`, which were fetched when it was first asked for since the object was refreshed.
    ///
    /// - Complexity: O(1) for attributes; the first access to a to-many asks the store.
    public final func value(forKey key: String) -> Any? {
        if let index = entity.attributeIndex(named: key) { return attributeValue(index) }
        if let index = entity.relationshipIndex(named: key) { return relationshipValue(index) }
        if let column = entity.columnIndex(named: key) {
            access(.column(column))
            return untyped(columnValue(column), column: column)
        }
        if let property = fetchedProperty(named: key) { return fetchedObjects(property) }
        unknown(key)
    }

    /// Sets a property.
    ///
    /// A relationship takes an object, a set or an array of objects, or nil, and its inverse is kept at once. An ordered one
    /// takes the order of an array; with a set members stay where they are, and new ones come to the end.
    /// Setting the value a property has already leaves ``hasPersistentChangedValues`` as it is.
    public final func setValue(_ value: Any?, forKey key: String) {
        if let index = entity.attributeIndex(named: key) {
            setAttribute(index, value, key: key, isPrimitive: false)
        } else if let index = entity.relationshipIndex(named: key) {
            setRelationship(index, value, key: key)
        } else if let column = entity.columnIndex(named: key) {
            setColumn(column, converted(value, column: column))
        } else if fetchedProperty(named: key) != nil {
            preconditionFailure("\(entity.name).\(key) is fetched: it cannot be set")
        } else {
            unknown(key)
        }
    }

    /// An attribute's value as it is now; the same as ``value(forKey:)``, which has no side effects here.
    public final func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }

    /// Sets an attribute without telling anybody: the object does not become changed by it and
    /// ``changedValues()`` does not show it, but a save of the object writes it.
    public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
        if let index = entity.attributeIndex(named: key) {
            setAttribute(index, value, key: key, isPrimitive: true)
        } else if let column = entity.columnIndex(named: key),
            entity.columns[column].relationship == nil
        {
            setPrimitiveColumn(column, converted(value, column: column))
        } else if entity.relationshipIndex(named: key) != nil {
            preconditionFailure(
                "\(entity.name).\(key) is a relationship: it has an inverse to keep")
        } else {
            unknown(key)
        }
    }

    private func unknown(_ key: String) -> Never {
        preconditionFailure("the entity \(entity.name) has no property named \(key)")
    }

    // MARK: Attributes

    /// An attribute's value; of a composite one, its leaves by name.
    private func attributeValue(_ index: Int) -> Any? {
        let attribute = entity.attributes[index]
        if attribute.description.isTransient {
            access(.transient(index))
            let value = transients[index] ?? attribute.description.defaultValue
            guard case .binary(let data) = value,
                let transformer = attribute.description.transformer
            else { return value.any }
            return untyped(data, transformer, key: attribute.description.name)
        }
        guard attribute.description.type == .composite else {
            let column = attribute.columns.lowerBound
            access(.column(column))
            return untyped(columnValue(column), column: column)
        }
        var leaves: [String: Any] = [:]
        for column in attribute.columns {
            access(.column(column))
            leaves[entity.columns[column].name] = untyped(columnValue(column), column: column)
        }
        return leaves
    }

    private func setAttribute(_ index: Int, _ value: Any?, key: String, isPrimitive: Bool) {
        let attribute = entity.attributes[index]
        if attribute.description.isTransient {
            setUntypedTransient(index, value, isPrimitive: isPrimitive)
            return
        }
        guard attribute.description.type == .composite else {
            let column = attribute.columns.lowerBound
            let exact = converted(value, column: column)
            if isPrimitive { setPrimitiveColumn(column, exact) } else { setColumn(column, exact) }
            return
        }
        guard let leaves = (value ?? [String: Any]()) as? [String: Any] else {
            preconditionFailure("\(entity.name).\(key) takes a dictionary of its leaves' names")
        }
        for column in attribute.columns {
            let exact = converted(leaves[entity.columns[column].name], column: column)
            if isPrimitive { setPrimitiveColumn(column, exact) } else { setColumn(column, exact) }
        }
    }

    private func setUntypedTransient(_ index: Int, _ any: Any?, isPrimitive: Bool) {
        let attribute = entity.attributes[index]
        if let any, attribute.description.type == .transformable {
            let bytes = transformed(any, attribute.description, key: attribute.description.name)
            return setTransient(index, bytes, isPrimitive: isPrimitive)
        }
        guard let value = any.map({ Value(any: $0) }) ?? .null,
            attribute.description.type == .undefined || value.isNull
                || value.converted(to: attribute.description.type) != nil
        else {
            preconditionFailure(
                "\(entity.name).\(attribute.description.name) takes a value of type "
                    + attribute.description.type.rawValue)
        }
        setTransient(index, value, isPrimitive: isPrimitive)
    }

    /// Sets a transient attribute to a value of its type.
    final func setTransient(_ index: Int, _ value: Value, isPrimitive: Bool) {
        let attribute = entity.attributes[index]
        let new = value.converted(to: attribute.description.type) ?? value
        if isPrimitive || isAwakening {
            willChange(.transient(index))
            transients[index] = new
            didChange(.transient(index))
        } else {
            setTransient(index, new)
        }
    }

    /// Sets a transient attribute, with nil to its default, and tells the context.
    final func setTransient(_ index: Int, _ value: Value?) {
        managedObjectContext?.objectWillChange(self)
        managedObjectContext?.hasSetTransients = true
        willChange(.transient(index))
        defer { didChange(.transient(index)) }
        let initial = entity.attributes[index].description.defaultValue
        let isReal = (transients[index] ?? initial) != (value ?? initial)
        transients[index] = value
        managedObjectContext?.objectDidChange(self, isReal: isReal)
    }

    /// The value that an untyped one is for a column.
    private func converted(_ any: Any?, column: Int) -> Value {
        guard let any else { return .null }
        let description = entity.columns[column]
        guard case .attribute(let type) = description.kind else {
            preconditionFailure("\(entity.name).\(description.name) is a relationship")
        }
        if type == .transformable, let attribute = description.attribute {
            return transformed(any, attribute, key: description.name)
        }
        guard let value = Value(any: any)?.converted(to: type) else {
            preconditionFailure(
                "\(entity.name).\(description.name) takes a value of type \(type.rawValue), "
                    + "not a \(Swift.type(of: any))")
        }
        return value
    }

    // MARK: Relationships

    private func relationshipValue(_ index: Int) -> Any? {
        let relationship = entity.relationships[index]
        guard let context = managedObjectContext else { return nil }
        access(relationship: index)
        guard relationship.description.isToMany else { return context.target(of: self, index) }
        let members = context.members(of: self, index)
        return relationship.description.isOrdered ? members : Set(members)
    }

    private func setRelationship(_ index: Int, _ value: Any?, key: String) {
        guard let context = managedObjectContext else {
            preconditionFailure(
                "\(entity.name).\(key): an object outside a context has no relationships")
        }
        let relationship = entity.relationships[index]
        guard relationship.description.isToMany else {
            guard let value else {
                context.setTarget(of: self, index, nil)
                return
            }
            guard let object = value as? ManagedObject else {
                preconditionFailure("\(entity.name).\(key) takes an object or nil")
            }
            context.setTarget(of: self, index, object)
            return
        }
        switch value {
        case nil: context.setMembers(of: self, index, Set())
        case let objects as Set<ManagedObject>: context.setMembers(of: self, index, objects)
        case let objects as [ManagedObject]: context.setMembers(of: self, index, objects)
        default: preconditionFailure("\(entity.name).\(key) takes a set or an array of objects")
        }
    }
}

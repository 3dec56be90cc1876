// Reading and setting an object's properties by key.
//
// The subscript is for keys and values that stand in the program: a key that the entity does not have, and a value that does
// not fit, trap with a sentence. See ManagedObject+ThrowingKeys for those from outside.

import CairnModel
import CairnStore
import FoundationEssentials

extension ManagedObjectMembers where Self: ManagedObject {
    /// The value of a property; reads the object's row if it is a fault.
    ///
    /// Integers are returned as `Int`, other attributes as their Swift type, a composite attribute, or a composite
    /// inside one (`place.second`), as a dictionary by its leaves' (dotted) names, a to-one relationship as its object,
    /// a to-many relationship as `Set<ManagedObject>`, an ordered one as `[ManagedObject]`. A transformable attribute
    /// with a registered transformer returns the transformed value, see ``AttributeTransformers``; a fetched property
    /// returns its objects as `[ManagedObject]`, fetched on first access since the object was refreshed.
    ///
    /// - Complexity: O(1) for attributes; the first access to a to-many relationship queries the store.
    public func value(forKey key: String) -> Any? {
        if let index = entity.attributeIndex(named: key) { return attributeValue(index) }
        if let index = entity.relationshipIndex(named: key) { return relationshipValue(index) }
        if let column = entity.columnIndex(named: key) {
            access(.column(column))
            return untyped(columnValue(column), column: column)
        }
        if let columns = entity.compositeColumns(key) { return leaves(columns) }
        if let property = fetchedProperty(named: key) {
            return managedObjectContext?.operations.fetchedObjects(property, of: self) ?? []
        }
        unknown(key)
    }

    /// A property's value; see ``value(forKey:)``.
    ///
    /// Setting is for keys and values that are literals in the program: an unknown key, and a value of another type or out
    /// of range, are programming errors, which end the program with a message. ``setValue(_:forKey:)`` throws instead, for
    /// values from outside. A value that a transformer rejects is kept, and rejected by the next save.
    public subscript(_ key: String) -> Any? {
        get { value(forKey: key) }
        set { setTrusted(newValue, forKey: key) }
    }

    /// An attribute's current value; the same as ``value(forKey:)``, which has no side effects here.
    public func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }

    /// Sets an attribute without notifying observers: the object does not count as changed and ``changedValues()`` does not
    /// show it, but a save of the object writes it.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) {
        precondition(
            entity.relationshipIndex(named: key) == nil,
            "\(entity.name).\(key) is a relationship, whose inverse has to be updated: use setValue(_:forKey:)"
        )
        let settings: [PropertySetting]
        do throws(StoreError) {
            settings = try self.settings(value, forKey: key, isStrict: false)
        } catch {
            preconditionFailure("\(entity.name).\(key): \(error.message)")
        }
        for setting in settings {
            switch setting {
            case .column(let column, let value): setPrimitiveColumn(column, value)
            case .transient(let index, let value): setTransient(index, value, isPrimitive: true)
            case .refused(let index, let value): setRefused(index, value)
            case .target, .members: break
            }
        }
    }
}

extension ManagedObject {
    /// Whether the entity has a property of a name, be it an element of a composite one.
    package final func hasProperty(_ name: String) -> Bool {
        entity.attributeIndex(named: name) != nil || entity.relationshipIndex(named: name) != nil
            || entity.columnIndex(named: name) != nil || entity.compositeColumns(name) != nil
            || fetchedProperty(named: name) != nil
    }

    /// The fetched property of a name, be it inherited.
    final func fetchedProperty(named name: String) -> FetchedPropertyDescription? {
        var entity: SchemaEntity? = self.entity
        while let known = entity {
            let properties = known.description.fetchedProperties
            if let found = properties.first(where: { $0.name == name }) { return found }
            guard let parent = known.parent else { return nil }
            guard let context = managedObjectContext else { return nil }
            entity = context.schema.entities[parent]
        }
        return nil
    }

    fileprivate func unknown(_ key: String) -> Never {
        preconditionFailure("the entity \(entity.name) has no property named \(key)")
    }

    // MARK: Attributes

    /// An attribute's value; of a composite one, its leaves by name.
    fileprivate func attributeValue(_ index: Int) -> Any? {
        let attribute = entity.attributes[index]
        let refused = attribute.description.type == .composite ? nil : rarer?.refused[index]?.value
        if attribute.description.isTransient {
            access(.transient(index))
            if let refused { return refused }
            let value = transients[index] ?? attribute.description.defaultValue
            guard case .binary(let data) = value,
                let transformer = attribute.description.transformer
            else { return value.any }
            return untyped(data, transformer, key: attribute.description.name)
        }
        guard attribute.description.type == .composite else {
            let column = attribute.columns.lowerBound
            access(.column(column))
            return refused ?? untyped(columnValue(column), column: column)
        }
        return leaves(attribute.columns)
    }

    fileprivate func leaves(_ columns: Range<Int>) -> [String: Any] {
        var leaves: [String: Any] = [:]
        for column in columns {
            access(.column(column))
            leaves[entity.columns[column].name] = untyped(columnValue(column), column: column)
        }
        return leaves
    }

    /// Sets a transient attribute to a value of its type.
    final func setTransient(_ index: Int, _ value: Value, isPrimitive: Bool) {
        let attribute = entity.attributes[index]
        let new = value.converted(to: attribute.description.type) ?? value
        if isPrimitive || isAwakening {
            willChange(.transient(index))
            rarer?.refused[index] = nil
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
        let wasRefused = rarer?.refused.removeValue(forKey: index) != nil
        let isReal = wasRefused || (transients[index] ?? initial) != (value ?? initial)
        transients[index] = value
        managedObjectContext?.objectDidChange(self, isReal: isReal)
    }

    // MARK: Relationships

    fileprivate func relationshipValue(_ index: Int) -> Any? {
        let relationship = entity.relationships[index]
        guard let context = managedObjectContext else { return nil }
        access(relationship: index)
        guard relationship.description.isToMany else { return context.target(of: self, index) }
        let members = context.members(of: self, index)
        return relationship.description.isOrdered ? members : Set(members)
    }
}

// Setting properties by key to values from outside: all that can be wrong is found before anything is set.
//
//   1. `settings` says what is to be set where. It takes over values as batches of dictionaries do: whole numbers and truth
//      values exactly or not at all, numbers with a fraction rounded to the attribute's type, `NSNull` as nil, composite values
//      as nested dictionaries.
//   2. `apply` sets that. Nothing of it fails.
//
// Threads: the context's.

import CairnModel
public import CairnStore
import FoundationEssentials

/// What a property is to be set to.
enum PropertySetting {
    case column(Int, Value)
    case transient(Int, Value)
    /// A value that no store can take, by attribute.
    case refused(Int, RefusedValue)
    /// The target of a to-one relationship. Of an id that was given and nobody has any more only that is known.
    case target(Int, ManagedObject?, lost: [ObjectID])
    /// The members of a to-many relationship; in their order, if they have one.
    case members(Int, [ManagedObject], isInOrder: Bool, lost: [ObjectID])
}

extension ManagedObjectMembers where Self: ManagedObject {
    /// Sets a property to a value that may come from outside: throws if the value does not fit, and then sets nothing.
    ///
    /// ```swift
    /// try product.setValue(fields["price"], forKey: "price")
    /// ```
    ///
    /// Numbers are converted to the attribute's type: integers exactly or not at all, fractions by rounding. `NSNull`
    /// is nil. A composite attribute takes a dictionary of its elements, nested or by dotted names; missing elements
    /// become nil. A relationship takes an object, an `ObjectID`, or nil, a to-many relationship a set or an array of
    /// them; the inverse is updated immediately. An ordered relationship takes the order of an array; with a set,
    /// existing members keep their positions, and new ones are appended.
    ///
    /// Validity, such as nil for a required attribute, is checked when the object is saved;
    /// ``validateValue(_:forKey:)`` checks it earlier. Setting a property to its current value does not change
    /// ``hasPersistentChangedValues``.
    ///
    /// ``subscript(_:)`` does the same for keys and values that are literals in the program, and traps if they do not
    /// fit.
    ///
    /// - Throws: `StoreError` with entity and key: `.invalidRequest` if there is no such property, or it cannot be set, or
    ///   the value has another type, is out of range, or belongs to another context; `.objectNotFound` if there is no
    ///   object with an id, or the object was deleted; `.validation`, with the cause, if a transformer rejects the value.
    public func setValue(_ value: Any?, forKey key: String) throws(StoreError) {
        apply(try settings(value, forKey: key, isStrict: true))
    }

    /// Sets properties, by key; nil is a value. If one of them does not fit, none is set.
    ///
    /// ```swift
    /// let fields = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    /// try product.setValuesForKeys(fields)
    /// ```
    ///
    /// - Throws: `StoreError` as ``setValue(_:forKey:)``; `.multiple` with all of them if several do not fit.
    public func setValuesForKeys(_ values: [String: Any?]) throws(StoreError) {
        var settings: [PropertySetting] = []
        var errors: [StoreError] = []
        for (key, value) in values.inKeyOrder() {
            do throws(StoreError) {
                settings += try self.settings(value, forKey: key, isStrict: true)
            } catch {
                errors.append(error)
            }
        }
        guard let only = errors.first else { return apply(settings) }
        if errors.count == 1 { throw only }
        throw StoreError(
            .multiple, "\(errors.count) of the values cannot be set", details: errors)
    }
}

extension ManagedObject {
    // MARK: Steps

    /// Sets a property to a value that stands in the program.
    final func setTrusted(_ value: Any?, forKey key: String) {
        do throws(StoreError) {
            // Mostly it is one value of a column.
            if let value, let index = entity.attributeIndex(named: key),
                let column = plainColumn(index),
                case .attribute(let type) = entity.columns[column].kind
            {
                return setColumn(column, try exact(value, as: type, key: key))
            }
            apply(try settings(value, forKey: key, isStrict: false))
        } catch {
            preconditionFailure("\(entity.name).\(key): \(error.message)")
        }
    }

    /// The column of an attribute that keeps values as they are; nil if there is more to it.
    private func plainColumn(_ index: Int) -> Int? {
        let attribute = entity.attributes[index]
        if attribute.description.isTransient { return nil }
        switch attribute.description.type {
        case .composite, .transformable: return nil
        default: return attribute.columns.lowerBound
        }
    }

    /// Sets what was found to fit.
    final func apply(_ settings: [PropertySetting]) {
        for setting in settings {
            switch setting {
            case .column(let column, let value): setColumn(column, value)
            case .transient(let index, let value):
                setTransient(index, value, isPrimitive: false)
            case .refused(let index, let value): setRefused(index, value)
            case .target(let index, let target, let lost):
                managedObjectContext?.setTarget(of: self, index, target)
                managedObjectContext?.noteLostTargets(lost, of: self, index)
            case .members(let index, let members, let isInOrder, let lost):
                if isInOrder {
                    managedObjectContext?.setMembers(of: self, index, members)
                } else {
                    managedObjectContext?.setMembers(of: self, index, Set(members))
                }
                managedObjectContext?.noteLostTargets(lost, of: self, index)
            }
        }
    }

    /// What is to be set for a value.
    ///
    /// - Parameter isStrict: whether all is thrown that a program can hardly want. Else a derived attribute is set until the
    ///   store computes it, names that a composite value does not have are passed over, and what is found only by a save is
    ///   left to it.
    /// - Throws: `StoreError` if it does not fit.
    final func settings(_ value: Any?, forKey key: String, isStrict: Bool) throws(StoreError)
        -> [PropertySetting]
    {
        if let index = entity.attributeIndex(named: key) {
            return try settings(value, attribute: index, isStrict: isStrict)
        }
        if let index = entity.relationshipIndex(named: key) {
            return [try setting(value, relationship: index, isStrict: isStrict)]
        }
        if let column = entity.columnIndex(named: key) {
            return [try setting(value, column: column, isStrict: isStrict)]
        }
        if entity.compositeColumns(key) != nil {
            return try leaves(value, key, isStrict: isStrict)
        }
        throw unsettable(
            fetchedProperty(named: key) == nil
                ? "the entity \(entity.name) has no property named \(key)"
                : "a fetched property cannot be set", key)
    }

    private func unsettable(_ message: String, _ key: String, _ value: Value? = nil) -> StoreError {
        StoreError(
            .invalidRequest, message,
            context: .init(entity: entity.name, key: key, objectID: objectID, value: value))
    }

    // MARK: Attributes

    private func settings(_ value: Any?, attribute index: Int, isStrict: Bool) throws(StoreError)
        -> [PropertySetting]
    {
        let attribute = entity.attributes[index]
        if attribute.description.isTransient {
            return [try setting(value, transient: index, isStrict: isStrict)]
        }
        if attribute.description.type == .composite {
            return try leaves(value, attribute.description.name, isStrict: isStrict)
        }
        return [try setting(value, column: attribute.columns.lowerBound, isStrict: isStrict)]
    }

    private func setting(_ value: Any?, column: Int, isStrict: Bool) throws(StoreError)
        -> PropertySetting
    {
        let description = entity.columns[column]
        guard case .attribute(let type) = description.kind else {
            throw unsettable("the property is a relationship", description.name)
        }
        if isStrict, let reason = description.reasonNotToBeSet {
            throw unsettable(reason, description.name)
        }
        guard let any = present(value) else { return .column(column, .null) }
        if type == .transformable, let attribute = description.attribute {
            return try transformed(
                any, attribute, key: description.name, isStrict: isStrict,
                attributeIndex: {
                    entity.attributes.firstIndex { $0.columns.contains(column) } ?? 0
                }
            ) { .column(column, $0) }
        }
        return .column(column, try exact(any, as: type, key: description.name))
    }

    private func setting(_ value: Any?, transient index: Int, isStrict: Bool) throws(StoreError)
        -> PropertySetting
    {
        let description = entity.attributes[index].description
        guard let any = present(value) else { return .transient(index, .null) }
        if description.type == .transformable {
            return try transformed(
                any, description, key: description.name, isStrict: isStrict,
                attributeIndex: { index }
            ) { .transient(index, $0) }
        }
        if description.type == .undefined, let value = Value(any: any) {
            return .transient(index, value)
        }
        return .transient(index, try exact(any, as: description.type, key: description.name))
    }

    /// A value without the optional around it, and nil for `NSNull`.
    private func present(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if value is ManagedObject { return value }
        if case .null? = Value(any: value) { return nil }
        return value
    }

    /// The value of an attribute's type that another one is.
    private func exact(_ any: Any, as type: AttributeType, key: String) throws(StoreError) -> Value
    {
        guard let given = Value(any: any) else {
            throw unsettable(
                "the property takes a value of type \(type.rawValue), not a \(Swift.type(of: any))",
                key)
        }
        guard let exact = given.converted(to: type) else {
            throw unsettable(
                "the \(given.kindName) is not a value of type \(type.rawValue)", key, given)
        }
        return exact
    }

    private func transformed(
        _ any: Any, _ attribute: AttributeDescription, key: String, isStrict: Bool,
        attributeIndex: () -> Int, _ setting: (Value) -> PropertySetting
    ) throws(StoreError) -> PropertySetting {
        guard let transformer = attribute.transformer else {
            guard case .binary(let data)? = Value(any: any) else {
                throw unsettable(
                    AttributeTransformers.reason(name: attribute.valueTransformerName), key)
            }
            return setting(.binary(data))
        }
        do {
            return setting(.binary(try transformer.data(any)))
        } catch is RegisteredTransformer.NoSuchType {
            throw unsettable(
                "the property takes a value of type \(transformer.typeName), not a \(Swift.type(of: any))",
                key)
        } catch {
            let refused = RefusedValue(any, transformer.typeName, error)
            if isStrict { throw refusal(key, transformer.typeName, error) }
            return .refused(attributeIndex(), refused)
        }
    }

    /// The leaves of a composite attribute, or of a composite element by its name with points.
    private func leaves(_ value: Any?, _ name: String, isStrict: Bool) throws(StoreError)
        -> [PropertySetting]
    {
        guard let columns = entity.compositeColumns(name) else {
            throw unsettable("the entity \(entity.name) has no property named \(name)", name)
        }
        guard let given = (present(value) ?? [String: Any]()) as? [String: Any] else {
            throw unsettable("a composite value must be a dictionary of its elements", name)
        }
        var leaves: [String: Any] = [:]
        try gather(given, name, isStrict: isStrict, into: &leaves)
        var settings: [PropertySetting] = []
        for column in columns {
            settings.append(
                try setting(
                    leaves[entity.columns[column].name], column: column, isStrict: isStrict))
        }
        return settings
    }

    /// The values of leaves by their whole names, of a dictionary that has them so, or by the names of elements.
    private func gather(
        _ given: [String: Any], _ name: String, isStrict: Bool, into leaves: inout [String: Any]
    ) throws(StoreError) {
        for (key, value) in given {
            let whole = key.hasPrefix("\(name).") ? key : "\(name).\(key)"
            if entity.columnIndex(named: whole) != nil {
                leaves[whole] = value
            } else if entity.compositeColumns(whole) != nil {
                guard let element = (present(value) ?? [String: Any]()) as? [String: Any] else {
                    throw unsettable(
                        "a composite value must be a dictionary of its elements", whole)
                }
                try gather(element, whole, isStrict: isStrict, into: &leaves)
            } else if isStrict {
                let names = (entity.compositeColumns(name) ?? 0..<0).map {
                    entity.columns[$0].name
                }
                throw unsettable(
                    "the composite attribute has no element \(key). It has: \(names.joined(separator: ", "))",
                    whole)
            }
        }
    }

    // MARK: Relationships

    private func setting(_ value: Any?, relationship index: Int, isStrict: Bool) throws(StoreError)
        -> PropertySetting
    {
        let description = entity.relationships[index].description
        guard managedObjectContext != nil else {
            throw unsettable(
                "an object outside a context has no relationships: insert it first",
                description.name)
        }
        let value = present(value)
        var lost: [ObjectID] = []
        guard description.isToMany else {
            guard let value else { return .target(index, nil, lost: []) }
            let target = try related(value, index, isStrict: isStrict, &lost)
            return .target(index, target, lost: lost)
        }
        var members: [ManagedObject] = []
        func add(_ any: Any) throws(StoreError) {
            if let member = try related(any, index, isStrict: isStrict, &lost) {
                members.append(member)
            }
        }
        var isInOrder = false
        switch value {
        case nil: break
        case let objects as Set<ManagedObject>: for object in objects { try add(object) }
        case let ids as Set<ObjectID>: for id in ids { try add(id) }
        case let list as [Any]:
            isInOrder = true
            for any in list { try add(any) }
        case let value?:
            throw unsettable(
                "the relationship takes a set or an array of objects or object ids, not a \(Swift.type(of: value))",
                description.name)
        }
        return .members(index, members, isInOrder: isInOrder, lost: lost)
    }

    /// The object that a relationship is to lead to; nil if there is none of an id, which is noted unless it is thrown.
    private func related(
        _ any: Any, _ index: Int, isStrict: Bool, _ lost: inout [ObjectID]
    ) throws(StoreError) -> ManagedObject? {
        let relationship = entity.relationships[index]
        let name = relationship.description.name
        guard let context = managedObjectContext else {
            throw unsettable("an object outside a context has no relationships", name)
        }
        let object: ManagedObject
        if let given = any as? ManagedObject {
            object = given
        } else if let id = any as? ObjectID {
            do throws(StoreError) {
                object = try context.existingObject(with: id)
            } catch {
                guard isStrict else {
                    // No program can know whether the object is there still: a save says so.
                    if error.code != .objectNotFound { context.readError = error }
                    lost.append(id)
                    return nil
                }
                var error = error
                error.context.entity = entity.name
                error.context.key = name
                throw error
            }
        } else {
            throw unsettable(
                "the relationship takes an object or an object id, not a \(Swift.type(of: any))",
                name)
        }
        guard object.managedObjectContext === context || object.managedObjectContext == nil else {
            throw unsettable(
                "the object belongs to another context: pass its objectID", name,
                .objectID(object.objectID))
        }
        let destination = context.schema.entities[relationship.destination]
        guard object.entity.isKind(of: destination) else {
            throw unsettable(
                "the relationship's destination is \(destination.name), not \(object.entity.name)",
                name)
        }
        if isStrict {
            if let meant = context.meant(by: object, self, index) { return meant }
            guard context.isShown(object, by: self, index) else {
                throw StoreError(
                    .objectNotFound, "the object no longer exists: it was deleted, or never saved",
                    context: .init(entity: entity.name, key: name, objectID: object.objectID))
            }
        }
        return object
    }
}

// Validation that a class does itself, property by property.
//
//   1. What the model says comes first. A class that overrides `validateValue(_:forKey:)` has that said by super.
//   2. Each property that was set is shown to the class: of a new object all of them, of a stored one those with edits.
//   3. What comes out differently is set, which makes the save validate the object once more.
//   4. All failures are gathered, each as a StoreError: what a class throws is the cause of one with object and property.
//
// Threads: the context's.

import CairnModel
import CairnStore
import FoundationEssentials

extension ManagedObject {
    /// - Throws: What is wrong, all of it.
    final func validateOwn(_ rules: EntityRules) throws {
        var failures = ValidationFailures(object: self)
        switch ownValidation(rules) {
        case .none: failures.add(modelErrors(rules))
        case .properties(let numbers):
            failures.add(modelErrors(rules))
            for number in numbers {
                guard let name = binding.typed?.properties[number].name,
                    !failures.concern(name), isSet(name)
                else { continue }
                validate(name, &failures) { try _validate(number, &$0) }
            }
        case .all:
            guard isFulfilled && (slots != nil || isInserted) || rarer != nil else { return }
            let refusals = refusalErrors
            failures.add(refusals)
            // There is nothing that the class could look at.
            let refused = Set(refusals.compactMap(\.context.key))
            for key in keysToValidate where !refused.contains(key) {
                validate(key, &failures) { try validateValue(&$0, forKey: key) }
            }
        }
        if let error = StoreError.combining(failures.list) { throw error }
    }

    /// Shows a value to the class, and sets what comes out.
    private func validate(
        _ key: String, _ failures: inout ValidationFailures, _ body: (inout Any?) throws -> Void
    ) {
        var value = self.value(forKey: key)
        let old = value
        do {
            try body(&value)
        } catch {
            return failures.add(error, key: key)
        }
        if isSame(old, value, key: key) { return }
        // What is no value of the property is a failure like others, and nothing to be set.
        var exact = value
        do throws(StoreError) { try validateModeled(&exact, forKey: key) } catch {
            return failures.add(error, key: key)
        }
        do throws(StoreError) { try setValue(exact, forKey: key) } catch {
            failures.add(error, key: key)
        }
    }

    /// Attributes and relationships that were set, in the order of the model. Derived attributes are nobody's to set.
    private var keysToValidate: [String] {
        let attributes = entity.attributes.map(\.description).filter {
            $0.derivationExpression == nil
        }
        return (attributes.map(\.name) + entity.relationships.map(\.description.name)).filter(isSet)
    }

    /// Whether a property was set since the object was read; of a new object, whether it may have a value.
    private func isSet(_ key: String) -> Bool {
        if let index = entity.attributeIndex(named: key) {
            let attribute = entity.attributes[index]
            if attribute.description.isTransient { return transients[index] != nil }
            return isInserted || attribute.columns.contains { hasEdit($0) }
        }
        guard let index = entity.relationshipIndex(named: key) else { return false }
        switch entity.relationships[index].storage {
        case .column(let column): return isInserted || hasEdit(column)
        case .inverseColumn, .pairs:
            return toMany[index]?.hasChanges == true
                || isInserted && scope.rules.counted.contains(index)
        case .transient: return transientTargets[index] != nil || toMany[index] != nil
        }
    }

    /// Whether two values of a property are one: setting a value that is there already would never end.
    private func isSame(_ old: Any?, _ new: Any?, key: String) -> Bool {
        switch (old, new) {
        case (nil, nil): return true
        case (nil, _), (_, nil): return false
        case (let old as ManagedObject, let new as ManagedObject): return old === new
        case (let old as Set<ManagedObject>, let new as Set<ManagedObject>): return old == new
        case (let old as [ManagedObject], let new as [ManagedObject]): return old == new
        case (let old as [String: Any], let new as [String: Any]):
            guard let index = entity.attributeIndex(named: key) else { return false }
            return entity.attributes[index].columns.allSatisfy { column in
                let name = entity.columns[column].name
                return old[name].flatMap { stored($0, column: column) }
                    == new[name].flatMap { stored($0, column: column) }
            }
        case (let old?, let new?):
            if let index = entity.attributeIndex(named: key),
                let transformer = entity.attributes[index].description.transformer
            {
                // Bytes need not be the same twice: some transformers encrypt.
                if Self.areEqual(old, new) { return true }
                guard let one = try? transformer.data(old) else { return false }
                return one == (try? transformer.data(new))
            }
            guard let one = Value(any: old), let other = Value(any: new) else { return false }
            if one == other { return true }
            // 1 and 1.0 are one value of an attribute.
            guard let index = entity.attributeIndex(named: key),
                let exact = other.converted(to: entity.attributes[index].description.type)
            else { return false }
            return one == exact
        }
    }

    /// Whether two values are equal, as far as their type knows.
    static func areEqual(_ one: Any, _ other: Any) -> Bool {
        func isEqual<T: Equatable>(_ one: T) -> Bool { other as? T == one }
        guard let one = one as? any Equatable else { return false }
        return isEqual(one)
    }

    // MARK: One value

    /// Checks a value by what the model says. A text for a URI becomes the URI.
    ///
    /// - Throws: `StoreError` with what is wrong.
    final func validateModeled(_ value: inout Any?, forKey key: String) throws(StoreError) {
        var errors: [StoreError] = []
        if let index = entity.attributeIndex(named: key) {
            let attribute = entity.attributes[index]
            if attribute.description.type == .composite {
                validateLeaves(value, attribute, &errors)
            } else if attribute.description.isTransient {
                validateTransient(&value, attribute, &errors)
            } else {
                validateColumn(&value, attribute.columns.lowerBound, &errors)
            }
        } else if let index = entity.relationshipIndex(named: key) {
            validateRelationship(value, index, &errors)
        } else if let column = entity.columnIndex(named: key) {
            validateColumn(&value, column, &errors)
        } else {
            throw StoreError(
                .invalidRequest, "the entity \(entity.name) has no property named \(key)",
                context: .init(entity: entity.name, key: key, objectID: objectID))
        }
        if let error = StoreError.combining(errors) { throw error }
    }

    private func validateColumn(
        _ value: inout Any?, _ index: Int, _ errors: inout [StoreError]
    ) {
        let column = entity.columns[index]
        guard case .attribute(let type) = column.kind else { return }
        if let any = value, let transformer = transformer(ofColumn: index) {
            if let exact = transformed(any, by: transformer, key: column.name, &errors) {
                validate(exact, column: index, &errors)
            }
            return
        }
        if let exact = stored(&value, as: type, key: column.name, &errors) {
            validate(exact, column: index, &errors)
        }
    }

    /// What a transformer stores of a value; nil if that is nothing, which is noted.
    private func transformed(
        _ value: Any, by transformer: RegisteredTransformer, key: String,
        _ errors: inout [StoreError]
    ) -> Value? {
        do {
            return .binary(try transformer.data(value))
        } catch {
            errors.append(
                failure(
                    .validation,
                    "the \(Swift.type(of: value)) cannot be transformed: it is not of the type \(transformer.typeName)",
                    key: key))
            return nil
        }
    }

    /// A value as an attribute's type has it; nil if it is none, which is noted.
    private func stored(
        _ value: inout Any?, as type: AttributeType, key: String, _ errors: inout [StoreError]
    ) -> Value? {
        guard let any = value else { return .null }
        guard let given = Value(any: any) else {
            errors.append(
                failure(
                    .validation,
                    "the \(Swift.type(of: any)) is not a value of type \(type.rawValue)",
                    key: key))
            return nil
        }
        if given.isNull { return .null }
        if type == .uri, case .string(let text) = given {
            guard let uri = URL(string: text) else {
                errors.append(failure(.invalidURI, "the text is not a URI", key: key, value: given))
                return nil
            }
            value = uri
            return .uri(uri)
        }
        guard let exact = given.converted(to: type) else {
            errors.append(
                failure(
                    .validation, "the \(given.kindName) is not a value of type \(type.rawValue)",
                    key: key, value: given))
            return nil
        }
        return exact
    }

    private func validateLeaves(
        _ value: Any?, _ attribute: SchemaAttribute, _ errors: inout [StoreError]
    ) {
        guard let leaves = (value ?? [String: Any]()) as? [String: Any] else {
            errors.append(
                failure(
                    .validation, "a composite value must be a dictionary of its elements",
                    key: attribute.description.name))
            return
        }
        for column in attribute.columns {
            var leaf = leaves[entity.columns[column].name]
            validateColumn(&leaf, column, &errors)
        }
    }

    /// A value in memory only has limits, but may be nil: it is no part of what is saved.
    private func validateTransient(
        _ value: inout Any?, _ attribute: SchemaAttribute, _ errors: inout [StoreError]
    ) {
        let description = attribute.description
        guard description.type != .undefined else { return }
        let exact =
            if let any = value, let transformer = description.transformer {
                transformed(any, by: transformer, key: description.name, &errors)
            } else {
                stored(&value, as: description.type, key: description.name, &errors)
            }
        guard let exact, !exact.isNull, let failure = attribute.validate(exact) else { return }
        errors.append(
            self.failure(
                StoreError.Code(rawValue: failure.code.rawValue), failure.message,
                key: description.name, value: exact))
    }

    private func validateRelationship(
        _ value: Any?, _ index: Int, _ errors: inout [StoreError]
    ) {
        let description = entity.relationships[index].description
        guard description.isToMany else {
            if value == nil, !description.isOptional {
                errors.append(
                    failure(
                        .missingMandatory, "a required property is nil", key: description.name))
            } else if let value, !(value is ManagedObject) {
                errors.append(
                    failure(
                        .validation, "the \(Swift.type(of: value)) is not a managed object",
                        key: description.name))
            }
            return
        }
        switch value {
        case nil: validate(count: 0, relationship: index, &errors)
        case let members as Set<ManagedObject>:
            validate(count: members.count, relationship: index, &errors)
        case let members as [ManagedObject]:
            validate(count: Set(members).count, relationship: index, &errors)
        case let value?:
            errors.append(
                failure(
                    .validation, "the \(Swift.type(of: value)) is not a set of managed objects",
                    key: description.name))
        }
    }

    /// Checks a value by the class's own method for the property, if it has one.
    final func validateTyped(_ value: inout Any?, forKey key: String) throws {
        guard let typed = binding.typed,
            let number = typed.validated.first(where: { typed.properties[$0].name == key })
        else { return }
        try _validate(number, &value)
    }
}

/// What is wrong with the values of one object.
private struct ValidationFailures {
    let object: ManagedObject
    private(set) var list: [StoreError] = []

    init(object: ManagedObject) { self.object = object }

    /// Whether something is wrong with a property, or with a leaf of it.
    func concern(_ name: String) -> Bool {
        list.contains { $0.context.key == name || $0.context.key?.hasPrefix("\(name).") == true }
    }

    mutating func add(_ errors: [StoreError]) { list += errors }

    mutating func add(_ error: any Error, key: String) {
        list.append(StoreError(refusing: key, of: object, cause: error))
    }
}

extension StoreError {
    /// What an object's own validation has thrown. A `StoreError` stays as it is, but for a place that it lacks.
    init(refusing key: String?, of object: ManagedObject, cause: any Error) {
        if var error = cause as? StoreError {
            if error.code != .multiple {
                error.context.entity = error.context.entity ?? object.entity.name
                error.context.key = error.context.key ?? key
                error.context.objectID = error.context.objectID ?? object.objectID
            }
            self = error
            return
        }
        self.init(
            .validation, Self.refusedByObject,
            context: .init(entity: object.entity.name, key: key, objectID: object.objectID),
            cause: cause)
    }
    private static let refusedByObject = "the object's own validation failed"

    /// What an object's own validation has thrown, if that was no `StoreError`.
    package var thrownByObject: (any Error)? {
        code == .validation && message == Self.refusedByObject ? cause : nil
    }
}

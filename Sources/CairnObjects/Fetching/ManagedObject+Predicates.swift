// Managed objects as predicates see them, with the changes that are not saved yet.

public import CairnModel
public import CairnStore

extension ManagedObject: EvaluatedObject {
    package final var evaluatedID: ObjectID { objectID }

    package final var evaluatedEntity: SchemaEntity { entity }

    package final func evaluatedColumn(_ index: Int) -> Value { columnValue(index) }

    package final func evaluatedAttribute(_ index: Int) -> Value {
        let attribute = entity.attributes[index]
        guard attribute.description.isTransient else {
            return attribute.columns.count == 1
                ? columnValue(attribute.columns.lowerBound) : .null
        }
        return transients[index] ?? attribute.description.defaultValue
    }

    package final func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)? {
        managedObjectContext?.target(of: self, relationship)
    }

    package final func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject] {
        managedObjectContext?.members(of: self, relationship) ?? []
    }
}

extension PredicateEvaluator {
    /// A predicate checked against an entity and ready to be asked.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the key.
    init(
        _ predicate: PredicateNode, entity: SchemaEntity, in schema: Schema,
        _ nullSemantics: NullSemantics = .twoValued
    ) throws(StoreError) {
        do throws(PredicateFormatError) {
            try self.init(
                predicate.bound(to: entity, in: schema, nullSemantics: nullSemantics))
        } catch {
            throw StoreError(error, entity: entity)
        }
    }
}

extension PredicateNode {
    /// Whether an object matches in its current state, including unsaved changes.
    ///
    /// Faults are fired as far as necessary: the object's own, those of objects across relationships, and to-many
    /// relationships.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` naming the key that does not fit the object's entity, or the error of
    ///   firing a fault, now or before.
    /// - Complexity: O(n) in the size of the predicate, times the members of the relationships that it evaluates.
    public func evaluate(with object: ManagedObject) throws(StoreError) -> Bool {
        guard let context = object.managedObjectContext else {
            throw StoreError(
                .invalidRequest, "a predicate cannot be evaluated for an object outside a context",
                context: .init(entity: object.entity.name))
        }
        let matches = try PredicateEvaluator(self, entity: object.entity, in: context.schema)
            .matches(object)
        // What a fault could not read counted as nil.
        try context.throwReadError()
        return matches
    }

    /// The objects of a list that match, in its order.
    ///
    /// - Throws: As ``evaluate(with:)``.
    public func filter<Object: ManagedObject>(_ objects: some Sequence<Object>)
        throws(StoreError) -> [Object]
    {
        var evaluators: [ObjectIdentifier: PredicateEvaluator] = [:]
        var matching: [Object] = []
        for object in objects {
            guard let context = object.managedObjectContext else {
                throw StoreError(
                    .invalidRequest,
                    "a predicate cannot be evaluated for an object outside a context",
                    context: .init(entity: object.entity.name))
            }
            let evaluator: PredicateEvaluator
            if let known = evaluators[ObjectIdentifier(object.entity)] {
                evaluator = known
            } else {
                evaluator = try PredicateEvaluator(
                    self, entity: object.entity, in: context.schema)
                evaluators[ObjectIdentifier(object.entity)] = evaluator
            }
            if evaluator.matches(object) { matching.append(object) }
            try context.throwReadError()
        }
        return matching
    }
}

// Validation predicates, ready for evaluation: each is bound to the attribute's type, so that a string becomes the date or
// the UUID that it is compared with, and an invalid one is an error of the model, not of a save.

/// A condition on values, ready for evaluation.
package struct ValueCondition: Sendable {
    /// The condition as the model has it.
    package let predicate: PredicateNode
    /// What is said of a value that does not hold it.
    package let warning: String?
    fileprivate let evaluator: PredicateEvaluator

    /// Whether a value that is not nil holds it.
    package func holds(for value: Value) -> Bool { evaluator.matches(.value(value)) }
}

extension AttributeDescription {
    /// The conditions, ready to be asked.
    ///
    /// - Throws: `PredicateFormatError` saying why a value of the attribute's type cannot be asked one of them.
    package func valueConditions() throws(PredicateFormatError) -> [ValueCondition] {
        var conditions: [ValueCondition] = []
        for rule in validationRules {
            conditions.append(
                ValueCondition(
                    predicate: rule.predicate, warning: rule.warning,
                    evaluator: try PredicateEvaluator(rule.predicate.bound(toValuesOf: type))))
        }
        return conditions
    }

    /// The first condition that a value does not hold; nil if it holds all of them.
    func brokenCondition(by value: Value) -> ValueCondition? {
        if validationRules.isEmpty { return nil }
        // A schema has refused what cannot be asked.
        return (try? valueConditions())?.first { !$0.holds(for: value) }
    }
}

extension PredicateNode {
    /// The predicate with its constants as values of what they are compared with, where SELF is a value of a type.
    fileprivate func bound(toValuesOf type: AttributeType) throws(PredicateFormatError)
        -> PredicateNode
    {
        let node = try walkable()
        var binder = PredicateBinder(schema: Self.noSchema, entity: Self.noSchema.entities[0])
        binder.value = type == .undefined ? .unknown : .attribute(type)
        return try binder.bindWhole(node)
    }

    /// Where no key of an entity means anything.
    private static let noSchema: Schema = {
        let model = ManagedObjectModel(entities: [EntityDescription("value")])
        guard let schema = try? Schema(model) else {
            preconditionFailure("an entity without properties is a model")
        }
        return schema
    }()
}

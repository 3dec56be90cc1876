// Conditions of a model's author that every value of an attribute must hold.
//
//   1. A predicate asks the value itself: SELF is the value, and so are keys' owners ("length > 3" of a text).
//   2. Predicates are kept in the form in which their text reads back, for the store keeps that text: a model that was
//      read back is equal to what was written.
//   3. Each is bound to the attribute's type, so that a text becomes the date or the UUID that it is compared with,
//      and what makes no sense is an error of the model, not of a save.
//
// nil is judged by "optional" alone.

/// A condition on the values of an attribute, and what is said of one that does not hold it.
struct ValidationRule: Sendable, Hashable {
    let predicate: PredicateNode
    let warning: String?
}

extension AttributeDescription {
    /// The conditions that every value must hold, beyond limits, lengths and the pattern.
    public var validationPredicates: [PredicateNode] { validationRules.map(\.predicate) }

    /// What is said of a value that does not hold the predicate at the same place; empty where nothing is.
    public var validationWarnings: [String] { validationRules.map { $0.warning ?? "" } }

    /// Sets the conditions that every value must hold when it is saved. What does not fails the save with the code 1550.
    ///
    /// ```swift
    /// var price = AttributeDescription("price", .double, optional: false)
    /// price.setValidationPredicates(
    ///     [try PredicateNode(format: "SELF > 0"), try PredicateNode(format: "SELF != 13")],
    ///     withValidationWarnings: ["a price is more than nothing", "nobody buys at that price"])
    /// ```
    ///
    /// - Parameters:
    ///   - predicates: Conditions in which SELF is the value: `SELF BEGINSWITH "A"`, `length > 3`. A schema refuses
    ///     one that a value of the attribute's type cannot be asked.
    ///   - warnings: What the error says where the predicate at the same place does not hold: words of the model's author, in
    ///     which no value stands.
    public mutating func setValidationPredicates(
        _ predicates: [PredicateNode], withValidationWarnings warnings: [String] = []
    ) {
        validationRules = predicates.enumerated().map { place, predicate in
            let warning = place < warnings.count ? warnings[place] : ""
            return ValidationRule(
                predicate: predicate.asRead, warning: warning.isEmpty ? nil : warning)
        }
    }

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

/// A condition on values, ready to be asked.
package struct ValueCondition: Sendable {
    /// The condition as the model has it.
    package let predicate: PredicateNode
    /// What is said of a value that does not hold it.
    package let warning: String?
    fileprivate let evaluator: PredicateEvaluator

    /// Whether a value that is not nil holds it.
    package func holds(for value: Value) -> Bool { evaluator.matches(.value(value)) }
}

extension PredicateNode {
    /// The predicate as its text reads back; itself if that cannot be read.
    var asRead: PredicateNode {
        (try? PredicateParser.parse(predicateFormat)) ?? self
    }

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

extension ValidationRule: Codable {
    private enum Key: String, CodingKey { case predicate, warning }

    /// Reads a rule.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let text = try container.decode(String.self, forKey: .predicate)
        do {
            predicate = try PredicateParser.parse(text)
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: .predicate, in: container, debugDescription: "\(error)")
        }
        warning = try container.decodeIfPresent(String.self, forKey: .warning)
    }

    /// Writes the predicate as its text.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(predicate.predicateFormat, forKey: .predicate)
        try container.encodeIfPresent(warning, forKey: .warning)
    }
}

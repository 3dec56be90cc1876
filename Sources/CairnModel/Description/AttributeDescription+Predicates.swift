// Conditions of a model's author that every value of an attribute must hold.
//
//   1. A predicate asks the value itself: SELF is the value, and so are keys' owners ("length > 3" of a text).
//   2. Predicates are kept in the form in which their text reads back, for the store keeps that text: a model that was
//      read back is equal to what was written.
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
}

extension PredicateNode {
    /// The predicate as its text reads back; itself if that cannot be read.
    var asRead: PredicateNode {
        (try? PredicateParser.parse(predicateFormat)) ?? self
    }
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

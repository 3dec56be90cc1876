// Validation predicates: conditions by the model's author that every value of an attribute must meet.
//
//   1. A predicate asks the value itself: SELF is the value, and so are keys' owners ("length > 3" of a text).
//   2. Predicates are kept in the form in which their text reads back, for the store keeps that text: a model that was
//      read back is equal to what was written.
//
// nil is judged by "optional" alone.

/// A condition on the values of an attribute, and the warning for a value that violates it.
struct ValidationRule: Sendable, Hashable {
    let predicate: PredicateNode
    let warning: String?
}

extension AttributeDescription {
    /// The conditions that every value must meet, beyond limits, lengths and the pattern.
    public var validationPredicates: [PredicateNode] { validationRules.map(\.predicate) }

    /// The warning for a value that violates the predicate at the same index; empty where there is none.
    public var validationWarnings: [String] { validationRules.map { $0.warning ?? "" } }

    /// Sets the conditions that every value must meet when it is saved. A value that violates one fails the save with code
    /// 1550.
    ///
    /// ```swift
    /// var price = AttributeDescription("price", .double, optional: false)
    /// price.setValidationPredicates(
    ///     [try PredicateNode(format: "SELF > 0"), try PredicateNode(format: "SELF != 13")],
    ///     withValidationWarnings: ["a price is more than nothing", "nobody buys at that price"])
    /// ```
    ///
    /// - Parameters:
    ///   - predicates: Conditions in which SELF is the value: `SELF BEGINSWITH "A"`, `length > 3`. A schema rejects a
    ///     condition that cannot be evaluated for the attribute's type.
    ///   - warnings: The text of the error when the predicate at the same index is violated. It is fixed text from the
    ///     model's author and does not contain the value.
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

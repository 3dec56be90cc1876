// A uniqueness constraint with options.
//
// The predicate is kept in the form in which its text reads back, for the store keeps that text: a model that was read back
// is equal to what was written.
//
// Threads: a value.

/// Describes a uniqueness constraint with options: which objects it covers, whether nil is a value, and whether case
/// matters.
///
/// ```swift
/// var account = EntityDescription("Account", attributes: [email, tenant, deletedAt])
/// account.uniquenessRules = [
///     // No two accounts that are in use have one address, however it is written.
///     UniquenessRule(
///         ["tenant", "email"], where: try PredicateNode(format: "deletedAt == nil"),
///         nilsAreEqual: true, caseInsensitive: true)
/// ]
/// ```
public struct UniquenessRule: Sendable, Hashable {
    /// The names of the attributes and to-one relationships.
    public var names: [String]
    /// Which objects the constraint covers; nil: all of them.
    ///
    /// It can compare attributes of the object itself with constants or with each other, and test whether to-one
    /// relationships are nil. A schema rejects longer key paths and properties that are neither stored nor computed by the
    /// store: with those, a change in another object would decide which objects are covered.
    public var predicate: PredicateNode? {
        didSet {
            predicate = predicate.flatMap(Self.kept)
            misread = nil
        }
    }
    /// Whether nil equals nil. A constraint without options does not cover an object with a nil among its values.
    public var nilsAreEqual: Bool
    /// Whether strings that differ only in case are equal, as with `==[c]` in a predicate.
    public var isCaseInsensitive: Bool
    /// Whether strings that differ only in diacritics are equal, as with `==[d]` in a predicate.
    public var isDiacriticInsensitive: Bool
    /// Why the text that was given as the predicate is none. A schema refuses the rule for it.
    private(set) var misread: PredicateFormatError?

    /// Describes a constraint.
    public init(
        _ names: [String], where predicate: PredicateNode? = nil, nilsAreEqual: Bool = false,
        caseInsensitive: Bool = false, diacriticInsensitive: Bool = false
    ) {
        self.names = names
        self.predicate = predicate.flatMap(Self.kept)
        self.nilsAreEqual = nilsAreEqual
        isCaseInsensitive = caseInsensitive
        isDiacriticInsensitive = diacriticInsensitive
    }

    /// Describes a constraint whose predicate is a format string. The schema reports an invalid format string.
    public init(
        _ names: [String], format: String?, nilsAreEqual: Bool = false,
        caseInsensitive: Bool = false, diacriticInsensitive: Bool = false
    ) {
        self.init(
            names, nilsAreEqual: nilsAreEqual, caseInsensitive: caseInsensitive,
            diacriticInsensitive: diacriticInsensitive)
        guard let format else { return }
        do throws(PredicateFormatError) {
            predicate = Self.kept(try PredicateParser.parse(format))
        } catch {
            misread = error
        }
    }

    /// A predicate as it is kept: as its text reads back, and not if it holds for all.
    private static func kept(_ predicate: PredicateNode) -> PredicateNode? {
        let read = predicate.asRead
        return read == .constant(true) ? nil : read
    }

    /// Whether it says no more than a list of names in ``EntityDescription/uniquenessConstraints``.
    package var isPlain: Bool {
        predicate == nil && misread == nil && !nilsAreEqual && !isCaseInsensitive
            && !isDiacriticInsensitive
    }

    /// Whether two rules have the same options.
    func hasSameOptions(as other: UniquenessRule) -> Bool {
        var renamed = other
        renamed.names = names
        return self == renamed
    }

    /// What it says besides the names, in words; empty if nothing.
    package var remarks: [String] {
        var remarks: [String] = []
        if let predicate { remarks.append("where \(predicate)") }
        if nilsAreEqual { remarks.append("nil is a value") }
        switch (isCaseInsensitive, isDiacriticInsensitive) {
        case (true, true): remarks.append("without regard to case and accents")
        case (true, false): remarks.append("without regard to case")
        case (false, true): remarks.append("without regard to accents")
        case (false, false): break
        }
        return remarks
    }
}

extension EntityDescription {
    /// All uniqueness constraints of its own, each with its options: those of ``uniquenessConstraints`` first.
    package var allUniquenessRules: [UniquenessRule] {
        uniquenessConstraints.map { UniquenessRule($0) } + uniquenessRules
    }
}

extension UniquenessRule: Codable {
    private enum Key: String, CodingKey {
        case names, `where`, nilsAreEqual, caseInsensitive, diacriticInsensitive
    }

    /// Decodes a rule. Missing keys have their default values.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(try container.decode([String].self, forKey: .names))
        if let text = try container.decodeIfPresent(String.self, forKey: .where) {
            do {
                predicate = Self.kept(try PredicateParser.parse(text))
            } catch {
                throw DecodingError.dataCorruptedError(
                    forKey: .where, in: container, debugDescription: "\(error)")
            }
        }
        try container.read(&nilsAreEqual, .nilsAreEqual)
        try container.read(&isCaseInsensitive, .caseInsensitive)
        try container.read(&isDiacriticInsensitive, .diacriticInsensitive)
    }

    /// Encodes the rule without its default values, and the predicate as its format string.
    ///
    /// - Throws: Also if the predicate's format string is invalid: without it the rule would cover more objects than
    ///   intended.
    public func encode(to encoder: any Encoder) throws {
        if let misread {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "the condition for objects is invalid: \(misread)"))
        }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(names, forKey: .names)
        try container.encodeIfPresent(predicate?.predicateFormat, forKey: .where)
        try container.write(nilsAreEqual, .nilsAreEqual, unless: false)
        try container.write(isCaseInsensitive, .caseInsensitive, unless: false)
        try container.write(isDiacriticInsensitive, .diacriticInsensitive, unless: false)
    }
}

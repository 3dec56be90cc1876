// A uniqueness constraint that says more than which values occur once.
//
// The predicate is kept in the form in which its text reads back, for the store keeps that text: a model that was read back
// is equal to what was written.
//
// Threads: a value.

/// Describes a uniqueness constraint with options: which objects take part, whether nil is a value, whether case counts.
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
    /// The names of its attributes and to-one relationships.
    public var names: [String]
    /// Which objects take part; nil: all of them.
    ///
    /// It compares attributes of the object itself with constants, or with one another, and asks whether to-one relationships
    /// are nil. A schema refuses what leads further, and what is not stored or computed by the store: then a change elsewhere
    /// would decide who takes part.
    public var predicate: PredicateNode? {
        didSet {
            predicate = predicate.flatMap(Self.kept)
            misread = nil
        }
    }
    /// Whether two objects without a value have the same one. In a constraint without options an object with a nil among its
    /// values takes no part.
    public var nilsAreEqual: Bool
    /// Whether texts are the same that differ in case alone, as `==[c]` in a predicate has it.
    public var isCaseInsensitive: Bool
    /// Whether texts are the same that differ in accents and the like alone, as `==[d]` in a predicate has it.
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

    /// Describes a constraint whose predicate is a text. What is wrong with the text is said by the schema.
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

    /// Reads a rule; what is missing has its usual value.
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

    /// Writes what does not have its usual value, the predicate as its text.
    ///
    /// - Throws: also if the text that was given as the predicate is none: without it the rule would say more than it does.
    public func encode(to encoder: any Encoder) throws {
        if let misread {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "the condition for objects to take part is not understood: \(misread)"))
        }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(names, forKey: .names)
        try container.encodeIfPresent(predicate?.predicateFormat, forKey: .where)
        try container.write(nilsAreEqual, .nilsAreEqual, unless: false)
        try container.write(isCaseInsensitive, .caseInsensitive, unless: false)
        try container.write(isDiacriticInsensitive, .diacriticInsensitive, unless: false)
    }
}

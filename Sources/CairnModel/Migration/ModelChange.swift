// One difference between two versions of a model, and what a store has to do about it.
//
// Threads: values.

/// Whether a store can infer the migration for a change of its model. Later cases are worse; of several changes the worst
/// counts.
public enum Inferability: String, Sendable, Hashable, CaseIterable, Codable, Comparable {
    /// It can.
    case yes
    /// It can if all objects have a target for a relationship that is no longer optional.
    case ifNoneMissing = "if none is missing"
    /// It can if no objects violate a uniqueness constraint that is new or has changed.
    case ifNoDuplicates = "if no duplicates"
    /// It cannot: the migration requires a mapping model.
    case no

    /// Whether the left case is better.
    public static func < (left: Inferability, right: Inferability) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .yes: 0
        case .ifNoneMissing: 1
        case .ifNoDuplicates: 2
        case .no: 3
        }
    }
}

/// What a store has to do for a change of its model. Later cases cost more; the costs of several changes add up.
public enum MigrationCost: Int, Sendable, Hashable, CaseIterable, Comparable,
    CustomStringConvertible
{
    /// Nothing: the store does not store it.
    case nothing
    /// It records the change. Rows are not rewritten, and are read as the new model defines them.
    case metadata
    /// One pass over the values of a key, to build an index or to check them.
    case keyPass
    /// One pass that builds a column or the pairs of a relationship.
    case columnPass
    /// All objects of an entity are rewritten.
    case rowPass
    /// A migration with a mapping, which decides about each object.
    case mapping

    /// Whether the left case is cheaper.
    public static func < (left: MigrationCost, right: MigrationCost) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The cost in a few words.
    public var description: String {
        switch self {
        case .nothing: "nothing"
        case .metadata: "metadata only"
        case .keyPass: "one pass over a key"
        case .columnPass: "one pass that builds a column or pairs"
        case .rowPass: "one pass over the rows"
        case .mapping: "a mapping"
        }
    }
}

/// One thing that differs between two versions of a model.
public struct ModelChange: Sendable, Hashable {
    /// What has changed.
    public enum Subject: String, Sendable, Hashable, CaseIterable, Codable {
        /// An entity itself, apart from its properties.
        case entity
        /// An attribute, or an element of a composite one.
        case attribute
        /// A relationship.
        case relationship
        /// A uniqueness constraint.
        case constraint
        /// A fetch index.
        case index
    }

    /// How it has changed.
    public enum Action: String, Sendable, Hashable, CaseIterable, Codable {
        /// It is only in the new model.
        case added
        /// It is only in the old model.
        case removed
        /// It has another name.
        case renamed
        /// It is declared by another entity of the hierarchy.
        case moved
        /// Something else about it has changed.
        case changed
    }

    /// What has changed.
    public let subject: Subject
    /// How it has changed.
    public let action: Action
    /// The entity's name in the new model, or in the old one if it was removed.
    public let entity: String
    /// The property, or those of a constraint or index, separated by commas; nil if the entity itself has changed. A
    /// removed property has its old name.
    public let property: String?
    /// The change in words.
    public let words: String
    /// Whether a store can infer the migration.
    public let inferability: Inferability
    /// Why it cannot, or under which condition it can; nil if it always can.
    public let reason: String?
    /// What a store has to do.
    public let cost: MigrationCost
    /// What the store loses; nil if it keeps everything.
    public let loss: String?
    /// Whether Cairn infers the migration where Core Data may require a mapping: Core Data does not document it as
    /// inferable.
    public let isBeyondCoreData: Bool
    /// Whether it is an attribute whose numbers become numbers of another type: a mapping that copies them, and refuses what the
    /// new type cannot hold, is all that the migration needs.
    package let convertsNumbers: Bool

    init(
        _ subject: Subject, _ action: Action, _ entity: String, _ property: String?,
        _ verdict: Verdict
    ) {
        self.subject = subject
        self.action = action
        self.entity = entity
        self.property = property
        words = verdict.words
        inferability = verdict.inferability
        reason = verdict.reason
        cost = verdict.inferability == .no ? .mapping : verdict.cost
        loss = verdict.loss
        isBeyondCoreData = verdict.isBeyondCoreData
        convertsNumbers = verdict.convertsNumbers
    }

    /// The location, such as `Product.price`, `Product(code)` or `Product, index byCode`.
    public var place: String {
        guard let property else { return entity }
        switch subject {
        case .entity, .attribute, .relationship: return "\(entity).\(property)"
        case .constraint: return "\(entity)(\(property))"
        case .index: return "\(entity), index \(property)"
        }
    }

    /// What is said of a change, whatever it is about.
    struct Verdict {
        var words: String
        var inferability = Inferability.yes
        var reason: String?
        var cost: MigrationCost
        var loss: String?
        var isBeyondCoreData = false
        var convertsNumbers = false

        /// A change that a store can always follow.
        static func yes(
            _ words: String, _ cost: MigrationCost, loss: String? = nil,
            beyondCoreData: Bool = false
        ) -> Verdict {
            Verdict(words: words, cost: cost, loss: loss, isBeyondCoreData: beyondCoreData)
        }

        /// A change that needs a mapping.
        static func no(_ words: String, _ reason: String, convertsNumbers: Bool = false) -> Verdict
        {
            Verdict(
                words: words, inferability: .no, reason: reason, cost: .mapping,
                convertsNumbers: convertsNumbers)
        }

        /// A change that depends on what is stored.
        static func depends(
            _ words: String, _ inferability: Inferability, _ reason: String, _ cost: MigrationCost,
            loss: String? = nil
        ) -> Verdict {
            Verdict(
                words: words, inferability: inferability, reason: reason, cost: cost, loss: loss)
        }
    }
}

extension ModelChange: CustomStringConvertible {
    /// The change on one line: where, what, and why it cannot be inferred, if so.
    public var description: String {
        let noun = subject == .entity ? "" : "\(subject.rawValue) "
        let more = reason.map { " (\(inferability.rawValue): \($0))" } ?? ""
        return "\(place): \(noun)\(words)\(more)"
    }
}

extension ModelChange {
    /// An order that does not depend on that of the models.
    static func comesBefore(_ left: ModelChange, _ right: ModelChange) -> Bool {
        func key(_ change: ModelChange) -> [String] {
            let subject = Subject.allCases.firstIndex(of: change.subject) ?? 0
            let action = Action.allCases.firstIndex(of: change.action) ?? 0
            return [
                change.entity, "\(subject)", change.property ?? "", "\(action)", change.words,
                change.reason ?? "",
            ]
        }
        for (one, other) in zip(key(left), key(right)) where !one.hasSameBytes(as: other) {
            return one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return false
    }
}

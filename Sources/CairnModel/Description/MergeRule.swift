// What becomes of a property that two have written: the part of the model that the declared merge policy reads.
//
// Rules stand in the `userInfo` of what they are about, as text. So they are where the model is: in descriptions, in the
// model's JSON, and in the files of Core Data's model editor, which has a table for it. They say nothing of what is stored:
// version hashes do not know them.
//
// Threads: a value.

/// What is done about a property that two have written, where the merge policy is the declared one.
///
/// ```swift
/// var article = EntityDescription("Article", attributes: [title, visits, modified])
/// article.mergeRule = .newest(by: "modified")            // of all that has no rule of its own
/// article.attributes[1].mergeRule = .sum                 // visits counted here and there are added
/// context.mergePolicy = .declared
/// ```
///
/// There is a conflict about a property in two cases:
///
/// - Both have changed the same object since it was read, and the property is among what either has changed. What only one
///   has changed is as that one says.
/// - Two objects have the same key under a uniqueness constraint, and become one. Of a new object only what was set counts.
///
/// In a model file the rule is an entry of `userInfo` with the key ``userInfoKey``:
///
/// ```xml
/// <attribute name="visits" attributeType="Integer 64" defaultValueString="0">
///     <userInfo><entry key="cairn.mergeRule" value="sum"/></userInfo>
/// </attribute>
/// ```
public enum MergeRule: Sendable, Hashable {
    /// What is stored.
    case store
    /// What the object says that is saved.
    case object
    /// What is made of both, in the words of ``DeduplicationRule/merge(_:into:)``.
    case fold(FoldingRule)

    /// What is stored, unless that is nil.
    public static let fillNil = MergeRule.fold(.fillNil)
    /// The greatest value.
    public static let maximum = MergeRule.fold(.maximum)
    /// The least value that is not nil.
    public static let minimum = MergeRule.fold(.minimum)
    /// A counter: of one object, what it was changed by on both sides is added to what it was; of two objects, the values are
    /// added.
    public static let sum = MergeRule.fold(.sum)
    /// All members of a to-many relationship. Those that both sides add are there and those that one removes are not, whatever the
    /// rule: to-many relationships have no other one.
    public static let union = MergeRule.fold(.union)

    /// The value of the one with the greatest value of an attribute, mostly a date; if these are equal, the greater value. The
    /// attribute itself is merged in the same way, unless it has a rule of its own.
    public static func newest(by attribute: String) -> MergeRule { .fold(.newest(by: attribute)) }

    /// The key of `userInfo` at which a rule stands.
    public static let userInfoKey = "cairn.mergeRule"

    /// The rule in the words of a model file: `store`, `object`, `fillNil`, `newest(by: modified)`, `maximum`, `minimum`, `sum`,
    /// `union`; nil if it is none of these.
    public init?(text: String) {
        switch text {
        case "store": self = .store
        case "object": self = .object
        case "fillNil": self = .fillNil
        case "maximum": self = .maximum
        case "minimum": self = .minimum
        case "sum": self = .sum
        case "union": self = .union
        default:
            let start = "newest(by:"
            guard text.hasPrefix(start), text.hasSuffix(")") else { return nil }
            let name = text.dropFirst(start.count).dropLast().drop { $0 == " " }
            if name.isEmpty || name.contains(where: { " ()".contains($0) }) { return nil }
            self = .newest(by: String(name))
        }
    }

    /// The rule in the words of a model file.
    public var text: String {
        switch self {
        case .store, .fold(.keep): "store"
        case .object: "object"
        case .fold(.fillNil): "fillNil"
        case .fold(.newest(let by)): "newest(by: \(by))"
        case .fold(.maximum): "maximum"
        case .fold(.minimum): "minimum"
        case .fold(.sum): "sum"
        case .fold(.union): "union"
        }
    }
}

extension AttributeDescription {
    /// What the declared merge policy does about the attribute; nil: what its entity says. It is an entry of ``userInfo``.
    ///
    /// A schema refuses one that does not fit the attribute's type.
    public var mergeRule: MergeRule? {
        get { userInfo[MergeRule.userInfoKey].flatMap(MergeRule.init(text:)) }
        set { userInfo[MergeRule.userInfoKey] = newValue?.text }
    }
}

extension RelationshipDescription {
    /// What the declared merge policy does about the relationship; nil: what its entity says. It is an entry of
    /// ``userInfo``.
    public var mergeRule: MergeRule? {
        get { userInfo[MergeRule.userInfoKey].flatMap(MergeRule.init(text:)) }
        set { userInfo[MergeRule.userInfoKey] = newValue?.text }
    }
}

extension EntityDescription {
    /// What the declared merge policy does about attributes and to-one relationships without a rule of their own; nil: as the
    /// entity's parent, and without one ``MergeRule/object``. It is an entry of ``userInfo``.
    ///
    /// It also says what becomes of an object that one side has changed and the other deleted: with ``MergeRule/store`` that
    /// is as it is stored, else as it is saved.
    public var mergeRule: MergeRule? {
        get { userInfo[MergeRule.userInfoKey].flatMap(MergeRule.init(text:)) }
        set { userInfo[MergeRule.userInfoKey] = newValue?.text }
    }
}

// How to merge a property that two sides have written: the part of the model that the declared merge policy uses.
//
// Rules stand in the `userInfo` of what they are about, as text. So they are where the model is: in descriptions, in the
// model's JSON, and in the files of Core Data's model editor, which has a table for it. They say nothing of what is stored:
// version hashes do not know them.
//
// Threads: a value.

/// How the declared merge policy resolves a conflict about a property.
///
/// ```swift
/// var article = EntityDescription("Article", attributes: [title, visits, modified])
/// article.mergeRule = .newest(by: "modified")            // of all that has no rule of its own
/// article.attributes[1].mergeRule = .sum                 // visits counted here and there are added
/// context.mergePolicy = .declared
/// ```
///
/// A property is in conflict in two cases:
///
/// - Both sides have changed the same object since it was read, and at least one of them has changed the property. A
///   property that only one side has changed gets the value of that side.
/// - Two objects have the same key under a uniqueness constraint, and are merged. Of a new object only the properties that
///   were set count.
///
/// In a model file the rule is an entry of `userInfo` with the key ``userInfoKey``:
///
/// ```xml
/// <attribute name="visits" attributeType="Integer 64" defaultValueString="0">
///     <userInfo><entry key="cairn.mergeRule" value="sum"/></userInfo>
/// </attribute>
/// ```
public enum MergeRule: Sendable, Hashable {
    /// The stored value.
    case store
    /// The value of the object that is being saved.
    case object
    /// A value computed from both, with a rule of ``DeduplicationRule/merge(_:into:)``.
    case fold(FoldingRule)

    /// The stored value, unless it is nil.
    public static let fillNil = MergeRule.fold(.fillNil)
    /// The greatest value.
    public static let maximum = MergeRule.fold(.maximum)
    /// The smallest value that is not nil.
    public static let minimum = MergeRule.fold(.minimum)
    /// A counter. For one object, the changes of both sides are added to the original value; for two objects, the values
    /// are added.
    public static let sum = MergeRule.fold(.sum)
    /// All members of a to-many relationship. Members added by either side are present and members removed by either side
    /// are not, whatever the rule: to-many relationships have no other rule.
    public static let union = MergeRule.fold(.union)

    /// The value of the side with the greatest value of an attribute, usually a date; if these are equal, the greater
    /// value. The attribute itself is merged in the same way, unless it has a rule of its own.
    public static func newest(by attribute: String) -> MergeRule { .fold(.newest(by: attribute)) }

    /// The key of the rule in `userInfo`.
    public static let userInfoKey = "cairn.mergeRule"

    /// The rule from its text in a model file: `store`, `object`, `fillNil`, `newest(by: modified)`, `maximum`, `minimum`,
    /// `sum`, `union`; nil if it is none of these.
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

    /// The rule as text for a model file.
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
    /// How the declared merge policy merges the attribute; nil: as its entity declares. It is stored in ``userInfo``.
    ///
    /// A schema rejects a rule that does not fit the attribute's type.
    public var mergeRule: MergeRule? {
        get { userInfo[MergeRule.userInfoKey].flatMap(MergeRule.init(text:)) }
        set { userInfo[MergeRule.userInfoKey] = newValue?.text }
    }
}

extension RelationshipDescription {
    /// How the declared merge policy merges the relationship; nil: as its entity declares. It is stored in ``userInfo``.
    public var mergeRule: MergeRule? {
        get { userInfo[MergeRule.userInfoKey].flatMap(MergeRule.init(text:)) }
        set { userInfo[MergeRule.userInfoKey] = newValue?.text }
    }
}

extension EntityDescription {
    /// How the declared merge policy merges attributes and to-one relationships without a rule of their own; nil: as the
    /// parent entity declares, or ``MergeRule/object`` if it has no parent. It is stored in ``userInfo``.
    ///
    /// It also decides about an object that one side has changed and the other has deleted: with ``MergeRule/store`` the
    /// stored state wins, otherwise the saved one.
    public var mergeRule: MergeRule? {
        get { userInfo[MergeRule.userInfoKey].flatMap(MergeRule.init(text:)) }
        set { userInfo[MergeRule.userInfoKey] = newValue?.text }
    }
}

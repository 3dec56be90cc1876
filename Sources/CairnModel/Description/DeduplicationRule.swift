// How to handle objects with the same key: the same rules in requests, in the tool and in migrations.
//
// Invariant: `smallest`, `newest` and `mostComplete` decide by values alone, so that every device comes to the same winner.

/// Which of several objects with the same key survives, and what happens to the others.
///
/// The survivor takes over the relationships of the others: relationships that pointed to one of them point to the
/// survivor, it gets their members, and it gets the target of a to-one relationship where it has none. It takes over their
/// attributes only with ``merge(_:into:)``.
///
/// ```swift
/// let rule = DeduplicationRule.merge(["visits": .sum, "tags": .union], into: .newest(by: "modified"))
/// ```
public indirect enum DeduplicationRule: Sendable, Hashable, Codable {
    /// The object that was created first in this store. On another device that can be another object.
    case first
    /// The object that was created last in this store. On another device that can be another object.
    case last
    /// The object with the greatest value of an attribute. Objects with a value come before objects without one.
    case newest(by: String)
    /// The object with the smallest value of an attribute, such as a UUID. Objects with a value come before objects without
    /// one.
    case smallest(by: String)
    /// The object with the most attributes and to-one relationships that are not nil.
    case mostComplete
    /// The object that another rule chooses. It takes over values of the others by one rule per property. For properties
    /// that are not named the rule is ``FoldingRule/fillNil``, or ``FoldingRule/union`` for to-many relationships.
    case merge([String: FoldingRule], into: DeduplicationRule = .mostComplete)
    /// All objects survive. The one that was created first keeps the key; the key of the others becomes nil.
    case nullKey
    /// All objects survive, and duplicates are an error.
    case fail
}

/// What a property of the surviving object takes over from the objects that are deleted.
public enum FoldingRule: Sendable, Hashable, Codable {
    /// Nothing.
    case keep
    /// If it is nil, the first value that is not nil, in the order in which the rule ranks the others.
    case fillNil
    /// The value of the object with the greatest value of an attribute.
    case newest(by: String)
    /// The greatest value.
    case maximum
    /// The smallest value that is not nil.
    case minimum
    /// The sum of the numbers, ignoring nil.
    case sum
    /// All members.
    case union
}

// What is done about objects that have one key: the same words in requests, in the tool and in migrations.
//
// Invariant: `smallest`, `newest` and `mostComplete` decide by values alone, so that every device comes to the same winner.

/// Which of several objects with the same key stays, and what becomes of the others.
///
/// The one that stays takes over the relationships of the others: what led to one of them leads to it, it gets their members,
/// and the target of a to-one relationship where it has none. Their attributes it takes only by ``merge(_:into:)``.
///
/// ```swift
/// let rule = DeduplicationRule.merge(["visits": .sum, "tags": .union], into: .newest(by: "modified"))
/// ```
public indirect enum DeduplicationRule: Sendable, Hashable, Codable {
    /// The one that was created first in this store. Another device may have another one.
    case first
    /// The one that was created last in this store. Another device may have another one.
    case last
    /// The one with the greatest value of an attribute; one that has a value before one that has none.
    case newest(by: String)
    /// The one with the least value of an attribute, a UUID say; one that has a value before one that has none.
    case smallest(by: String)
    /// The one with the most attributes and to-one relationships that are not nil.
    case mostComplete
    /// The one that another rule says, and it takes over what the others know: by a rule for each property, and by
    /// ``FoldingRule/fillNil`` or, if it is a to-many relationship, ``FoldingRule/union`` for those that are not named.
    case merge([String: FoldingRule], into: DeduplicationRule = .mostComplete)
    /// All stay. The one that was created first keeps the key; that of the others becomes nil.
    case nullKey
    /// All stay, and it is an error that there are any.
    case fail
}

/// What a property of the object that stays takes over from those that go.
public enum FoldingRule: Sendable, Hashable, Codable {
    /// Nothing.
    case keep
    /// If it is nil, the first value that is not, in the order in which the others would have stayed.
    case fillNil
    /// The value of the object with the greatest value of an attribute.
    case newest(by: String)
    /// The greatest value.
    case maximum
    /// The least value that is not nil.
    case minimum
    /// The sum of the numbers; nil counts as none.
    case sum
    /// All members.
    case union
}

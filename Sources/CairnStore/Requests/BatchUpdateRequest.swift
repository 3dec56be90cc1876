// Updates many objects atomically, without loading them.

public import CairnModel
public import FoundationEssentials

/// A batch update: sets new values in all objects of an entity that match a condition.
///
/// ```swift
/// var request = BatchUpdateRequest(entityName: "Product")
/// request.predicate = try PredicateNode(format: "shop.city == %@", "Bern")
/// request.propertiesToUpdate = [
///     "isFavorite": true, "note": nil, "stock": .expression(try ExpressionNode(format: "stock + 1")),
/// ]
/// let result = try context.execute(request)
/// ```
///
/// Expressions are evaluated on the objects' state before the request. An object that already has the new values is not
/// written, and keeps its version. Uniqueness constraints are checked on the state after the request, so keys can be
/// swapped or shifted; if two objects would have the same key, the whole request fails. The model's validation applies, and
/// derived attributes of the objects and of those that depend on them are recomputed.
///
/// Objects in contexts do not change. Their next save conflicts, as after changes by another context, until they are
/// refreshed or the changes are merged.
public struct BatchUpdateRequest: Sendable {
    /// What the result should contain.
    public enum ResultType: Int, Sendable {
        /// Only success.
        case statusOnly = 0
        /// The ids of the objects that changed.
        case objectIDs = 1
        /// How many objects changed.
        case count = 2
    }

    /// The entity's name.
    public var entityName: String
    /// Which objects to update; nil = all. It can cross relationships.
    public var predicate: PredicateNode?
    /// How ``predicate`` treats nil.
    public var nullSemantics = NullSemantics.twoValued
    /// Whether objects of the entity's descendants are updated too.
    public var includesSubentities = true
    /// The sort order to which limit and offset apply.
    public var sortDescriptors: [SortKey] = []
    /// The maximum number of objects; 0 = all.
    public var fetchLimit = 0
    /// How many objects to skip first.
    public var fetchOffset = 0
    /// The new values, by property name: attributes, elements of composite attributes by their dotted names, and to-one
    /// relationships, whose value is an object id.
    ///
    /// To-many relationships are rejected, and so are to-one relationships whose inverse is to-one or ordered.
    public var propertiesToUpdate: [String: UpdatedValue]
    /// What the result should contain.
    public var resultType = ResultType.statusOnly
    /// Whether to validate the new values by the limits, lengths, patterns and validation predicates of the model. Required
    /// properties and the ranges of integers are always validated, because values that violate them could not be read.
    public var validatesValues = true
    /// The stores of a coordinator whose objects are updated, by their identifiers; nil = all writable stores. A store that
    /// is not listed rejects the request, and so does a coordinator that lacks one of the listed stores.
    public var affectedStores: [UUID]?
    /// The author.
    public var author: String?
    /// The name of the context that executes the request.
    public var contextName: String?
    /// Why the request cannot be carried out, if that was known when it was made.
    package var refusal: StoreError?

    /// Updates objects of an entity.
    public init(
        entityName: String, propertiesToUpdate: [String: UpdatedValue] = [:],
        predicate: PredicateNode? = nil
    ) {
        self.entityName = entityName
        self.propertiesToUpdate = propertiesToUpdate
        self.predicate = predicate
    }
}

/// The new value of a property in a batch update: a value, or an expression that is evaluated for each object.
///
/// Plain values can be written as literals, including nil.
public enum UpdatedValue: Sendable, Hashable {
    /// The same value for every object.
    case value(Value)
    /// An expression that is evaluated on each object's state before the request: `stock + 1`, `lowercase:(name)`,
    /// `shop.name`. Whole numbers are exact, and rejected if they exceed the attribute's range; numbers with a fraction are
    /// rounded to the nearest one of the attribute's type. The result of computing with nil, or of a division by zero, is
    /// nil.
    case expression(ExpressionNode)
}

extension UpdatedValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// An integer.
    public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    /// A string. Use ``expression(_:)`` for an expression.
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    /// A Boolean.
    public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
    /// Nil.
    public init(nilLiteral: ()) { self = .value(.null) }
}

/// The result of a batch update.
public struct BatchUpdateResult: Sendable {
    /// The number of objects that changed.
    public var updatedCount = 0
    /// The number of matching objects that already had the new values.
    public var unchangedCount = 0
    /// The ids of the objects that changed, if requested: in the sort order of the request, or by number if it has none.
    public var objectIDs: [ObjectID] = []
    /// The number of the commit; nil if there was nothing to write.
    public var commit: UInt64?

    /// An empty result.
    public init() {}
}

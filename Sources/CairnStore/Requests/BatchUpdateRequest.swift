// Updates many objects as one unit, without loading them.

public import CairnModel
public import FoundationEssentials

/// A batch update: all objects of an entity that a condition finds get new values.
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
/// All expressions are asked of the objects as they were before the request. An object that has the new values already is
/// not written: it keeps its version. What counts for uniqueness constraints is the state after the request, so that keys may
/// be exchanged or moved along; one that two objects would share refuses the whole request. The rules of the model hold, and
/// derived attributes of the objects and of those that are computed from them are recomputed.
///
/// Objects in contexts are not touched. They conflict with their next save, as if somebody else had saved them, until they
/// are refreshed or the changes are merged.
public struct BatchUpdateRequest: Sendable {
    /// What the result should contain.
    public enum ResultType: Int, Sendable {
        /// Success alone.
        case statusOnly = 0
        /// The ids of the objects that changed.
        case objectIDs = 1
        /// How many objects changed.
        case count = 2
    }

    /// The entity's name.
    public var entityName: String
    /// Which objects; nil = all. It may lead across relationships.
    public var predicate: PredicateNode?
    /// What ``predicate`` says of nil.
    public var nullSemantics = NullSemantics.twoValued
    /// Whether objects of the entity's descendants are updated as well.
    public var includesSubentities = true
    /// The order in which limit and offset count.
    public var sortDescriptors: [SortKey] = []
    /// The greatest number of objects; 0 = all.
    public var fetchLimit = 0
    /// How many objects are left out first.
    public var fetchOffset = 0
    /// The new values, by the names of properties: attributes, elements of composite attributes by their dotted names, and
    /// to-one relationships, whose value is an object id.
    ///
    /// A relationship that is to-one at its other end too, or whose other end is ordered, is refused, as are to-many ones.
    public var propertiesToUpdate: [String: UpdatedValue]
    /// What the result should contain.
    public var resultType = ResultType.statusOnly
    /// Whether the limits, lengths, patterns and validation predicates of the model hold for the new values. Mandatory
    /// properties and the ranges of integers hold in any case: what breaks them could not be read.
    public var validatesValues = true
    /// The stores whose objects are updated, by their identifiers, if there are several behind a coordinator; nil = all that
    /// can be written. A store that is none of them refuses the request, as a coordinator does that lacks one of them.
    public var affectedStores: [UUID]?
    /// Who writes.
    public var author: String?
    /// The name of the context that asks.
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

/// What a property becomes in a batch update: a value, or what an expression gives for each object.
///
/// Plain values may be written as literals, `nil` among them.
public enum UpdatedValue: Sendable, Hashable {
    /// The same value for every object.
    case value(Value)
    /// What an expression gives for each object, as it was before the request: `stock + 1`, `lowercase:(name)`, `shop.name`.
    /// Whole numbers are exact, or refused where the attribute cannot hold them; of a number with a fraction the nearest
    /// one of the attribute's type is taken. What is calculated from nil, or divided by zero, is nil.
    case expression(ExpressionNode)
}

extension UpdatedValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
    /// A number with a fraction.
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    /// A text; an expression is made by ``expression(_:)``.
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
    /// Nil.
    public init(nilLiteral: ()) { self = .value(.null) }
}

/// What a batch update did.
public struct BatchUpdateResult: Sendable {
    /// Objects that changed.
    public var updatedCount = 0
    /// Objects that the condition found and that had the new values already.
    public var unchangedCount = 0
    /// The ids of the objects that changed, if they were asked for: in the order of the request, or by number if it has none.
    public var objectIDs: [ObjectID] = []
    /// The number of the commit; nil if there was nothing to write.
    public var commit: UInt64?

    /// An empty result.
    public init() {}
}

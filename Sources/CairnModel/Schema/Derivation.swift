// How one derived attribute is computed.
//
//   now()                                    the moment at which the object is saved
//   name   author.name                       what stands in an attribute, its own or across to-one relationships
//   uppercase:(p)  lowercase:(p)  canonical:(p)   a text of such a path, written another way
//   articles.@count                          how many members a to-many relationship has
//   articles.wordCount.@sum                  of their numbers; also @avg, @min and @max
//
// Where a path leads nowhere the value is nil. Members without a value count for nothing, as in predicates: the sum of none is
// 0, and their average, least and greatest are nil.
//
// A value that its column cannot hold is no value: whoever stores it asks `fitted`, and refuses the save.
//
// Threads: a value.

import FoundationEssentials

/// How a derived attribute is computed.
package struct Derivation: Sendable {
    /// One to-one relationship of a path: a reference column of an entity.
    package struct Step: Sendable, Hashable {
        /// The entity, as an index of the schema.
        package let entity: Int
        /// The column, in that entity and its descendants.
        package let column: Int
    }

    /// What it is computed from.
    package enum Source: Sendable {
        /// The time of the save.
        case now
        /// The attribute at the end of to-one relationships, and a function to apply to strings.
        case path([Step], column: Int, ExpressionNode.Function?)
        /// The members of a to-many relationship, or their values in a column.
        case members(SchemaRelationship.Storage, ExpressionNode.CollectionOperator, column: Int?)
    }

    /// Its number among all of the hierarchy.
    package let number: Int
    /// The column that is computed, in the entity that declares the attribute and its descendants.
    package let column: Int
    /// The column's type.
    package let type: AttributeType
    /// What it is computed from.
    package let source: Source
    /// `Entity.attribute`.
    package let element: String
    /// The expression as the model has it.
    package let expression: String

    /// Whether it can be told from the object's own attributes and the moment.
    package var isLocal: Bool {
        switch source {
        case .now: true
        case .path(let steps, _, _): steps.isEmpty
        case .members: false
        }
    }

    /// Whether it is made of the members of a relationship.
    package var isOfMembers: Bool {
        if case .members = source { true } else { false }
    }
}

extension Value {
    /// What was calculated as a value of a type: a whole number stays the same, a number with a fraction becomes the nearest.
    /// Nil if there is none.
    package func fitted(to type: AttributeType) -> Value? {
        if isNull || fits(type) { return self }
        guard let number = Number(self) else { return nil }
        switch type {
        case .integer16, .integer32, .integer64:
            // Of a number with a fraction there is no whole one.
            guard let whole = number.wholeNumber else { return nil }
            return Value.integer(whole).fits(type) ? .integer(whole) : nil
        case .decimal:
            switch number {
            case .integer(let whole): return .decimal(Decimal(whole))
            case .decimal(let decimal): return .decimal(decimal)
            case .double(let double): return double.isNaN ? .decimal(.nan) : nil
            }
        case .double: return .double(number.double)
        case .float: return .float(Float(number.double))
        default: return nil
        }
    }
}

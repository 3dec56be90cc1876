// The tree of an expression.
//
// The commonest parts, a key path and a constant, lie in the node itself: a look-up by key makes one
// allocation for its whole tree. A list of constants is one array of values, not nodes.
//
// Canonical form, in which a text is read and which its printed form comes back to:
//   - a path from the object itself is `.keyPath`, and of a path the path is one longer path;
//   - a list of nothing but constants is `.list`;
//   - a subtraction from nothing is how a minus sign before an operand is kept.
//
// Threads: a value.

/// An expression: a constant, or something that has a value for each object.
public enum ExpressionNode: Sendable, Hashable, Codable {
    /// A constant value.
    case constant(Value)
    /// Constant values, in braces.
    case list([Value])
    /// `SELF`: the evaluated object.
    case evaluatedObject
    /// A property of the object, or a dotted key path to one across relationships and composite attributes.
    case keyPath(String)
    /// `$name`: a variable to substitute, or the object of a SUBQUERY.
    case variable(String)
    /// `ANYKEY`: the values of all attributes.
    case anyKey
    /// A property, or a dotted path to one, of what another expression gives.
    indirect case path(of: ExpressionNode, String)
    /// `collection.@operator.path`: one value of many members; the path leads from a member to what counts.
    indirect case collection(CollectionOperator, of: ExpressionNode, path: String?)
    /// `collection[index]`.
    indirect case index(of: ExpressionNode, Index)
    /// A function with its arguments, including arithmetic.
    case function(Function, [ExpressionNode])
    /// `FUNCTION(target, 'selector:', …)`: a function that an application brings.
    indirect case call(of: ExpressionNode, selector: String, [ExpressionNode])
    /// `CAST(expression, 'type')`.
    indirect case cast(ExpressionNode, to: CastType)
    /// `TERNARY(condition, one, other)`.
    indirect case conditional(PredicateNode, ExpressionNode, ExpressionNode)
    /// `SUBQUERY(collection, $variable, condition)`: the members that meet the condition.
    indirect case subquery(ExpressionNode, variable: String, PredicateNode)
    /// Two collections joined, or one without what the other has.
    indirect case set(SetOperator, ExpressionNode, ExpressionNode)
    /// Expressions in braces, not all of them constant.
    case aggregate([ExpressionNode])
    /// `$name := expression`: gives the value a name as well.
    indirect case assignment(String, ExpressionNode)
    /// `FETCH(request, context, countsOnly)`.
    indirect case fetch(request: ExpressionNode, context: ExpressionNode, countsOnly: Bool)

    /// The index in brackets.
    public enum Index: Sendable, Hashable, Codable {
        /// The first member.
        case first
        /// The last member.
        case last
        /// The number of members.
        case size
        /// The member at a place from 0.
        indirect case at(ExpressionNode)
    }

    /// What is computed from the members of a collection; nil if there is no collection, because a to-one relationship on
    /// the path to it is nil.
    public enum CollectionOperator: String, Sendable, Hashable, CaseIterable, Codable {
        /// The number of members.
        case count
        /// The sum of the numbers; 0 if there are none. Nil is ignored.
        case sum
        /// The average of the numbers, ignoring nil; nil if there are none.
        case average = "avg"
        /// The smallest of them; nil if there are none.
        case minimum = "min"
        /// The greatest of them; nil if there are none.
        case maximum = "max"
        /// The distinct values at the key path.
        case distinctUnionOfObjects
        /// The values at the key path.
        case unionOfObjects
        /// The distinct values at the key path in all the collections that are the members.
        case distinctUnionOfArrays
        /// The values at the key path in all the collections that are the members.
        case unionOfArrays
        /// The distinct values at the key path in all the sets that are the members.
        case distinctUnionOfSets
    }

    /// How two collections are combined.
    public enum SetOperator: String, Sendable, Hashable, CaseIterable, Codable {
        /// The members of both.
        case union = "UNION"
        /// The members that they have in common.
        case intersect = "INTERSECT"
        /// The members of the first that are not in the second.
        case minus = "MINUS"
    }

    /// The target type of a CAST.
    public enum CastType: String, Sendable, Hashable, CaseIterable, Codable {
        /// A date: from a number, in seconds since 2001; from a string, in ISO 8601.
        case date = "NSDate"
        /// A number from a string.
        case number = "NSNumber"
        /// An exact decimal number.
        case decimalNumber = "NSDecimalNumber"
        /// A value as a string.
        case string = "NSString"
        /// The name of a class.
        case `class` = "Class"
        /// A UUID from a string.
        case uuid = "NSUUID"
        /// A URI from a string.
        case url = "NSURL"
        /// Bytes from a base64 string.
        case data = "NSData"
        /// An object id from its URI.
        case objectID = "NSManagedObjectID"

        /// The type of a name, with or without the two letters before it.
        init?(name: String) {
            guard let type = Self(rawValue: name) ?? Self(rawValue: "NS" + name) else {
                switch name {
                case "NSClass": self = .class
                case "ObjectID": self = .objectID
                case "Decimal", "NSDecimal": self = .decimalNumber
                case "URI": self = .url
                default: return nil
                }
                return
            }
            self = type
        }
    }

    /// A key path appended to an expression, in canonical form.
    public static func path(_ path: String, of base: ExpressionNode) -> ExpressionNode {
        switch base {
        case .evaluatedObject: .keyPath(path)
        case .keyPath(let first): .keyPath("\(first).\(path)")
        case .path(let base, let first): .path(of: base, "\(first).\(path)")
        case .collection(let operation, let base, let first):
            .collection(operation, of: base, path: first.map { "\($0).\(path)" } ?? path)
        default: .path(of: base, path)
        }
    }

    /// A list, in canonical form.
    public static func braces(_ members: [ExpressionNode]) -> ExpressionNode {
        var values: [Value] = []
        values.reserveCapacity(members.count)
        for member in members {
            guard case .constant(let value) = member else { return .aggregate(members) }
            values.append(value)
        }
        return .list(values)
    }
}

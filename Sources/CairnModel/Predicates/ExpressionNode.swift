// The tree of an expression: what is compared.
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

/// An expression: a value, or what gives one for each object.
public enum ExpressionNode: Sendable, Hashable, Codable {
    /// A value that is known.
    case constant(Value)
    /// Values that are known, in braces.
    case list([Value])
    /// `SELF`: the object that is asked about.
    case evaluatedObject
    /// A property of the object, or a dotted path to one across relationships and composite attributes.
    case keyPath(String)
    /// `$name`: a value to be substituted, or the object of a SUBQUERY.
    case variable(String)
    /// `ANYKEY`: the values of all attributes.
    case anyKey
    /// A property, or a dotted path to one, of what another expression gives.
    indirect case path(of: ExpressionNode, String)
    /// `collection.@operator.path`: one value of many members; the path leads from a member to what counts.
    indirect case collection(CollectionOperator, of: ExpressionNode, path: String?)
    /// `collection[index]`.
    indirect case index(of: ExpressionNode, Index)
    /// A function with its arguments; arithmetic is one.
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

    /// What an index in brackets says.
    public enum Index: Sendable, Hashable, Codable {
        /// The first member.
        case first
        /// The last member.
        case last
        /// How many members there are.
        case size
        /// The member at a place from 0.
        indirect case at(ExpressionNode)
    }

    /// What is made of the members of a collection; nil if there is none, because a to-one relationship on the way to it is nil.
    public enum CollectionOperator: String, Sendable, Hashable, CaseIterable, Codable {
        /// How many members there are.
        case count
        /// The sum of the numbers; 0 if there are none. Nil counts for nothing.
        case sum
        /// The average of the numbers that are there; nil if there are none.
        case average = "avg"
        /// The least of them; nil if there are none.
        case minimum = "min"
        /// The greatest of them; nil if there are none.
        case maximum = "max"
        /// The values at the path, each once.
        case distinctUnionOfObjects
        /// The values at the path.
        case unionOfObjects
        /// The values at the path in all the collections that the members are, each once.
        case distinctUnionOfArrays
        /// The values at the path in all the collections that the members are.
        case unionOfArrays
        /// The values at the path in all the sets that the members are, each once.
        case distinctUnionOfSets
    }

    /// How two collections become one.
    public enum SetOperator: String, Sendable, Hashable, CaseIterable, Codable {
        /// What is in one of them.
        case union = "UNION"
        /// What is in both.
        case intersect = "INTERSECT"
        /// What is in the first only.
        case minus = "MINUS"
    }

    /// A type that CAST makes a value into.
    public enum CastType: String, Sendable, Hashable, CaseIterable, Codable {
        /// A moment: of a number, seconds since 2001; of a text, ISO 8601.
        case date = "NSDate"
        /// A number of a text.
        case number = "NSNumber"
        /// An exact decimal number.
        case decimalNumber = "NSDecimalNumber"
        /// The text of a value.
        case string = "NSString"
        /// The name of a class.
        case `class` = "Class"
        /// A UUID of a text.
        case uuid = "NSUUID"
        /// A URI of a text.
        case url = "NSURL"
        /// Bytes of a text in base 64.
        case data = "NSData"
        /// An object id of its URI.
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

    /// The path from an expression on, in canonical form.
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

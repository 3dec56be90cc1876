// Turns a predicate of `#Predicate` into the tree that a store understands.
//
//   1. Every node lowers its children and makes of them a condition, a property, a constant or a list.
//   2. A property compared with a constant is a comparison. What stands for a missing value (`??`, optional
//      chains) becomes an explicit test for nil.
//   3. What the tree cannot say throws, naming the part.
//
// Semantics are Swift's: `$0.category != "x"` holds where the category is nil. A forced unwrap of nil, which
// would stop a program, is a comparison with nil here.
//
// Threads: one lowering lives in one call.

public import CairnModel
import CairnStore
public import FoundationEssentials

/// What a part of a predicate is.
enum LoweredExpression {
    /// True or false for each object.
    case condition(PredicateNode)
    /// True or false where the other condition holds, else nil.
    case optionalCondition(PredicateNode, present: PredicateNode)
    /// The value of a stored property, or the id of a to-one relationship's object.
    case property(String)
    /// The value of a stored property, or another one where it is nil.
    case coalesced(String, Value)
    /// A composite property, by its key and type.
    case composite(String, any CompositeValue.Type)
    /// The object that is asked about.
    case object
    /// The object's id.
    case identity
    /// A to-one relationship's object.
    case target(String)
    /// A value that is known.
    case constant(Value)
    /// Values that are known.
    case list([Value])
    /// A range whose ends are known; the lower end belongs to it.
    case range(Value, Value, includesUpper: Bool)
}

/// A node of a predicate that can be lowered.
protocol LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression
}

/// The state of a lowering: what the variables stand for.
struct PredicateLowering {
    private let entity: TypedEntity
    private var variables: [PredicateExpressions.VariableID: LoweredExpression] = [:]

    /// The tree of a predicate over objects of a class.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the part that a store cannot answer.
    static func tree<T: PersistentEntity>(_ predicate: Predicate<T>) throws(StoreError)
        -> PredicateNode
    {
        var lowering = PredicateLowering(entity: .of(T.self))
        lowering.variables[predicate.variable.key] = .object
        return try lowering.condition(predicate.expression)
    }

    private init(entity: TypedEntity) { self.entity = entity }

    // MARK: Parts

    mutating func lower(_ node: Any) throws(StoreError) -> LoweredExpression {
        guard let node = node as? any LowerableExpression else {
            throw unsupported(Self.name(of: type(of: node)))
        }
        return try node.lowered(&self)
    }

    /// A part that is true or false.
    mutating func condition(_ node: Any) throws(StoreError) -> PredicateNode {
        switch try lower(node) {
        case .condition(let condition): return condition
        case .constant(.boolean(let truth)): return .constant(truth)
        case .property(let key): return .compare(key, .equal, .boolean(true))
        case .coalesced(let key, .boolean(let other)):
            return Self.coalesced(key, .equal, .boolean(true), whenNil: other)
        default: throw unsupported("\(Self.name(of: type(of: node))) as a condition")
        }
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID, to value: LoweredExpression) {
        variables[variable] = value
    }

    func value(of variable: PredicateExpressions.VariableID) throws(StoreError)
        -> LoweredExpression
    {
        guard let value = variables[variable] else { throw unsupported("a variable of its own") }
        return value
    }

    /// A property of a part.
    func property(_ path: AnyKeyPath, of root: LoweredExpression) throws(StoreError)
        -> LoweredExpression
    {
        switch root {
        case .object:
            guard let number = entity.number(of: path) else { break }
            if number == TypedEntity._identity { return .identity }
            let property = entity.properties[number]
            switch property.content {
            case .relationship(let relationship, _):
                guard !relationship.isToMany else {
                    throw unsupported("the to-many relationship \(property.name)")
                }
                return .target(property.name)
            case .attribute(let attribute, _):
                guard !attribute.isTransient else {
                    throw unsupported("\(property.name), which is not stored,")
                }
                if attribute.type == .composite, let type = Self.compositeType(path) {
                    return .composite(property.name, type)
                }
                return .property(property.name)
            }
        case .target(let key):
            guard let type = type(of: path).rootType as? any PersistentEntity.Type,
                TypedEntity.of(type).number(of: path) == TypedEntity._identity
            else { throw unsupported("a property across the relationship \(key)") }
            return .property(key)
        case .composite(let key, let type):
            guard let element = type._key(for: path) else { break }
            let name = "\(key).\(element)"
            if let type = Self.compositeType(path) { return .composite(name, type) }
            return .property(name)
        default: break
        }
        throw unsupported("\(path), which is no persistent property,")
    }

    private static func compositeType(_ path: AnyKeyPath) -> (any CompositeValue.Type)? {
        let type: Any.Type = type(of: path).valueType
        if let composite = type as? any CompositeValue.Type { return composite }
        return (type as? any OptionalMetatype.Type)?.wrapped as? any CompositeValue.Type
    }

    // MARK: Comparing

    /// A comparison of two parts.
    func comparison(
        _ left: LoweredExpression, _ operation: PredicateNode.Comparison.Operator,
        _ right: LoweredExpression
    ) throws(StoreError) -> LoweredExpression {
        switch (left, right) {
        case (.constant(let one), .constant(let other)):
            return .condition(.constant(Self.holds(one, operation, other)))
        case (.constant, _), (.list, _):
            return try comparison(right, Self.turned(operation), left)
        case (.property(let key), .constant(let value)), (.target(let key), .constant(let value)):
            return .condition(.compare(key, operation, value))
        case (.identity, .constant(let id)):
            return .condition(.comparison(.init(.objectID, operation, [id])))
        case (.coalesced(let key, let other), .constant(let value)):
            return .condition(
                Self.coalesced(
                    key, operation, value, whenNil: Self.holds(other, operation, value)))
        case (.condition(let condition), .constant(.boolean(let truth))):
            guard operation == .equal || operation == .notEqual else { break }
            return .condition((operation == .equal) == truth ? condition : .not(condition))
        case (.optionalCondition(let condition, let present), .constant(let value)):
            guard operation == .equal || operation == .notEqual else { break }
            let equal: PredicateNode =
                switch value {
                case .null: .not(present)
                case .boolean(let truth): .and([present, truth ? condition : .not(condition)])
                default: .constant(false)
                }
            return .condition(operation == .equal ? equal : .not(equal))
        case (.composite(let key, _), .constant(.null)):
            throw unsupported("whether all of \(key) is nil")
        default: break
        }
        throw unsupported(
            "a comparison of two properties, or of parts that are neither property nor constant")
    }

    /// Whether a property is one of a list.
    func membership(_ element: LoweredExpression, in values: [Value]) throws(StoreError)
        -> LoweredExpression
    {
        let present = values.filter { !$0.isNull }
        switch element {
        case .property(let key), .target(let key):
            let isMember = PredicateNode.comparison(.init(.key(key), .in, present))
            if present.count == values.count { return .condition(isMember) }
            return .condition(.or([isMember, .compare(key, .equal, .null)]))
        case .coalesced(let key, let other):
            let isMember = PredicateNode.comparison(.init(.key(key), .in, present))
            let otherIs = values.contains { Self.holds($0, .equal, other) }
            return .condition(
                otherIs ? .or([isMember, .compare(key, .equal, .null)]) : isMember)
        case .identity: return .condition(.comparison(.init(.objectID, .in, present)))
        case .constant(let value):
            return .condition(.constant(values.contains { Self.holds($0, .equal, value) }))
        default: throw unsupported("membership of what is no property")
        }
    }

    private static func coalesced(
        _ key: String, _ operation: PredicateNode.Comparison.Operator, _ value: Value, whenNil: Bool
    ) -> PredicateNode {
        let comparison = PredicateNode.compare(key, operation, value)
        return whenNil
            ? .or([comparison, .compare(key, .equal, .null)])
            : .and([comparison, .compare(key, .notEqual, .null)])
    }

    private static func turned(_ operation: PredicateNode.Comparison.Operator)
        -> PredicateNode.Comparison.Operator
    {
        switch operation {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: operation
        }
    }

    private static func holds(
        _ one: Value, _ operation: PredicateNode.Comparison.Operator, _ other: Value
    ) -> Bool {
        if one.isNull || other.isNull {
            switch operation {
            case .equal: return one.isNull && other.isNull
            case .notEqual: return one.isNull != other.isNull
            default: return false
            }
        }
        if ValueOrder.isNotANumber(one) || ValueOrder.isNotANumber(other) {
            return operation == .notEqual
        }
        let order = ValueOrder.compare(one, other)
        switch operation {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        case .greaterOrEqual: return order >= 0
        case .in, .between: return false
        }
    }

    // MARK: Errors

    func unsupported(_ what: String) -> StoreError {
        StoreError(
            .invalidRequest, "a store cannot answer this predicate: \(what) is not supported",
            context: .init(entity: entity.name))
    }

    /// The name of a node without its children.
    static func name(of type: Any.Type) -> String {
        String("\(type)".prefix { $0 != "<" })
    }
}

/// The type that an optional type wraps.
private protocol OptionalMetatype {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalMetatype {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

extension FetchRequest where Result: PersistentEntity {
    /// Asks for the objects of a class that match a predicate.
    ///
    /// ```swift
    /// let limit = 10.0
    /// let cheap = try context.fetch(
    ///     FetchRequest<Product>(#Predicate { $0.price < limit && $0.category != nil }))
    /// ```
    ///
    /// Comparisons of properties with constants, `&&`, `||`, `!`, `?:`, `??`, optional chains, and `contains` of
    /// captured lists and ranges are understood. An object is named by its id: `$0.maker?.objectID == id`.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming a part that a store cannot answer.
    public init(_ predicate: Predicate<Result>, sortBy keys: [SortKey] = []) throws {
        self.init(predicate: try PredicateLowering.tree(predicate), sortBy: keys)
    }
}

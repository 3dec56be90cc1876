// Turns a predicate of `#Predicate` into the tree that a format becomes, too.
//
//   1. Every node lowers its children and makes of them a condition, a value, an object, a collection, a
//      constant or a list.
//   2. A closure over a to-many relationship is a SUBQUERY with a variable of its own.
//   3. What stands for a missing value (`??`, optional chains) becomes an explicit test for nil.
//   4. What the tree cannot say throws, naming the part.
//
// Semantics are Swift's: `$0.category != "x"` holds where the category is nil. A forced unwrap of nil, which
// would stop a program, is a comparison with nil here.
//
// Threads: one lowering lives in one call.

public import CairnModel
package import CairnStore
public import FoundationEssentials

/// What a part of a predicate is.
enum LoweredExpression {
    /// True or false for each object.
    case condition(PredicateNode)
    /// True or false where the other condition holds, else nil.
    case optionalCondition(PredicateNode, present: PredicateNode)
    /// A value of each object: of a property, or calculated.
    case value(ExpressionNode)
    /// A value, or another one where it is nil.
    case coalesced(ExpressionNode, Value)
    /// A composite property, by its key path and type.
    case composite(ExpressionNode, any CompositeValue.Type)
    /// An object: the one that is asked about, one that it leads to, or the variable of a closure.
    case object(ExpressionNode)
    /// The members of a to-many relationship, or some of them.
    case collection(ExpressionNode)
    /// A value that is known.
    case constant(Value)
    /// Values that are known.
    case list([Value])
    /// A range whose ends are known; the lower end belongs to it.
    case range(Value, Value, includesUpper: Bool)
    /// Something that was captured, of which a part may be a value.
    case captured(Any)

    /// The part as a single value; nil if it is none.
    var node: ExpressionNode? {
        switch self {
        case .condition(let condition): Self.truth(of: condition)
        case .optionalCondition(let condition, let present):
            .conditional(present, Self.truth(of: condition), .constant(.null))
        case .value(let node), .object(let node): node
        case .constant(let value): .constant(value)
        case .coalesced(let node, let other):
            .conditional(.compare(node, .notEqual, .constant(.null)), node, .constant(other))
        default: nil
        }
    }

    private static func truth(of condition: PredicateNode) -> ExpressionNode {
        .conditional(condition, .constant(.boolean(true)), .constant(.boolean(false)))
    }
}

/// A node of a predicate that can be lowered.
protocol LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression
}

/// The state of a lowering: what the variables stand for.
struct PredicateLowering {
    /// What errors name.
    private let entityName: String?
    /// The names of properties of classes that no macro describes; nil for what is none.
    private let name: (AnyKeyPath) -> String?
    private var variables: [PredicateExpressions.VariableID: LoweredExpression] = [:]
    private var named = 0

    /// The tree of a predicate over objects of a class.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the part that a store cannot answer.
    static func tree<T: PersistentEntity>(_ predicate: Predicate<T>) throws(StoreError)
        -> PredicateNode
    {
        try tree(predicate, of: T.entityName) { _ in nil }
    }

    /// The tree of a predicate over objects of any class.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the part that a store cannot answer.
    fileprivate static func tree<T>(
        _ predicate: Predicate<T>, of entityName: String?, name: @escaping (AnyKeyPath) -> String?
    ) throws(StoreError) -> PredicateNode {
        var lowering = PredicateLowering(entityName, name)
        lowering.variables[predicate.variable.key] = .object(.evaluatedObject)
        return try lowering.condition(predicate.expression)
    }

    /// What an expression of an object of a class gives.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the part that a store cannot answer.
    static func expression<T: PersistentEntity, V>(_ expression: Expression<T, V>)
        throws(StoreError) -> ExpressionNode
    {
        var lowering = PredicateLowering(T.entityName) { _ in nil }
        lowering.variables[expression.variable.key] = .object(.evaluatedObject)
        let lowered = try lowering.lower(expression.expression)
        if let node = lowered.node { return node }
        throw lowering.unsupported("an expression that does not give a value")
    }

    private init(_ entityName: String?, _ name: @escaping (AnyKeyPath) -> String?) {
        self.entityName = entityName
        self.name = name
    }

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
        case .optionalCondition(let condition, let present): return present && condition
        case .constant(.boolean(let truth)): return .constant(truth)
        case .value(let node): return .compare(node, .equal, .constant(.boolean(true)))
        case .coalesced(let node, .boolean(let other)):
            return Self.coalesced(node, .equal, .boolean(true), whenNil: other)
        default: throw unsupported("\(Self.name(of: type(of: node))) as a condition")
        }
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID, to value: LoweredExpression) {
        variables[variable] = value
    }

    /// A closure over members: the SUBQUERY of those for which it holds.
    mutating func members(
        _ sequence: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, negated: Bool
    ) throws(StoreError) -> ExpressionNode {
        guard case .collection(let collection) = try lower(sequence) else {
            throw unsupported("a closure over something that is not a to-many relationship")
        }
        named += 1
        let name = "x\(named)"
        variables[variable] = .object(.variable(name))
        let condition = try condition(test)
        return .subquery(collection, variable: name, negated ? .not(condition) : condition)
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
        case .object(let base):
            guard let type = type(of: path).rootType as? any PersistentEntity.Type else {
                guard let name = name(path) else { break }
                return Self.property(.path(name, of: base), of: type(of: path).valueType)
            }
            let entity = TypedEntity.of(type)
            guard let number = entity.number(of: path) else { break }
            if number == TypedEntity._identity { return .object(base) }
            let property = entity.properties[number]
            let node = ExpressionNode.path(property.name, of: base)
            switch property.content {
            case .relationship(let relationship, _):
                return relationship.isToMany ? .collection(node) : .object(node)
            case .attribute(let attribute, _):
                guard !attribute.isTransient else {
                    throw unsupported("\(property.name), which is not stored,")
                }
                if attribute.type == .composite, let type = Self.compositeType(path) {
                    return .composite(node, type)
                }
                return .value(node)
            }
        case .composite(let node, let type):
            guard let element = type._key(for: path) else { break }
            let leaf = ExpressionNode.path(element, of: node)
            if let type = Self.compositeType(path) { return .composite(leaf, type) }
            return .value(leaf)
        case .value where try isRawValue(path): return root
        default: break
        }
        throw unsupported("\(path.words), which is not a persistent property,")
    }

    /// A property of a type that nothing else is known of.
    private static func property(_ node: ExpressionNode, of type: Any.Type) -> LoweredExpression {
        switch (type as? any OptionalMetatype.Type)?.wrapped ?? type {
        case is ManagedObject.Type: .object(node)
        case is any ObjectCollection.Type: .collection(node)
        default: .value(node)
        }
    }

    private static func compositeType(_ path: AnyKeyPath) -> (any CompositeValue.Type)? {
        let type: Any.Type = type(of: path).valueType
        if let composite = type as? any CompositeValue.Type { return composite }
        return (type as? any OptionalMetatype.Type)?.wrapped as? any CompositeValue.Type
    }

    // MARK: Errors

    func unsupported(_ what: String) -> StoreError {
        StoreError(
            .invalidRequest, "stores do not support this predicate: \(what) is not supported",
            context: .init(entity: entityName))
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

/// Members of a to-many relationship.
private protocol ObjectCollection {}

extension Set: ObjectCollection where Element: ManagedObject {}
extension Array: ObjectCollection where Element: ManagedObject {}

extension PredicateNode {
    /// The tree of a predicate over objects of a class that no macro describes.
    ///
    /// - Parameter name: the name of a property; nil for what is none.
    /// - Throws: `StoreError` with `.invalidRequest` naming the part that a store cannot answer.
    package init<T: ManagedObject>(
        _ predicate: Predicate<T>, name: @escaping (AnyKeyPath) -> String?
    ) throws(StoreError) {
        self = try PredicateLowering.tree(predicate, of: nil, name: name)
    }
}

extension FetchRequest where Result: PersistentEntity {
    /// Fetches the objects of a class that match a predicate.
    ///
    /// ```swift
    /// let limit = 10.0
    /// let cheap = try context.fetch(
    ///     FetchRequest<Product>(#Predicate { $0.price < limit && $0.category != nil }))
    /// ```
    ///
    /// Supported are comparisons, `&&`, `||`, `!`, `?:`, `??`, optional chains, arithmetic, `contains`, `starts(with:)` and
    /// regular expressions on strings, `contains` on captured lists and ranges, and `contains { }`, `allSatisfy { }`,
    /// `filter { }`, `count` and `isEmpty` on to-many relationships. Compare objects by id: `$0.maker?.objectID == id`.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming a part that no store supports. If only this store does not
    ///   support it, the fetch throws.
    public init(_ predicate: Predicate<Result>, sortBy keys: [SortKey] = []) throws {
        self.init(predicate: try PredicateLowering.tree(predicate), sortBy: keys)
    }
}

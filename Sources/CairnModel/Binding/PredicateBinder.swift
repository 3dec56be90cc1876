// Checks a predicate against a schema: every key exists, and both sides of each comparison are comparable.
//
//   1. A key path is followed property by property; a to-many relationship on the way makes a collection.
//   2. A to-many relationship is compared with ANY or ALL, by CONTAINS and IN, or by what a collection
//      operator makes of it.
//   3. A constant beside a property becomes a value of its type where it is one: texts become dates, UUIDs,
//      URIs and object ids. Numbers of another size stay as they are: that nothing equals them is an answer.
//   4. A comparison of two constants becomes its truth.
//
// Invariants: whoever evaluates the bound tree meets no key that does not exist.
// Threads: a binder lives in one call.

import FoundationEssentials

extension PredicateNode {
    /// The same predicate with its constants converted to the types that they are compared with, checked against an entity
    /// and, across relationships, its schema.
    ///
    /// - Parameter nullSemantics: How the predicate treats nil. The returned predicate uses two-valued logic and has the
    ///   same result, whatever evaluates it.
    /// - Throws: `PredicateFormatError` naming the key, if the property does not exist, a to-many relationship is
    ///   compared without ANY or ALL, two kinds cannot be compared, or a variable has no value.
    /// - Complexity: O(n) in the size of the tree.
    public func bound(
        to entity: SchemaEntity, in schema: Schema, nullSemantics: NullSemantics = .twoValued
    ) throws(PredicateFormatError) -> PredicateNode {
        let node = try walkable()
        var binder = PredicateBinder(
            schema: schema, entity: entity, nullSemantics: nullSemantics)
        return try binder.bindWhole(node)
    }
}

extension PredicateNode {
    /// The same for objects whose transformable attributes have the values that their bytes stand for, which can be compared.
    ///
    /// - Throws: As ``bound(to:in:nullSemantics:)``.
    package func boundInMemory(to entity: SchemaEntity, in schema: Schema)
        throws(PredicateFormatError) -> PredicateNode
    {
        let node = try walkable()
        var binder = PredicateBinder(schema: schema, entity: entity)
        binder.readsTransformables = true
        return try binder.bindWhole(node)
    }
}

struct PredicateBinder {
    let schema: Schema
    /// What SELF is.
    let entity: SchemaEntity
    /// What SELF is instead if it is a value: then there are no keys but those of values.
    var value: ExpressionKind?
    /// Whether only what is stored may be asked.
    let isOfStore: Bool
    /// Whether transformable attributes are what their bytes stand for, which can be anything.
    var readsTransformables = false
    /// What conditions say of nil. What was bound says it in two values.
    let nullSemantics: NullSemantics
    var variables: [String: ExpressionKind] = [:]
    /// Whether what is bound is a side of a comparison with the nil of SQL.
    var isInCondition = false
    /// What both sides of the last comparison are that was bound; unknown for an attribute and a value of its type.
    var kinds: Kinds = (.unknown, .unknown)
    /// What variables stand for that whoever wrote the predicate does not know: errors name that.
    var written: [String: ExpressionNode] = [:]

    init(
        schema: Schema, entity: SchemaEntity, isOfStore: Bool = false,
        nullSemantics: NullSemantics = .twoValued
    ) {
        self.schema = schema
        self.entity = entity
        self.isOfStore = isOfStore
        self.nullSemantics = nullSemantics
    }

    // MARK: Logic

    /// Binds a predicate that is no part of another.
    mutating func bindWhole(_ node: PredicateNode) throws(PredicateFormatError) -> PredicateNode {
        let bound = try bind(node)
        if nullSemantics == .sql { try bound.checkSize() }
        return bound
    }

    mutating func bind(_ node: PredicateNode) throws(PredicateFormatError) -> PredicateNode {
        if nullSemantics == .sql { return try boundForSQL(node, is: true) }
        switch node {
        case .constant: return node
        case .comparison(let comparison): return try boundComparison(comparison)
        case .and(let parts): return .and(try bind(parts))
        case .or(let parts): return .or(try bind(parts))
        case .not(let part): return .not(try bind(part))
        }
    }

    private mutating func bind(_ parts: [PredicateNode]) throws(PredicateFormatError)
        -> [PredicateNode]
    {
        var bound: [PredicateNode] = []
        bound.reserveCapacity(parts.count)
        for part in parts { bound.append(try bind(part)) }
        return bound
    }

    // MARK: Comparisons

    /// A comparison, bound, that says of nil what two values say.
    mutating func boundComparison(_ comparison: PredicateNode.Comparison)
        throws(PredicateFormatError) -> PredicateNode
    {
        guard fits(comparison) else { return try bind(comparison) }
        kinds = (.unknown, .unknown)
        return .comparison(comparison)
    }

    /// Whether a comparison is one of an attribute with a value of its type, and so fits as it is: the
    /// commonest one, which must cost nothing.
    private func fits(_ comparison: PredicateNode.Comparison) -> Bool {
        guard comparison.modifier == .direct, case .keyPath(let key) = comparison.left,
            case .constant(let value) = comparison.right,
            let column = entity.columnIndex(named: key),
            case .attribute(let type) = entity.columns[column].kind,
            value.isNull || value.fits(type)
        else { return false }
        switch comparison.operator {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            return type != .transformable
        case .contains, .beginsWith, .endsWith, .like, .matches: return type == .string
        case .in, .between: return false
        }
    }

    private mutating func bind(_ comparison: PredicateNode.Comparison)
        throws(PredicateFormatError) -> PredicateNode
    {
        if let truth = comparison.constantTruth { return .constant(truth) }
        if let whole = try boundComposite(comparison) { return whole }
        var (left, leftKind) = try bind(comparison.left)
        var (right, rightKind) = try bind(comparison.right)
        let relation = comparison.operator
        kinds = (leftKind, rightKind)
        let said = asWritten(comparison)
        try checkCollections(said, leftKind, rightKind)
        let isWhole = comparison.modifier == .direct && leftKind.isCollection
        left = try converted(left, to: rightKind.member, beside: said.right)
        right = try converted(right, to: leftKind.member, beside: said.left)
        leftKind = leftKind.member
        rightKind = Self.kind(of: right) ?? rightKind.member
        leftKind = Self.kind(of: left) ?? leftKind
        let key = Self.key(of: said)
        if relation.isOfText || (relation == .contains && !isWhole)
            || (relation == .in && Self.isText(right))
        {
            guard leftKind.isText, rightKind.isText else {
                let wrong = leftKind.isText ? rightKind : leftKind
                throw PredicateFormatError(
                    "\(key ?? "an expression"): \(relation.rawValue) compares strings, not \(wrong.words)",
                    key: key)
            }
        } else {
            try checkKinds(said, leftKind, rightKind, key)
        }
        return .compare(
            left, relation, right, modifier: comparison.modifier, options: comparison.options)
    }

    /// A comparison in the words of whoever wrote it.
    private func asWritten(_ comparison: PredicateNode.Comparison) -> PredicateNode.Comparison {
        if written.isEmpty { return comparison }
        var said = comparison
        said.left = said.left.substitutingKnown(variables: written)
        said.right = said.right.substitutingKnown(variables: written)
        return said
    }

    private func checkCollections(
        _ comparison: PredicateNode.Comparison, _ left: ExpressionKind, _ right: ExpressionKind
    ) throws(PredicateFormatError) {
        let relation = comparison.operator
        if comparison.modifier != .direct {
            guard left.isCollection || left.isOpen else {
                throw PredicateFormatError(key: Self.key(of: comparison.left)) {
                    "\($0(comparison.left)) is not a collection: \(comparison.modifier.rawValue) requires one on the left of \(relation.rawValue)"
                }
            }
        } else if left.isCollection, relation != .contains, comparison.left != .anyKey {
            throw PredicateFormatError(key: Self.key(of: comparison.left)) {
                "\($0(comparison.left)) is a to-many relationship or another collection: use ANY, ALL, NONE or CONTAINS, or compare its @count"
            }
        }
        switch relation {
        case .in:
            guard right.isCollection || right.isText else {
                throw PredicateFormatError(key: Self.key(of: comparison)) {
                    "\($0(comparison.right)) is not a list or collection, which IN needs"
                }
            }
        case .between:
            switch comparison.right {
            case .list(let values) where values.count == 2: break
            case .aggregate(let members) where members.count == 2: break
            case .constant(.null): break
            default:
                throw PredicateFormatError(
                    "BETWEEN needs a list of two values", key: Self.key(of: comparison))
            }
        default:
            guard !right.isCollection else {
                throw PredicateFormatError(key: Self.key(of: comparison)) {
                    "\($0(comparison.right)) is a list or a collection: \(relation.rawValue) requires a single value on the right"
                }
            }
        }
    }

    private func checkKinds(
        _ comparison: PredicateNode.Comparison, _ left: ExpressionKind, _ right: ExpressionKind,
        _ key: String?
    ) throws(PredicateFormatError) {
        try checkKind(left, beside: right, comparison.operator, key)
        try checkKind(right, beside: left, comparison.operator, key)
        guard left.isComparable(to: right) else {
            throw PredicateFormatError(key: key) {
                "\(key ?? $0(comparison.left)), \(left.words), cannot be compared with \(right.words)"
            }
        }
    }

    /// Whether values of a kind can be compared so at all.
    private func checkKind(
        _ kind: ExpressionKind, beside other: ExpressionKind,
        _ relation: PredicateNode.Comparison.Operator, _ key: String?
    ) throws(PredicateFormatError) {
        switch kind {
        case .attribute(.transformable), .attribute(.composite), .attribute(.undefined):
            guard relation == .equal || relation == .notEqual, case .null = other else {
                throw PredicateFormatError(
                    "\(key ?? "it") is \(kind.words): it can only be compared with nil", key: key)
            }
        case .object, .attribute(.objectID):
            if relation.isOfOrder {
                throw PredicateFormatError(
                    "\(key ?? "SELF") is an object and has no order: \(relation.rawValue) cannot compare it",
                    key: key ?? "SELF")
            }
        default: break
        }
    }

    private static func isText(_ node: ExpressionNode) -> Bool {
        if case .constant(.string) = node { true } else { false }
    }

    /// What a node that was converted is now.
    private static func kind(of node: ExpressionNode) -> ExpressionKind? {
        switch node {
        case .constant(let value): ExpressionKind(of: value)
        case .list(let values):
            values.first { !$0.isNull }.map { ExpressionKind(of: $0) } ?? .null
        default: nil
        }
    }

    // MARK: Constants

    /// Constants as values of what they are compared with.
    private func converted(
        _ node: ExpressionNode, to kind: ExpressionKind, beside other: ExpressionNode
    ) throws(PredicateFormatError) -> ExpressionNode {
        switch node {
        case .constant(let value):
            return .constant(try converted(value, to: kind, beside: other))
        case .list(let values):
            var result: [Value] = []
            result.reserveCapacity(values.count)
            for value in values { result.append(try converted(value, to: kind, beside: other)) }
            return .list(result)
        case .aggregate(let members):
            var result: [ExpressionNode] = []
            for member in members {
                result.append(try converted(member, to: kind, beside: other))
            }
            return .aggregate(result)
        default: return node
        }
    }

    private func converted(_ value: Value, to kind: ExpressionKind, beside other: ExpressionNode)
        throws(PredicateFormatError) -> Value
    {
        if value.isNull { return value }
        switch kind {
        case .attribute(let type):
            if let exact = value.exactLiteral(of: type) { return exact }
            // A number that the type does not have is a fair question: nothing equals it.
            if type.isNumber, ExpressionKind(of: value).isNumber { return value }
            if ExpressionKind(of: value).isComparable(to: kind) { return value }
            throw PredicateFormatError(key: Self.key(of: other)) {
                "\($0(value)) is not \(kind.words) for \($0(other))"
            }
        case .object:
            if let id = value.asObjectID { return .objectID(id) }
            throw PredicateFormatError(key: Self.key(of: other) ?? "SELF") {
                "\($0(value)) is not an object id for \($0(other))"
            }
        default: return value
        }
    }

    // MARK: Keys

    /// The key that a comparison is about, for errors.
    static func key(of comparison: PredicateNode.Comparison) -> String? {
        key(of: comparison.left) ?? key(of: comparison.right)
    }

    /// The first key in a list. Each part is asked once: asked twice, as a lazy sequence would, a deep tree would never end.
    static func key(ofFirst parts: [ExpressionNode]) -> String? {
        for part in parts {
            if let key = key(of: part) { return key }
        }
        return nil
    }

    static func key(of node: ExpressionNode) -> String? {
        switch node {
        case .keyPath(let path), .path(_, let path): path
        case .evaluatedObject: "SELF"
        case .collection(_, let base, let path): key(of: base) ?? path
        case .index(let base, _), .cast(let base, _), .subquery(let base, _, _),
            .assignment(_, let base):
            key(of: base)
        case .function(_, let parts), .aggregate(let parts):
            key(ofFirst: parts)
        case .conditional(_, let one, let other), .set(_, let one, let other):
            key(of: one) ?? key(of: other)
        default: nil
        }
    }
}

extension Value {
    /// The object id that this is, or whose URI it is.
    fileprivate var asObjectID: ObjectID? {
        switch self {
        case .objectID(let id): id
        case .string(let text): URL(string: text).flatMap { ObjectID(uriRepresentation: $0) }
        case .uri(let uri): ObjectID(uriRepresentation: uri)
        default: nil
        }
    }
}

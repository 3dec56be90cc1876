// Predicates and expressions of an archive, as the same trees that parsing format strings creates.
//
//   1. The class of an object says what it is, but for functions: they are told apart by what they are called on.
//   2. A function of Foundation's own is called on a class of its, anything else on an expression.
//   3. A key path is one text, with operators such as @count in it.
//
// Classes and keys are Apple's, and not documented. A real store whose model has comparisons, compounds, functions, key paths,
// variables and constants is read in the tests. For the rest (NSSubqueryExpression, NSTernaryExpression, NSSetExpression,
// NSAggregateExpression) the keys are those that public listings of Foundation's encodeWithCoder: show; Apportable's open
// Foundation has the same for choices and subqueries, and Cappuccino's reader of such archives for sets and aggregates. No real
// archive of those four has been read here.
//
// What has no form here (a block, a class, a fetch) is refused with what it is.
//
// Invariants: an archive may lead in a circle, or to one part in very many ways: the depth, the number of parts and the bytes of
// names and constants have limits.
// Threads: a reader lives in one call.

import FoundationEssentials

/// The reason why an archived predicate or expression has no form here.
package struct ArchivedTreeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence.
    package let description: String
}

/// Makes trees of archived predicates and expressions.
package struct ArchivedTree {
    private static let deepest = 64
    private static let mostParts = 10_000
    private static let mostBytes = 4 << 20

    private var left = mostParts
    private var bytesLeft = mostBytes
    private var depth = 0

    /// The tree of a predicate.
    package static func predicate(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> PredicateNode
    {
        var reader = ArchivedTree()
        return try reader.predicate(archived)
    }

    /// The tree of an expression.
    package static func expression(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> ExpressionNode
    {
        var reader = ArchivedTree()
        return try reader.expression(archived)
    }

    private func error(_ sentence: String) -> ArchivedTreeError {
        ArchivedTreeError(description: sentence)
    }

    private mutating func enter() throws(ArchivedTreeError) {
        guard depth < Self.deepest, left > 0 else {
            throw error("it is too deep or too large")
        }
        depth += 1
        left -= 1
    }

    private mutating func leave() { depth -= 1 }

    /// Counts the bytes of a name or a constant, which may be shared in the archive and is not in what is made of the tree.
    private mutating func count(_ bytes: Int) throws(ArchivedTreeError) {
        bytesLeft -= bytes
        guard bytesLeft >= 0 else { throw error("it is too deep or too large") }
    }

    // MARK: Predicates

    private mutating func predicate(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> PredicateNode
    {
        try enter()
        defer { leave() }
        switch archived.type {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        case "NSCompoundPredicate":
            var parts: [PredicateNode] = []
            for part in archived.objects("NSSubpredicates") { parts.append(try predicate(part)) }
            switch archived.integer("NSCompoundPredicateType") {
            case 0 where parts.count == 1: return .not(parts[0])
            // A join of one or of none has no text: it is what it means.
            case 1 where parts.isEmpty: return .constant(true)
            case 2 where parts.isEmpty: return .constant(false)
            case 1: return parts.count == 1 ? parts[0] : .and(parts)
            case 2: return parts.count == 1 ? parts[0] : .or(parts)
            default: throw error("it combines predicates in an unknown way")
            }
        case "NSComparisonPredicate": return try comparison(archived)
        default: throw error("it has a predicate of the class \(archived.type)")
        }
    }

    private mutating func comparison(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> PredicateNode
    {
        guard let operation = archived.object("NSPredicateOperator") else {
            throw error("it has a comparison without an operator")
        }
        let modifier: PredicateNode.Comparison.Modifier
        switch operation.integer("NSModifier") ?? 0 {
        case 0: modifier = .direct
        case 1: modifier = .all
        case 2: modifier = .any
        default: throw error("it has a comparison with an unknown modifier")
        }
        let options = operation.integer("NSOptions") ?? operation.integer("NSFlags") ?? 0
        return .compare(
            try part("NSLeftExpression", of: archived), try self.operation(operation),
            try part("NSRightExpression", of: archived), modifier: modifier,
            options: .init(rawValue: UInt8(truncatingIfNeeded: options & 15)))
    }

    private func operation(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> PredicateNode.Comparison.Operator
    {
        let numbered: [PredicateNode.Comparison.Operator] = [
            .less, .lessOrEqual, .greater, .greaterOrEqual, .equal, .notEqual, .matches, .like,
            .beginsWith, .endsWith, .in,
        ]
        let number = archived.integer("NSOperatorType") ?? -1
        // Inequality is archived as a negated equality, under either number.
        if archived.flag("NSNegate") {
            if number == 4 || number == 5 { return .notEqual }
            throw error("it has a negated comparison")
        }
        switch number {
        case 0...10: return numbered[Int(number)]
        case 99: return .contains
        case 100: return .between
        default: throw error("it has a comparison of the type \(number)")
        }
    }

    // MARK: Expressions

    private mutating func part(_ key: String, of archived: ArchivedObject)
        throws(ArchivedTreeError) -> ExpressionNode
    {
        guard let part = archived.object(key) else {
            throw error("an expression of the class \(archived.type) lacks a part")
        }
        return try expression(part)
    }

    private mutating func parts(_ key: String, of archived: ArchivedObject)
        throws(ArchivedTreeError) -> [ExpressionNode]
    {
        var parts: [ExpressionNode] = []
        for part in archived.objects(key) { parts.append(try expression(part)) }
        return parts
    }

    private mutating func expression(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> ExpressionNode
    {
        try enter()
        defer { leave() }
        switch archived.type {
        case "NSSelfExpression": return .evaluatedObject
        case "NSAnyKeyExpression": return .anyKey
        case "NSVariableExpression": return .variable(try text("NSVariable", of: archived))
        case "NSKeyPathSpecifierExpression":
            return try path(try text("NSKeyPath", of: archived), of: .evaluatedObject)
        case "NSConstantValueExpression": return try constant(archived)
        case "NSAggregateExpression": return .braces(try parts("NSCollection", of: archived))
        case "NSKeyPathExpression": return try keyPath(archived)
        case "NSFunctionExpression": return try function(archived)
        case "NSTernaryExpression":
            guard let condition = archived.object("NSPredicate") else {
                throw error("a choice has no condition")
            }
            return .conditional(
                try predicate(condition), try part("NSTrueExpression", of: archived),
                try part("NSFalseExpression", of: archived))
        case "NSSubqueryExpression":
            guard let condition = archived.object("NSSubpredicate") else {
                throw error("a subquery has no condition")
            }
            return .subquery(
                try part("NSExpression", of: archived),
                variable: try text("NSVariable", of: archived),
                try predicate(condition))
        case "NSSetExpression":
            let operations: [Int64: ExpressionNode.SetOperator] = [
                5: .union, 6: .intersect, 7: .minus,
            ]
            guard let operation = archived.integer("NSExpressionType").flatMap({ operations[$0] })
            else { throw error("it combines collections in an unknown way") }
            return .set(
                operation, try part("NSLeftExpression", of: archived),
                try part("NSRightExpression", of: archived))
        default: throw error("it has an expression of the class \(archived.type)")
        }
    }

    private mutating func text(_ key: String, of archived: ArchivedObject)
        throws(ArchivedTreeError) -> String
    {
        guard let text = archived.text(key), !text.isEmpty else {
            throw error("an expression of the class \(archived.type) lacks a name")
        }
        try count(text.utf8.count)
        return text
    }

    // MARK: Key paths

    private mutating func keyPath(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> ExpressionNode
    {
        guard let name = archived.objects("NSArguments").first else {
            throw error("a key path has no path")
        }
        let key = name.type == "NSConstantValueExpression" ? "NSConstantValue" : "NSKeyPath"
        var base = ExpressionNode.evaluatedObject
        if let operand = archived.object("NSOperand") { base = try expression(operand) }
        return try path(try text(key, of: name), of: base)
    }

    /// A path of keys and operators.
    private func path(_ text: String, of base: ExpressionNode) throws(ArchivedTreeError)
        -> ExpressionNode
    {
        if base == .evaluatedObject, ["self", "SELF", "objectID"].contains(text) { return base }
        var node = base
        var keys: [Substring] = []
        var operators = 0
        for segment in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard !segment.isEmpty, segment != "@" else {
                throw error("the key path \(text) has a key without a name")
            }
            guard segment.first == "@" else {
                keys.append(segment)
                continue
            }
            let name = String(segment.dropFirst())
            guard let operation = ExpressionNode.CollectionOperator(rawValue: name) else {
                throw error("the key path \(text) has the operator \(segment)")
            }
            // Each is a level: a chain that is too long could not even be freed.
            operators += 1
            guard operators < PredicateNode.deepest else {
                throw error("it is too deep or too large")
            }
            if !keys.isEmpty { node = .path(keys.joined(separator: "."), of: node) }
            keys = []
            node = .collection(operation, of: node, path: nil)
        }
        if !keys.isEmpty { node = .path(keys.joined(separator: "."), of: node) }
        guard !node.isDeeper(than: PredicateNode.deepest) else {
            throw error("it is too deep or too large")
        }
        return node
    }

    // MARK: Functions

    private mutating func function(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> ExpressionNode
    {
        let selector = try text("NSSelectorName", of: archived)
        let target = archived.object("NSOperand")
        if selector == "valueForKeyPath:" || selector == "valueForKey:" {
            return try keyPath(archived)
        }
        let arguments = try parts("NSArguments", of: archived)
        if let target, !Self.isFoundation(target) {
            return .call(of: try expression(target), selector: selector, arguments)
        }
        if selector == "castObject:toType:", arguments.count == 2,
            case .constant(.string(let name)) = arguments[1],
            let type = ExpressionNode.CastType(name: name)
        {
            return .cast(arguments[0], to: type)
        }
        guard let function = ExpressionNode.Function(rawValue: selector),
            function.arity.contains(arguments.count)
        else { throw error("it calls the function \(selector)") }
        if arguments.count == 1, let operation = Self.operators[function] {
            // Of a collection the operator says the same, and is what derived attributes are written with.
            switch arguments[0] {
            case .keyPath, .path: return .collection(operation, of: arguments[0], path: nil)
            default: break
            }
        }
        return .function(function, arguments)
    }

    private static let operators: [ExpressionNode.Function: ExpressionNode.CollectionOperator] = [
        .count: .count, .sum: .sum,
    ]

    /// Whether functions that are called on it are those of the format language.
    private static func isFoundation(_ target: ArchivedObject) -> Bool {
        target.type == "NSConstantValueExpression"
            && target.text("NSConstantValueClassName") == "_NSPredicateUtilities"
    }

    // MARK: Constants

    private mutating func constant(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> ExpressionNode
    {
        if let name = archived.text("NSConstantValueClassName") {
            throw error("it names the class \(name)")
        }
        let value = archived["NSConstantValue"]
        if let object = archived.object("NSConstantValue"),
            ["NSArray", "NSMutableArray", "NSSet", "NSMutableSet"].contains(object.type)
        {
            var members: [Value] = []
            for member in object.elements {
                try enter()
                defer { leave() }
                members.append(try self.value(member, in: object))
            }
            return .list(members)
        }
        return .constant(try self.value(value, in: archived))
    }

    private mutating func value(_ value: PropertyList, in archived: ArchivedObject)
        throws(ArchivedTreeError) -> Value
    {
        let value = try plain(value, in: archived)
        switch value {
        case .string(let text): try count(text.utf8.count)
        case .binary(let bytes): try count(bytes.count)
        case .uri(let uri): try count(uri.absoluteString.utf8.count)
        default: break
        }
        return value
    }

    private func plain(_ value: PropertyList, in archived: ArchivedObject)
        throws(ArchivedTreeError) -> Value
    {
        switch archived.resolved(value) {
        case .null: return .null
        case .boolean(let truth): return .boolean(truth)
        case .integer(let number): return .integer(number)
        // As in a text: 0.1 means the decimal, not the double beside it.
        case .real(let number) where number.isFinite:
            return number == 0 && number.sign == .minus
                ? .double(number)
                : Decimal(exactText: number.description).map { .decimal($0) } ?? .double(number)
        case .text(let text): return .string(text)
        case .date(let date): return .date(date)
        case .data(let bytes): return .binary(Data(bytes))
        default: break
        }
        guard let object = archived.object(of: value) else {
            throw error("it has a constant that is not a value")
        }
        if object.type == "NSNull" { return .null }
        guard let value = ArchivedValue.value(object) else {
            throw error("it has a constant of the class \(object.type)")
        }
        return value
    }
}

// Splits expressions of groups into the part that is evaluated per object and the part that is evaluated per group.
//
// Threads: lives in one call.

struct TableLifting {
    private let terms: TableTerms
    private let entity: SchemaEntity
    private let schema: Schema
    /// The keys, bound.
    private(set) var keys: [ExpressionNode] = []
    private(set) var aggregates: [TableAggregate] = []
    private var binder: PredicateBinder
    /// Columns that are being expanded: none may refer to itself.
    private var open: Set<String> = []
    /// How deep in expressions, and in those of columns that they name, this is.
    private var depth = 0
    /// How many expressions were taken apart: each column can name another twice.
    private var steps = 0
    private static let mostSteps = 1 << 16

    init(
        _ terms: TableTerms, _ entity: SchemaEntity, _ schema: Schema,
        _ nullSemantics: NullSemantics
    ) {
        self.terms = terms
        self.entity = entity
        self.schema = schema
        binder = PredicateBinder(
            schema: schema, entity: entity, isOfStore: true, nullSemantics: nullSemantics)
    }

    /// Checks what groups are made by.
    mutating func bindKeys() throws(PredicateFormatError) {
        for (index, key) in terms.groupBy.enumerated() {
            if let figure = firstAggregate(in: key) {
                throw PredicateFormatError(
                    "\(Self.words(figure)) is an aggregate over a whole group: objects cannot be grouped by it",
                    key: PredicateBinder.key(of: key))
            }
            let (bound, kind) = try binder.bind(key)
            if binder.nullSemantics == .sql { try bound.checkSize() }
            if kind.isCollection {
                throw PredicateFormatError(
                    "\(key) crosses a to-many relationship: objects cannot be grouped by it",
                    key: PredicateBinder.key(of: key))
            }
            keys.append(bound)
            binder.variables[TablePlan.variable(ofKey: index)] = kind
            binder.written[TablePlan.variable(ofKey: index)] = key
        }
    }

    /// What variables stand for, as people write it.
    var written: [String: ExpressionNode] { binder.written }

    // MARK: Aggregates

    /// Whether there is a figure of a whole group in an expression.
    func hasAggregate(_ node: ExpressionNode) -> Bool { firstAggregate(in: node) != nil }

    /// The first figure of a whole group in an expression. The conditions of SUBQUERY are about its members, and have none.
    private func firstAggregate(in node: ExpressionNode) -> ExpressionNode? {
        if aggregate(node) != nil { return node }
        switch node {
        case .function(_, let parts), .aggregate(let parts): return firstAggregate(in: parts)
        case .cast(let base, _), .path(let base, _), .assignment(_, let base):
            return firstAggregate(in: base)
        case .conditional(let test, let one, let other):
            return firstAggregate(in: test) ?? firstAggregate(in: [one, other])
        default: return nil
        }
    }

    private func firstAggregate(in parts: [ExpressionNode]) -> ExpressionNode? {
        for part in parts {
            if let found = firstAggregate(in: part) { return found }
        }
        return nil
    }

    private func firstAggregate(in node: PredicateNode) -> ExpressionNode? {
        switch node {
        case .constant: return nil
        case .comparison(let comparison):
            return firstAggregate(in: [comparison.left, comparison.right])
        case .and(let parts), .or(let parts):
            for part in parts {
                if let found = firstAggregate(in: part) { return found }
            }
            return nil
        case .not(let part): return firstAggregate(in: part)
        }
    }

    /// A figure as people write it.
    private static func words(_ node: ExpressionNode) -> String {
        if case .collection(let operation, .evaluatedObject, nil) = node {
            return "@\(operation.rawValue)"
        }
        return "\(node)"
    }

    /// The figure that an expression is, if its argument is about one object and no collection.
    private func aggregate(_ node: ExpressionNode) -> TableAggregate? {
        switch node {
        case .function(let function, let arguments):
            guard function.isStatistical, arguments.count == 1, isSingle(arguments[0]) else {
                return nil
            }
            if function == .count, case .evaluatedObject = arguments[0] {
                return TableAggregate(.count, nil)
            }
            return TableAggregate(function, arguments[0])
        case .collection(let operation, let base, let path):
            guard let function = operation.function else { return nil }
            let argument = path.map { ExpressionNode.path($0, of: base) } ?? base
            guard isSingle(argument) else { return nil }
            if function == .count, case .evaluatedObject = argument {
                return TableAggregate(.count, nil)
            }
            return TableAggregate(function, argument)
        default: return nil
        }
    }

    /// The figure of a group that a figure of each object's members adds up to. An average adds up to none, nor does what
    /// objects may have in common: distinct values, or the members of another object that all lead to.
    private func whole(_ node: ExpressionNode) -> TableAggregate? {
        guard case .collection(let operation, let base, _) = node, isOwn(base) else { return nil }
        switch operation {
        case .count, .sum: return TableAggregate(.sum, node)
        case .minimum: return TableAggregate(.minimum, node)
        case .maximum: return TableAggregate(.maximum, node)
        default: return nil
        }
    }

    /// Whether a collection is a to-many relationship of each object, or what that leads to.
    private func isOwn(_ node: ExpressionNode) -> Bool {
        switch node {
        case .keyPath(let path):
            let first = path.prefix { $0 != "." }
            return !isSingle(.keyPath(String(first)))
        case .subquery(let collection, _, _): return isOwn(collection)
        default: return false
        }
    }

    /// Whether an expression gives one value for an object. What cannot be bound is: binding it says why it cannot.
    private func isSingle(_ node: ExpressionNode) -> Bool {
        if case .list = node { return false }
        var binder = binder
        guard let bound = try? binder.bind(node) else { return !hasVariable(node) }
        return !bound.kind.isCollection
    }

    private func hasVariable(_ node: ExpressionNode) -> Bool {
        if case .variable = node { true } else { false }
    }

    // MARK: Taking apart

    /// An expression of the variables of a group.
    mutating func lifted(_ node: ExpressionNode) throws(PredicateFormatError) -> ExpressionNode {
        try single(try lift(node), written: node)
    }

    /// An expression, bound, that gives one value. Of the commonest numbers the first is taken.
    ///
    /// - Parameter written: the expression as the terms say it, if that is another one.
    mutating func single(
        _ node: ExpressionNode, written: ExpressionNode? = nil
    ) throws(PredicateFormatError) -> ExpressionNode {
        let (bound, kind) = try binder.bind(node)
        if binder.nullSemantics == .sql { try bound.checkSize() }
        guard kind.isCollection else { return bound }
        if isMode(node) { return .index(of: bound, .first) }
        throw PredicateFormatError(key: PredicateBinder.key(of: written ?? node)) {
            "\($0(written ?? node)) returns many values, but a table cell has one"
        }
    }

    /// What rows are sorted by: an expression, bound, of texts unless they are compared as they are.
    mutating func sortTerm(_ key: SortKey, _ expression: ExpressionNode)
        throws(PredicateFormatError) -> TablePlan.SortTerm
    {
        if key.comparison != .binary {
            let kind = try binder.bind(expression).kind
            guard kind.isText else {
                throw PredicateFormatError(
                    "the comparison \(key.comparison.rawValue) is for strings, which \(key.key) is not",
                    key: key.key)
            }
        }
        return TablePlan.SortTerm(
            expression: expression, isAscending: key.isAscending, comparison: key.comparison,
            nulls: key.nulls, nilIsGreatest: key.nilIsGreatest)
    }

    private func isMode(_ node: ExpressionNode) -> Bool {
        switch node {
        case .function(.mode, _): true
        case .variable(let name):
            aggregates.indices.contains {
                aggregates[$0].function == .mode && TablePlan.variable(ofAggregate: $0) == name
            }
        default: false
        }
    }

    /// A condition on the variables of a group.
    mutating func lifted(_ node: PredicateNode) throws(PredicateFormatError) -> PredicateNode {
        let lifted = try lift(node)
        return try binder.bindWhole(lifted)
    }

    private mutating func lift(_ node: PredicateNode) throws(PredicateFormatError) -> PredicateNode
    {
        switch node {
        case .constant: return node
        case .comparison(let comparison):
            return .compare(
                try lift(comparison.left), comparison.operator, try lift(comparison.right),
                modifier: comparison.modifier, options: comparison.options)
        case .and(let parts): return .and(try lift(parts))
        case .or(let parts): return .or(try lift(parts))
        case .not(let part): return .not(try lift(part))
        }
    }

    private mutating func lift(_ nodes: [PredicateNode]) throws(PredicateFormatError)
        -> [PredicateNode]
    {
        var result: [PredicateNode] = []
        for node in nodes { result.append(try lift(node)) }
        return result
    }

    private mutating func lift(_ nodes: [ExpressionNode]) throws(PredicateFormatError)
        -> [ExpressionNode]
    {
        var result: [ExpressionNode] = []
        for node in nodes { result.append(try lift(node)) }
        return result
    }

    private mutating func lift(_ node: ExpressionNode) throws(PredicateFormatError)
        -> ExpressionNode
    {
        depth += 1
        steps += 1
        defer { depth -= 1 }
        guard depth <= PredicateNode.deepest, steps <= Self.mostSteps else {
            throw PredicateFormatError("the columns refer to each other too often", key: nil)
        }
        if let key = terms.groupBy.firstIndex(of: node) {
            return .variable(TablePlan.variable(ofKey: key))
        }
        if let found = aggregate(node) ?? whole(node) { return try variable(of: found, node) }
        switch node {
        case .constant, .list: return node
        case .variable(let name):
            guard let column = try column(name) else {
                throw PredicateFormatError("the variable $\(name) has no value", key: "$\(name)")
            }
            return column
        case .keyPath(let path):
            if let column = try column(path) { return column }
            try checkName(path)
            throw PredicateFormatError(
                "\(path) has many values in a group: group by it, or use min:, max: or sum:",
                key: path)
        case .path(let base, let path): return .path(of: try lift(base), path)
        case .function(let function, let parts): return .function(function, try lift(parts))
        case .aggregate(let parts): return .aggregate(try lift(parts))
        case .cast(let base, let type): return .cast(try lift(base), to: type)
        case .conditional(let test, let one, let other):
            return .conditional(try lift(test), try lift(one), try lift(other))
        default:
            throw PredicateFormatError(key: PredicateBinder.key(of: node)) {
                "\($0(node)) has many values in a group: group by it, or use an aggregate"
            }
        }
    }

    /// Refuses a sort key that is the name of neither a column nor a property.
    func checkSortKey(_ name: String) throws(PredicateFormatError) {
        if !terms.columns.contains(where: { $0.name == name }) { try checkName(name) }
    }

    /// Refuses what neither the entity nor the table has a name for.
    private func checkName(_ path: String) throws(PredicateFormatError) {
        // What stands where a name should be is no name.
        try KeyStandIn.check(path)
        var binder = binder
        do throws(PredicateFormatError) {
            _ = try binder.bind(.keyPath(path))
        } catch {
            throw PredicateFormatError(
                "\(error.message), and the table has no column of that name", key: error.key)
        }
    }

    /// - Parameter written: the figure as the terms say it.
    private mutating func variable(of found: TableAggregate, _ written: ExpressionNode)
        throws(PredicateFormatError) -> ExpressionNode
    {
        if let argument = found.argument, let inner = firstAggregate(in: argument) {
            throw PredicateFormatError(
                "\(Self.words(inner)) is an aggregate over a whole group already: \(Self.words(written)) cannot be computed from it",
                key: PredicateBinder.key(of: written))
        }
        var argument: ExpressionNode?
        var kind = ExpressionKind.attribute(.integer64)
        if let node = found.argument {
            argument = try binder.bind(node).node
            if binder.nullSemantics == .sql { try argument?.checkSize() }
            kind = try binder.bind(.function(found.function, [node])).kind
        }
        let bound = TableAggregate(found.function, argument)
        let index = aggregates.firstIndex(of: bound) ?? aggregates.count
        if index == aggregates.count {
            aggregates.append(bound)
            binder.variables[TablePlan.variable(ofAggregate: index)] = kind
        }
        binder.written[TablePlan.variable(ofAggregate: index)] = written
        return .variable(TablePlan.variable(ofAggregate: index))
    }

    /// What is in the column of a name; nil if there is none.
    private mutating func column(_ name: String) throws(PredicateFormatError) -> ExpressionNode? {
        guard let column = terms.columns.first(where: { $0.name == name }),
            column.expression != .keyPath(name), open.insert(name).inserted
        else { return nil }
        defer { open.remove(name) }
        let lifted = try lift(column.expression)
        // Where the name is used, what is wrong is told by the name.
        if case .variable(let variable) = lifted { binder.written[variable] = .keyPath(name) }
        return lifted
    }
}

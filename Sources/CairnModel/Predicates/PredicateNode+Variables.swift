// Substitutes values for variables.
//
// The variable of a SUBQUERY, and one that an expression gives a value to with `:=`, are not free: they stay.

extension PredicateNode {
    /// Substitutes expressions for the variables.
    ///
    /// ```swift
    /// let template = try PredicateNode(format: "price < $LIMIT AND category == $KIND")
    /// let cheap = try template.substituting(variables: ["LIMIT": .integer(10), "KIND": .string("toys")])
    /// ```
    ///
    /// - Throws: `PredicateFormatError` naming a variable that has no value; nil is a value, `.null`.
    public func substituting(variables: [String: ExpressionNode]) throws(PredicateFormatError)
        -> PredicateNode
    {
        let node = try walkable()
        var substitution = Substitution(values: variables)
        return try substitution.apply(to: node)
    }

    /// The same predicate with expressions in the place of its variables, and of paths that begin at one of them, as
    /// `$FETCH_SOURCE.name` does.
    ///
    /// - Parameter path: what stands for a variable's path; nil if nothing does, which makes it the path of what stands for
    ///   the variable.
    package func substituting(
        variables: [String: ExpressionNode],
        paths path: @escaping (_ variable: String, _ path: String) -> ExpressionNode?
    ) throws(PredicateFormatError) -> PredicateNode {
        let node = try walkable()
        var substitution = Substitution(values: variables)
        substitution.path = path
        return try substitution.apply(to: node)
    }

    /// Substitutes values for the variables.
    ///
    /// - Throws: `PredicateFormatError` naming a variable that has no value; nil is a value, `.null`.
    @_disfavoredOverload
    public func substituting(variables: [String: Value]) throws(PredicateFormatError)
        -> PredicateNode
    {
        try substituting(variables: variables.mapValues { .constant($0) })
    }

    /// The names of the variables to substitute.
    public var variables: Set<String> {
        var substitution = Substitution(values: [:], isSearch: true)
        // A search has a value for everything.
        _ = try? substitution.apply(to: self)
        return substitution.missing
    }
}

extension ExpressionNode {
    /// The same expression with others in the place of those variables that have one.
    func substitutingKnown(variables: [String: ExpressionNode]) -> ExpressionNode {
        var substitution = Substitution(values: variables, isSearch: true)
        return (try? substitution.apply(to: self)) ?? self
    }
}

private struct Substitution {
    let values: [String: ExpressionNode]
    /// Whether a variable without value is noted instead of being an error.
    var isSearch = false
    var missing: Set<String> = []
    /// What stands for paths that begin at a variable.
    var path: ((_ variable: String, _ path: String) -> ExpressionNode?)?
    /// Names that an expression gives values to, or a SUBQUERY to its members.
    private var own: [String] = []

    init(values: [String: ExpressionNode], isSearch: Bool = false) {
        self.values = values
        self.isSearch = isSearch
    }

    mutating func apply(to node: PredicateNode) throws(PredicateFormatError) -> PredicateNode {
        switch node {
        case .constant: return node
        case .comparison(var comparison):
            comparison.left = try apply(to: comparison.left)
            comparison.right = try apply(to: comparison.right)
            return .comparison(comparison)
        case .and(let nodes): return .and(try apply(to: nodes))
        case .or(let nodes): return .or(try apply(to: nodes))
        case .not(let node): return .not(try apply(to: node))
        }
    }

    private mutating func apply(to nodes: [PredicateNode]) throws(PredicateFormatError)
        -> [PredicateNode]
    {
        var result: [PredicateNode] = []
        for node in nodes { result.append(try apply(to: node)) }
        return result
    }

    private mutating func apply(to nodes: [ExpressionNode]) throws(PredicateFormatError)
        -> [ExpressionNode]
    {
        var result: [ExpressionNode] = []
        for node in nodes { result.append(try apply(to: node)) }
        return result
    }

    mutating func apply(to node: ExpressionNode) throws(PredicateFormatError)
        -> ExpressionNode
    {
        switch node {
        case .constant, .list, .evaluatedObject, .keyPath, .anyKey: return node
        case .variable(let name):
            if own.contains(name) { return node }
            if let value = values[name] { return value }
            guard isSearch else {
                throw PredicateFormatError("the variable $\(name) has no value", key: "$\(name)")
            }
            missing.insert(name)
            return node
        case .path(.variable(let name), let path)
        where !own.contains(name) && self.path != nil:
            if let value = self.path?(name, path) { return value }
            return .path(path, of: try apply(to: .variable(name)))
        case .path(let base, let path): return .path(path, of: try apply(to: base))
        case .collection(let operation, let base, let path):
            return .collection(operation, of: try apply(to: base), path: path)
        case .index(let base, let index):
            let base = try apply(to: base)
            guard case .at(let place) = index else { return .index(of: base, index) }
            return .index(of: base, .at(try apply(to: place)))
        case .function(let function, let parts): return .function(function, try apply(to: parts))
        case .call(let target, let selector, let parts):
            return .call(of: try apply(to: target), selector: selector, try apply(to: parts))
        case .cast(let base, let type):
            let base = try apply(to: base)
            if case .constant(let value) = base, let constant = value.literalCast(to: type) {
                return .constant(constant)
            }
            return .cast(base, to: type)
        case .conditional(let test, let one, let other):
            return .conditional(
                try apply(to: test), try apply(to: one), try apply(to: other))
        case .subquery(let collection, let variable, let condition):
            let collection = try apply(to: collection)
            own.append(variable)
            let condition = try apply(to: condition)
            own.removeLast()
            return .subquery(collection, variable: variable, condition)
        case .set(let operation, let left, let right):
            return .set(operation, try apply(to: left), try apply(to: right))
        case .aggregate(let members): return .braces(try apply(to: members))
        case .assignment(let name, let base):
            let base = try apply(to: base)
            // From here on, to the end of the predicate or of the SUBQUERY around it.
            own.insert(name, at: 0)
            return .assignment(name, base)
        case .fetch(let request, let context, let countsOnly):
            return .fetch(
                request: try apply(to: request), context: try apply(to: context),
                countsOnly: countsOnly)
        }
    }
}

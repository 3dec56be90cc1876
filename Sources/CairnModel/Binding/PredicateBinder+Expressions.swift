// Binds expressions, and determines the kinds of their values.

extension PredicateBinder {
    typealias Bound = (node: ExpressionNode, kind: ExpressionKind)

    mutating func bind(_ node: ExpressionNode) throws(PredicateFormatError) -> Bound {
        switch node {
        case .constant(let value): return (node, ExpressionKind(of: value))
        case .list(let values):
            let member = values.first { !$0.isNull }.map { ExpressionKind(of: $0) }
            return (node, .collection(member ?? .null))
        case .evaluatedObject: return (node, value ?? .object(entity))
        case .keyPath(let path): return (node, try kind(of: path, from: value ?? .object(entity)))
        case .variable(let name):
            guard let kind = variables[name] else {
                throw PredicateFormatError("the variable $\(name) has no value", key: "$\(name)")
            }
            return (node, kind)
        case .anyKey: return (node, .collection(.unknown))
        case .path(let base, let path):
            let (base, kind) = try bind(base)
            return (.path(of: base, path), try self.kind(of: path, from: kind))
        case .collection(let operation, let base, let path):
            return try collect(operation, base, path)
        case .index(let base, let index): return try self.index(base, index)
        case .function(let function, let arguments): return try call(function, arguments)
        case .cast(let base, let type):
            let (base, _) = try bind(base)
            return (.cast(base, to: type), Self.kind(of: type))
        case .conditional(let test, let one, let other):
            let test = try bind(test)
            let (one, oneKind) = try bind(one)
            let (other, otherKind) = try bind(other)
            let kind = if case .null = oneKind { otherKind } else { oneKind }
            return (.conditional(test, one, other), kind)
        case .subquery(let collection, let variable, let condition):
            return try subquery(collection, variable, condition)
        case .set(let operation, let left, let right):
            let (left, kind) = try bind(left)
            let (right, other) = try bind(right)
            guard kind.isCollection || kind.isOpen, other.isCollection || other.isOpen else {
                throw PredicateFormatError(
                    "\(operation.rawValue) needs two collections", key: Self.key(of: node))
            }
            return (.set(operation, left, right), kind)
        case .aggregate(let members):
            let (members, kinds) = try bind(members)
            let kind = kinds.first { if case .null = $0 { false } else { true } }
            return (.aggregate(members), .collection(kind ?? .null))
        case .assignment(let name, let base):
            if isInCondition {
                throw PredicateFormatError(
                    "a condition cannot assign $\(name) under SQL's null semantics, which do not evaluate its parts in order",
                    key: "$\(name)")
            }
            let (base, kind) = try bind(base)
            variables[name] = kind
            return (.assignment(name, base), kind)
        case .call(_, let selector, _):
            throw PredicateFormatError("unknown function \(selector)", key: selector)
        case .fetch:
            throw PredicateFormatError("FETCH cannot be used inside a predicate", key: "FETCH")
        }
    }

    private mutating func bind(_ nodes: [ExpressionNode]) throws(PredicateFormatError)
        -> (nodes: [ExpressionNode], kinds: [ExpressionKind])
    {
        var bound: ([ExpressionNode], [ExpressionKind]) = ([], [])
        for node in nodes {
            let (node, kind) = try bind(node)
            bound.0.append(node)
            bound.1.append(kind)
        }
        return bound
    }

    // MARK: Paths

    /// The kind of what a path refers to.
    func kind(of path: String, from base: ExpressionKind) throws(PredicateFormatError)
        -> ExpressionKind
    {
        switch base {
        case .unknown, .null: return .unknown
        case .collection(let member): return .collection(try kind(of: path, from: member.member))
        case .attribute(let type):
            switch (type, path) {
            case (_, "self"), (_, "SELF"): return base
            case (.string, "length"): return .attribute(.integer64)
            case (.date, "timeIntervalSinceReferenceDate"): return .attribute(.double)
            default:
                throw PredicateFormatError(
                    "a value of the type \(type.rawValue) has no property \(path)", key: path)
            }
        case .object(let entity): return try kind(of: path, of: entity)
        }
    }

    private func kind(of path: String, of entity: SchemaEntity) throws(PredicateFormatError)
        -> ExpressionKind
    {
        try KeyStandIn.check(path)
        // The longest beginning that is a property: composite attributes have points in their names.
        // A beginning that is longer than every name is not asked for: paths may have thousands of steps.
        var end = path.endIndex
        let longest = longestName(of: entity)
        if path.utf8.count > longest {
            end = path.utf8.index(path.startIndex, offsetBy: longest + 1)
            end = path[..<end].lastIndex(of: ".") ?? path.startIndex
        }
        while end > path.startIndex {
            if let kind = try property(
                String(path[..<end]), isLast: end == path.endIndex, of: entity)
            {
                guard end < path.endIndex else { return kind }
                return try self.kind(of: String(path[path.index(after: end)...]), from: kind)
            }
            guard let dot = path[..<end].lastIndex(of: ".") else { break }
            end = dot
        }
        throw PredicateFormatError(
            "\(entity.name) has no attribute or relationship \(path)", key: path)
    }

    /// The bytes of the longest name that a property of an entity has, or of what else a path may begin with.
    private func longestName(of entity: SchemaEntity) -> Int {
        var longest = "entity.name".utf8.count
        for column in entity.columns { longest = max(longest, column.name.utf8.count) }
        for relationship in entity.relationships {
            longest = max(longest, relationship.description.name.utf8.count)
        }
        for attribute in entity.attributes {
            longest = max(longest, attribute.description.name.utf8.count)
        }
        return longest
    }

    private func property(_ name: String, isLast: Bool, of entity: SchemaEntity)
        throws(PredicateFormatError) -> ExpressionKind?
    {
        if let index = entity.columnIndex(named: name),
            case .attribute(let type) = entity.columns[index].kind
        {
            return type == .transformable && readsTransformables ? .unknown : .attribute(type)
        }
        if let index = entity.relationshipIndex(named: name) {
            let relationship = entity.relationships[index]
            if relationship.storage == .transient { try refuseTransient(name, of: entity) }
            let target = ExpressionKind.object(schema.entities[relationship.destination])
            return relationship.description.isToMany ? .collection(target) : target
        }
        if let index = entity.attributeIndex(named: name) {
            let type = entity.attributes[index].description.type
            let isTransient = entity.attributes[index].description.isTransient
            if isTransient { try refuseTransient(name, of: entity) }
            if type == .composite {
                let what =
                    isTransient
                    ? "transient and composite: conditions cannot use it"
                    : "composite: use one of its elements, or compare it with nil"
                throw PredicateFormatError(
                    isLast
                        ? "\(name) of \(entity.name) is \(what)"
                        : "\(name) of \(entity.name) has no such element", key: name)
            }
            return .attribute(type)
        }
        switch name {
        case "objectID", "self", "SELF": return .object(entity)
        case "entity", "entity.name": return .attribute(.string)
        default: return nil
        }
    }

    private func refuseTransient(_ name: String, of entity: SchemaEntity)
        throws(PredicateFormatError)
    {
        guard isOfStore else { return }
        throw PredicateFormatError(
            "\(name) of \(entity.name) is transient: a store does not have its values", key: name)
    }

    // MARK: Collections

    private mutating func collect(
        _ operation: ExpressionNode.CollectionOperator, _ base: ExpressionNode, _ path: String?
    ) throws(PredicateFormatError) -> Bound {
        let key = Self.key(of: base)
        let (bound, kind) = try bind(base)
        guard kind.isCollection || kind.isOpen else {
            throw PredicateFormatError(key: key) {
                "\($0(base)) is not a collection, which @\(operation.rawValue) needs"
            }
        }
        let node = ExpressionNode.collection(operation, of: bound, path: path)
        if operation == .count {
            guard let path else { return (node, .attribute(.integer64)) }
            throw PredicateFormatError("@count is a number: it has no property \(path)", key: path)
        }
        let counted =
            try path.map { path throws(PredicateFormatError) in
                try self.kind(of: path, from: kind).member
            } ?? kind.member
        switch operation {
        case .sum, .average:
            guard counted.isNumber else {
                throw PredicateFormatError(
                    "@\(operation.rawValue) needs numbers, but \(path ?? key ?? "it") is \(counted.words)",
                    key: path ?? key)
            }
            return (node, .attribute(.double))
        case .minimum, .maximum:
            guard counted.hasExtremes else {
                throw PredicateFormatError(
                    "@\(operation.rawValue) needs values with an order, but \(path ?? key ?? "it") is \(counted.words)",
                    key: path ?? key)
            }
            return (node, counted)
        default: return (node, .collection(counted))
        }
    }

    private mutating func index(_ base: ExpressionNode, _ index: ExpressionNode.Index)
        throws(PredicateFormatError) -> Bound
    {
        let (bound, kind) = try bind(base)
        guard kind.isCollection || kind.isOpen else {
            throw PredicateFormatError(key: Self.key(of: base)) {
                "\($0(base)) is not a collection: it cannot be indexed"
            }
        }
        switch index {
        case .first, .last: return (.index(of: bound, index), kind.member)
        case .size: return (.index(of: bound, index), .attribute(.integer64))
        case .at(let place):
            let (place, placeKind) = try bind(place)
            guard placeKind.isNumber else {
                throw PredicateFormatError(
                    "an index must be a number, not \(placeKind.words)", key: Self.key(of: base))
            }
            return (.index(of: bound, .at(place)), kind.member)
        }
    }

    private mutating func subquery(
        _ collection: ExpressionNode, _ variable: String, _ condition: PredicateNode
    ) throws(PredicateFormatError) -> Bound {
        let (bound, kind) = try bind(collection)
        guard kind.isCollection || kind.isOpen else {
            throw PredicateFormatError(key: Self.key(of: collection)) {
                "\($0(collection)) is not a collection, which SUBQUERY needs"
            }
        }
        let outer = variables[variable]
        variables[variable] = kind.member
        let inner = try bind(condition)
        variables[variable] = outer
        return (.subquery(bound, variable: variable, inner), .collection(kind.member))
    }

    // MARK: Functions

    private mutating func call(
        _ function: ExpressionNode.Function, _ arguments: [ExpressionNode]
    ) throws(PredicateFormatError) -> Bound {
        guard function.arity.contains(arguments.count) else {
            throw PredicateFormatError(
                "\(function.rawValue) has \(arguments.count) arguments", key: function.rawValue)
        }
        let (nodes, kinds) = try bind(arguments)
        let node = ExpressionNode.function(function, nodes)
        let key = Self.key(ofFirst: arguments) ?? function.rawValue
        func require(_ isRight: Bool, _ what: String) throws(PredicateFormatError) {
            guard !isRight else { return }
            let name = function.sign.map { "the operator \($0.text)" } ?? function.rawValue
            throw PredicateFormatError(
                "\(name) takes \(what), but is given \(kinds.map(\.words).joined(separator: " and "))",
                key: key)
        }
        switch function {
        case .count: return (node, .attribute(.integer64))
        case .minimum, .maximum:
            try require(kinds.allSatisfy(\.member.hasExtremes), "values with an order")
            return (node, kinds[0].member)
        case .mode:
            try require(kinds.allSatisfy { $0.member.isNumber }, "numbers")
            return (node, .collection(.attribute(.double)))
        case .sum, .average, .median, .standardDeviation:
            try require(kinds.allSatisfy { $0.member.isNumber }, "numbers")
            return (node, .attribute(.double))
        case .uppercase, .lowercase, .canonical:
            try require(kinds[0].isText, "strings")
            return (node, .attribute(.string))
        case .length:
            try require(kinds[0].isText, "strings")
            return (node, .attribute(.integer64))
        case .now: return (node, .attribute(.date))
        case .noindex: return (node, kinds[0])
        case .distance:
            throw PredicateFormatError(
                "\(function.rawValue) is not supported: no attribute holds a location",
                key: function.rawValue)
        case .add where kinds.contains(where: \.isDate):
            try require(
                kinds.contains(where: \.isNumber), "numbers, or a date and a number of seconds")
            return (node, .attribute(.date))
        case .subtract where kinds[0].isDate:
            try require(
                kinds[1].isDate || kinds[1].isNumber,
                "numbers, two dates, or a date and a number of seconds")
            return (node, kinds[1].isDate ? .attribute(.double) : .attribute(.date))
        default:
            try require(kinds.allSatisfy(\.isNumber), "numbers")
            return (node, .attribute(.double))
        }
    }

    private static func kind(of type: ExpressionNode.CastType) -> ExpressionKind {
        switch type {
        case .date: .attribute(.date)
        case .number: .attribute(.double)
        case .decimalNumber: .attribute(.decimal)
        case .string, .class: .attribute(.string)
        case .uuid: .attribute(.uuid)
        case .url: .attribute(.uri)
        case .data: .attribute(.binary)
        case .objectID: .attribute(.objectID)
        }
    }
}

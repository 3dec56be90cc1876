// Converts a condition with SQL's null semantics to an equivalent one in two-valued logic.
//
//   1. Whoever asks wants to know where a condition is true; below a NOT, where it is false. Both are made part by part: what
//      is unknown is in neither, and no NOT is left but around single comparisons.
//   2. Most comparisons with nil are false in two values, which is right where they are to be true. `==` and `!=` of nil, and
//      every comparison that is to be false, get the tests beside them that their sides are not nil.
//   3. ANY and ALL ask their members as a SUBQUERY does where a member that is nil would be answered otherwise.
//
// What comes out means the same whether it is taken for two values or for SQL's, so that to bind it again changes nothing.
//
// Sides are there twice and more then. Conditions inside sides inside conditions, and so on, make a tree that nobody could
// walk to its end: it is refused. So is a tree that the tests beside its comparisons make too deep, and a condition that gives
// a value a name: its parts are moved, asked twice, or not at all.
//
// Threads: as the binder.

extension PredicateBinder {
    private typealias Comparison = PredicateNode.Comparison
    /// The kinds of both sides of a comparison.
    typealias Kinds = (left: ExpressionKind, right: ExpressionKind)

    /// A condition, bound, that holds where one of SQL is true, or where it is false.
    mutating func boundForSQL(_ node: PredicateNode, is truth: Bool) throws(PredicateFormatError)
        -> PredicateNode
    {
        switch node {
        case .constant(let value): return .constant(value == truth)
        case .not(let part): return try boundForSQL(part, is: !truth)
        case .and(let parts): return Self.joined(try boundForSQL(parts, is: truth), isAnd: truth)
        case .or(let parts): return Self.joined(try boundForSQL(parts, is: truth), isAnd: !truth)
        case .comparison(let comparison): return try boundForSQL(comparison, is: truth)
        }
    }

    private mutating func boundForSQL(_ parts: [PredicateNode], is truth: Bool)
        throws(PredicateFormatError) -> [PredicateNode]
    {
        var bound: [PredicateNode] = []
        bound.reserveCapacity(parts.count)
        for part in parts { bound.append(try boundForSQL(part, is: truth)) }
        return bound
    }

    /// Parts as one condition. What is joined in the same way already becomes part of it: planners look at these parts.
    private static func joined(_ parts: [PredicateNode], isAnd: Bool) -> PredicateNode {
        var flat: [PredicateNode] = []
        flat.reserveCapacity(parts.count)
        for part in parts {
            switch part {
            case .and(let inner) where isAnd && !inner.isEmpty: flat += inner
            case .or(let inner) where !isAnd && !inner.isEmpty: flat += inner
            default: flat.append(part)
            }
        }
        if flat.count <= 16 {
            // Several parts may need the same test.
            var seen: Set<PredicateNode> = []
            flat = flat.filter { !isTest($0) || seen.insert($0).inserted }
        }
        if flat.count == 1 { return flat[0] }
        return isAnd ? .and(flat) : .or(flat)
    }

    /// Whether a condition says no more than that a property is not nil.
    private static func isTest(_ node: PredicateNode) -> Bool {
        guard case .comparison(let comparison) = node, comparison.operator == .notEqual,
            case .keyPath = comparison.left
        else { return false }
        return comparison.right == .constant(.null) && comparison.modifier == .direct
    }

    // MARK: Comparisons

    private mutating func boundForSQL(_ comparison: Comparison, is truth: Bool)
        throws(PredicateFormatError) -> PredicateNode
    {
        let isInside = isInCondition
        isInCondition = true
        defer { isInCondition = isInside }
        let node = try boundComparison(comparison)
        let isEquality = comparison.operator == .equal || comparison.operator == .notEqual
        let hasNull = comparison.left == .constant(.null) || comparison.right == .constant(.null)
        if hasNull, isEquality { return truth ? node : .not(node) }
        switch node {
        case .constant(let value): return .constant(!hasNull && value == truth)
        case .comparison(let bound):
            switch bound.modifier {
            case .direct where bound.left != .anyKey: return one(bound, kinds, is: truth)
            case .direct, .any:
                let some = some(bound, kinds)
                return truth ? some : none(some)
            case .all: return truth ? every(bound) : someFails(bound, kinds)
            }
        default: return node
        }
    }

    /// Where a comparison of two values, bound, is true, or where it is false.
    private func one(_ comparison: Comparison, _ kinds: Kinds, is truth: Bool) -> PredicateNode {
        let node = PredicateNode.comparison(comparison)
        switch (comparison.operator, truth) {
        case (.equal, true), (.notEqual, false):
            // What is equal to something is not nil.
            return Self.joined(
                [Self.changed(comparison, .equal)] + leastTests(comparison), isAnd: true)
        case (.notEqual, true), (.equal, false):
            return Self.joined(
                [Self.changed(comparison, .notEqual)] + tests(comparison.left)
                    + tests(comparison.right), isAnd: true)
        case (_, true): return node
        case (.between, false): return isOutside(comparison, kinds)
        case (.in, false):
            return isNoMember(comparison, comparison.left, of: comparison.right, kinds.right)
        case (.contains, false):
            return isNoMember(comparison, comparison.right, of: comparison.left, kinds.left)
        default: return isKnown(.not(node), comparison)
        }
    }

    private static func changed(_ comparison: Comparison, _ relation: Comparison.Operator)
        -> PredicateNode
    {
        var changed = comparison
        changed.operator = relation
        return .comparison(changed)
    }

    /// A condition that also asks whether both sides are there.
    private func isKnown(_ node: PredicateNode, _ comparison: Comparison) -> PredicateNode {
        Self.joined([node] + tests(comparison.left) + tests(comparison.right), isAnd: true)
    }

    /// Where BETWEEN is false: it is two comparisons.
    private func isOutside(_ comparison: Comparison, _ kinds: Kinds) -> PredicateNode {
        let ends: [ExpressionNode]
        switch comparison.right {
        case .list(let values): ends = values.map { .constant($0) }
        case .aggregate(let members): ends = members
        default: ends = []
        }
        guard ends.count == 2 else { return .constant(false) }
        if ends.allSatisfy({ tests($0).isEmpty }) {
            return Self.joined(
                [.not(.comparison(comparison))] + tests(comparison.left), isAnd: true)
        }
        var parts: [PredicateNode] = []
        for (end, relation) in zip(ends, [Comparison.Operator.greaterOrEqual, .lessOrEqual]) {
            var half = comparison
            half.right = end
            half.operator = relation
            parts.append(one(half, kinds, is: false))
        }
        return Self.joined(parts, isAnd: false)
    }

    /// Where IN or CONTAINS is false.
    private func isNoMember(
        _ comparison: Comparison, _ member: ExpressionNode, of whole: ExpressionNode,
        _ kind: ExpressionKind
    ) -> PredicateNode {
        let isNot = PredicateNode.not(.comparison(comparison))
        if case .list(let values) = whole {
            if values.isEmpty { return .constant(true) }
            if values.contains(where: \.isNull) { return .constant(false) }
            return Self.joined([isNot] + tests(member), isAnd: true)
        }
        // One text in another.
        guard kind.isCollection else { return isKnown(isNot, comparison) }
        let count = ExpressionNode.collection(.count, of: whole, path: nil)
        let isEmpty = PredicateNode.compare(count, .equal, .constant(.integer(0)))
        let isFull = Self.joined(
            [isNot] + tests(member) + tests(count) + noNil(in: whole), isAnd: true)
        return Self.joined([isEmpty, isFull], isAnd: false)
    }

    /// That no member of a collection is nil.
    private func noNil(in collection: ExpressionNode) -> [PredicateNode] {
        // The objects of a relationship are there.
        if case .keyPath(let name) = collection, entity.relationshipIndex(named: name) != nil {
            return []
        }
        return [.not(.compare(collection, .equal, .constant(.null), modifier: .any))]
    }

    // MARK: Members

    /// Where a comparison is true of some member.
    private func some(_ comparison: Comparison, _ kinds: Kinds) -> PredicateNode {
        switch comparison.operator {
        case .equal:
            return Self.joined(
                [.comparison(comparison)] + tests(comparison.right), isAnd: true)
        case .notEqual:
            if noNil(in: comparison.left).isEmpty {
                return Self.joined(
                    [.comparison(comparison)] + tests(comparison.right), isAnd: true)
            }
            return someMember(comparison, kinds, is: true)
        default: return .comparison(comparison)
        }
    }

    /// Where a condition that some member meets is met by none. There is none either where no way leads to the members: their
    /// number is nil then, and the opposite of what is asked of nil is unknown to SQL.
    private func none(_ some: PredicateNode) -> PredicateNode {
        guard case .comparison(let comparison) = some,
            case .collection(.count, let members, nil) = comparison.left, !isAlwaysThere(members)
        else { return .not(some) }
        return Self.joined(
            [.compare(comparison.left, .equal, .constant(.null)), .not(some)], isAnd: false)
    }

    /// Where a comparison is true of every member.
    private func every(_ comparison: Comparison) -> PredicateNode {
        let node = PredicateNode.comparison(comparison)
        var tests: [PredicateNode] = []
        switch comparison.operator {
        case .equal, .notEqual: tests = self.tests(comparison.right)
        default: return node
        }
        let isNotEmpty = !tests.isEmpty
        if comparison.operator == .notEqual {
            tests += noNil(in: comparison.left)
        }
        let full = Self.joined([node] + tests, isAnd: true)
        guard isNotEmpty else { return full }
        // There are none either where no way leads to them.
        let isEmpty = none(
            .compare(
                .collection(.count, of: comparison.left, path: nil), .greater,
                .constant(.integer(0))))
        return Self.joined([isEmpty, full], isAnd: false)
    }

    /// Where a comparison is false of some member.
    private func someFails(_ comparison: Comparison, _ kinds: Kinds) -> PredicateNode {
        var opposite = comparison
        opposite.modifier = .any
        switch comparison.operator {
        case .equal: opposite.operator = .notEqual
        case .notEqual: opposite.operator = .equal
        default: return someMember(comparison, kinds, is: false)
        }
        return some(opposite, kinds)
    }

    /// Where a comparison of a member is true, or false, for one of them.
    private func someMember(_ comparison: Comparison, _ kinds: Kinds, is truth: Bool)
        -> PredicateNode
    {
        var name = "member"
        while variables[name] != nil { name += "_" }
        var inner = comparison
        inner.left = .variable(name)
        inner.modifier = .direct
        let members = ExpressionNode.subquery(
            comparison.left, variable: name, one(inner, (kinds.left.member, kinds.right), is: truth)
        )
        return .compare(
            .collection(.count, of: members, path: nil), .greater, .constant(.integer(0)))
    }

    // MARK: Tests

    /// The tests that show that two equal sides are not nil.
    private func leastTests(_ comparison: Comparison) -> [PredicateNode] {
        let (left, right) = (tests(comparison.left), tests(comparison.right))
        return left.isEmpty || right.isEmpty ? [] : left
    }

    /// The tests that show that an expression, bound, is not nil; none if it never is.
    private func tests(_ node: ExpressionNode) -> [PredicateNode] {
        switch node {
        case .constant(let value): return value.isNull ? [.constant(false)] : []
        case .list, .evaluatedObject, .anyKey, .subquery, .set, .aggregate: return []
        case .keyPath(let path) where isOfEveryObject(path): return []
        case .collection(let operation, let base, _):
            switch operation {
            case .average, .minimum, .maximum: break
            default: if isAlwaysThere(base) { return [] }
            }
        case .function(let function, _):
            switch function {
            case .count, .sum, .now, .random: return []
            default: break
            }
        case .index(let base, .size) where isAlwaysThere(base): return []
        case .assignment(_, let base): return tests(base)
        default: break
        }
        return [.compare(node, .notEqual, .constant(.null))]
    }

    /// Whether a collection, bound, is there for every object: no to-one relationship that may be nil leads to it.
    private func isAlwaysThere(_ collection: ExpressionNode) -> Bool {
        switch collection {
        case .keyPath(let path): isToMany(path, .object(entity))
        case .path(.variable(let name), let path):
            variables[name].map { isToMany(path, $0.member) } ?? false
        case .subquery(let base, _, _): isAlwaysThere(base)
        case .list, .anyKey, .set, .aggregate: true
        default: false
        }
    }

    /// Whether the first step of a path is a to-many relationship: what lies behind it is a collection in any case.
    private func isToMany(_ path: String, _ kind: ExpressionKind) -> Bool {
        guard case .object(let entity) = kind,
            let index = entity.relationshipIndex(
                named: String(path.prefix { $0 != "." }))
        else { return false }
        return entity.relationships[index].description.isToMany
    }

    /// Whether a key is one that every object answers, and no property has its name: then it is never nil.
    private func isOfEveryObject(_ key: String) -> Bool {
        switch key {
        case "objectID", "self", "SELF", "entity", "entity.name":
            entity.columnIndex(named: key) == nil && entity.relationshipIndex(named: key) == nil
                && entity.attributeIndex(named: key) == nil
        default: false
        }
    }
}

// MARK: Size

extension PredicateNode {
    /// So many parts are too many where sides are there twice.
    private static let largest = 1 << 20

    /// Refuses what would take too long to be walked, or what has become too deep.
    ///
    /// - Throws: `PredicateFormatError`.
    func checkSize() throws(PredicateFormatError) {
        try checkCount()
        if isDeeper(than: Self.deepest) { throw .tooDeepForSQL }
    }

    fileprivate func checkCount() throws(PredicateFormatError) {
        var rest = Self.largest
        count(down: &rest)
        guard rest > 0 else {
            throw PredicateFormatError(
                "the predicate nests too many conditions inside expressions for SQL's null semantics"
            )
        }
    }

    fileprivate func count(down rest: inout Int) {
        rest -= 1
        guard rest > 0 else { return }
        switch self {
        case .constant: break
        case .comparison(let comparison):
            comparison.left.count(down: &rest)
            comparison.right.count(down: &rest)
        case .and(let parts), .or(let parts): for part in parts { part.count(down: &rest) }
        case .not(let part): part.count(down: &rest)
        }
    }
}

extension PredicateFormatError {
    fileprivate static var tooDeepForSQL: PredicateFormatError {
        PredicateFormatError(
            "the predicate is nested more than \(PredicateNode.deepest) deep with the tests that SQL's null semantics add"
        )
    }
}

extension ExpressionNode {
    /// As a predicate's.
    func checkSize() throws(PredicateFormatError) {
        try PredicateNode.compare(self, .equal, .constant(.null)).checkCount()
        if isDeeper(than: PredicateNode.deepest) { throw .tooDeepForSQL }
    }

    fileprivate func count(down rest: inout Int) {
        rest -= 1
        guard rest > 0 else { return }
        switch self {
        case .constant, .list, .evaluatedObject, .keyPath, .variable, .anyKey: break
        case .path(let base, _), .collection(_, let base, _), .cast(let base, _),
            .assignment(_, let base):
            base.count(down: &rest)
        case .index(let base, let index):
            base.count(down: &rest)
            if case .at(let place) = index { place.count(down: &rest) }
        case .function(_, let parts), .aggregate(let parts):
            for part in parts { part.count(down: &rest) }
        case .call(let target, _, let parts):
            target.count(down: &rest)
            for part in parts { part.count(down: &rest) }
        case .conditional(let test, let one, let other):
            test.count(down: &rest)
            one.count(down: &rest)
            other.count(down: &rest)
        case .subquery(let collection, _, let condition):
            collection.count(down: &rest)
            condition.count(down: &rest)
        case .set(_, let left, let right):
            left.count(down: &rest)
            right.count(down: &rest)
        case .fetch(let request, let context, _):
            request.count(down: &rest)
            context.count(down: &rest)
        }
    }
}

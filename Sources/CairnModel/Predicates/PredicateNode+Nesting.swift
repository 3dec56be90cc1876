// The maximum depth of a tree.
//
// Whoever walks a tree calls itself for each level, and a condition across relationships for each step of its path: a tree
// from nowhere must not fill the stack. Texts cannot be as deep, the parser sees to that; trees that code builds can.
//
// AND in AND says no more than one AND: a loop that adds to a condition may do so as often as it likes.

extension PredicateNode {
    /// The maximum nesting depth. Anything deeper is rejected.
    package static let deepest = 512

    /// A tree that says the same and can be walked: of one that is too deep, with AND in AND and OR in OR as one.
    ///
    /// - Throws: `PredicateFormatError` if it is too deep even so.
    package func walkable() throws(PredicateFormatError) -> PredicateNode {
        guard isDeeper(than: Self.deepest) else { return self }
        let flat = joined(Self.deepest)
        if flat.isDeeper(than: Self.deepest) { throw .tooDeep }
        return flat
    }

    /// The same with joins in joins as one, as many levels down.
    private func joined(_ levels: Int) -> PredicateNode {
        guard levels > 0 else { return self }
        return switch self {
        case .constant, .comparison: self
        case .and(let parts): .and(Self.joined(parts, isAnd: true, levels - 1))
        case .or(let parts): .or(Self.joined(parts, isAnd: false, levels - 1))
        case .not(let part): .not(part.joined(levels - 1))
        }
    }

    private static func joined(_ parts: [PredicateNode], isAnd: Bool, _ levels: Int)
        -> [PredicateNode]
    {
        var result: [PredicateNode] = []
        // A list and no call for each level: there may be any number.
        var rest = Array(parts.reversed())
        while let part = rest.popLast() {
            switch part {
            case .and(let inner) where isAnd: rest += inner.reversed()
            case .or(let inner) where !isAnd: rest += inner.reversed()
            default: result.append(part.joined(levels))
            }
        }
        return result
    }

    /// Whether it has more levels.
    func isDeeper(than levels: Int) -> Bool {
        guard levels > 0 else { return true }
        let rest = levels - 1
        return switch self {
        case .constant: false
        case .comparison(let comparison):
            comparison.left.isDeeper(than: rest) || comparison.right.isDeeper(than: rest)
        case .and(let parts), .or(let parts): parts.contains { $0.isDeeper(than: rest) }
        case .not(let part): part.isDeeper(than: rest)
        }
    }
}

extension ExpressionNode {
    /// Refuses what is too deep to be walked.
    ///
    /// - Throws: `PredicateFormatError`.
    package func checkNesting() throws(PredicateFormatError) {
        if isDeeper(than: PredicateNode.deepest) { throw .tooDeep }
    }

    /// Whether it has more levels.
    func isDeeper(than levels: Int) -> Bool {
        guard levels > 0 else { return true }
        let rest = levels - 1
        return switch self {
        case .constant, .list, .evaluatedObject, .variable, .anyKey: false
        case .keyPath(let path): Self.isLonger(path, than: rest)
        case .path(let base, let path), .collection(_, let base, let path?):
            Self.isLonger(path, than: rest) || base.isDeeper(than: rest)
        case .collection(_, let base, nil), .cast(let base, _), .assignment(_, let base):
            base.isDeeper(than: rest)
        case .index(let base, let index):
            if case .at(let place) = index {
                base.isDeeper(than: rest) || place.isDeeper(than: rest)
            } else {
                base.isDeeper(than: rest)
            }
        case .function(_, let parts), .aggregate(let parts):
            parts.contains { $0.isDeeper(than: rest) }
        case .call(let target, _, let parts):
            target.isDeeper(than: rest) || parts.contains { $0.isDeeper(than: rest) }
        case .conditional(let test, let one, let other):
            test.isDeeper(than: rest) || one.isDeeper(than: rest) || other.isDeeper(than: rest)
        case .subquery(let collection, _, let condition):
            collection.isDeeper(than: rest) || condition.isDeeper(than: rest)
        case .set(_, let left, let right): left.isDeeper(than: rest) || right.isDeeper(than: rest)
        case .fetch(let request, let context, _):
            request.isDeeper(than: rest) || context.isDeeper(than: rest)
        }
    }

    /// Whether a path has more steps. Most are too short to be counted.
    private static func isLonger(_ path: String, than steps: Int) -> Bool {
        guard path.utf8.count / 2 >= steps else { return false }
        return path.utf8.count { $0 == UInt8(ascii: ".") } >= steps
    }
}

extension PredicateFormatError {
    fileprivate static var tooDeep: PredicateFormatError {
        PredicateFormatError("the predicate is nested more than \(PredicateNode.deepest) deep")
    }
}

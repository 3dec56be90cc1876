// Whether a condition has the same result for the same objects at any time.

extension PredicateNode {
    /// Whether it uses the current time, random numbers, or functions of the application: evaluating it again for the same
    /// objects can give another result.
    package var isFickle: Bool {
        switch self {
        case .constant: false
        case .comparison(let comparison): comparison.left.isFickle || comparison.right.isFickle
        case .and(let parts), .or(let parts): parts.contains(where: \.isFickle)
        case .not(let part): part.isFickle
        }
    }
}

extension ExpressionNode {
    /// Whether it may give something else for the same object when it is asked again.
    package var isFickle: Bool {
        switch self {
        // A variable is one of a SUBQUERY, or has a value: others are not asked.
        case .constant, .list, .evaluatedObject, .keyPath, .variable, .anyKey: false
        case .call, .fetch: true
        case .path(let base, _), .collection(_, let base, _), .cast(let base, _),
            .assignment(_, let base):
            base.isFickle
        case .index(let base, let index):
            if case .at(let place) = index {
                base.isFickle || place.isFickle
            } else {
                base.isFickle
            }
        case .function(.now, _), .function(.random, _), .function(.randomBelow, _): true
        case .function(_, let parts), .aggregate(let parts): parts.contains(where: \.isFickle)
        case .conditional(let test, let one, let other):
            test.isFickle || one.isFickle || other.isFickle
        case .subquery(let collection, _, let condition):
            collection.isFickle || condition.isFickle
        case .set(_, let left, let right): left.isFickle || right.isFickle
        }
    }
}

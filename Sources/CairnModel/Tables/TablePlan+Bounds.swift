// What a condition on groups says of how many rows a group has.

extension TablePlan {
    /// How many rows a group that is wanted can have. The condition itself is asked all the same.
    package var rowsWanted: ClosedRange<Int> {
        var bounds = (least: 1, most: Int.max)
        if keys.isEmpty { bounds.least = 0 }
        if let having { narrow(&bounds, having) }
        return bounds.least...max(bounds.least, bounds.most)
    }

    private func narrow(_ bounds: inout (least: Int, most: Int), _ node: PredicateNode) {
        switch node {
        case .and(let parts): for part in parts { narrow(&bounds, part) }
        case .comparison(let comparison):
            guard comparison.modifier == .direct,
                case .constant(.integer(let number)) = comparison.right,
                case .variable(let name) = comparison.left, let aggregate = aggregate(called: name),
                aggregate.function == .count, let limit = Int(exactly: number)
            else { return }
            switch comparison.operator {
            // There are at least as many rows as values that are not nil.
            case .greater where limit < Int.max: bounds.least = max(bounds.least, limit + 1)
            case .greaterOrEqual, .equal: bounds.least = max(bounds.least, limit)
            default: break
            }
            guard aggregate.argument == nil else { return }
            switch comparison.operator {
            case .less where limit > Int.min: bounds.most = min(bounds.most, limit - 1)
            case .lessOrEqual, .equal: bounds.most = min(bounds.most, limit)
            default: break
            }
        default: break
        }
    }

    private func aggregate(called name: String) -> TableAggregate? {
        aggregates.indices.first { Self.variable(ofAggregate: $0) == name }.map { aggregates[$0] }
    }
}

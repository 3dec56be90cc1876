// The limits that a condition on groups sets for their numbers of rows.

extension TablePlan {
    /// How many rows a group that passes the condition can have. The condition itself is evaluated anyway.
    package var rowsWanted: ClosedRange<Int> {
        var bounds = (least: 1, most: Int.max)
        if keys.isEmpty { bounds.least = 0 }
        if let having { narrow(&bounds, having) }
        return bounds.least...max(bounds.least, bounds.most)
    }

    /// Whether how many rows a group has is all that the condition asks.
    package var asksRowsAlone: Bool {
        guard let having else { return true }
        let parts: [PredicateNode] = if case .and(let parts) = having { parts } else { [having] }
        return parts.allSatisfy { part in
            guard case .comparison(let comparison) = part, comparison.modifier == .direct,
                case .constant(.integer(let number)) = comparison.right,
                number > Int64.min, number < Int64.max,
                case .variable(let name) = comparison.left, let aggregate = aggregate(called: name),
                aggregate.function == .count, aggregate.argument == nil
            else { return false }
            switch comparison.operator {
            case .less, .lessOrEqual, .equal, .greater, .greaterOrEqual: return true
            default: return false
            }
        }
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

// Comparisons of composite attributes with nil: they are nil if all their elements are.

extension PredicateBinder {
    /// `place == NULL` and `place != NULL` for a composite attribute, or for a composite inside one, as conditions on its
    /// elements; nil if the comparison is about something else.
    mutating func boundComposite(_ comparison: PredicateNode.Comparison)
        throws(PredicateFormatError) -> PredicateNode?
    {
        let side: ExpressionNode
        switch (comparison.left, comparison.right) {
        case (let left, .constant(.null)): side = left
        case (.constant(.null), let right): side = right
        default: return nil
        }
        guard comparison.modifier == .direct,
            comparison.operator == .equal || comparison.operator == .notEqual,
            let elements = try elements(of: side)
        else { return nil }
        kinds = (.unknown, .unknown)
        let parts = elements.map {
            PredicateNode.compare($0, comparison.operator, .constant(.null))
        }
        return comparison.operator == .equal ? .and(parts) : .or(parts)
    }

    /// The elements of the composite that a path leads to; nil if it leads to something else.
    private mutating func elements(of node: ExpressionNode) throws(PredicateFormatError)
        -> [ExpressionNode]?
    {
        switch node {
        case .keyPath(let path):
            guard value == nil else { return nil }
            return elements(of: path, entity)?.map { .keyPath($0) }
        case .path(let base, let path):
            let (bound, kind) = try bind(base)
            guard case .object(let entity) = kind else { return nil }
            return elements(of: path, entity)?.map { .path(of: bound, $0) }
        default: return nil
        }
    }

    private func elements(of path: String, _ entity: SchemaEntity) -> [String]? {
        // One that is transient has none: nothing is known of its elements.
        if let columns = entity.compositeColumns(path) {
            return columns.isEmpty ? nil : columns.map { entity.columns[$0].name }
        }
        guard let dot = path.firstIndex(of: "."),
            let index = entity.relationshipIndex(named: String(path[..<dot])),
            !entity.relationships[index].description.isToMany
        else { return nil }
        let target = schema.entities[entity.relationships[index].destination]
        return elements(of: String(path[path.index(after: dot)...]), target)?
            .map { "\(path[...dot])\($0)" }
    }
}

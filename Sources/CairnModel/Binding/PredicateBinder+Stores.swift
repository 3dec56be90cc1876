// Binding for code that has access only to stored properties.

extension PredicateNode {
    /// Like ``bound(to:in:nullSemantics:)``, but for a store: it rejects properties that no store keeps.
    ///
    /// - Throws: `PredicateFormatError` naming the key.
    package func boundForStore(
        to entity: SchemaEntity, in schema: Schema, nullSemantics: NullSemantics = .twoValued
    ) throws(PredicateFormatError) -> PredicateNode {
        let node = try walkable()
        var binder = PredicateBinder(
            schema: schema, entity: entity, isOfStore: true, nullSemantics: nullSemantics)
        return try binder.bindWhole(node)
    }

    /// Whether an expression in it gives a value a name: then one part means what it means only after those before it.
    package var hasAssignment: Bool {
        switch self {
        case .constant: false
        case .comparison(let comparison):
            comparison.left.hasAssignment || comparison.right.hasAssignment
        case .and(let nodes), .or(let nodes): nodes.contains(where: \.hasAssignment)
        case .not(let node): node.hasAssignment
        }
    }
}

extension ExpressionNode {
    /// The same expression checked against an entity and its schema, for a store: every key exists and is stored.
    ///
    /// - Throws: `PredicateFormatError` naming the key or the part.
    package func boundForStore(to entity: SchemaEntity, in schema: Schema)
        throws(PredicateFormatError) -> ExpressionNode
    {
        try checkNesting()
        var binder = PredicateBinder(schema: schema, entity: entity, isOfStore: true)
        return try binder.bind(self).node
    }

    var hasAssignment: Bool {
        switch self {
        case .constant, .list, .evaluatedObject, .keyPath, .variable, .anyKey: false
        case .assignment: true
        case .path(let base, _), .collection(_, let base, _), .cast(let base, _):
            base.hasAssignment
        case .index(let base, let index):
            if case .at(let place) = index {
                base.hasAssignment || place.hasAssignment
            } else {
                base.hasAssignment
            }
        case .function(_, let parts), .aggregate(let parts): parts.contains(where: \.hasAssignment)
        case .call(let target, _, let parts):
            target.hasAssignment || parts.contains(where: \.hasAssignment)
        case .conditional(let test, let one, let other):
            test.hasAssignment || one.hasAssignment || other.hasAssignment
        case .subquery(let collection, _, let condition):
            collection.hasAssignment || condition.hasAssignment
        case .set(_, let left, let right): left.hasAssignment || right.hasAssignment
        case .fetch(let request, let context, _): request.hasAssignment || context.hasAssignment
        }
    }
}

// The variables of value expressions, and the functions that can be called in them.
//
// Threads: values.

/// The names that value expressions can use.
package enum MappingTerms {
    package static let source = "source"
    package static let destination = "destination"
    package static let manager = "manager"
    package static let entityMapping = "entityMapping"
    package static let propertyMapping = "propertyMapping"
    package static let entityPolicy = "entityPolicy"

    /// All variables.
    package static let variables = [
        source, destination, manager, entityMapping, propertyMapping, entityPolicy,
    ]

    package static let destinationInstances = "destinationInstances"
    package static let sourceInstances = "sourceInstances"

    /// A function of the manager.
    package enum ManagerFunction: Sendable, Hashable {
        /// The new objects for old ones.
        case destinationInstances
        /// The old objects for new ones.
        case sourceInstances

        /// The function of a name: ours, or Core Data's selector.
        package init?(_ name: String) {
            switch name {
            case MappingTerms.destinationInstances,
                "destinationInstancesForEntityMappingNamed:sourceInstances:",
                "destinationInstancesForSourceRelationshipNamed:sourceInstances:":
                self = .destinationInstances
            case MappingTerms.sourceInstances,
                "sourceInstancesForEntityMappingNamed:destinationInstances:":
                self = .sourceInstances
            default: return nil
            }
        }

        /// Whether the first of two arguments is a relationship of the source, which says nothing that the second does not.
        package static func namesRelationship(_ name: String) -> Bool {
            name == "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
        }
    }
}

extension ExpressionNode {
    /// Calls a closure with the expression and with all that are part of it, also those in conditions.
    package func forEachNode(_ body: (ExpressionNode) -> Void) {
        body(self)
        switch self {
        case .constant, .list, .evaluatedObject, .keyPath, .variable, .anyKey: break
        case .path(let base, _), .collection(_, let base, _), .cast(let base, _),
            .assignment(_, let base):
            base.forEachNode(body)
        case .index(let base, let index):
            base.forEachNode(body)
            if case .at(let place) = index { place.forEachNode(body) }
        case .function(_, let parts), .aggregate(let parts):
            for part in parts { part.forEachNode(body) }
        case .call(let target, _, let parts):
            target.forEachNode(body)
            for part in parts { part.forEachNode(body) }
        case .conditional(let test, let one, let other):
            test.forEachOuterComparison { comparison in
                comparison.left.forEachNode(body)
                comparison.right.forEachNode(body)
            }
            one.forEachNode(body)
            other.forEachNode(body)
        case .subquery(let collection, _, let condition):
            collection.forEachNode(body)
            condition.forEachOuterComparison { comparison in
                comparison.left.forEachNode(body)
                comparison.right.forEachNode(body)
            }
        case .set(_, let left, let right):
            left.forEachNode(body)
            right.forEachNode(body)
        case .fetch(let request, let context, _):
            request.forEachNode(body)
            context.forEachNode(body)
        }
    }
}

extension PredicateNode {
    /// Calls a closure with the comparisons, but not with those inside their expressions.
    fileprivate func forEachOuterComparison(_ body: (Comparison) -> Void) {
        switch self {
        case .constant: break
        case .comparison(let comparison): body(comparison)
        case .and(let nodes), .or(let nodes):
            for node in nodes { node.forEachOuterComparison(body) }
        case .not(let node): node.forEachOuterComparison(body)
        }
    }
}

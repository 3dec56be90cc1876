// Objects that predicates name before they are saved.
//
// A save gives an object another id. In Core Data a predicate has the object, not its id, and goes on to name it; so here it
// keeps those whose ids will change, and says their ids when it is asked.
//
// Threads: that of the objects' context, where the predicates are asked that name them.

import CairnModel
import CairnObjects
import Foundation

/// Objects whose ids will change.
struct UnsavedObjects {
    private var objects: [ObjectID: ManagedObject] = [:]

    var isEmpty: Bool { objects.isEmpty }

    init() {}

    init(in value: EvaluatedValue) { note(value) }

    /// Notes the objects in a value.
    mutating func note(_ value: EvaluatedValue) {
        switch value {
        case .object(let object as ManagedObject) where object.objectID.isTemporary:
            objects[object.objectID] = object
        case .collection(let members): for member in members { note(member) }
        default: break
        }
    }

    mutating func add(_ others: UnsavedObjects) {
        objects.merge(others.objects) { first, _ in first }
    }

    /// The same predicate with the ids that the objects have now.
    func renewed(_ node: PredicateNode) -> PredicateNode {
        isEmpty ? node : node.replacingObjectIDs { objects[$0]?.objectID }
    }

    /// The same expression with the ids that the objects have now.
    func renewed(_ node: ExpressionNode) -> ExpressionNode {
        isEmpty ? node : node.replacingObjectIDs { objects[$0]?.objectID }
    }
}

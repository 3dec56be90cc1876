// A managed object as a predicate sees it that asks what transformable attributes are: their bytes stand for values, lists and
// dictionaries, which no store can be asked of.
//
// Threads: the object's.

import CairnModel
import CairnObjects

/// A managed object whose transformable attributes have the values that their bytes stand for.
final class TransformedObject: EvaluatedObject {
    private let object: ManagedObject

    init(_ object: ManagedObject) { self.object = object }

    var evaluatedID: ObjectID { object.evaluatedID }

    var evaluatedEntity: SchemaEntity { object.evaluatedEntity }

    func evaluatedColumn(_ index: Int) -> Value { object.evaluatedColumn(index) }

    func evaluatedAttribute(_ index: Int) -> Value { object.evaluatedAttribute(index) }

    func evaluatedTransformable(_ column: Int) -> EvaluatedValue {
        let bytes = EvaluatedValue.value(object.evaluatedColumn(column))
        let any = object.untyped(bytes.plain, column: column)
        if let value = EvaluatedValue(any: any) { return value }
        // What predicates know nothing of is not nil all the same, and a list of such has as many members.
        guard let members = any as? any Collection else { return bytes }
        return .collection(members.map { EvaluatedValue(any: $0) ?? bytes })
    }

    func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)? {
        object.evaluatedTarget(relationship).map(Self.transformed)
    }

    func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject] {
        object.evaluatedMembers(relationship).map(Self.transformed)
    }

    private static func transformed(_ object: any EvaluatedObject) -> any EvaluatedObject {
        (object as? ManagedObject).map(TransformedObject.init) ?? object
    }
}

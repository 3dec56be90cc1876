// Asks objects in memory.
//
// A predicate is bound to the entity of the object, so that its constants are values of the attributes' types, as when a store
// is asked. That is kept for the next object, since lists are filtered one object after the other.
//
// Threads: any.

import CairnModel
import CairnObjects
import Foundation
import Synchronization

/// A predicate, and what it takes to ask objects.
final class PredicateAnswers {
    private let given: PredicateNode
    /// Objects that it names whose ids will change.
    let unsaved: UnsavedObjects
    private let last = Mutex<Prepared?>(nil)

    /// The predicate, ready for objects of one entity, or for what is none.
    private struct Prepared {
        let entity: SchemaEntity?
        let evaluator: PredicateEvaluator
        /// Whether it asks what transformable attributes are, and not only whether they are nil.
        var readsTransformables = false

        func matches(_ value: EvaluatedValue) -> Bool {
            guard readsTransformables, case .object(let object) = value,
                let object = object as? ManagedObject
            else { return evaluator.matches(value) }
            return evaluator.matches(TransformedObject(object))
        }
    }

    init(_ node: PredicateNode, _ unsaved: UnsavedObjects) {
        given = node
        self.unsaved = unsaved
    }

    /// The predicate, with the ids that objects have now.
    var node: PredicateNode { unsaved.renewed(given) }

    /// Whether an object matches. A predicate that does not fit it ends the program with a sentence, as does a variable that has
    /// no value.
    func answer(for object: Any?, variables: [String: Any]?) -> Bool {
        guard let value = EvaluatedValue(any: object) else {
            fatalError(
                "a predicate cannot be asked of a \(object.map { "\(type(of: $0))" } ?? "nil"): it knows managed objects, values, dictionaries and collections of these"
            )
        }
        do throws(PredicateFormatError) {
            if let variables {
                var unsaved = unsaved
                let values = PredicateArguments.values(variables, &unsaved)
                let node = try node.substituting(variables: values)
                return try Self.prepared(node, for: value).matches(value)
            }
            return try prepared(for: value).matches(value)
        } catch {
            fatalError("\(node) cannot be asked: \(error.message)")
        }
    }

    private func prepared(for value: EvaluatedValue) throws(PredicateFormatError) -> Prepared {
        // Ids that may change are not kept.
        guard unsaved.isEmpty else { return try Self.prepared(node, for: value) }
        if let last = last.withLock({ $0 }), last.entity === value.boundEntity { return last }
        let prepared = try Self.prepared(node, for: value)
        last.withLock { $0 = prepared }
        return prepared
    }

    private static func prepared(_ node: PredicateNode, for value: EvaluatedValue)
        throws(PredicateFormatError) -> Prepared
    {
        guard let entity = value.boundEntity, let schema = value.schema else {
            // Binding to an entity says so itself.
            if let name = node.variables.min() {
                throw PredicateFormatError("the variable $\(name) has no value")
            }
            return Prepared(entity: nil, evaluator: try PredicateEvaluator(node))
        }
        do throws(PredicateFormatError) {
            return Prepared(
                entity: entity,
                evaluator: try PredicateEvaluator(try node.bound(to: entity, in: schema)))
        } catch {
            // What a store cannot be asked an object in memory can.
            guard let bound = try? node.boundInMemory(to: entity, in: schema) else { throw error }
            return Prepared(
                entity: entity, evaluator: try PredicateEvaluator(bound), readsTransformables: true)
        }
    }
}

extension EvaluatedValue {
    /// The schema of an object in a context.
    fileprivate var schema: Schema? {
        guard case .object(let object) = self else { return nil }
        return (object as? ManagedObject)?.managedObjectContext?.schema
    }

    /// The entity that a predicate is bound to; nil if there is no schema to look relationships up in.
    fileprivate var boundEntity: SchemaEntity? {
        guard case .object(let object) = self, schema != nil else { return nil }
        return object.evaluatedEntity
    }
}

// What a batch insert does with stored objects that none of its rows identifies.
//
//   1. Candidates are the objects of the entity and its descendants that the request's scope finds in the state before the
//      batch; without a scope all of them.
//   2. Those that no row names are missing. A row that is left out names its object all the same.
//   3. They are deleted as a batch delete would, or get values as by a batch update.
//
// Threads: values.

public import CairnModel
import FoundationEssentials

/// What a batch insert does with stored objects that no row identifies.
public enum MissingObjects: Sendable, Hashable {
    /// They do not change.
    case stay
    /// They are deleted, and their delete rules apply. If that would delete an object that a row identifies, the request
    /// fails with `.deleteDenied` and lists such objects: they are in the list, so they should exist.
    case delete
    /// They get new values, by property name as in ``BatchUpdateRequest/propertiesToUpdate``: values of attributes, of
    /// elements of composite attributes, and object ids for to-one relationships. Objects that already have these values
    /// are not written.
    case mark([String: Value])
}

/// What a batch insert does about missing objects, checked against a schema: what every store begins with.
///
/// An object, as most batches have none: they pass on nil, and no room for a plan.
package final class MissingPlan: Sendable {
    /// What is done about them.
    package enum Work: Sendable {
        case delete
        case mark(BatchUpdatePlan)
    }

    package let work: Work
    /// What finds the candidates; nil if all of the entity and its descendants are.
    package let scope: StoreFetch?
    private let entity: String

    fileprivate init(work: Work, scope: StoreFetch?, entity: String) {
        self.work = work
        self.scope = scope
        self.entity = entity
    }

    /// Whether missing objects go.
    package var isDeletion: Bool { if case .delete = work { true } else { false } }

    /// The error for a list that names nothing, if that is not allowed.
    package func emptyList(hasRows: Bool) -> StoreError {
        let list =
            hasRows ? "no row of the list identifies an object of the entity" : "the list is empty"
        let objects = scope == nil ? "every object" : "every object of the scope"
        let what =
            switch work {
            case .delete: "pruning would delete \(objects)"
            case .mark: "\(objects) would be marked as missing"
            }
        return StoreError(
            .invalidRequest, "\(list), and \(what); allow an empty list if that is intended",
            context: .init(entity: entity), cause: EmptyList())
    }
}

/// Why a batch insert was refused: its list names nothing, and all that is stored would be missing.
package struct EmptyList: Error {}

/// Why a batch insert was refused: rows have no key, and may not be without one.
package struct MissingKeys: Error {
    package let count: Int

    package init(count: Int) { self.count = count }
}

extension BatchInsertRequest {
    /// Whether there may be something to be done about missing objects, or to be said against it.
    package var concernsMissing: Bool {
        if refusal != nil || scope != nil { return true }
        if case .stay = missing { return false }
        return true
    }

    /// What is to be done about missing objects; nil if they stay.
    ///
    /// - Throws: `StoreError` naming the key that cannot be marked so, or what is wrong with the scope.
    package func missingPlan(in schema: Schema) throws(StoreError) -> MissingPlan? {
        if let refusal { throw refusal }
        guard let entity = schema.entity(named: entityName) else { return nil }
        let context = StoreError.Context(entity: entityName)
        switch missing {
        case .stay:
            guard scope == nil else {
                throw StoreError(
                    .invalidRequest,
                    "the request has a scope, but does not say what to do with missing objects: delete or mark them",
                    context: context)
            }
            return nil
        case .delete:
            return MissingPlan(
                work: .delete, scope: try boundScope(entity, schema), entity: entityName)
        case .mark(let values):
            guard !values.isEmpty else {
                throw StoreError(
                    .invalidRequest, "missing objects are to be marked, but no property is named",
                    context: context)
            }
            var update = BatchUpdateRequest(
                entityName: entityName, propertiesToUpdate: values.mapValues { .value($0) })
            update.validatesValues = validatesValues
            return MissingPlan(
                work: .mark(try BatchUpdatePlan(update, in: schema, now: Date())),
                scope: try boundScope(entity, schema), entity: entityName)
        }
    }

    private func boundScope(_ entity: SchemaEntity, _ schema: Schema) throws(StoreError)
        -> StoreFetch?
    {
        guard let scope else { return nil }
        var fetch = StoreFetch(entity: entity.index)
        do throws(PredicateFormatError) {
            fetch.predicate = try scope.boundForStore(
                to: entity, in: schema, nullSemantics: .twoValued)
        } catch {
            throw StoreError(error, entity: entity)
        }
        return fetch
    }
}

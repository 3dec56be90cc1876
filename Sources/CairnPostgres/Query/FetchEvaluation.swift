// Checks a fetch, and evaluates it on objects here: for conditions and sort orders without an equivalent in SQL.
//
// The server gives a superset of the objects; which of them match, and in what order, is decided by the same evaluation that
// contexts use for objects in memory.
//
// Threads: owned by one call.

import CairnModel
import CairnStore

/// A request, ready for evaluation.
struct FetchEvaluation {
    let entity: SchemaEntity
    /// The condition in two values, its keys and constants held against the entity; nil: there is none.
    var condition: PredicateNode? { evaluator?.predicate }
    private let evaluator: PredicateEvaluator?
    let paths: [SortPath]
    private let request: StoreFetch
    /// Of so many objects is read together what the condition asks beside them.
    private static let atOnce = 1024

    /// - Throws: `StoreError` with `.invalidRequest` naming what does not fit the entity.
    init(_ request: StoreFetch, in schema: Schema) throws(StoreError) {
        guard schema.entities.indices.contains(request.entity) else {
            throw StoreError(.invalidRequest, "the model has no entity \(request.entity)")
        }
        entity = schema.entities[request.entity]
        self.request = request
        do throws(PredicateFormatError) {
            let bound = try request.predicate?.boundForStore(
                to: entity, in: schema, nullSemantics: request.nullSemantics)
            evaluator = try bound.map { bound throws(PredicateFormatError) in
                try PredicateEvaluator(bound)
            }
        } catch {
            throw StoreError(error, entity: entity)
        }
        paths = try [SortPath](request.sort, of: entity, in: schema)
    }

    /// The rows that are the answer, in order, of those that may be.
    ///
    /// - Parameters:
    ///   - candidates: rising by number.
    ///   - isFiltered: whether all of them match.
    func answer(_ candidates: [Row], isFiltered: Bool, _ snapshot: any StoreSnapshot)
        throws(StoreError) -> [Row]
    {
        let objects = SnapshotObjects(snapshot)
        var found = candidates
        if let evaluator, !isFiltered {
            var matching: [Row] = []
            let paths = evaluator.predicate.objectPaths
            for start in stride(from: 0, to: candidates.count, by: Self.atOnce) {
                try checkCancelled()
                let part = candidates[start..<min(start + Self.atOnce, candidates.count)]
                objects.load(Array(part), along: paths)
                matching += part.filter { evaluator.matches(objects.object(of: $0)) }
                try objects.rethrow()
            }
            found = matching
        }
        if !paths.isEmpty { found = try sorted(found, objects) }
        let rest = found.dropFirst(request.offset)
        return Array(request.limit.map { rest.prefix($0) } ?? rest)
    }

    /// - Throws: `StoreError` with `.cancelled`, if the request was cancelled.
    func checkCancelled() throws(StoreError) {
        if request.isCancelled?() == true {
            throw StoreError(.cancelled, "the request was cancelled")
        }
    }

    private func sorted(_ rows: [Row], _ objects: SnapshotObjects) throws(StoreError) -> [Row] {
        let keys = try objects.keys(of: rows, along: paths)
        return rows.indices.sorted { left, right in
            paths.precedes(keys[left], keys[right]) ?? (left < right)
        }.map { rows[$0] }
    }
}

// Executes a fetch of the first rows in a sort order, without a filter, with the index that has that order
// and without a plan: planning such a fetch would take longer than executing it.
//
// Threads: any; nothing is kept.

import CairnModel
import CairnStore

enum FirstRows {
    /// The result; nil if the fetch is of another kind, requests more rows than an index is suited for, or
    /// encounters truncated keys.
    static func hits(_ fetch: StoreFetch, _ state: borrowing EngineState)
        -> (hits: [RowHit], plan: PlanName)?
    {
        guard fetch.predicate == nil, fetch.sort.count == 1, let limit = fetch.limit, limit > 0,
            fetch.sort[0].comparison == .binary, !fetch.sort[0].nilIsGreatest,
            state.catalog.schema.entities.indices.contains(fetch.entity)
        else { return nil }
        let catalog = state.catalog
        guard
            let index = catalog.fetchIndexesOfEntity[fetch.entity].last(where: {
                let definition = catalog.fetchIndexes[$0]
                return definition.parts.count == 1 && definition.names[0] == fetch.sort[0].key
            })
        else { return nil }
        let offset = max(0, fetch.offset)
        let ordered = state.fetchIndexes[index].ordered
        let (wanted, isTooMuch) = limit.addingReportingOverflow(offset)
        let family = fetch.includesSubentities ? catalog.family(of: fetch.entity) : [fetch.entity]
        // If the index contains objects of other entities, the planner decides what they cost.
        guard catalog.fetchIndexes[index].family.allSatisfy(family.contains) else { return nil }
        // The planner's estimate.
        let rows = family.reduce(0) { $0 + state.counts[$1] }
        guard !isTooMuch, wanted <= rows / QueryPlanner.look else { return nil }
        let isForward =
            fetch.sort[0].isAscending == catalog.fetchIndexes[index].parts[0].isAscending
        var cursor = OrderedCursor(
            ordered, ranks: 0..<ordered.count, isForward ? .forward : .backwardByKeys)
        let directory = state.directories[catalog.entities[fetch.entity].tree]
        var hits: [RowHit] = []
        hits.reserveCapacity(limit)
        cursor.skip(offset)
        while hits.count < limit, let number = cursor.next() {
            if cursor.isCut { return nil }
            cursor.prefetch(directory)
            guard let hit = state.hit(number, in: directory) else { return nil }
            hits.append(hit)
        }
        return (hits, PlanName(catalog.fetchIndexes[index].plan))
    }
}

// The queries to which requests are reduced.
//
// Threads: a value.

import CairnModel

/// One of the queries that a snapshot executes.
package enum StoreQuestion: Sendable {
    case fetch(StoreFetch)
    case count(StoreFetch)
    case table(StoreTableFetch)

    /// How a snapshot answers it. It is answered once more for that.
    package func plan(of snapshot: any StoreSnapshot) throws(StoreError) -> QueryPlan {
        switch self {
        case .fetch(let fetch): try snapshot.explain(fetch)
        case .count(let fetch): try snapshot.explainCount(fetch)
        case .table(let request): try snapshot.explain(request)
        }
    }
}

// The life of a random store, and the times at which it is asked.
//
//   1. Objects are inserted, changed and deleted in some commits.
//   2. The store is closed and opened.
//   3. More of 1, and compaction.
//   4. The store is closed and opened again.
//
// At each time the same files are open twice: with the model's fetch indexes and several threads, and without either. On a
// machine with PostgreSQL half of the stores are there a third time.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import StoreBackends

/// A store that is asked, and its objects in memory.
struct AskedStore {
    var made: RandomStore
    let graph: Graph
    /// With indexes, and without; and in other kinds of stores.
    let snapshots: [any StoreSnapshot]

    var store: LogStore { made.store }
    var schema: Schema { graph.schema }

    /// Random conditions on the objects.
    var conditions: RandomCondition {
        RandomCondition(schema: schema, ids: graph.objects.map(\.evaluatedID))
    }
}

enum StoredRounds {
    /// The number of questions in a round.
    static let questions = 100

    /// Runs rounds; in each of them the closure is called five times with how much is to be asked.
    ///
    /// - Parameters:
    ///   - everyDay: how many rounds there are in an ordinary run; each fourth is of a store of many blocks.
    ///   - whole: how many in a whole campaign.
    static func run(
        _ test: String, everyDay: Int, whole: Int,
        _ ask: (Int, inout AskedStore, inout RandomSource) throws -> Void
    ) throws {
        try Rounds.run(test, everyDay: everyDay, whole: whole) { random in
            let isLarge = random.seed % 4 == 0
            var made = try RandomStore(hasManyBlocks: isLarge, &random)
            func asking(
                _ count: Int, _ graph: Graph, _ snapshots: [any StoreSnapshot]
            ) throws {
                var asked = AskedStore(made: made, graph: graph, snapshots: snapshots)
                try ask(count, &asked, &random)
                made = asked.made
            }
            func asking(_ count: Int) throws {
                let plain = try made.plain()
                let graph = try Graph(made.store)
                let snapshots = [try made.store.snapshot(), try plain.snapshot()]
                if made.isPlain, Backend.allCases.contains(.postgres) {
                    try Backend.postgres.withPlace(made.schema) { place in
                        let copy = try graph.copy(to: place, as: made.store.identity)
                        try asking(count, graph, snapshots + [copy.snapshot()])
                    }
                } else {
                    try asking(count, graph, snapshots)
                }
                try plain.close()
            }
            if isLarge {
                try made.fill(&random, commits: 1, objects: 600...800)
            } else {
                try made.fill(
                    &random, commits: Int.random(in: 1...4, using: &random), objects: 1...30)
            }
            try asking(35)
            try made.reopen()
            try asking(15)
            try made.fill(&random, commits: 1, objects: 1...10)
            try asking(15)
            _ = try made.store.compact()
            try asking(20)
            try made.reopen()
            try asking(15)
            try made.store.close()
        }
    }
}

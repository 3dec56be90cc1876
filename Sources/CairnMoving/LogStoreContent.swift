// The contents of a log store in one state, for another store to take over.
//
// Threads: one at a time. The state is pinned as long as this lives.

import CairnFormat
package import CairnLog
import CairnModel
package import CairnStore

/// The contents of a log store, in one snapshot.
package final class LogStoreContent: StoreContent {
    private let store: LogStore
    private let snapshot: LogSnapshot
    private let pinned: PinnedState<EngineState>
    package let catalog: Catalog
    package let head: StoreContentHead
    package var identity: StoreIdentity { snapshot.identity }
    /// Whether the store keeps states of its past.
    package let hasPastStates: Bool

    package init(_ store: LogStore) throws(StoreError) {
        try store.checkOpen()
        self.store = store
        snapshot = LogSnapshot(engine: store.engine, name: "copying")
        pinned = try snapshot.readable()
        let state = pinned.state
        let metadata = state.catalog.metadata
        catalog = state.catalog.ofAnotherStore
        hasPastStates = metadata?.asOf != nil
        // Also what was handed out and is not in a commit yet.
        let issued = store.engine.withTurnAnyway { $0.nextNumbers }
        let numbers = state.catalog.trees.indices.map { tree in
            max(
                state.nextNumbers[tree], state.reserved[tree],
                tree < issued.count ? issued[tree] : 1)
        }
        let isTracked = metadata?.history?.isTracked ?? false
        head = StoreContentHead(
            lastCommit: state.commit, nextNumbers: numbers, metadata: metadata?.values ?? [:],
            history: isTracked ? metadata?.history : nil)
    }

    private var rows: PlacedRowReader { PlacedRowReader(store.engine.reader, pinned.state) }

    /// Without places for the order of lists the rows have none: they stand by their numbers.
    private func complete(_ places: [Int64?], of entity: Int) -> [Int64?] {
        let count = catalog.entities[entity].orders.count
        return places.count == count ? places : Array(repeating: nil, count: count)
    }

    package func forEachRow(
        ofTree tree: Int, _ body: (PartialStore.PlacedRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        try store.engine.reader.withWholeState { () throws(StoreError) in
            try rows.forEachRow(ofTree: tree) { row throws(StoreError) in
                var row = row
                row.places = complete(row.places, of: row.entity)
                try body(row)
            }
        }
    }

    package func forEachPair(
        of pairs: Int, _ body: (PartialStore.PlacedPair) throws(StoreError) -> Void
    ) throws(StoreError) {
        let tree = catalog.entities[catalog.entityIndex(ofPairs: pairs)].tree
        try forEachRow(ofTree: tree) { row throws(StoreError) in
            guard let pair = PartialStore.PlacedPair(row, catalog) else {
                throw StoreError(
                    .damaged, "row \(row.number) of a relationship lacks one of its ends",
                    context: .init(entity: catalog.entities[row.entity].name))
            }
            try body(pair)
        }
    }

    package func forEachRedirect(
        _ body: (PartialStore.PlacedRedirect) throws(StoreError) -> Void
    ) throws(StoreError) {
        for redirect in rows.redirects { try body(redirect) }
    }

    package func forEachTransaction(
        _ body: (PersistentHistoryTransaction) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let history = head.history else { return }
        let cursor = try store.historyCursor(after: history.horizon)
        while let transaction = try cursor.next() {
            guard transaction.transactionNumber <= head.lastCommit else { return }
            try body(transaction)
        }
    }
}

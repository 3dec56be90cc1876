// A whole store in a fixed state, as it is handed over to become another store: everything by the numbers that it has, so that
// the other store is the same one in another place.
//
//   catalog         what the numbers mean
//   head            how far commits and numbers have been given, metadata, how the history is kept
//   rows, pairs     as they are stored, with their versions and their places in ordered lists
//   redirects       which ids lead to other objects than their own
//   transactions    the history, as far as it is retained
//
// States of the past are not part of it: they are of the log, and of the place where they were kept.
//
// Whoever takes it reads it once, in this order. Rows come one by one, so that no more than some of them is in memory.

package import CairnFormat
package import CairnLog
package import CairnModel
package import CairnStore

/// A store in a fixed state, to be taken over by another one.
package protocol StoreContent {
    /// It has neither metadata nor a place.
    var catalog: Catalog { get }
    var identity: StoreIdentity { get }
    var head: StoreContentHead { get }

    /// Hands over the objects of a tree of the catalog, by rising numbers.
    func forEachRow(
        ofTree tree: Int, _ body: (PartialStore.PlacedRow) throws(StoreError) -> Void
    ) throws(StoreError)

    /// Hands over pairs of the schema, by rising numbers.
    func forEachPair(
        of pairs: Int, _ body: (PartialStore.PlacedPair) throws(StoreError) -> Void
    ) throws(StoreError)

    /// Hands over the redirects in force.
    func forEachRedirect(
        _ body: (PartialStore.PlacedRedirect) throws(StoreError) -> Void
    ) throws(StoreError)

    /// Hands over the transactions that are retained, by rising numbers.
    func forEachTransaction(
        _ body: (PersistentHistoryTransaction) throws(StoreError) -> Void
    ) throws(StoreError)
}

/// What a store says of itself beside its objects.
package struct StoreContentHead: Sendable {
    /// The number of its last commit.
    package var lastCommit: UInt64
    /// By tree of the catalog: a number below which none is given any more.
    package var nextNumbers: [UInt32]
    /// What programs keep with it.
    package var metadata: [String: Value]
    /// How its history is kept; nil: it has none.
    package var history: HistorySettings?

    package init(
        lastCommit: UInt64, nextNumbers: [UInt32], metadata: [String: Value],
        history: HistorySettings?
    ) {
        self.lastCommit = lastCommit
        self.nextNumbers = nextNumbers
        self.metadata = metadata
        self.history = history
    }
}

/// What was taken over of a store.
public struct StoreCopyReport: Sendable, Hashable {
    /// How many objects there are.
    public package(set) var objects = 0
    /// How many pairs of objects, of relationships that are kept as such.
    public package(set) var pairs = 0
    /// How many ids lead to other objects than their own.
    public package(set) var redirects = 0
    /// How many transactions the history has.
    public package(set) var transactions = 0
    /// Whether the store keeps states of its past, which are not taken over.
    public package(set) var leavesPastStates = false

    package init() {}
}

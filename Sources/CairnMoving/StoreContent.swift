// The contents of a store in one snapshot, to create another store from them. Everything keeps its numbers, so that the
// other store is the same one in another location.
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

/// The contents of a store in one snapshot, for another store to take over.
package protocol StoreContent {
    /// It has no metadata and no location.
    var catalog: Catalog { get }
    var identity: StoreIdentity { get }
    var head: StoreContentHead { get }

    /// Passes the objects of a tree of the catalog, by ascending numbers.
    func forEachRow(
        ofTree tree: Int, _ body: (PartialStore.PlacedRow) throws(StoreError) -> Void
    ) throws(StoreError)

    /// Passes the pairs of the schema, by ascending numbers.
    func forEachPair(
        of pairs: Int, _ body: (PartialStore.PlacedPair) throws(StoreError) -> Void
    ) throws(StoreError)

    /// Passes the current redirects.
    func forEachRedirect(
        _ body: (PartialStore.PlacedRedirect) throws(StoreError) -> Void
    ) throws(StoreError)

    /// Passes the retained transactions, by ascending numbers.
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

/// What was copied from a store.
public struct StoreCopyReport: Sendable, Hashable {
    /// The number of objects.
    public package(set) var objects = 0
    /// The number of pairs of objects, in relationships that are stored as pairs.
    public package(set) var pairs = 0
    /// The number of redirected ids.
    public package(set) var redirects = 0
    /// The number of transactions in the history.
    public package(set) var transactions = 0
    /// Whether the store keeps past states, which are not copied.
    public package(set) var leavesPastStates = false

    package init() {}
}

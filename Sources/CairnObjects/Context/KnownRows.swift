// Which rows a context may show again after a refresh, instead of what is stored now.
//
// Core Data keeps the rows of a store beside the objects of its contexts: saves bring them up to date, batch requests do not.
// So a refreshed object shows what a save has written, but not what a batch request has. Here objects keep their rows
// themselves, and read the newest ones when they have been refreshed; they keep them only if all that has been committed since
// they were read is known to be of the context's own batch requests and saves:
//
//   floor    a commit that every row of the context is of, or of a later one
//   own      how many commits behind it are the context's own
//
// Somebody else's commit makes the number of commits greater than that. Then nothing is kept until all rows have been let go.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// What has been committed since a context began to read.
struct KnownRows {
    private var floor: UInt64?
    private var own: UInt64 = 0
    /// Whether a batch request of the context has written something since.
    private(set) var hidesBatches = false
    /// When an object was last refreshed.
    var refreshed: ContinuousClock.Instant?

    /// - Parameter store: nil for a context that does not read the store itself.
    init(of store: (any PersistentStore)?) { floor = try? store?.snapshot().commit }

    /// The context has saved, to one store or to several.
    mutating func noteSave(_ stores: Int = 1) { own += UInt64(stores) }

    /// The context has carried a batch request out that wrote something.
    mutating func noteBatch() {
        own += 1
        hidesBatches = true
    }

    /// Whether nobody else has committed anything.
    func areKnown(at commit: UInt64) -> Bool { floor.map { $0 + own == commit } ?? false }

    /// The context has let go of all its rows, or reads others than the newest ones from now on, of which nothing is known.
    mutating func begin(at commit: UInt64?) {
        floor = commit
        own = 0
        hidesBatches = false
    }
}

extension ManagedObjectContext {
    /// The context has let go of all its rows.
    func beginKnowingRows() {
        // A child reads no store.
        if parent == nil { knownRows.begin(at: readsNewest ? try? store.snapshot().commit : nil) }
    }

    /// Whether an object that becomes a fault now shows the row that it has when it is touched again.
    var keepsRows: Bool {
        guard knownRows.hidesBatches, stalenessInterval != 0, readsNewest,
            let commit = try? store.snapshot().commit, knownRows.areKnown(at: commit)
        else { return false }
        knownRows.refreshed = stalenessInterval > 0 ? .now : nil
        return true
    }

    /// Whether a row that was kept may be shown still.
    func isKept(_ object: ManagedObject) -> Bool {
        guard stalenessInterval != 0, readsNewest, let commit = try? store.snapshot().commit,
            knownRows.areKnown(at: commit)
        else { return false }
        if stalenessInterval < 0 { return true }
        return knownRows.refreshed.map {
            $0.duration(to: .now) < .seconds(stalenessInterval)
        } ?? false
    }
}

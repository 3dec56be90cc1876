// Whether the rows that a context has read are what is stored by now, as far as it can tell without looking: lists that objects
// name the sections of are remembered only then. All that has been committed since the rows were read has to be known to be of
// the context's own saves:
//
//   floor    a commit that every row of the context is of, or of a later one
//   own      how many commits behind it are the context's own
//
// Somebody else's commit makes the number of commits greater than that. Then nothing is known until all rows have been let go.
// A batch request of the context's own leaves the objects that it has as they were, until they are refreshed.
//
// A context that merges by itself from a state on of which it knew its rows has what is stored whenever nothing waits.
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
    /// Whether the context merges whatever is committed from that state on of which its rows were known.
    fileprivate(set) var mergesTheRest = false

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

    /// Whether they are what is stored by then.
    func areNewest(at commit: UInt64) -> Bool { !hidesBatches && areKnown(at: commit) }

    /// The context has let go of all its rows, or reads others than the newest ones from now on, of which nothing is known.
    mutating func begin(at commit: UInt64?) {
        floor = commit
        own = 0
        hidesBatches = false
        mergesTheRest = false
    }
}

extension ManagedObjectContext {
    /// The context has let go of all its rows.
    func beginKnowingRows() {
        // A child reads no store.
        guard parent == nil else { return }
        knownRows.begin(at: readsNewest ? try? store.snapshot().commit : nil)
        knownRows.mergesTheRest = readsNewest && inbox != nil
    }

    /// The context begins to merge by itself, or ends it.
    func noteMerging() {
        if changed.count == 0, prefetched == nil, registry.objects.isEmpty {
            return beginKnowingRows()
        }
        guard inbox != nil, readsNewest, let commit = try? store.snapshot().commit else {
            knownRows.mergesTheRest = false
            return
        }
        knownRows.mergesTheRest = knownRows.areNewest(at: commit)
    }

    /// Whether all objects of the context are, and show, what is stored in a state. It may be so where this cannot tell: after
    /// a commit of somebody else whom the context does not merge by itself, until all objects have been refreshed.
    func shows(_ state: StoreState) -> Bool {
        guard parent == nil, readsNewest, changed.count == 0, !hasSetTransients,
            !hasTransientRelationships, !isMergingChanges
        else { return false }
        if knownRows.areNewest(at: state.commit) { return true }
        return knownRows.mergesTheRest && inbox?.hasTaken(state.commits) == true
    }
}

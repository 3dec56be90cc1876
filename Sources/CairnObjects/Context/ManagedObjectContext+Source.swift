// Which state of the store a context reads: the one place that decides it.
//
// The newest one: each question takes a snapshot of its own, and the commonest ones are asked without any.
//
// Everything that reads comes here: fetches, counts and tables, faults, members, referrers, what is read ahead, refreshing,
// explaining. What writes goes to the store itself, which works on its newest state.
//
// Threads: the context's.

import CairnStore

extension ManagedObjectContext {
    /// The state that is read now.
    @inline(__always) func source() throws(StoreError) -> any StoreSnapshot {
        try store.snapshot()
    }

    /// The store, if it finds objects by their keys at once and its newest state is what is read.
    @inline(__always) var keyedSource: (any KeyedStore)? { keyedStore }
}

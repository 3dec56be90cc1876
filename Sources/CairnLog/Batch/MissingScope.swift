// Which objects can be missing from a batch.
//
// Threads: within the turn, in one thread.

import CairnStore

/// What finds the objects of which those go, or are marked, that no row of a batch names.
///
/// An object, as most batches have none: a state in the inserter itself is filled and moved with every batch.
final class MissingScope {
    let fetch: StoreFetch
    /// The state before the batch: what its rows do to the condition does not count.
    let before: EngineState

    init(fetch: StoreFetch, before: EngineState) {
        self.fetch = fetch
        self.before = before
    }
}

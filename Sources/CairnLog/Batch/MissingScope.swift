// The objects that can be missing from a batch.
//
// Threads: within the turn, in one thread.

import CairnStore

/// Finds the objects that no row of a batch identifies, to delete or mark them.
///
/// A class, because most batches have none: state in the inserter itself would be filled and moved with every
/// batch.
final class MissingScope {
    let fetch: StoreFetch
    /// The state before the batch: what its rows do to the condition does not count.
    let before: EngineState

    init(fetch: StoreFetch, before: EngineState) {
        self.fetch = fetch
        self.before = before
    }
}

// Pages of a state that are read on first access, part by part.
//
// Accessing a page cannot throw: a part that cannot be read is empty, and is counted. Code that reads states
// checks the count before and after.
//
// Threads: any.

import CairnStore
import Synchronization

/// Reads pages on demand, and records which ones could not be read.
class LatePages: @unchecked Sendable {
    // Its own state is within a lock; subclasses state how they are safe.

    /// Unreadable parts, as readers of states see them.
    private struct Failures {
        /// The error of one of the parts that are missing now.
        var present: StoreError?
        /// The error of the last missing part.
        var last: StoreError?
        /// How often a missing part was accessed.
        var count = 0
    }

    private let failures = Mutex(Failures())

    /// Reads the part that contains a record's page, and sets the pages of all its records.
    func load(record: Int) { preconditionFailure("subclasses must override this") }

    /// Does the same as `load`, but the page of a partition's record will be whole.
    func makeWhole(record: Int) { preconditionFailure("subclasses must override this") }

    /// Tries again to load unreadable parts, as a disk error may be temporary.
    func retry() { preconditionFailure("subclasses must override this") }

    // MARK: Failures

    /// Why parts of the state are missing: neither the checkpoint nor the log could be read.
    final var failure: StoreError? { failures.withLock { $0.present } }

    /// How often missing parts were accessed.
    final var failureCount: Int { failures.withLock { $0.count } }

    /// Records that a missing part was accessed.
    final func note(_ error: StoreError) {
        failures.withLock { failures in
            if failures.present == nil { failures.present = error }
            failures.last = error
            failures.count += 1
        }
    }

    /// Sets the reason why parts are still missing; nil if none are.
    final func setFailure(_ error: StoreError?) { failures.withLock { $0.present = error } }

    /// Tries again to load parts that could not be read before; returns how often missing parts were accessed
    /// so far, for `check(since:)`.
    @discardableResult
    final func repair() throws(StoreError) -> Int {
        let count = failureCount
        if failure != nil {
            retry()
            if let failure { throw failure }
        }
        return count
    }

    /// Throws if parts are missing, or were missing since `repair` returned its count: they were read as
    /// empty then, even if they are available again.
    final func check(since count: Int) throws(StoreError) {
        let error = failures.withLock { $0.present ?? ($0.count == count ? nil : $0.last) }
        if let error { throw error }
    }
}

// Pages of a state that are read on first access, one part at a time.
//
// Who meets a page cannot throw: a part that cannot be read is empty, and is counted. Whoever reads states asks for the count
// before and after.
//
// Threads: any.

import CairnStore
import Synchronization

/// Reads pages on demand, and records which ones could not be read.
class LatePages: @unchecked Sendable {
    // Its own state is within a lock; what derives from it says how it is safe.

    /// Parts that could not be read, as those who read states see it.
    private struct Failures {
        /// Why one of those is missing that are missing now.
        var present: StoreError?
        /// Why the last one was.
        var last: StoreError?
        /// How often a part was found missing.
        var count = 0
    }

    private let failures = Mutex(Failures())

    /// Reads the part that a record is of, and sets the pages of all records of it.
    func load(record: Int) { preconditionFailure("subclasses must override this") }

    /// Tries again to load what could not be read, as a disk may come to its senses.
    func retry() { preconditionFailure("subclasses must override this") }

    // MARK: Failures

    /// Why parts of the state are not there: neither the checkpoint nor the log could be read.
    final var failure: StoreError? { failures.withLock { $0.present } }

    /// How often parts were found missing.
    final var failureCount: Int { failures.withLock { $0.count } }

    /// Notes that a part was found missing.
    final func note(_ error: StoreError) {
        failures.withLock { failures in
            if failures.present == nil { failures.present = error }
            failures.last = error
            failures.count += 1
        }
    }

    /// Notes why parts are missing still; nil if none is.
    final func setFailure(_ error: StoreError?) { failures.withLock { $0.present = error } }

    /// Tries again to load parts that could not be read before; gives how often parts were missing by now, for
    /// `check(since:)`.
    @discardableResult
    final func repair() throws(StoreError) -> Int {
        let count = failureCount
        if failure != nil {
            retry()
            if let failure { throw failure }
        }
        return count
    }

    /// Throws if parts are missing, or were since `repair` gave its count: they have been read as empty then, also if
    /// they are there again.
    final func check(since count: Int) throws(StoreError) {
        let error = failures.withLock { $0.present ?? ($0.count == count ? nil : $0.last) }
        if let error { throw error }
    }
}

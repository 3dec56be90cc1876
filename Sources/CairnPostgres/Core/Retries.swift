// Retries after conflicts with other transactions or a lost connection.
//
// Threads: any; a value.

import CairnStore

/// The number of attempts.
struct Retries {
    private let most: Int

    init(_ most: Int) { self.most = max(1, most) }

    /// Tries until it succeeds or fails for good.
    func run<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        try run { _ throws(StoreError) in try body() }
    }

    /// - Parameter body: gets how many attempts there were before.
    func run<R>(_ body: (Int) throws(StoreError) -> R) throws(StoreError) -> R {
        var attempt = 0
        while true {
            do throws(StoreError) {
                return try body(attempt)
            } catch {
                // What may have been done must not be done again.
                guard error.code != .commitUnknown, attempt + 1 < most,
                    let failure = error.cause as? SQLFailure, failure.mayBeTriedAgain
                else { throw error }
            }
            attempt += 1
            // Who was in the way is likely to be again for a while.
            ServerLink.pause(
                .after(.microseconds(Int.random(in: 500...(1000 << min(attempt, 7))))))
        }
    }
}

extension SQLFailure {
    /// Whether another try may find things otherwise: somebody else was in the way, or the connection was.
    fileprivate var mayBeTriedAgain: Bool {
        isSerialization || isUniqueViolation || isForeignKeyViolation || isConnectionLoss
            || isStoreReplaced || sqlState?.isLocked == true
    }
}

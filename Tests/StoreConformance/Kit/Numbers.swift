// Counts, for closures that are called again and again.

import Synchronization

/// Whole numbers from 1 on.
final class Numbers: Sendable {
    private let count = Mutex(0)

    /// The last one that was given; 0 before the first.
    var last: Int { count.withLock { $0 } }

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

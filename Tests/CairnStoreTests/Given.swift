import Synchronization

/// Counts the rows that a closure gives.
final class Given: Sendable {
    private let count = Atomic<Int>(0)
    private let total: Int

    init(_ total: Int) { self.total = total }

    /// The number of this row, from 0; nil if all were given.
    func next() -> Int? {
        let row = count.add(1, ordering: .relaxed).oldValue
        return row < total ? row : nil
    }

    /// Whether all were given before this call.
    func isOver() -> Bool { next() == nil }
}

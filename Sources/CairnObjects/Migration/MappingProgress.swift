// How far a migration by a mapping model has come, for whoever watches it from elsewhere.
//
// Threads: any may ask and cancel.

import CairnStore
import Synchronization

/// How far a migration has come, and a way to end it.
///
/// ```swift
/// let progress = MappingProgress { print("\(Int($0.fractionCompleted * 100)) %") }
/// ```
public final class MappingProgress: Sendable {
    private let completed = Atomic<Int>(0)
    private let total = Atomic<Int>(0)
    private let cancelled = Atomic<Bool>(false)
    private let onChange: (@Sendable (MappingProgress) -> Void)?

    /// Makes a progress.
    ///
    /// - Parameter onChange: called when it has gone on, on the thread that migrates.
    public init(onChange: (@Sendable (MappingProgress) -> Void)? = nil) {
        self.onChange = onChange
    }

    /// The number of completed steps. Each migrated object takes one step when it is created, one when it is connected, and
    /// one when it is validated. Policies that create additional objects take more.
    public var completedCount: Int { completed.load(ordering: .relaxed) }

    /// The total number of steps, as far as known in advance.
    public var totalCount: Int { total.load(ordering: .relaxed) }

    /// The completed fraction, from 0 to 1.
    public var fractionCompleted: Double {
        let total = totalCount
        return total == 0 ? 0 : min(1, Double(completedCount) / Double(total))
    }

    /// Whether the migration is cancelled.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Cancels the migration, which soon throws `StoreError` with `.migrationCancelled`, leaving the store unchanged. A
    /// migration that is already finishing is not cancelled.
    public func cancel() { cancelled.store(true, ordering: .relaxed) }

    func expect(_ more: Int) { total.add(more, ordering: .relaxed) }

    /// All is done.
    func complete() {
        completed.store(max(completedCount, totalCount), ordering: .relaxed)
        onChange?(self)
    }

    func advance(by count: Int) {
        completed.add(count, ordering: .relaxed)
        onChange?(self)
    }
}

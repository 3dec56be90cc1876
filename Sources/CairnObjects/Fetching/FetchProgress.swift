// How far a fetch has come that runs beside the caller.

import CairnStore
import Synchronization

/// How far an asynchronous fetch has come, and a way to end it.
///
/// ```swift
/// let progress = FetchProgress { print($0.completedCount, "of", $0.totalCount ?? 0) }
/// let products = try await context.fetchAsynchronously(FetchRequest<Product>(), progress: progress)
/// ```
///
/// Any thread may ask and cancel.
public final class FetchProgress: Sendable {
    private let completed = Atomic<Int>(0)
    private let total = Atomic<Int>(-1)
    private let cancelled = Atomic<Bool>(false)
    private let onChange: (@Sendable (FetchProgress) -> Void)?

    /// Makes a progress.
    ///
    /// - Parameter onChange: called when a number has changed, on the thread that reads.
    public init(onChange: (@Sendable (FetchProgress) -> Void)? = nil) { self.onChange = onChange }

    /// How many rows have been read.
    public var completedCount: Int { completed.load(ordering: .relaxed) }

    /// The number of rows to read; nil until it is known.
    public var totalCount: Int? {
        let count = total.load(ordering: .relaxed)
        return count < 0 ? nil : count
    }

    /// Whether the fetch is cancelled.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Cancels the fetch, which soon throws `StoreError` with `.cancelled`. Sorting the results is not interrupted.
    public func cancel() { cancelled.store(true, ordering: .relaxed) }

    func begin(_ count: Int) {
        completed.store(0, ordering: .relaxed)
        total.store(count, ordering: .relaxed)
        onChange?(self)
    }

    func advance(by count: Int) {
        completed.add(count, ordering: .relaxed)
        onChange?(self)
    }

    /// Throws if the fetch, or the task that it runs in, was cancelled.
    func check() throws(StoreError) {
        if isCancelled || Task.isCancelled {
            throw StoreError(.cancelled, "the fetch was cancelled")
        }
    }
}

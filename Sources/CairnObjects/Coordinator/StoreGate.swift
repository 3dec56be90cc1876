// Who writes to a store behind a coordinator, and who puts another one in its place.
//
// Any number write at once, as the store orders them itself. While it is moved nobody does: what was written behind the
// moment that it is copied at would be lost. Who comes then waits, and finds the store that is there afterwards.
//
// Whoever moves it waits until nobody writes. Whoever comes meanwhile is held up for a moment, so that writers who follow each
// other without a pause come to an end; but not for longer, as one who writes may be told of his commit and wait for another.
//
// Threads: any.

import CairnStore
import Foundation

/// Lets many write to a store, or one move it.
final class StoreGate: @unchecked Sendable {
    // Unchecked: both counts are read and written under the condition's lock alone.

    private let condition = NSCondition()
    private var writers = 0
    private var movers = 0
    /// How long a writer is held up, in seconds.
    private static let pause = 0.5
    private var isShut = false

    /// Runs a closure while nobody moves the store.
    func write<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        condition.lock()
        if movers > 0 {
            let end = Date(timeIntervalSinceNow: Self.pause)
            while movers > 0, condition.wait(until: end) {}
        }
        while isShut { condition.wait() }
        writers += 1
        condition.unlock()
        defer {
            condition.lock()
            writers -= 1
            if writers == 0 { condition.broadcast() }
            condition.unlock()
        }
        return try body()
    }

    /// Runs a closure while nobody writes.
    func shut<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        condition.lock()
        movers += 1
        while isShut || writers > 0 { condition.wait() }
        movers -= 1
        isShut = true
        condition.unlock()
        defer {
            condition.lock()
            isShut = false
            condition.broadcast()
            condition.unlock()
        }
        return try body()
    }
}

extension PersistentStoreCoordinator {
    /// Has a closure write to the store that is there now under the identifier of one, which nobody moves meanwhile.
    ///
    /// - Parameter isSame: whether it must be that very one.
    func writing<R>(
        to store: CoordinatedStore, isSame: Bool = false,
        _ body: (any PersistentStore) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try store.gate.write { () throws(StoreError) in
            guard let current = self.store(store.identifier) else {
                throw StoreError(.unusable, "the store was removed from the coordinator")
            }
            if isSame, current.since != store.since {
                throw StoreError(.unusable, "the store was replaced by another one")
            }
            return try body(current.store)
        }
    }
}

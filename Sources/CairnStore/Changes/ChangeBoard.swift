// Reports commits to the observers of a store: in the order of commits, outside every lock.
//
//   post     whoever publishes a commit puts its set here, in the order of commits
//   deliver  whoever has committed tells what waits. One thread at a time does; what others post meanwhile it tells too, so
//            that everybody is told in order and nobody waits
//
// So an observer may commit itself: that is told when all have been told of the commit before.
//
// Invariants: sets wait only while somebody observes.
// Threads: any.

import CairnModel
import Synchronization

/// The observers of a store, and the changes that have not been delivered to them yet.
package final class ChangeBoard: Sendable {
    private struct State {
        var observers: [Int: @Sendable (ChangeSet) -> Void] = [:]
        var lastObserver = 0
        var waiting: [ChangeSet] = []
        var isDelivering = false
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)
    /// Called under the lock when the first observer comes and when the last one goes.
    private let observing: @Sendable (Bool) -> Void

    package init(observing: @escaping @Sendable (Bool) -> Void = { _ in }) {
        self.observing = observing
    }

    /// Whether anybody observes.
    package var isObserved: Bool { count.load(ordering: .relaxed) > 0 }

    /// Whether something waits that nobody is telling of.
    package var hasWaiting: Bool {
        isObserved && state.withLock { !$0.isDelivering && !$0.waiting.isEmpty }
    }

    /// Has a closure told of what is posted from now on.
    package func observe(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation {
        let number = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = receive
            count.store(state.observers.count, ordering: .relaxed)
            if state.observers.count == 1 { observing(true) }
            return state.lastObserver
        }
        return ChangeObservation { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: Int) {
        // What ends with the observer must not end under the lock, nor what waits for nobody.
        let gone = state.withLock { state in
            let removed = state.observers.removeValue(forKey: number)
            count.store(state.observers.count, ordering: .relaxed)
            var sets: [ChangeSet] = []
            if state.observers.isEmpty, removed != nil {
                observing(false)
                swap(&sets, &state.waiting)
            }
            return (removed, sets)
        }
        withExtendedLifetime(gone) {}
    }

    /// Adds the set of a commit, behind those of the commits before.
    package func post(_ set: ChangeSet) {
        state.withLock { if !$0.observers.isEmpty { $0.waiting.append(set) } }
    }

    /// Tells what waits, unless somebody else is about it. The caller has nothing locked.
    package func deliver() {
        guard isObserved else { return }
        while true {
            let next = state.withLock {
                state -> (sets: [ChangeSet], observers: [@Sendable (ChangeSet) -> Void])? in
                guard !state.isDelivering, !state.waiting.isEmpty else { return nil }
                state.isDelivering = true
                var sets: [ChangeSet] = []
                swap(&sets, &state.waiting)
                let observers = state.observers.inKeyOrder().map(\.value)
                return (sets, observers)
            }
            guard let next else { return }
            for set in next.sets {
                for receive in next.observers { receive(set) }
            }
            state.withLock { $0.isDelivering = false }
        }
    }
}

/// An observation of a store. It is active as long as this object exists.
public final class ChangeObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    package init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    deinit { cancel() }

    /// Ends the observation: nothing more is delivered, except a delivery in progress.
    public func cancel() {
        let end = end.withLock { end -> (@Sendable () -> Void)? in
            defer { end = nil }
            return end
        }
        end?()
    }
}

// Hands elements to any number of asynchronous sequences.
//
// Each sequence keeps what its listener has not taken yet, up to a bound; then it drops the oldest. Elements are numbered, so
// that the listener sees that some are missing.
//
// Elements are handed over under the lock: all listeners get them in the order of their numbers. That wakes tasks, and runs
// nothing of theirs.
//
// Invariants: a listener that has ended is not in the list; after `finish` there is none.
// Threads: any.

import Synchronization

/// What a feed numbers.
protocol Numbered: Sendable {
    /// One more than that of the last one.
    var number: Int { get set }
}

/// Elements for those who listen.
final class Feed<Element: Numbered>: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
        var nextListener = 0
        var sent = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    init() {}

    deinit { finish() }

    /// Whether anybody listens.
    var isListenedTo: Bool { count.load(ordering: .relaxed) > 0 }

    /// A sequence of what is sent from now on. It ends when its listener is cancelled, or lets go of it, or when the feed is
    /// over.
    func stream(keeping limit: Int) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(limit))
        let listener = state.withLock { state -> Int? in
            if state.isOver { return nil }
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            count.store(state.listeners.count, ordering: .relaxed)
            return state.nextListener
        }
        guard let listener else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(listener) }
        return stream
    }

    private func remove(_ listener: Int) {
        // What ends with the listener must not end under the lock.
        let removed = state.withLock { state in
            let removed = state.listeners.removeValue(forKey: listener)
            count.store(state.listeners.count, ordering: .relaxed)
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Numbers an element and sends it.
    func send(_ element: Element) {
        state.withLock { state in
            state.sent += 1
            var element = element
            element.number = state.sent
            for listener in state.listeners.values { listener.yield(element) }
        }
    }

    /// Ends all sequences; nothing more is sent.
    func finish() {
        let listeners = state.withLock { state in
            let listeners = state.listeners
            state.listeners = [:]
            state.isOver = true
            count.store(0, ordering: .relaxed)
            return listeners
        }
        for listener in listeners.values { listener.finish() }
    }
}

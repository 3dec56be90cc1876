// Hands elements to any number of asynchronous sequences.
//
// Each sequence keeps what its listener has not taken yet, up to a bound; then it drops the oldest. Elements are numbered, so
// that the listener sees that some are missing.
//
// One thread at a time hands over what has been sent, also by others: all listeners get it in the order of the numbers. It does
// so without the lock. Waking a task takes a lock of the task, which whoever cancels that task holds while its listener is taken
// out of the list.
//
// Invariants: a listener that has ended is not in the list; after `finish` there is none. Nothing is called under the lock.
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
        /// What is to be handed over, and the last of the listeners that there were when it was sent.
        var waiting: [(element: Element, lastListener: Int)] = []
        /// Whether a thread hands over what waits.
        var isHandingOver = false
        var isOver = false

        /// Whether the caller is to hand over what waits.
        mutating func begin() -> Bool {
            defer { isHandingOver = true }
            return !isHandingOver
        }
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    init() {}

    deinit { finish() }

    /// How many wait for a listener at most; then the oldest are dropped.
    static var mostWaiting: Int { 1024 }

    /// Whether anybody listens.
    var isListenedTo: Bool { count.load(ordering: .relaxed) > 0 }

    /// A sequence of what is sent from now on. It ends when its listener is cancelled, or lets go of it, or when the feed is
    /// over.
    func stream(keeping limit: Int = Feed.mostWaiting) -> AsyncStream<Element> {
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

    /// Numbers an element and sends it. If another thread is just handing elements over, it hands over this one too.
    func send(_ element: Element) {
        let isOurs = state.withLock { state in
            if state.isOver { return false }
            state.sent += 1
            var element = element
            element.number = state.sent
            state.waiting.append((element, state.nextListener))
            return state.begin()
        }
        if isOurs { handOver() }
    }

    /// Ends all sequences behind what was sent; nothing more is sent.
    func finish() {
        let isOurs = state.withLock { state in
            state.isOver = true
            return state.begin()
        }
        if isOurs { handOver() }
    }

    private func handOver() {
        while true {
            let (waiting, listeners, isEnd) = state.withLock { state in
                let waiting = state.waiting
                let listeners = state.listeners
                state.waiting = []
                if waiting.isEmpty {
                    state.isHandingOver = false
                    if state.isOver {
                        state.listeners = [:]
                        count.store(0, ordering: .relaxed)
                    }
                }
                return (waiting, listeners, waiting.isEmpty && state.isOver)
            }
            if isEnd { for listener in listeners.values { listener.finish() } }
            if waiting.isEmpty { return }
            for (element, last) in waiting {
                for (number, listener) in listeners where number <= last { listener.yield(element) }
            }
        }
    }
}

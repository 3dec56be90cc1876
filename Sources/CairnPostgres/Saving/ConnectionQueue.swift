// What a connection has to do while its owner computes: one piece of work after another, in another thread.
//
//   add      hands over a piece of work
//   wait     waits for one piece, and for all before it
//   finish   waits for all
//
// Once a piece has failed, those behind it are dropped: whoever waits for them gets that failure.
//
// Invariants: until all is finished nobody else uses the connection.
// Threads: the owner calls from one thread; the work runs in another, a new one whenever the queue was empty.

import CairnLog
import Synchronization

final class ConnectionQueue: Sendable {
    /// A piece of work, to wait for.
    struct Work<Result: Sendable>: Sendable {
        fileprivate let number: Int
        fileprivate let result: WorkResult<Result>
    }

    fileprivate final class WorkResult<Result: Sendable>: Sendable {
        let value = Mutex<Result?>(nil)
    }

    private struct State {
        var waiting: [@Sendable () throws -> Void] = []
        /// How many pieces were handed over, and how many are done.
        var added = 0
        var done = 0
        var hasThread = false
        var failure: (any Error)?
    }

    private let state = Monitor(State())

    /// Hands over a piece of work.
    func add<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) -> Work<Result> {
        let result = WorkResult<Result>()
        let (number, startsThread) = state.withLock { state in
            state.waiting.append {
                let value = try body()
                result.value.withLock { $0 = value }
            }
            state.added += 1
            defer { state.hasThread = true }
            return (state.added, !state.hasThread)
        }
        // If the system has no more threads, the caller does it.
        if startsThread, !SystemThread.start({ self.run() }) { run() }
        return Work(number: number, result: result)
    }

    /// Waits for a piece of work, and takes its result.
    func wait<Result>(for work: Work<Result>) throws -> Result {
        let failure = state.wait { state -> (any Error)?? in
            if state.done >= work.number { return .some(nil) }
            return state.failure.map { .some($0) }
        }
        let value = work.result.value.withLock { value in
            defer { value = nil }
            return value
        }
        if let value { return value }
        guard let failure else { preconditionFailure("a result is taken once") }
        throw failure
    }

    /// Waits until nothing is being done any more; throws what failed.
    ///
    /// - Parameter dropping: whether work that has not begun is dropped.
    func finish(dropping: Bool = false) throws {
        if dropping { state.withLock { $0.waiting = [] } }
        let failure = state.wait { state -> (any Error)?? in
            state.hasThread ? nil : .some(state.failure)
        }
        if let failure { throw failure }
    }

    private func run() {
        while let body = next() {
            do {
                try body()
                state.update { $0.done += 1 }
            } catch {
                state.update { state in
                    state.failure = error
                    state.waiting = []
                }
            }
        }
    }

    private func next() -> (@Sendable () throws -> Void)? {
        state.update { state in
            if state.failure == nil, !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.waiting = []
            state.hasThread = false
            return nil
        }
    }
}

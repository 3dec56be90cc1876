// Requests that wait for the next commit.
//
// Threads: any.

import Synchronization

/// Notifies waiting requests of commits.
final class StudioNews: Sendable {
    private struct State {
        var commit: UInt64 = 0
        var isOver = false
        var lastNumber = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// The last known commit.
    var commit: UInt64 { state.withLock { $0.commit } }

    /// Reports a commit.
    func tell(_ commit: UInt64) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard commit > state.commit else { return [] }
            state.commit = commit
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for one in waiting { one.resume() }
    }

    /// Ends all waits, now and in the future.
    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for one in waiting { one.resume() }
    }

    /// Waits for a commit above a number, up to a time limit.
    func wait(above commit: UInt64, for patience: Duration) async -> UInt64 {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let alarm = Task {
            try await Task.sleep(for: patience)
            release(number)
        }
        defer { alarm.cancel() }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let mayWait = state.withLock { state in
                guard state.commit <= commit, !state.isOver else { return false }
                state.waiting[number] = continuation
                return true
            }
            if !mayWait { continuation.resume() }
        }
        return self.commit
    }

    private func release(_ number: Int) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
}

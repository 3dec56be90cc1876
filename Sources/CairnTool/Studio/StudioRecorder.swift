// The changes of the studio's own commit, as the store reports them.
//
// Threads: any.

import CairnStore
import Dispatch
import Synchronization

/// Waits for the commit of a change.
final class StudioRecorder: Sendable {
    private let found = Mutex<ChangeSet?>(nil)
    private let bell = DispatchSemaphore(value: 0)

    /// Runs a body that commits once, and returns its changes; nil if none were reported in time.
    ///
    /// - Parameter commits: returns whether the result of the body implies a commit.
    static func recording<Result>(
        _ store: any CommandStore, _ body: () throws -> Result, commits: (Result) -> Bool
    ) throws -> (result: Result, changes: ChangeSet?) {
        let recorder = StudioRecorder()
        let observation = store.observeChanges { recorder.take($0) }
        defer { observation.cancel() }
        let result = try body()
        guard commits(result) else { return (result, nil) }
        // Usually it was already reported; otherwise another thread is about to do so.
        _ = recorder.bell.wait(timeout: .now() + .seconds(5))
        return (result, recorder.found.withLock { $0 })
    }

    private func take(_ changes: ChangeSet) {
        guard !changes.isFromAnotherProcess, changes.author == StudioStore.author else { return }
        let isFirst = found.withLock { found in
            if found != nil { return false }
            found = changes
            return true
        }
        if isFirst { bell.signal() }
    }
}

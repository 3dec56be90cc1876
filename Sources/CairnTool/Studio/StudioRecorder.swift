// What a change of the studio's own changes, as the store tells it.
//
// Threads: any.

import CairnStore
import Dispatch
import Synchronization

/// Waits for the commit of a change.
final class StudioRecorder: Sendable {
    private let found = Mutex<ChangeSet?>(nil)
    private let bell = DispatchSemaphore(value: 0)

    /// Runs a body that commits once, and gives what that changed; nil if nothing was told in time.
    ///
    /// - Parameter commits: whether the result of the body says that something was written.
    static func recording<Result>(
        _ store: any CommandStore, _ body: () throws -> Result, commits: (Result) -> Bool
    ) throws -> (result: Result, changes: ChangeSet?) {
        let recorder = StudioRecorder()
        let observation = store.observeChanges { recorder.take($0) }
        defer { observation.cancel() }
        let result = try body()
        guard commits(result) else { return (result, nil) }
        // Mostly it has been told already; else another thread is about it.
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

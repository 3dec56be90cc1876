// A check of the store that runs while the page shows its progress.
//
// Threads: any.

import CairnInspection
import CairnLog
import CairnStudio
import Synchronization

/// Responds to `/api/check`: begins a check, and reports its progress.
final class StudioCheck: Sendable {
    private struct State {
        var isRunning = false
        var step = ""
        var done = 0
        var total = 0
        var result: JSONValue?
        var failure: Failure?
    }

    private let state = Mutex(State())
    private let store: StudioStore
    private let threads: StudioThreads

    init(_ store: StudioStore, _ threads: StudioThreads) {
        self.store = store
        self.threads = threads
    }

    /// Begins a check, if none is running.
    func begin(_ request: StudioRequest) throws -> StudioAnswer {
        let parameters = try StudioParameters(request, known: ["depth"])
        let name = try parameters.text("depth")
        guard let depth = name.map(CheckDepth.init) ?? CheckDepth.all else {
            let all = CheckDepth.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure("the parameter depth is one of \(all)", code: .usage)
        }
        let begins = state.withLock { state in
            if state.isRunning { return false }
            state = State()
            state.isRunning = true
            return true
        }
        if begins {
            Task { [self] in
                // Its error is kept in the state.
                try? await threads.run(.long) { [self] in run(depth) }
            }
        }
        return answer()
    }

    private func run(_ depth: CheckDepth) {
        let outcome = Result {
            try store.use {
                try StoreSession.printout(of: store.place) { kind in
                    try kind.check(store.place, depth: depth) { step, done, total in
                        self.state.withLock {
                            $0.step = step
                            $0.done = done
                            $0.total = total
                        }
                    }
                }
            }
        }
        state.withLock { state in
            state.isRunning = false
            switch outcome {
            case .success(let printout):
                if let failure = printout.failure {
                    state.failure = Failure(failure) ?? Failure("\(failure)")
                } else {
                    state.result = printout.json
                }
            case .failure(let error): state.failure = Failure(error) ?? Failure("\(error)")
            }
        }
    }

    /// Returns the progress.
    func answer() -> StudioAnswer {
        let state = state.withLock { $0 }
        var members: [JSONValue.Member] = [
            .init(key: "running", value: .boolean(state.isRunning)),
            .init(key: "step", value: .string(state.step)),
            .init(key: "done", value: .count(state.done)),
            .init(key: "of", value: .count(state.total)),
            .init(key: "result", value: state.result ?? .null),
        ]
        if let failure = state.failure, case .object(let error) = failure.json { members += error }
        return StudioAnswer(.object(members))
    }
}

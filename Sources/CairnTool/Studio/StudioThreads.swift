// Separate threads for blocking work: queries and changes of the store.
//
// The threads that respond to browsers are few and must not wait. So all store access runs on threads of
// these queues: several queries concurrently, changes serially. Running work always completes.
//
// Threads: any.

import Foundation

/// The threads that access the studio's store.
final class StudioThreads: Sendable {
    private let questions = StudioThreads.queue(
        "studio questions", most: max(4, ProcessInfo.processInfo.activeProcessorCount))
    private let changes = StudioThreads.queue("studio changes", most: 1)
    private let long = StudioThreads.queue("studio jobs", most: 2)

    private static func queue(_ name: String, most: Int) -> OperationQueue {
        let queue = OperationQueue()
        queue.name = name
        queue.maxConcurrentOperationCount = most
        return queue
    }

    /// The kind of a body.
    enum Kind {
        /// A query.
        case question
        /// A change of the store.
        case change
        /// Long work that no request waits for.
        case long
    }

    /// Runs a body on a thread, and waits for it without blocking a thread.
    func run<Result: Sendable>(
        _ kind: Kind = .question, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let queue =
                switch kind {
                case .question: questions
                case .change: changes
                case .long: long
                }
            queue.addOperation { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }

    /// Waits until all work is done, including work that has not started.
    func finish() {
        for queue in [questions, changes, long] { queue.waitUntilAllOperationsAreFinished() }
    }
}

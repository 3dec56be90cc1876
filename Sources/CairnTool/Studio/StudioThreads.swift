// Threads of their own for what blocks: questions to the store and changes of it.
//
// The threads that answer browsers are few and must not wait. So everything that asks the store is done on threads of
// these queues: questions several at once, changes one after the other. What has begun goes on to its end.
//
// Threads: any.

import Foundation

/// The threads that the studio asks its store from.
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

    /// What a body is.
    enum Kind {
        /// A question.
        case question
        /// A change of the store.
        case change
        /// What takes long and nobody waits for.
        case long
    }

    /// Runs a body on a thread and waits for it without keeping one.
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

    /// Waits until everything that has begun is done. What has not begun is done too.
    func finish() {
        for queue in [questions, changes, long] { queue.waitUntilAllOperationsAreFinished() }
    }
}

// Asynchronous work where the work of a context is done: between its steps others work there.

import Foundation

extension ContextQueue {
    /// Begins something asynchronous. Each of its steps runs on the queue.
    ///
    /// The closure takes the actor: one without it, kept in a value of a generic type, runs on a thread of its own.
    func run(_ work: @escaping (isolated QueueActor) async -> Void) {
        let work = Handed(work)
        Task { await QueueActor(self).run(work) }
    }
}

/// What runs on a queue.
actor QueueActor {
    private let executor: QueueExecutor

    fileprivate init(_ queue: ContextQueue) { executor = QueueExecutor(queue) }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    func run(_ work: Handed<(isolated QueueActor) async -> Void>) async {
        await work.value(self)
    }
}

/// Hands the steps of asynchronous work to a queue.
private final class QueueExecutor: SerialExecutor {
    private let queue: ContextQueue

    init(_ queue: ContextQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

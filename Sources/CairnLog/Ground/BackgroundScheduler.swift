// Background work, as a seam: on its own thread in production, by hand in tests.
//
// Threads: any.

/// Runs tasks later, one at a time.
package protocol BackgroundScheduler: AnyObject, Sendable {
    /// Runs a task once, after at least the given number of seconds. Does nothing after `stop`.
    func schedule(after seconds: Double, _ task: @escaping @Sendable () -> Void)

    /// Drops the tasks that have not started, and waits for the running one.
    func stop()
}

/// Runs tasks on a thread that starts with the first of them and ends with `stop`.
package final class ThreadScheduler: BackgroundScheduler {
    private struct Task {
        let moment: MonotonicTime
        let body: @Sendable () -> Void
    }

    private struct Contents {
        var tasks: [Task] = []
        var hasThread = false
        var isStopped = false
    }

    private let contents = Monitor(Contents())

    package init() {}

    package func schedule(after seconds: Double, _ task: @escaping @Sendable () -> Void) {
        let moment = MonotonicTime.now + seconds
        let needsThread = contents.update { contents in
            if contents.isStopped { return false }
            contents.tasks.append(Task(moment: moment, body: task))
            defer { contents.hasThread = true }
            return !contents.hasThread
        }
        if needsThread, !SystemThread.start({ self.run() }) {
            preconditionFailure("the system has no more threads to give")
        }
    }

    package func stop() {
        contents.update { contents in
            contents.isStopped = true
            contents.tasks = []
        }
        contents.wait { $0.hasThread ? nil : () }
    }

    private func run() {
        while let task = next() { task.body() }
        contents.update { $0.hasThread = false }
    }

    /// Waits until the next task is due and returns it; returns nil once the scheduler is stopped.
    private func next() -> Task? {
        while true {
            let first = contents.wait { contents -> MonotonicTime?? in
                if contents.isStopped { return .some(nil) }
                return contents.tasks.map(\.moment).min().map { .some($0) }
            }
            guard let moment = first else { return nil }
            // Checked again when a task is added that may be due earlier.
            let due = contents.wait(until: moment) { contents -> Bool? in
                contents.isStopped || contents.tasks.contains { $0.moment < moment } ? false : nil
            }
            if due != nil { continue }
            let task = contents.withLock { contents -> Task? in
                contents.tasks.firstIndex { $0.moment == moment }
                    .map { contents.tasks.remove(at: $0) }
            }
            if let task { return task }
        }
    }
}

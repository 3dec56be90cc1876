// Background work that a test runs when it wants to.

import CairnTestSupport
import Synchronization

@testable import CairnLog

final class ManualScheduler: BackgroundScheduler {
    private struct Contents {
        var tasks: [(seconds: Double, body: @Sendable () -> Void)] = []
        var isStopped = false
    }
    private let contents = Mutex(Contents())

    func schedule(after seconds: Double, _ task: @escaping @Sendable () -> Void) {
        contents.withLock { if !$0.isStopped { $0.tasks.append((seconds, task)) } }
    }

    func stop() {
        contents.withLock {
            $0.isStopped = true
            $0.tasks = []
        }
    }

    /// After how many seconds each waiting task is to run.
    var delays: [Double] { contents.withLock { $0.tasks.map(\.seconds) } }

    /// Runs one of the tasks that wait, whatever the time of the others; false if there is none.
    func runAny(using random: inout RandomSource) -> Bool {
        let task = contents.withLock { contents -> (@Sendable () -> Void)? in
            guard let index = contents.tasks.indices.randomElement(using: &random) else {
                return nil
            }
            return contents.tasks.remove(at: index).body
        }
        task?()
        return task != nil
    }

    /// Runs the tasks that wait now.
    func runOnce() {
        let tasks = contents.withLock { contents in
            defer { contents.tasks = [] }
            return contents.tasks
        }
        for task in tasks { task.body() }
    }

    /// Runs all tasks that wait, and those they lead to.
    ///
    /// - Parameter limit: how many, where a task may wait for what another process does.
    func run(atMost limit: Int = .max) {
        var count = 0
        while count < limit,
            let task = contents.withLock({ $0.tasks.isEmpty ? nil : $0.tasks.removeFirst() })
        {
            task.body()
            count += 1
        }
    }
}

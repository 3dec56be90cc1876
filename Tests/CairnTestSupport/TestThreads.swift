// Threads of the system for tests of what happens at once: blocking one stops nobody else.

import Foundation

/// Threads that a test starts and waits for.
package final class TestThreads: @unchecked Sendable {
    // The condition guards it.
    private let condition = NSCondition()
    private var running = 0

    package init() {}

    /// Starts a thread.
    package func start(_ body: @escaping @Sendable () -> Void) {
        condition.lock()
        running += 1
        condition.unlock()
        Thread.detachNewThread {
            body()
            self.condition.lock()
            self.running -= 1
            self.condition.broadcast()
            self.condition.unlock()
        }
    }

    /// Waits until all threads have ended.
    package func join(_ file: StaticString = #fileID, _ line: UInt = #line) {
        condition.lock()
        condition.wait("\(file):\(line)", for: "its threads to end") { running == 0 }
        condition.unlock()
    }

    /// Runs a closure on that many threads at once, and waits for them.
    package static func run(
        _ count: Int, _ file: StaticString = #fileID, _ line: UInt = #line,
        _ body: @escaping @Sendable (Int) -> Void
    ) {
        let threads = TestThreads()
        for index in 0..<count { threads.start { body(index) } }
        threads.join(file, line)
    }
}

// Threads of the system, for workloads of several committers.

import Foundation

enum Threads {
    /// Runs a closure on that many threads at once, and waits for them.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        guard count > 1 else { return body(0) }
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            Thread.detachNewThread {
                body(index)
                group.leave()
            }
        }
        group.wait()
    }

    /// Runs a closure in this thread while another runs in one of its own, and waits for both.
    static func beside<R>(_ other: @escaping @Sendable () -> Void, _ body: () throws -> R) rethrows
        -> R
    {
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            other()
            group.leave()
        }
        defer { group.wait() }
        return try body()
    }
}

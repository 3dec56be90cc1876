// Waits of tests that end. What a fault keeps from happening would else hold up the whole run, and nobody would know where.
//
// Threads: any.

import Foundation

/// Does what may take as long as a fault lets it; ends the process with who waited for what if that takes too long.
package func inTime<R>(
    for what: String, within seconds: Int = OpenWait.patienceWithTasks,
    _ file: StaticString = #fileID, _ line: UInt = #line, _ body: () throws -> R
) rethrows -> R {
    let wait = OpenWait("\(file):\(line)", for: what, within: seconds)
    defer { wait.end() }
    return try body()
}

/// Does what others have to come to, in a task; ends the process with who waited for what if that takes too long.
package nonisolated(nonsending) func inTime<R>(
    for what: String, within seconds: Int = OpenWait.patienceWithTasks,
    _ file: StaticString = #fileID, _ line: UInt = #line,
    _ body: nonisolated(nonsending) () async throws -> R
) async rethrows -> R {
    let wait = OpenWait("\(file):\(line)", for: what, within: seconds)
    defer { wait.end() }
    return try await body()
}

extension NSCondition {
    /// Waits, locked, until something is so, in time.
    func wait(_ who: String, for what: String, until isSo: () -> Bool) {
        let open = OpenWait(who, for: what)
        while !isSo() { wait() }
        open.end()
    }
}

extension DispatchSemaphore {
    /// Waits for a signal, in time.
    package func wait(
        for what: String, within seconds: Int = OpenWait.patience,
        _ file: StaticString = #fileID, _ line: UInt = #line
    ) {
        inTime(for: what, within: seconds, file, line) { wait() }
    }
}

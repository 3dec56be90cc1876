// Waits of tests that end. What a fault keeps from happening would else hold up the whole run, and nobody would know where.

import Foundation

extension NSCondition {
    /// Waits, locked, until something is so; ends the process with who waited for what if that takes many minutes.
    func wait(_ who: String, for what: String, until isSo: () -> Bool) {
        let end = Date(timeIntervalSinceNow: 600)
        while !isSo() {
            if wait(until: end) || isSo() { continue }
            printLine("\(who) waited ten minutes in vain for \(what)")
            fatalError("\(who) waited ten minutes in vain for \(what)")
        }
    }
}

extension DispatchSemaphore {
    /// Waits for a signal; ends the process with who waited for what if that takes many minutes.
    package func wait(
        for what: String, _ file: StaticString = #fileID, _ line: UInt = #line
    ) {
        if wait(timeout: .now() + 600) == .success { return }
        printLine("\(file):\(line) waited ten minutes in vain for \(what)")
        fatalError("\(file):\(line) waited ten minutes in vain for \(what)")
    }
}

// Who waits for what in the tests, and a thread that ends the process when a wait takes too long.
//
// Threads: any.

import Foundation

/// A wait that is under way.
package struct OpenWait: Sendable {
    /// No wait of threads for each other takes as many seconds, on a slow machine either.
    package static let patience = 600
    /// Where tasks have to come to something: in a run of all tests at once their turn may come when most tests have ended.
    package static let patienceWithTasks = 2_400

    private let number: Int

    /// Begins it; if it has not ended in time, the process does, with who waited for what.
    package init(
        for what: String, _ file: StaticString = #fileID, _ line: UInt = #line
    ) {
        self.init("\(file):\(line)", for: what, within: Self.patienceWithTasks)
    }

    init(_ who: String, for what: String, within seconds: Int = patience) {
        number = OpenWaits.shared.begin(who, what, seconds)
    }

    /// Ends it.
    package func end() { OpenWaits.shared.end(number) }
}

/// All of them.
private final class OpenWaits: @unchecked Sendable {
    // The condition guards all that changes.
    static let shared = OpenWaits()

    private struct Wait {
        let who: String
        let what: String
        let seconds: Int
        let end: Date
    }

    private let condition = NSCondition()
    private var waits: [Int: Wait] = [:]
    private var lastNumber = 0
    /// When the thread looks again; nil before there is one.
    private var nextLook: Date?

    func begin(_ who: String, _ what: String, _ seconds: Int) -> Int {
        let end = Date(timeIntervalSinceNow: Double(seconds))
        condition.lock()
        defer { condition.unlock() }
        lastNumber += 1
        waits[lastNumber] = Wait(who: who, what: what, seconds: seconds, end: end)
        if let nextLook {
            if end >= nextLook { return lastNumber }
        } else {
            Thread.detachNewThread { self.watch() }
        }
        nextLook = end
        condition.signal()
        return lastNumber
    }

    func end(_ number: Int) {
        condition.lock()
        waits[number] = nil
        condition.unlock()
    }

    private func watch() {
        condition.lock()
        while true {
            let now = Date()
            let first = waits.values.min { $0.end < $1.end }
            if let first, first.end <= now {
                let line = "\(first.who) waited \(first.seconds) seconds in vain for \(first.what)"
                printLine(line)
                fatalError(line)
            }
            let look = first?.end ?? now.addingTimeInterval(Double(OpenWait.patience))
            nextLook = look
            _ = condition.wait(until: look)
        }
    }
}

// A place where a call waits until a test lets it go on.
//
// Threads: any; one call passes a gate.

import Foundation

/// A gate in the way of one call.
package final class CallGate: @unchecked Sendable {
    // The condition guards both.
    private let condition = NSCondition()
    private var isReached = false
    private var isOpen = false

    package init() {}

    /// Stops here until the gate is open.
    func pass() {
        condition.lock()
        isReached = true
        condition.broadcast()
        condition.wait("a call at a gate", for: "the test to open it") { isOpen }
        condition.unlock()
    }

    /// Waits until the call is at the gate.
    package func waitUntilReached(_ file: StaticString = #fileID, _ line: UInt = #line) {
        condition.lock()
        condition.wait("\(file):\(line)", for: "a call to reach the gate") { isReached }
        condition.unlock()
    }

    /// Waits until somebody opens it.
    package func waitUntilOpen(_ file: StaticString = #fileID, _ line: UInt = #line) {
        condition.lock()
        condition.wait("\(file):\(line)", for: "somebody to open the gate") { isOpen }
        condition.unlock()
    }

    /// Lets the call go on.
    package func open() {
        condition.lock()
        isOpen = true
        condition.broadcast()
        condition.unlock()
    }
}

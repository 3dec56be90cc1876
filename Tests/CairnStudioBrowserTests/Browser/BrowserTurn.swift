// One browser at a time: each has many processes of its own, which take the cores from the tests beside them.
//
// Threads: any.

/// Whose turn it is to run a browser.
actor BrowserTurn {
    static let shared = BrowserTurn()

    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits for the turn. Who has it must end it.
    func begin() async {
        if isTaken { return await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
    }

    /// Gives the turn to whoever has waited longest.
    func end() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}

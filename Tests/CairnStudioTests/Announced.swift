// What a server has said, kept for a test.

import Synchronization

/// Texts in the order in which they were told.
final class Announced: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    var all: [String] { texts.withLock { $0 } }
}

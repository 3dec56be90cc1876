// A compiled regular expression that a whole string must match.
//
// Threads: any. A `Regex` must not be used from two threads at once, so a lock guards it.

import Synchronization

/// A regular expression, compiled once.
final class StringPattern: Sendable {
    /// The text that it was compiled from.
    let source: String
    private let regex: Mutex<Regex<AnyRegexOutput>>

    /// Compiles a pattern.
    ///
    /// - Throws: What the regular expression's parser says.
    init(_ source: String, ignoresCase: Bool = false) throws {
        self.source = source
        self.regex = Mutex(try Regex(source).ignoresCase(ignoresCase))
    }

    /// Whether the whole text matches. A pattern that fails while it runs matches nothing.
    func matchesWhole(_ text: String) -> Bool {
        regex.withLock { (try? $0.wholeMatch(in: text)) != nil }
    }
}

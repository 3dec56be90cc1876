// A regular expression that a whole string must match, in a time that is bounded by the lengths of both.
//
// Threads: any. What is noted while texts are asked is behind a lock; who does not get it at once begins without notes.

import Synchronization

/// A regular expression, compiled once.
///
/// The syntax is what ICU and Swift's `Regex` have in common. No text takes more than its length times that of the pattern:
/// nothing is tried and taken back. So what cannot be answered in that way is refused: references to groups (`\1`), atomic
/// groups and possessive repetitions of more than a set.
final class StringPattern: Sendable {
    /// The text that it was compiled from.
    let source: String
    private let programs: PatternPrograms
    private let run: Mutex<PatternRun>

    /// Compiles a pattern.
    ///
    /// - Throws: `PatternError` naming what is wrong or cannot be answered, and where.
    init(_ source: String, ignoresCase: Bool = false) throws(PatternError) {
        self.source = source
        programs = try PatternPrograms(PatternParser.parse(source, ignoresCase: ignoresCase))
        run = Mutex(PatternRun(programs))
    }

    /// Whether the whole text matches.
    ///
    /// Complexity: the length of the text, times that of the pattern at most.
    func matchesWhole(_ text: String) -> Bool {
        if let matches = run.withLockIfAvailable({ $0.matches(text) }) { return matches }
        var own = PatternRun(programs)
        return own.matches(text)
    }
}

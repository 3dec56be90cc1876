// A regular expression that a whole string must match, in a time bounded by the lengths of both.
//
// Threads: any. Whoever asks takes notes out of a list and puts them back afterwards, so that the threads of a scan neither wait
// for each other nor begin without notes for each text.

import Synchronization

/// A regular expression, compiled once.
///
/// The syntax is what ICU and Swift's `Regex` have in common. Matching takes at most time proportional to the length of the
/// text times that of the pattern: there is no backtracking. Whatever would require it is rejected: back references (`\1`),
/// and atomic groups and possessive repetitions of more than a set.
final class StringPattern: Sendable {
    /// The text that it was compiled from.
    let source: String
    private let programs: PatternPrograms
    /// The notes that nobody is using.
    private let idle: Mutex<[Notes]>
    /// More threads than these make notes anew.
    private static let mostIdle = 16

    /// What was noted while texts were asked.
    private final class Notes: @unchecked Sendable {
        // Nobody else has it: who uses it has taken it out of the list.
        var run: PatternRun

        init(_ run: PatternRun) { self.run = run }
    }

    /// Compiles a pattern.
    ///
    /// - Throws: `PatternError` naming what is wrong or cannot be answered, and where.
    init(_ source: String, ignoresCase: Bool = false) throws(PatternError) {
        self.source = source
        let (node, sets) = try PatternParser.parse(source, ignoresCase: ignoresCase)
        programs = try PatternPrograms(node, sets: sets)
        idle = Mutex([])
    }

    /// Whether the whole text matches.
    ///
    /// Complexity: the length of the text, times that of the pattern at most.
    func matchesWhole(_ text: String) -> Bool {
        let notes = idle.withLock { $0.popLast() } ?? Notes(PatternRun(programs))
        defer { idle.withLock { if $0.count < Self.mostIdle { $0.append(notes) } } }
        return notes.run.matches(text)
    }
}

// How one text becomes another, line by line: as a unified diff, and as a map of line numbers.

/// The difference of two texts.
struct LineDifference {
    /// A line that both have, or one of them.
    private enum Step {
        case kept(Int, Int)
        case removed(Int)
        case added(Int)
    }

    private let old: [String]
    private let new: [String]
    private let steps: [Step]

    init(from old: String, to new: String) {
        self.old = Self.lines(old)
        self.new = Self.lines(new)
        var removals: Set<Int> = []
        var additions: Set<Int> = []
        for change in self.new.difference(from: self.old) {
            switch change {
            case .remove(let offset, _, _): removals.insert(offset)
            case .insert(let offset, _, _): additions.insert(offset)
            }
        }
        var steps: [Step] = []
        var (i, j) = (0, 0)
        while i < self.old.count || j < self.new.count {
            if removals.contains(i) {
                steps.append(.removed(i))
                i += 1
            } else if additions.contains(j) {
                steps.append(.added(j))
                j += 1
            } else {
                steps.append(.kept(i, j))
                i += 1
                j += 1
            }
        }
        self.steps = steps
    }

    /// The lines with their ends; a line feed after a carriage return ends a line as well.
    private static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var start = text.utf8.startIndex
        for index in text.utf8.indices where text.utf8[index] == UInt8(ascii: "\n") {
            let end = text.utf8.index(after: index)
            lines.append(String(decoding: text.utf8[start..<end], as: UTF8.self))
            start = end
        }
        if start < text.utf8.endIndex {
            lines.append(String(decoding: text.utf8[start...], as: UTF8.self))
        }
        return lines
    }

    /// How many lines of the old text are gone or another.
    var changedLines: Int {
        steps.reduce(0) { count, step in
            if case .removed = step { count + 1 } else { count }
        }
    }

    /// How many lines of the new text are not in the old one.
    var addedLines: Int {
        steps.reduce(0) { count, step in
            if case .added = step { count + 1 } else { count }
        }
    }

    /// The line of the old text that a line of the new one comes from, or stands in place of. Both from 1.
    func oldLine(of line: Int) -> Int {
        var last = 0
        for step in steps {
            switch step {
            case .kept(let i, let j):
                if j == line - 1 { return i + 1 }
                last = i
            case .removed(let i): last = i
            case .added(let j): if j == line - 1 { return last + 1 }
            }
        }
        return max(1, old.count)
    }

    // MARK: Unified diffs

    /// How many lines around a change are shown.
    private static let context = 3

    /// The difference as `git` prints it and `patch` reads it; empty if there is none.
    ///
    /// - Parameters:
    ///   - path: the file, as both sides call it.
    ///   - isNew: whether there was no file before.
    func unified(path: String, isNew: Bool) -> String {
        let hunks = hunks
        guard !hunks.isEmpty else { return "" }
        // An absolute path has its own slash.
        let path = path.hasPrefix("/") ? String(path.dropFirst()) : path
        var text = "--- \(isNew ? "/dev/null" : "a/\(path)")\n+++ b/\(path)\n"
        for hunk in hunks { text += self.text(of: hunk) }
        return text
    }

    /// The steps of each group of changes, with the lines around them.
    private var hunks: [Range<Int>] {
        var hunks: [Range<Int>] = []
        for (index, step) in steps.enumerated() {
            if case .kept = step { continue }
            let range =
                max(0, index - Self.context)..<min(steps.count, index + Self.context + 1)
            if let last = hunks.last, last.upperBound >= range.lowerBound {
                hunks[hunks.count - 1] = last.lowerBound..<range.upperBound
            } else {
                hunks.append(range)
            }
        }
        return hunks
    }

    private func text(of hunk: Range<Int>) -> String {
        var body = ""
        var (oldCount, newCount) = (0, 0)
        func append(_ sign: String, _ line: String) {
            body += sign + line
            if line.utf8.last != UInt8(ascii: "\n") { body += "\n\\ No newline at end of file\n" }
        }
        for step in steps[hunk] {
            switch step {
            case .kept(let i, _):
                append(" ", old[i])
                oldCount += 1
                newCount += 1
            case .removed(let i):
                append("-", old[i])
                oldCount += 1
            case .added(let j):
                append("+", new[j])
                newCount += 1
            }
        }
        let (oldStart, newStart) = starts(before: hunk.lowerBound)
        // A side without lines is named by the line before it.
        let oldPlace = oldCount == 0 ? oldStart : oldStart + 1
        let newPlace = newCount == 0 ? newStart : newStart + 1
        return "@@ -\(oldPlace),\(oldCount) +\(newPlace),\(newCount) @@\n" + body
    }

    /// How many lines of both texts come before a step.
    private func starts(before index: Int) -> (Int, Int) {
        var (i, j) = (0, 0)
        for step in steps[..<index] {
            switch step {
            case .kept:
                i += 1
                j += 1
            case .removed: i += 1
            case .added: j += 1
            }
        }
        return (i, j)
    }
}

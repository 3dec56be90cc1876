// A file as it is and as it will be.

/// A change of a file.
package struct FileChange: Sendable {
    /// The file.
    package let path: String
    /// Its text; nil if there is no such file yet.
    let old: String?
    /// The text that it gets.
    let new: String

    /// How many lines are gone, or another.
    package var changedLines: Int { difference.changedLines }
    /// How many lines are added, or stand in place of others.
    package var addedLines: Int { difference.addedLines }
    /// Whether the file is created.
    package var isNew: Bool { old == nil }

    /// The change as `git diff` prints it.
    package var diff: String { difference.unified(path: path, isNew: isNew) }

    private var difference: LineDifference { LineDifference(from: old ?? "", to: new) }

    /// The line of the old text that a line of the new one comes from.
    func oldLine(of line: Int) -> Int { difference.oldLine(of: line) }
}

// What a port comes to, in numbers.

package import CairnInspection

/// The counts of a port.
package struct PortCounts: Sendable, Equatable {
    /// Swift files found.
    package internal(set) var files = 0
    /// Those that use Core Data.
    package internal(set) var coreDataFiles = 0
    /// Lines that name something of Core Data.
    package internal(set) var coreDataLines = 0
    /// Files with changes.
    package private(set) var changedFiles = 0
    /// Lines in them that are gone, or another.
    package private(set) var changedLines = 0
    /// Lines that stand in their place, or are added.
    package private(set) var addedLines = 0
    /// Files written from models.
    package private(set) var generatedFiles = 0
    /// Lines and files left for a person.
    package private(set) var left = 0

    mutating func finish(_ changes: [FileChange], _ findings: [Finding]) {
        for change in changes {
            if GeneratedFile.isOwn(change.new) {
                generatedFiles += 1
            } else {
                changedFiles += 1
                changedLines += change.changedLines
                addedLines += change.addedLines
            }
        }
        left = Set(findings.map { "\($0.file):\($0.line ?? 0)" }).count
    }

    /// The counts in words.
    ///
    /// - Parameter written: whether the changes were made.
    package func text(written: Bool) -> String {
        let verb = written ? "changed" : "to change"
        var parts = [
            "\(PlainText.count(files, "Swift file")), \(PlainText.number(coreDataFiles)) with Core Data in \(PlainText.count(coreDataLines, "line"))",
            "\(verb): \(PlainText.count(changedLines, "line")) in \(PlainText.count(changedFiles, "file"))",
        ]
        if generatedFiles > 0 {
            parts.append(
                "\(written ? "written" : "to write") from models: \(PlainText.count(generatedFiles, "file"))"
            )
        }
        parts.append("left for you: \(PlainText.count(left, "line"))")
        return parts.joined(separator: "; ")
    }

    /// The counts as an object.
    package var json: JSONValue {
        .object([
            "files": .count(files), "coreDataFiles": .count(coreDataFiles),
            "coreDataLines": .count(coreDataLines), "changedFiles": .count(changedFiles),
            "changedLines": .count(changedLines), "addedLines": .count(addedLines),
            "generatedFiles": .count(generatedFiles), "left": .count(left),
        ])
    }
}

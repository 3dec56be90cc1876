// What is left for a person, with its place.

package import CairnInspection

/// A line that a person has to change, or a file that the tool cannot.
package struct Finding: Sendable, Equatable {
    /// The file.
    package let file: String
    /// The line, from 1; nil: the whole file.
    package let line: Int?
    /// What it is.
    package let subject: String
    /// Why it does not compile, or means something else.
    package let reason: String
    /// What to write instead.
    package let advice: String

    init(file: String, line: Int?, subject: String, reason: String, advice: String) {
        self.file = file
        self.line = line
        self.subject = subject
        self.reason = reason
        self.advice = advice
    }

    /// The finding on one line.
    package var text: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return PlainText.visible("\(place): \(subject): \(reason); instead: \(advice)")
    }

    /// The finding as an object.
    package var json: JSONValue {
        .object([
            "file": .string(file), "line": line.map { .count($0) } ?? .null,
            "what": .string(subject), "why": .string(reason), "instead": .string(advice),
        ])
    }
}

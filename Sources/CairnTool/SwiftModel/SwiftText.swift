// Lines of Swift, in the formatter's style.

import CairnInspection

/// Lays out lines.
enum SwiftText {
    static let width = 100

    /// Returns a comment, in as many lines as it requires. Its text contains no line ends.
    static func comment(_ text: String, indent: Int = 0) -> [String] {
        let blanks = String(repeating: " ", count: indent)
        return wrapped(
            PlainText.visible(text).split(separator: " ").map(String.init), first: blanks + "// ",
            next: blanks + "// ")
    }

    /// Returns an item of a list in a comment.
    static func item(_ text: String) -> [String] {
        wrapped(
            PlainText.visible(text).split(separator: " ").map(String.init), first: "//   - ",
            next: "//     ")
    }

    /// Wraps words into lines.
    static func wrapped(_ words: [String], first: String, next: String) -> [String] {
        var lines: [String] = []
        var line = first
        var isEmpty = true
        for word in words {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = next
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// Returns a call on one line if it fits, otherwise with its arguments on separate lines.
    static func call(
        _ head: String, _ arguments: [String], tail: String = "", indent: Int
    ) -> [String] {
        let blanks = String(repeating: " ", count: indent)
        let line = "\(blanks)\(head)(\(arguments.joined(separator: ", ")))\(tail)"
        if line.count <= width { return [line] }
        let inner = blanks + "    "
        let words = arguments.enumerated().map { index, argument in
            argument + (index < arguments.count - 1 ? "," : ")\(tail)")
        }
        return ["\(blanks)\(head)("] + wrapped(words, first: inner, next: inner)
    }
}

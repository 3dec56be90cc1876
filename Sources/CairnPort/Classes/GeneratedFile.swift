// A file that is written from a model.

/// A generated file.
struct GeneratedFile {
    let path: String
    let text: String

    /// What such a file begins with.
    static let mark = "// Written by cairn-port from "

    /// Whether a text is one that the tool wrote.
    static func isOwn(_ text: String) -> Bool { text.hasPrefix(mark) }
}

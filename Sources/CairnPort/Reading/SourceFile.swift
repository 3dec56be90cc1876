// A Swift file: its text and its syntax tree.

import SwiftDiagnostics
import SwiftParser
import SwiftParserDiagnostics
import SwiftSyntax

/// A file that was parsed.
struct SourceFile: Sendable {
    /// The path, as it was found.
    let path: String
    let text: String
    let tree: SourceFileSyntax

    init(path: String, text: String) {
        self.path = path
        self.text = text
        tree = Parser.parse(source: text)
    }

    /// What ends a line here.
    var lineEnd: String { text.utf8.contains(UInt8(ascii: "\r")) ? "\r\n" : "\n" }

    /// Why the text is not current Swift, with the offset of the first error; nil if it is.
    var problem: (message: String, offset: Int)? {
        guard tree.hasError else { return nil }
        let diagnostics = ParseDiagnosticsGenerator.diagnostics(for: tree)
            .filter { $0.diagMessage.severity == .error }
        guard let first = diagnostics.min(by: { $0.position < $1.position }) else {
            return nil
        }
        return (first.message, first.position.utf8Offset)
    }

    /// The same file with another text.
    func with(_ edits: [SourceEdit]) -> SourceFile {
        SourceFile(path: path, text: SourceEdit.apply(edits, to: text))
    }

    /// The text of a range of bytes.
    subscript(range: Range<Int>) -> String {
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        let end = utf8.index(start, offsetBy: range.count)
        return String(decoding: utf8[start..<end], as: UTF8.self)
    }

    /// What stands between the start of a line and a place in it.
    func lineStart(before offset: Int) -> String {
        let utf8 = text.utf8
        let end = utf8.index(utf8.startIndex, offsetBy: offset)
        let start = utf8[..<end].lastIndex(of: UInt8(ascii: "\n")).map(utf8.index(after:))
        return String(decoding: utf8[(start ?? utf8.startIndex)..<end], as: UTF8.self)
    }
}

extension SourceFile {
    /// Where the next word after a node begins; comments stay.
    func nextWord(after node: some SyntaxProtocol) -> Int {
        let end = node.bytes.upperBound
        guard
            let next = node.lastToken(viewMode: .sourceAccurate)?
                .nextToken(viewMode: .sourceAccurate)
        else { return end }
        let blanks = self[end..<next.bytes.lowerBound].utf8.prefix {
            [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")]
                .contains($0)
        }
        return end + blanks.count
    }

    /// Where the line after a place begins.
    func nextLine(after offset: Int) -> Int {
        let utf8 = text.utf8
        let rest = utf8[utf8.index(utf8.startIndex, offsetBy: offset)...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return utf8.count }
        return utf8.distance(from: utf8.startIndex, to: end) + 1
    }

    /// The first byte at a place that is not a certain one; nil at the end.
    func byte(at offset: Int, skipping blank: UInt8) -> UInt8? {
        let utf8 = text.utf8
        let rest = utf8[utf8.index(utf8.startIndex, offsetBy: offset)...]
        return rest.first { $0 != blank }
    }
}

// A text of the documentation, and the command lines in it.
//
//   $ cairn …       in a block of code: a command that is run, and below it what it prints
//   `cairn …`       in a sentence: a command that is named, whole or in part

import Foundation
import Testing

/// README or an article.
struct Document: CustomTestStringConvertible, Sendable {
    /// Its path in the package.
    let path: String
    let text: String

    var testDescription: String { path }

    /// A command that is shown, and what it prints.
    struct ShownCommand {
        let words: [String]
        let output: String
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// README and all articles.
    static func all() throws -> [Document] {
        let catalogue = "Sources/Cairn/Cairn.docc"
        let articles = try FileManager.default
            .contentsOfDirectory(atPath: root.appending(path: catalogue).path)
            .filter { $0.hasSuffix(".md") }.sorted().map { "\(catalogue)/\($0)" }
        return try (["README.md"] + articles).map { path in
            Document(
                path: path,
                text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
        }
    }

    /// Text and blocks of code by turns, beginning with text.
    private var parts: [Substring] {
        text.split(separator: /(?m)^ *```.*$/, omittingEmptySubsequences: false)
    }

    /// The commands that blocks of code show, in their order; without the studio, which goes on until somebody ends it: its own
    /// tests start it.
    var shown: [ShownCommand] {
        parts.enumerated().filter { $0.offset % 2 == 1 }.flatMap { _, block in
            block.split(separator: /(?m)^\$\s/)
                .filter { $0.hasPrefix("cairn ") && !$0.hasPrefix("cairn studio ") }.map { part in
                    let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
                    var output = lines.dropFirst()
                    while output.last?.isEmpty == true { output.removeLast() }
                    return ShownCommand(
                        words: Array(Self.words(lines[0]).dropFirst()),
                        output: output.map { $0 + "\n" }.joined())
                }
        }
    }

    /// The commands that sentences name, as words without the tool's name.
    var named: [[String]] {
        let sentences = parts.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            .joined(separator: "\n")
        return sentences.matches(of: /`cairn\s+([^`]+)`/).map { Self.words($0.1) }
    }

    /// The words of a command line, as a shell takes them apart.
    static func words(_ line: some StringProtocol) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            switch (quote, character) {
            case (let open?, _) where open == character: quote = nil
            case (nil, "\""), (nil, "'"): (quote, word) = (character, word ?? "")
            case (nil, _) where character.isWhitespace:
                if let done = word { words.append(done) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }
}

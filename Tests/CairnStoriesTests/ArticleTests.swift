// That the articles of the documentation show the code that runs here, and none besides; that files they name are there.

import CairnTestSupport
import Foundation
import Testing

@Suite("The articles of the documentation")
struct ArticleTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let root = folder.deletingLastPathComponent().deletingLastPathComponent()
    private static let catalogue = root.appending(path: "Sources/Cairn/Cairn.docc")

    /// The names of the articles.
    private static func articles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: catalogue.path)
            .filter { $0.hasSuffix(".md") && $0 != "Cairn.md" }.map { String($0.dropLast(3)) }
            .sorted()
    }

    /// The names of those that show code of programs.
    private static func stories() throws -> [String] {
        try articles().filter { try !examples($0).isEmpty }
    }

    private static func text(_ article: String) throws -> String {
        try String(contentsOf: catalogue.appending(path: article + ".md"), encoding: .utf8)
    }

    /// The parts of a source file between "ARTICLE n begins" and "ARTICLE n ends", by n, without what stands between
    /// "pauses" and "goes on".
    private static func parts(_ article: String) throws -> [String] {
        let source = try String(
            contentsOf: folder.appending(path: article + ".swift"), encoding: .utf8)
        var parts: [Int: [Substring]] = [:]
        var shown: Int?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ")
            if words.count >= 4, words[0] == "//", words[1] == article, let number = Int(words[2]) {
                shown = ["begins", "goes"].contains(words[3]) ? number : nil
            } else if let shown {
                parts[shown, default: []].append(line)
            }
        }
        #expect(parts.keys.sorted() == Array(1...max(parts.count, 1)))
        return parts.sorted { $0.key < $1.key }.map { unindented($0.value) }
    }

    private static func unindented(_ lines: [Substring]) -> String {
        let indent = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { $0.dropFirst(indent) }.joined(separator: "\n")
    }

    /// The Swift examples of an article.
    private static func examples(_ article: String) throws -> [String] {
        examples(in: try text(article))
    }

    private static func examples(in text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
    }

    @Test("An article shows the code that runs, in its order", arguments: try stories())
    func shown(_ article: String) throws {
        let parts = try Self.parts(article)
        #expect(!parts.isEmpty)
        #expect(try Self.examples(article) == parts)
    }

    @Test("Every story has its article, and the first page leads to all articles")
    func whole() throws {
        let sources = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            .filter { $0.hasSuffix(".swift") && $0 != "ArticleTests.swift" }
            .map { String($0.dropLast(6)) }.sorted()
        #expect(try Self.stories() == sources)
        let first = try Self.text("Cairn")
        for article in try Self.articles() { #expect(first.contains("<doc:\(article)>")) }
    }

    @Test("README shows how the first program begins")
    func readme() throws {
        let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        let shown = Self.examples(in: readme).filter { !$0.contains(".package(") }
        var first = try Self.examples("AFirstProgram").prefix(2)
            .map { $0.replacing("at: path", with: "at: \"shop.cairn\"") }
        first[0] = "import Cairn\n\n" + first[0]
        #expect(shown == first)
    }

    @Test("Files that articles name are there", arguments: try articles())
    func named(_ article: String) throws {
        let places = [Self.root, Self.root.appending(path: "Sources")]
        for match in try Self.text(article).matches(of: /`([A-Z]\w*\/[\w+\/.-]+\.\w+)`/) {
            let path = String(match.1)
            #expect(
                places.contains {
                    FileManager.default.fileExists(atPath: $0.appending(path: path).path)
                }, "there is no \(path)")
        }
    }
}

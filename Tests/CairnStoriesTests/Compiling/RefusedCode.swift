// Code that the compiler must refuse, what it says to it, and whether an article says the same.

import CairnTestSupport
import Foundation
import Testing

/// Code that does not compile.
struct RefusedCode: Sendable, CustomTestStringConvertible {
    /// What is wrong with it, and the name of its file.
    let name: String
    /// What each of the errors has in it, from top to bottom.
    let errors: [String]
    let source: String

    init(_ name: String, says errors: String..., source: String) {
        self.name = name
        self.errors = errors
        self.source = source
    }

    var testDescription: String { name }
}

/// Some refused code, compiled together, along with code that is fine.
struct RefusedCodes: Sendable {
    private let task: Task<[SwiftCompiler.Diagnostic], any Error>

    /// - Parameter common: what all of it uses.
    init(_ codes: [RefusedCode], common: String, flags: [String] = []) {
        var sources = ["common": common]
        for code in codes {
            sources[code.name] = "import Cairn\nimport Foundation\n\n" + code.source
        }
        task = Task { [sources] in
            try await SwiftCompiler().diagnostics(of: sources, flags)
        }
    }

    /// Finds that the compiler refuses some of the code as it should.
    func check(_ code: RefusedCode) async throws {
        let errors = try await task.value.filter { $0.isError }
        let unplaced = errors.filter { $0.file.isEmpty || $0.file == "common" }
        #expect(unplaced.isEmpty)
        let found = errors.filter { $0.file == code.name }.map(\.text)
        #expect(found.count == code.errors.count, "\(found)")
        for (found, wanted) in zip(found, code.errors) { #expect(found.contains(wanted)) }
    }

    /// What the compiler says, all of it.
    func errors() async throws -> [String] {
        try await task.value.filter { $0.isError }.map(\.text)
    }
}

/// An article that quotes the compiler.
struct QuotingArticle {
    /// The errors that it shows. What was left out at the start of one is an ellipsis.
    let errors: [String]

    init(_ name: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = root.appending(path: "Sources/Cairn/Cairn.docc/\(name).md")
        errors = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("error: ") }.map { String($0.dropFirst(7)) }
    }

    /// Finds that the compiler says what the article has it say, and the article all of what it says, but for the same said
    /// twice.
    ///
    /// Other versions of the compiler choose other words.
    func check(against said: [String]) {
        #expect(!errors.isEmpty)
        #if compiler(>=6.3) && compiler(<6.4)
            func isSame(_ quoted: String, _ said: String) -> Bool {
                quoted.hasPrefix("… ") ? said.hasSuffix(quoted.dropFirst(2)) : said == quoted
            }
            for quoted in errors {
                #expect(said.contains { isSame(quoted, $0) }, "nobody says “\(quoted)”")
            }
            for text in said {
                #expect(errors.contains { isSame($0, text) }, "the article lacks “\(text)”")
            }
        #endif
    }
}

// Code that is one thing with the Objective-C runtime and another without it.
//
// `#if canImport(ObjectiveC)` asks for what matters here, and is the same on each of Apple's systems.

import SwiftSyntax

/// Writes `#if canImport(ObjectiveC)`.
struct PlatformBranches {
    private let lineEnd: String
    private let indent: String
    /// What begins the first line, if the code does not begin one.
    private let start: String
    /// How many blanks stand before the code if it does not begin a line: they go.
    let blanksBefore: Int

    /// Branches that begin at a place in a file.
    init(_ file: SourceFile, at offset: Int) {
        lineEnd = file.lineEnd
        let before = file.lineStart(before: offset)
        let outer = String(before.prefix { $0 == " " || $0 == "\t" })
        let isFirst = outer == before
        // Code in the middle of a line is inside of something that begins there.
        indent = isFirst ? outer : outer + "    "
        start = isFirst ? "" : lineEnd + indent
        blanksBefore = isFirst ? 0 : before.utf8.reversed().prefix { $0 == UInt8(ascii: " ") }.count
    }

    /// Both branches, and the start of the line after them.
    func text(apple: String?, linux: String?) -> String {
        var lines: [String] = []
        switch (apple, linux) {
        case (let apple?, let linux?):
            lines = ["#if canImport(ObjectiveC)", apple, "#else", linux]
        case (let apple?, nil): lines = ["#if canImport(ObjectiveC)", apple]
        case (nil, let linux?): lines = ["#if !canImport(ObjectiveC)", linux]
        case (nil, nil): return ""
        }
        return start
            + (lines + ["#endif", ""]).joined(separator: lineEnd + indent)
    }

    /// Edits of a statement that Apple's compilers must not see: both versions of it, or the new one alone.
    ///
    /// - Returns: nil if the statement is too long for being written twice.
    static func edits(
        of statement: some SyntaxProtocol, _ edits: [SourceEdit], _ file: SourceFile,
        _ context: RuleContext
    ) -> [SourceEdit]? {
        guard context.buildsOnApple else { return edits }
        let bytes = statement.bytes
        let old = file[bytes]
        guard old.utf8.count(where: { $0 == UInt8(ascii: "\n") }) < longest else { return nil }
        let moved = edits.map { edit in
            SourceEdit(
                edit.range.lowerBound - bytes.lowerBound..<edit.range.upperBound - bytes.lowerBound,
                edit.text)
        }
        let branches = PlatformBranches(file, at: bytes.lowerBound)
        let new = SourceEdit.apply(moved, to: old)
        var text = branches.text(apple: old, linux: new.isEmpty ? nil : new)
        // What follows the statement stays on its own line.
        text.removeLast(branches.lineEnd.count + branches.indent.count)
        let next = file.byte(at: bytes.upperBound, skipping: UInt8(ascii: " "))
        if let next, next != UInt8(ascii: "\n"), next != UInt8(ascii: "\r") {
            text += branches.lineEnd + branches.indent
        }
        return [SourceEdit(bytes.lowerBound - branches.blanksBefore..<bytes.upperBound, text)]
    }

    /// The most lines of a statement that is written twice.
    private static let longest = 6
}

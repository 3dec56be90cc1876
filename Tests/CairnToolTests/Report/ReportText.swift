// A report as a reader of markup takes it: elements that begin and end, and no more.
//
// A page has tens of thousands of attributes: bytes are looked at, and nothing is expected of what is as it should be.

import Foundation
import Testing

/// A page.
struct ReportText {
    struct Element {
        let name: String
        let attributes: [String: String]
        /// The text within it, and within its children, entities resolved.
        var text = ""
    }

    /// In the order in which they begin.
    private(set) var elements: [Element] = []

    /// Those of HTML that have no end.
    private static let void: Set<String> = ["meta"]

    /// - Throws: If an element ends that did not begin, or the other way round.
    init(_ page: String) throws {
        let type = "<!doctype html>\n"
        try #require(page.hasPrefix(type))
        var open: [Int] = []
        var rest = Array(page.utf8.dropFirst(type.utf8.count))[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            let words = Self.text(rest[..<start])
            if words.contains(where: { !$0.isWhitespace }) {
                for index in open { elements[index].text += words }
            }
            let end = try #require(rest.firstIndex(of: UInt8(ascii: ">")), "a mark without an end")
            var mark = rest[(start + 1)..<end]
            rest = rest[(end + 1)...]
            if mark.first == UInt8(ascii: "/") {
                let name = Self.text(mark.dropFirst())
                let last = open.popLast()
                let index = try #require(last, "\(name) ends, and nothing is open")
                if elements[index].name != name {
                    Issue.record("\(elements[index].name) ends as \(name)")
                }
                continue
            }
            let isWhole = mark.last == UInt8(ascii: "/")
            if isWhole { mark = mark.dropLast() }
            let name = mark.prefix { $0 != UInt8(ascii: " ") }
            let element = Element(
                name: Self.text(name), attributes: try Self.attributes(mark.dropFirst(name.count)))
            elements.append(element)
            if !isWhole, !Self.void.contains(element.name) { open.append(elements.count - 1) }
        }
        try #require(open.isEmpty)
        try #require(Self.text(rest) == "\n")
    }

    private static func attributes(_ text: ArraySlice<UInt8>) throws -> [String: String] {
        var attributes: [String: String] = [:]
        // Between the quotes stand keys and values in turn: quotes within values are escaped.
        let parts = text.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            let key = Self.text(parts[index])
            let name = String(key.dropFirst().dropLast())
            if !key.hasPrefix(" ") || !key.hasSuffix("=") || attributes[name] != nil {
                Issue.record("\(key) is no attribute, or stands twice")
            }
            attributes[name] = Self.text(parts[index + 1])
        }
        if parts.last?.isEmpty == false { Issue.record("\(Self.text(text)) does not end") }
        return attributes
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "&")) else { return text }
        return [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }

    /// The text of the section with that anchor.
    func section(_ anchor: String) -> String {
        elements.first { $0.name == "section" && $0.attributes["id"] == anchor }?.text ?? ""
    }

    /// Checks what holds for every report.
    func check(sourceLocation: SourceLocation = #_sourceLocation) {
        func find(_ what: String) { Issue.record("\(what)", sourceLocation: sourceLocation) }
        let all = elements.compactMap { $0.attributes["id"] }
        let ids = Set(all)
        if ids.count != all.count { find("an id stands twice") }
        for element in elements {
            if element.name == "script" { find("there is a script") }
            for (key, value) in element.attributes {
                // Nothing runs, and nothing comes from elsewhere.
                if key.hasPrefix("on") || key == "src" || key == "style" { find("\(element)") }
                if key == "href", !value.hasPrefix("#") || !ids.contains(String(value.dropFirst()))
                {
                    find("\(value) leads nowhere")
                }
                if value.hasPrefix("url("), !ids.contains(String(value.dropFirst(5).dropLast())) {
                    find("\(value) is nothing")
                }
                guard key == "aria-labelledby" else { continue }
                for id in value.split(separator: " ") where !ids.contains(String(id)) {
                    find("\(id) labels, and is nothing")
                }
            }
            if element.attributes["role"] == "img", element.attributes["aria-labelledby"] == nil {
                find("a picture without words")
            }
        }
        let policy = self.all("meta").compactMap { $0.attributes["content"] }
        #expect(
            policy.contains { $0.hasPrefix("default-src 'none'; style-src") },
            sourceLocation: sourceLocation)
        #expect(self.all("h1").count == 1, sourceLocation: sourceLocation)
        #expect(self.all("html").first?.attributes["lang"] == "en", sourceLocation: sourceLocation)
        #expect(
            self.all("caption").count == self.all("table").count, "each table says what it is",
            sourceLocation: sourceLocation)
        let contents = self.all("nav").first?.text ?? ""
        #expect(self.all("section").count >= 10, sourceLocation: sourceLocation)
        for title in self.all("h2").map(\.text) where !contents.contains(title) {
            find("\(title) is not in the contents")
        }
    }
}

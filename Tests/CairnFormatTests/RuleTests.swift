import Foundation
import Testing

@Suite("Rules of the specification")
struct RuleTests {
    static let root = WorkedExampleTests.format.deletingLastPathComponent()

    struct Rule: Hashable {
        let id: Int
        let isChecked: Bool
        let isOfLog: Bool
        let chapter: String
    }

    /// "**F-101**", "**F-101 · checked.**" or "**F-101 · log.**" at the start of a list item.
    static func rules() throws -> [Rule] {
        var rules: [Rule] = []
        for url in try files(in: "Format", extension: "md") {
            for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
            where line.hasPrefix("- **F-") {
                let number = line.dropFirst(6).prefix(3)
                rules.append(
                    Rule(
                        id: Int(number) ?? -1, isChecked: line.contains("· checked.**"),
                        isOfLog: line.contains("· log.**"), chapter: url.lastPathComponent))
            }
        }
        return rules
    }

    /// The numbers in "F-101" and, where two are joined by " to ", those between them.
    static func quoted(in text: String) -> Set<Int> {
        var quoted: Set<Int> = []
        var last: (number: Int, end: Substring.Index)?
        var rest = text[...]
        while let range = rest.range(of: "F-") {
            let digits = rest[range.upperBound...].prefix(3)
            let following = rest[range.upperBound...].dropFirst(3).first
            if digits.count == 3, let number = Int(digits), following?.isNumber != true {
                quoted.insert(number)
                if let last, text[last.end..<range.lowerBound] == " to ", last.number < number {
                    quoted.formUnion(last.number...number)
                }
                last = (number, digits.endIndex)
            }
            rest = rest[range.upperBound...]
        }
        return quoted
    }

    static func files(in folder: String, extension name: String) throws -> [URL] {
        let url = root.appending(path: folder)
        return try FileManager.default.subpathsOfDirectory(atPath: url.path)
            .filter { $0.hasSuffix("." + name) }.sorted().map { url.appending(path: $0) }
    }

    @Test("Every id names one rule, in its chapter")
    func ids() throws {
        let rules = try Self.rules()
        #expect(rules.count > 80)
        #expect(Set(rules.map(\.id)).count == rules.count)
        for rule in rules {
            #expect(rule.chapter.hasPrefix("\(rule.id / 100)"), "F-\(rule.id)")
        }
    }

    @Test("Every rule that code, tests or the specification quote exists")
    func quotedRulesExist() throws {
        let ids = Set(try Self.rules().map(\.id))
        for folder in ["Sources", "Tests"] {
            for url in try Self.files(in: folder, extension: "swift")
            where url.lastPathComponent != "RuleTests.swift" {
                let text = try String(contentsOf: url, encoding: .utf8)
                let unknown = Self.single(in: text).subtracting(ids)
                #expect(unknown.isEmpty, "\(url.lastPathComponent) quotes \(unknown.sorted())")
            }
        }
        for url in try Self.files(in: "Format", extension: "md") {
            let text = try String(contentsOf: url, encoding: .utf8)
            let unknown = Self.single(in: text).subtracting(ids)
            #expect(unknown.isEmpty, "\(url.lastPathComponent) quotes \(unknown.sorted())")
        }
    }

    @Test("Every checked rule is quoted by the codec or its tests")
    func checkedRulesAreQuoted() throws {
        let quoted = try Self.quoted(by: "Sources/CairnFormat", "Tests/CairnFormatTests")
        let missing = try Self.rules().filter { $0.isChecked && !quoted.contains($0.id) }
        #expect(missing.isEmpty, "\(missing.map { "F-\($0.id)" })")
    }

    @Test("Every rule of the log is quoted by the engine or its tests")
    func logRulesAreQuoted() throws {
        let rules = try Self.rules().filter(\.isOfLog)
        #expect(rules.count > 15)
        let quoted = try Self.quoted(
            by: "Sources/CairnLog", "Sources/CairnMigration", "Sources/CairnMoving",
            "Tests/CairnLogTests")
        let missing = rules.filter { !quoted.contains($0.id) }
        #expect(missing.isEmpty, "\(missing.map { "F-\($0.id)" })")
    }

    /// The rules that the Swift files of some folders quote.
    private static func quoted(by folders: String...) throws -> Set<Int> {
        var quoted: Set<Int> = []
        for folder in folders {
            for url in try files(in: folder, extension: "swift")
            where url.lastPathComponent != "RuleTests.swift" {
                quoted.formUnion(self.quoted(in: try String(contentsOf: url, encoding: .utf8)))
            }
        }
        return quoted
    }

    /// The ids themselves, without those between two.
    private static func single(in text: String) -> Set<Int> {
        quoted(in: text.replacingOccurrences(of: " to F-", with: " and F-"))
    }
}

// The predicates of other people's programs are read and printed; what is refused is refused on purpose.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Predicates of other people")
struct PredicateCorpusTests {
    /// What is refused, and why. The formats are those of tests that expect an error, or of a library whose
    /// language has more than this one.
    private static func reason(_ format: String) -> String? {
        if format.contains("@allKeys") || format.contains("@allValues") {
            return "the keys and values of a dictionary, which no attribute is"
        }
        if format.contains("@average") { return "the operator is @avg" }
        if format.contains("link.$prop") { return "a variable as a key: %K says it" }
        switch format {
        case "age * 25": return "no comparison"
        case "age === 25": return "no such operator"
        case "@K == YES": return "%K is meant"
        default: return nil
        }
    }

    @Test(
        "Every valid format of the corpus is read, and printed as text that reads back the same",
        .enabled(if: Corpus.isAvailable))
    func corpus() throws {
        Corpus.noteUse()
        let text = try String(contentsOf: Corpus.url("predicates.tsv"), encoding: .utf8)
        var read = 0
        var refused = 0
        for line in text.split(separator: "\n").dropFirst() {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            for format in Set(
                columns.prefix(3).enumerated().filter { $0.offset != 1 }.map { String($0.element) })
            where !format.isEmpty {
                if Self.reason(format) == nil {
                    try check(format)
                    read += 1
                } else {
                    #expect(throws: PredicateFormatError.self, "\(format)") {
                        _ = try PredicateNode(
                            format: format, arguments: Self.arguments(for: format))
                    }
                    refused += 1
                }
            }
        }
        #expect(read > 700, "\(read)")
        #expect(refused > 0 && refused < 60, "\(refused)")
    }

    @Test(
        "Formats of every kind that programs have are read and printed",
        arguments: [
            "%K == %@ AND ANY %K.user == %@", "NOT %K IN %@ AND (%K == NO OR %K == nil)",
            "SUBQUERY(lines, $l, $l.count > 1 AND SUBQUERY($l.parts, $p, $p.size > 3).@count > 0).@count > 2",
            "(groupID == nil || status != %d) && (expiration >= now() || expiration == nil)",
            "%K & %d == 0", "((%K & %d) = %d) && ((%K & %d) = 0)", "maps[%@][%K] <= %@",
            "owner == $FETCH_SOURCE.%K AND (comment CONTAINS [c] $FETCHED_PROPERTY.userInfo.search)",
            "NONE places.name BEGINSWITH[cd] 'a'", "ALL %K.@count > 2", "(SELF.g)[0] == 2",
            "TERNARY(b ==[l] 'ABC', 0, TERNARY(b <[l] 'ABC', -1, 1)) == 0",
            "g.@max.#self == g.@min.#self", "rating = max(%@)", "age BETWEEN {0, {1, 10}}",
            "children.parents.@avg.age / 2 ** -1 <= 1e3", "not self contains \"_\"",
            "SELF IN SUBQUERY(items, $i, $i.n = 5)", "age BETWEEN {age, age}", "'%@' == name",
            "FUNCTION(SELF, 'distanceTo:', %@) < 10", "position IN a UNION b MINUS {1, c}",
        ])
    func own(_ format: String) throws {
        try check(format)
    }

    private func check(_ format: String) throws {
        do {
            let node = try PredicateNode(format: format, arguments: Self.arguments(for: format))
            #expect(try PredicateNode(format: node.predicateFormat) == node, "\(format)")
        } catch {
            Issue.record("\(error.explanation)")
        }
    }

    /// An argument for each placeholder: a key, a text, a number, or, behind IN and BETWEEN, a list.
    private static func arguments(for format: String) -> [PredicateParser.Argument] {
        var arguments: [PredicateParser.Argument] = []
        var quote: Character?
        var before = ""
        var rest = format[...]
        while let character = rest.popFirst() {
            if let mark = quote {
                if character == mark { quote = nil }
                continue
            }
            if character == "'" || character == "\"" { quote = character }
            guard character == "%" else {
                before.append(character)
                continue
            }
            let name = rest.drop { "lhqztjL0123456789.".contains($0) }.first
            let word = before.uppercased().trimmingCharacters(
                in: CharacterSet(charactersIn: " ([cdnl]"))
            switch name {
            case "K": arguments.append(.value(.string("key.path")))
            case "s": arguments.append(.value(.string("text")))
            case "d", "i", "u", "f", "c": arguments.append(.value(.integer(1)))
            case "@" where word.hasSuffix("IN") || word.hasSuffix("BETWEEN"):
                arguments.append(.list([.integer(1), .string("x")]))
            default: arguments.append(.value(.string("value")))
            }
        }
        return arguments
    }
}

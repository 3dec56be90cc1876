// The tool prints how a condition is read.

import Foundation
import Testing

@testable import CairnTool

@Suite("cairn predicate")
struct PredicateCommandTests {
    @Test("a condition is printed, and its tree under it")
    func tree() {
        let run = cairn(
            "predicate", "NONE items.price <[c] %@ OR (%K in {1, n} && name.length + 1 = 5)", "7",
            "kind.code")
        #expect(run.code == 0)
        #expect(run.errors.isEmpty)
        #expect(
            run.output == """
                NOT ANY items.price <[c] 7 OR (kind.code IN {1, n} AND name.length + 1 == 5)
                or
                  not
                    comparison ANY <[c]
                      keyPath items.price
                      constant 7
                  and
                    comparison IN
                      keyPath kind.code
                      aggregate
                        constant 1
                        keyPath n
                    comparison ==
                      function add:to:
                        keyPath name.length
                        constant 1
                      constant 5

                """)
    }

    @Test("an argument may begin with a minus")
    func negative() {
        let run = cairn("predicate", "a == %d AND b < %@", "-5", "-2.5")
        #expect(run.code == 0 && run.output.hasPrefix("a == -5 AND b < -2.5\n"))
        let wrong = cairn("predicate", "a == %d", "-5", "-x")
        #expect(wrong.code == 1)
        #expect(cairn("predicate", "--json", "a == %d", "-5").output.hasPrefix("{"))
        #expect(cairn("predicate", "-a < %@", "7").output.hasPrefix("0 - a < 7\n"))
        #expect(cairn("predicate", "a == 1", "--jsn").code == 2)
        #expect(cairn("predicate").code == 2)
    }

    @Test("behind two hyphens nothing is an option")
    func terminator() {
        let number = cairn("predicate", "a == %d", "--", "-5")
        #expect(number.code == 0 && number.output.hasPrefix("a == -5\n"), "\(number.errors)")
        let text = cairn("predicate", "--", "a == %@ OR b == %@", "--json", "--")
        #expect(text.code == 0, "\(text.errors)")
        #expect(text.output.hasPrefix("a == '--json' OR b == '--'\n"), "\(text.output)")
        let format = cairn("predicate", "--json", "--", "--a == 1")
        #expect(format.code == 0 && format.output.hasPrefix("{"), "\(format.errors)")
        #expect(cairn("predicate", "--jsn", "--", "a == 1").code == 2)
        #expect(cairn("predicate", "--").code == 2)
    }

    @Test("with --json the tree is an object")
    func json() throws {
        let run = cairn(
            "predicate", "SUBQUERY(a, $x, $x.b LIKE %@).@count > 2.5", "x*", "--json")
        #expect(run.code == 0)
        let tree = try #require(try run.json.first)
        #expect(tree["kind"] as? String == "comparison")
        #expect(tree["operator"] as? String == ">")
        let left = try #require(tree["left"] as? [String: Any])
        #expect(left["kind"] as? String == "collection" && left["operator"] as? String == "count")
        let subquery = try #require(left["of"] as? [String: Any])
        #expect(subquery["variable"] as? String == "x")
        let right = try #require(tree["right"] as? [String: Any])
        #expect(right["type"] as? String == "decimal" && right["value"] as? String == "2.5")
    }

    @Test(
        "an error ends with 1 and points at the place",
        arguments: [
            ("price <", 7), ("name CONTAINS[x] 'a'", 14), ("a == 'b", 5), ("a == %@", 5),
            ("a.@average.b > 1", 3), ("", 0),
        ])
    func errors(_ format: String, offset: Int) throws {
        let run = cairn("predicate", format)
        #expect(run.code == 1)
        #expect(run.output.isEmpty)
        let lines = run.errors.split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        #expect(lines.count == 4)
        guard lines.count == 4 else { return }
        #expect(lines[1] == "  \(format)")
        #expect(lines[2] == String(repeating: " ", count: offset + 2) + "^")
        let json = cairn("predicate", format, "--json")
        #expect(json.code == 1)
        #expect(try json.error["offset"] as? Int == offset)
    }

    @Test("arguments are literals where they are some, and texts otherwise")
    func arguments() {
        let run = cairn(
            "predicate", "a == %@ AND b IN %@ AND c == %@ AND d == %d", "TRUE", "{1, 'x'}",
            "a text", "4")
        #expect(
            run.lines.first == "a == TRUE AND b IN {1, 'x'} AND c == 'a text' AND d == 4")
        #expect(cairn("predicate", "a == %@", "'{1, b}'").lines.first == "a == '{1, b}'")
        #expect(cairn("predicate", "a == %@", "{1, b").lines.first == "a == '{1, b'")
    }

    @Test(
        "braces around something else than values are no argument", arguments: ["{1, b}", "{a b}"])
    func noList(_ argument: String) {
        let run = cairn("predicate", "a IN %@", argument)
        #expect(run.code == 1 && run.output.isEmpty)
        #expect(run.errors.contains("the argument \(argument) is not a list of values"))
    }
}

// cairn query with conditions and options that make no sense: a message that says where, and nothing else.

import CairnTestSupport
import Testing

@testable import CairnTool

@Suite("cairn query with what makes no sense")
struct BadQueryTests {
    private func filled() throws -> Workplace {
        let work = try Workplace()
        try work.importing(
            "1.json", #"[{"code":"a","size":1,"kind":"x"},{"code":"b","size":2,"kind":null}]"#)
        return work
    }

    @Test(
        "A condition that cannot be read ends with 2 and a mark under its place",
        arguments: [
            ("size <", 6), ("size == 'x", 8), ("size == 1 AND", 13), ("(size == 1", 10),
            ("code LIKE[x] 'a'", 10), ("", 0), ("size == %@", 8), ("nosuch:(size) > 1", 0),
            ("kind.@nosuch > 1", 6), ("size IN {1", 10),
        ])
    func unreadable(_ format: String, _ offset: Int) throws {
        let work = try filled()
        let failed = cairn("query", work.store, "Thing", "--where", format)
        #expect(failed.code == 2 && failed.output.isEmpty)
        let lines = failed.errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines.contains { $0 == String(repeating: " ", count: offset + 2) + "^" },
            "\(failed.errors)")
    }

    @Test(
        "A condition that does not fit ends with 1 and names the key",
        arguments: [
            ("nope == 1", "nope"), ("size == 'x'", "size"), ("code MATCHES '('", "("),
            ("size IN size", "IN"), ("ANY size > 1", "size"),
            ("FUNCTION(size, 'x:') == 1", "x:"), ("size.@sum.x > 1", "size"), ("$x == 1", "$x"),
            ("SUBQUERY(kind, $k, TRUEPREDICATE).@count > 0", "kind"), ("code.x.y == 1", "x.y"),
        ])
    func misfits(_ format: String, _ key: String) throws {
        let work = try filled()
        let failed = cairn("query", work.store, "Thing", "--where", format)
        #expect(failed.code == 1 && failed.output.isEmpty)
        #expect(failed.errors.contains(key), "\(failed.errors)")
    }

    @Test("A function that there is none of is named, with the one that may be meant")
    func unknownFunctions() throws {
        let work = try filled()
        let failed = cairn("query", work.store, "Thing", "--columns", "avg:(size)")
        #expect(failed.code != 0)
        #expect(failed.errors.contains("did you mean average:?"), "\(failed.errors)")
        let condition = cairn("query", work.store, "Thing", "--where", "len:(code) > 1")
        #expect(condition.errors.contains("did you mean length:?"), "\(condition.errors)")
    }

    @Test("A condition that is nested too deep, or very long, is refused")
    func deep() throws {
        let work = try filled()
        let deep = String(repeating: "(", count: 10_000) + "size == 1"
        let failed = cairn("query", work.store, "Thing", "--where", deep)
        #expect(failed.code == 2 && failed.errors.contains("nested more than"))
        let path = String(repeating: "x.", count: 5_000) + "y == 1"
        #expect(cairn("query", work.store, "Thing", "--where", path).code == 1)
        // Through a relationship, which is a step of the path and not a part of a name.
        let model = try work.list(
            "model.json",
            """
            {"entities":[{"name":"Part","attributes":[{"name":"code","type":"string"}],"relationships":[
                {"name":"whole","destinationEntityName":"Part","isToMany":false,"maximumCount":1,"inverseName":"parts"},
                {"name":"parts","destinationEntityName":"Part","isToMany":true,"inverseName":"whole"}]}]}
            """)
        let parts = work.folder.path("parts.cairn")
        let made = cairn(
            "import", parts, "--entity", "Part", "--model", model,
            try work.list("parts.json", #"[{"code":"a"}]"#))
        #expect(made.code == 0, "\(made.errors)")
        for steps in [3_000, 15_000] {
            let path = String(repeating: "whole.", count: steps) + "code == 'a'"
            for command in ["query", "count", "delete"] {
                let failed = cairn(command, parts, "Part", "--where", path)
                #expect(failed.code == 1 && failed.errors.contains("nested more than"))
            }
        }
        let sort = String(repeating: "x.", count: 5_000) + "y"
        #expect(cairn("query", work.store, "Thing", "--sort", sort).code == 1)
    }

    @Test("Limits of any size do not trap")
    func limits() throws {
        let work = try filled()
        let greatest = "\(Int.max)"
        let all = cairn(
            "query", work.store, "Thing", "--limit", greatest, "--offset", "1", "--json")
        #expect(all.code == 0 && all.lines.count == 1)
        let none = cairn(
            "query", work.store, "Thing", "--limit", greatest, "--offset", greatest, "--json")
        #expect(none.code == 0 && none.lines.isEmpty)
        for number in ["-1", "x", "99999999999999999999", ""] {
            #expect(cairn("query", work.store, "Thing", "--limit", number).code == 2)
            #expect(cairn("query", work.store, "Thing", "--offset", number).code == 2)
        }
    }
}

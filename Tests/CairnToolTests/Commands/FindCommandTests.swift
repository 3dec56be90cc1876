// cairn find, by id, key and text.

import Testing

@testable import CairnTool

@Suite("cairn find")
struct FindCommandTests {
    private func filled() throws -> Workplace {
        let work = try Workplace()
        try work.importing(
            "1.json",
            """
            [{"code":"a","name":"Anna"},{"code":"b","name":"Jürgen"},{"code":"p1","name":"ANNABEL"}]
            """)
        return work
    }

    @Test("a text is found whatever its case and accents, with entity, object and attribute")
    func text() throws {
        let work = try filled()
        #expect(
            cairn("find", work.store, "anna").output == """
                entity  objectID  by    property  value
                ──────  ────────  ────  ────────  ───────
                Thing   p1        text  name      Anna
                Thing   p3        text  name      ANNABEL

                """)
        #expect(
            cairn("find", work.store, "JURG", "--json").lines == [
                #"{"entity":"Thing","objectID":"p2","by":"text","property":"name","value":"Jürgen"}"#
            ])
    }

    @Test("an id comes before a key, and a key is not found again as a text")
    func order() throws {
        let work = try filled()
        #expect(
            cairn("find", work.store, "p1", "--json").lines == [
                #"{"entity":"Thing","objectID":"p1","by":"id","property":null,"value":null}"#,
                #"{"entity":"Thing","objectID":"p3","by":"key","property":"code","value":"p1"}"#,
            ])
        let id = try #require(try cairn("info", work.store, "--json").json[0]["id"] as? String)
        let byURI = cairn("find", work.store, "x-cairn://\(id)/h1/p2", "--json")
        #expect(byURI.lines.count == 1 && byURI.output.contains(#""objectID":"p2""#))
    }

    @Test("the id of an object that was merged into another one finds that one")
    func redirected() throws {
        let work = try Workplace()
        try work.importing(
            "1.json", #"[{"code":"a","name":"Anna"},{"code":"b","name":"Anna"}]"#)
        let run = cairn(
            "duplicates", work.store, "Thing", "--by", "name", "--keep", "first", "--delete")
        #expect(run.code == 0, "\(run.errors)")
        let found = cairn("find", work.store, "p2")
        #expect(
            found.output == """
                p2 was merged into p1.
                entity  objectID  by  property  value
                ──────  ────────  ──  ────────  ─────
                Thing   p1        id

                """, "\(found.errors)")
        let json = cairn("find", work.store, "p2", "--json")
        #expect(json.errors.contains("p2 was merged into p1."))
        #expect(json.output == cairn("find", work.store, "p1", "--json").output)
    }

    @Test("a limit is said when it hides something")
    func limit() throws {
        let work = try filled()
        let first = cairn("find", work.store, "anna", "--limit", "1", "--json")
        #expect(first.lines.count == 1)
        #expect(first.errors.contains("more than 1"))
        #expect(cairn("find", work.store, "anna", "--limit", "2").errors.isEmpty)
        let all = cairn("find", work.store, "anna", "--limit", "\(Int.max)", "--json")
        #expect(all.code == 0 && all.lines.count == 2)
    }

    @Test("nothing found ends with 1, and senseless questions with 2")
    func nothing() throws {
        let work = try filled()
        let none = cairn("find", work.store, "zebra")
        #expect(none.code == 1 && none.errors.contains("zebra") && none.output.isEmpty)
        #expect(cairn("find", work.store, "p99").code == 1)
        #expect(cairn("find", work.store, "").code == 2)
        #expect(cairn("find", work.store, "a", "--limit", "0").code == 2)
        let entity = cairn("find", work.store, "anna", "--entity", "Nope")
        #expect(entity.code == 1 && entity.errors.contains("has no entity Nope"))
        #expect(cairn("find", work.store + "x", "a").code == 1)
    }
}

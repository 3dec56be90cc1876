// cairn query where it prints a table about objects: expressions, groups, equal rows once.

import Testing

@testable import CairnTool

@Suite("Tables of cairn query")
struct TableQueryTests {
    private func filled() throws -> Workplace {
        let work = try Workplace()
        try work.importing(
            "1.json",
            """
            [{"code":"a","size":1,"price":1.5,"kind":"x"},{"code":"b","size":20,"price":-0.25,"kind":"y"},\
            {"code":"c","size":3,"price":4,"kind":"x"},{"code":"d","size":3,"price":2,"kind":null}]
            """)
        return work
    }

    @Test("groups have their keys and count as columns, if nothing else is said")
    func groups() throws {
        let work = try filled()
        #expect(
            cairn("query", work.store, "Thing", "--group-by", "kind").output == """
                kind  count
                ────  ─────
                          1
                x         2
                y         1

                """)
        #expect(
            cairn(
                "query", work.store, "Thing", "--group-by", "kind", "--sort", "-count,kind",
                "--json", "--limit", "2"
            ).lines == [#"{"kind":"x","count":2}"#, #"{"kind":null,"count":1}"#])
    }

    @Test("columns are expressions with names, and a condition chooses groups")
    func having() throws {
        let work = try filled()
        let run = cairn(
            "query", work.store, "Thing", "--where", "price > 0 OR size == 20", "--group-by",
            "kind", "--columns", "kind, n=@count,total=sum:(size),max:(price)", "--having",
            "n > 1 OR total == 20", "--sort", "-total", "--json")
        #expect(
            run.lines == [
                #"{"kind":"y","n":1,"total":20,"max:(price)":-0.25}"#,
                #"{"kind":"x","n":2,"total":4,"max:(price)":4}"#,
            ])
        let all = cairn("query", work.store, "Thing", "--columns", "@count,sum:(size)", "--json")
        #expect(all.lines == [#"{"@count":4,"sum:(size)":27}"#])
    }

    @Test("an expression is about each object, with commas where they belong to it")
    func expressions() throws {
        let work = try filled()
        let run = cairn(
            "query", work.store, "Thing", "--columns",
            "objectID,double=size * 2,how=TERNARY(size > 2, \"big, yes\", 'no')", "--sort",
            "-double", "--offset", "1", "--limit", "2", "--json")
        #expect(
            run.lines == [
                #"{"objectID":"p3","double":6,"how":"big, yes"}"#,
                #"{"objectID":"p4","double":6,"how":"big, yes"}"#,
            ])
    }

    @Test("equal rows are printed once")
    func distinct() throws {
        let work = try filled()
        let run = cairn(
            "query", work.store, "Thing", "--columns", "kind", "--distinct", "--sort", "-kind",
            "--json")
        #expect(run.lines == [#"{"kind":"y"}"#, #"{"kind":"x"}"#, #"{"kind":null}"#])
        #expect(cairn("query", work.store, "Thing", "--distinct", "--json").lines.count == 4)
    }

    @Test("offset leaves out the first objects")
    func offset() throws {
        let work = try filled()
        let run = cairn(
            "query", work.store, "Thing", "--columns", "code", "--offset", "3", "--json")
        #expect(run.lines == [#"{"code":"d"}"#])
        #expect(cairn("query", work.store, "Thing", "--offset", "-1").code == 2)
    }

    @Test("explain says how the groups are made")
    func explain() throws {
        let work = try filled()
        let run = cairn(
            "query", work.store, "Thing", "--where", "code >= 'a'", "--group-by", "kind",
            "--having", "count > 0", "--sort", "-count", "--explain", "--json")
        let plan = try run.json[0]
        #expect(Int(plan, "results") == 3)
        #expect(plan["access"] as? String == "groups of scan of Thing")
        #expect(plan["condition"] as? String == "code >= 'a'")
        #expect(plan["groups"] as? String == "by kind, with count = SELF.@count")
        #expect(plan["having"] as? String == "count > 0")
        #expect(plan["sort"] as? String == "-count")
        #expect(
            ["estimatedRows", "allRows", "rowsLooked", "blocksRead", "blocksSkipped"].map {
                Int(plan, $0)
            } == [4, 4, 4, 1, 0])
        let distinct = cairn(
            "query", work.store, "Thing", "--columns", "kind,double=size * 2", "--distinct",
            "--sort", "double", "--explain")
        #expect(
            distinct.lines.prefix(5) == [
                "scan of Thing", "  sorted by double", "  equal rows once",
                "  estimated 4 of 4 rows; 4 looked at, 4 results", "  1 blocks read, 0 not",
            ])
    }

    @Test(
        "what does not fit is named with its option",
        arguments: [
            (["--group-by", "nope"], 1, "--group-by nope: Thing has no attribute"),
            (["--columns", "sum:(nope)"], 1, "--columns sum:(nope): Thing has no attribute"),
            (["--columns", "code,,size"], 2, "--columns: a part of \"code,,size\" is empty"),
            (["--columns", "sum:(size"], 2, "--columns: a comma"),
            (["--having", "size > 1"], 1, "--having: a condition on groups"),
            (["--group-by", "kind", "--having", "nope > 1"], 1, "--having: nope is one of many"),
            (["--group-by", "kind", "--having", "size >"], 2, "--having: "),
            (["--group-by", "kind", "--sort", "nope"], 1, "--sort: nope is one of many"),
            (["--group-by", "kind", "--columns", "size"], 1, "--columns size: size is one of"),
            (["--columns", "x=size,x=code"], 1, "two columns are called x"),
            (["--sort", "nope"], 1, "Thing has no attribute nope"),
            (["--sort", "a.b"], 1, "Thing.a.b"),
        ])
    func refusals(_ options: [String], _ code: Int32, _ message: String) throws {
        let work = try filled()
        let failed = run(["query", work.store, "Thing"] + options)
        #expect(failed.code == code)
        #expect(failed.errors.contains(message), "\(failed.errors)")
        #expect(failed.output.isEmpty)
    }
}

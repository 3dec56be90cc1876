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

    @Test(
        "figures of what is calculated for each object, and what is calculated of figures, are fine"
    )
    func figures() throws {
        let work = try filled()
        let run = cairn(
            "query", work.store, "Thing", "--columns",
            "sum:(abs:(price)),sum:(max:(size,3)),max:(sum:(size),average:(price)),abs:(min:(price))",
            "--json")
        #expect(
            run.lines == [
                #"{"sum:(abs:(price))":7.75,"sum:(max:(size,3))":29,"max:(sum:(size),average:(price))":27,"abs:(min:(price))":0.25}"#
            ])
    }

    @Test("numbers that are equal are one key and one row, whatever their types")
    func mixed() throws {
        let work = try filled()
        let one = "one=TERNARY(kind == 'x', 1, 1.0)"
        let groups = cairn(
            "query", work.store, "Thing", "--group-by", "TERNARY(kind == 'x', 1, 1.0)",
            "--columns", "@count", "--json")
        #expect(groups.lines == [#"{"@count":4}"#])
        let rows = cairn(
            "query", work.store, "Thing", "--columns", one, "--distinct", "--json")
        #expect(rows.lines == [#"{"one":1}"#])
    }

    @Test("with --sql-nulls what is compared with nil is not found, nor is the opposite")
    func sqlNulls() throws {
        let work = try filled()
        func codes(_ options: String...) -> [String] {
            run(["query", work.store, "Thing", "--columns", "code", "--json"] + options).lines
        }
        let others = [#"{"code":"b"}"#, #"{"code":"d"}"#]
        #expect(codes("--where", "kind != 'x'") == others)
        #expect(codes("--where", "NOT kind == 'x'", "--sql-nulls") == [others[0]])
        #expect(codes("--where", "kind == NULL", "--sql-nulls") == [others[1]])
        #expect(!codes("--where", "-1 < 0").isEmpty)
        #expect(
            cairn("query", work.store, "Thing", "--group-by", "kind", "--having", "-1 < 0").code
                == 0)
        let groups = cairn(
            "query", work.store, "Thing", "--group-by", "kind", "--having", "kind != 'x'",
            "--sql-nulls", "--json")
        #expect(groups.lines == [#"{"kind":"y","count":1}"#])
        let plan = cairn(
            "query", work.store, "Thing", "--where", "size != 3", "--sql-nulls", "--explain")
        #expect(plan.output.contains("size != 3 AND #size != NULL"), "\(plan.output)")
        #expect(
            cairn("count", work.store, "Thing", "--where", "kind != 'x'", "--sql-nulls").lines
                == ["1"])
        #expect(
            cairn("delete", work.store, "Thing", "--where", "kind != 'x'", "--sql-nulls").lines
                == ["Thing: 1 deleted"])
        let wrong = cairn("query", work.store, "Thing", "--where", "NOT nope == 1", "--sql-nulls")
        #expect(wrong.code == 1 && wrong.errors.contains("nope"))
    }

    @Test("what only the nil of SQL makes too large is named with its option")
    func sqlNullsRefusals() throws {
        let work = try filled()
        let figure =
            String(repeating: "TERNARY(NOT ", count: 40) + "max:(size) == 7"
            + String(repeating: ", max:(size), 1) == 7", count: 40)
        let options = ["query", work.store, "Thing", "--group-by", "kind", "--having", figure]
        #expect(run(options).code == 0)
        let failed = run(options + ["--sql-nulls"])
        #expect(failed.code == 1)
        #expect(
            failed.errors.contains("--having: the predicate nests too many"), "\(failed.errors)")
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
                "scan of Thing", "  sorted by double", "  distinct",
                "  estimated 4 of 4 rows; 4 examined, 4 results", "  1 blocks read, 0 skipped",
            ])
    }

    @Test(
        "what does not fit is named with its option",
        arguments: [
            (["--group-by", "nope"], 1, "--group-by nope: Thing has no attribute"),
            (["--columns", "sum:(nope)"], 1, "--columns sum:(nope): Thing has no attribute"),
            (["--columns", "code,,size"], 2, "--columns: a part of \"code,,size\" is empty"),
            (["--columns", "sum:(size"], 2, "--columns: expected a comma"),
            (["--having", "size > 1"], 1, "--having: a condition on groups"),
            (
                ["--group-by", "kind", "--having", "nope > 1"], 1,
                "--having: Thing has no attribute or relationship nope"
            ),
            (
                ["--group-by", "kind", "--having", "code > 'a'"], 1,
                "--having: code has many values"
            ),
            (["--columns", "@count", "--having", "count > 1"], 1, "relationship count, and the"),
            (["--group-by", "kind", "--having", "kind == 1"], 1, "1 is not a string for kind\n"),
            (
                ["--columns", "@count", "--having", "sum:(price) > 'x'"], 1,
                "--having: \"x\" is not a double for sum:(price)\n"
            ),
            (["--columns", "n=@count", "--having", "n > 'x'"], 1, "an integer64 for n\n"),
            (["--group-by", "kind", "--having", "size >"], 2, "--having: "),
            (["--group-by", "kind", "--sort", "nope"], 1, "--sort: Thing has no attribute"),
            (["--group-by", "kind", "--sort", "size"], 1, "--sort: size has many values"),
            (["--sort", "-"], 2, "--sort: there is no key"),
            (["--limit", "-1"], 2, "--limit must be 0 or more"),
            (["--offset", "-1"], 2, "--offset must be 0 or more"),
            (["--group-by", "kind,kind"], 2, "--group-by names kind twice"),
            (
                ["--group-by", "@count"], 1,
                "--group-by @count: @count is an aggregate over a whole"
            ),
            (
                ["--group-by", "size + sum:(price)"], 1,
                "sum:(price) is an aggregate over a whole group: objects cannot be grouped by it"
            ),
            (["--columns", "max:(sum:(price))"], 1, "max:(sum:(price)) cannot be computed"),
            (["--columns", "m=count:(count:(code))"], 1, "count:(code) is an aggregate"),
            (["--columns", "sum:(TERNARY(size > max:(price), 1, 0))"], 1, "max:(price) is an agg"),
            (
                ["--group-by", "kind", "--columns", "{kind, 'x'}"], 1,
                "--columns {kind, 'x'}: {kind, 'x'} returns many values"
            ),
            (["--columns", "@count", "--having", "max:(min:(price)) > 1"], 1, "min:(price) is a"),
            (["--group-by", "kind", "--columns", "size"], 1, "--columns size: size has many"),
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

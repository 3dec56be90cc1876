// Commands on stores in PostgreSQL: what they print is what they print of the same store in a folder.

import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnTool

@Suite("Commands on a store in PostgreSQL", .enabled(if: PostgresServer.isInstalled))
struct DatabaseCommandTests {
    private static let things = """
        [{"code":"a","name":"Anna","size":1,"price":1.5,"day":"2024-05-01","ok":true},
         {"code":"b","name":"日本 \\"x\\"; --","size":20,"price":-0.25,"day":"1969-12-31T23:59:59Z","ok":false},
         {"code":"c","name":null,"size":3,"price":1e21,"day":null,"ok":true},
         {"code":"d","name":"Anna","size":1,"price":0.1,"day":"2024-05-01","ok":null}]
        """

    private static let shelf = """
        {"entities": [
          {"name": "Author", "uniquenessConstraints": [["name"]],
           "attributes": [{"name": "name", "type": "string"}],
           "relationships": [
             {"name": "books", "destinationEntityName": "Book", "isToMany": true, "isOrdered": true,
              "inverseName": "author"}]},
          {"name": "Tag", "uniquenessConstraints": [["number"]],
           "attributes": [{"name": "number", "type": "integer32"}],
           "relationships": [
             {"name": "books", "destinationEntityName": "Book", "isToMany": true, "inverseName": "tags"}]},
          {"name": "Book", "uniquenessConstraints": [["code"]],
           "attributes": [{"name": "code", "type": "string"}, {"name": "weight", "type": "double"}],
           "relationships": [
             {"name": "author", "destinationEntityName": "Author", "isToMany": false, "inverseName": "books"},
             {"name": "tags", "destinationEntityName": "Tag", "isToMany": true, "inverseName": "books"}]}
        ]}
        """

    private func fill(_ both: borrowing BothPlaces) throws {
        try both.importing("1.json", Self.things, "--entity", "Thing", "--unique", "code")
    }

    private func fillShelf(_ both: borrowing BothPlaces) throws {
        let model = try both.work.list("model.json", Self.shelf)
        try both.importing("a.csv", "name\nAnn\nBob\n", "--entity", "Author", "--model", model)
        try both.importing("t.csv", "number\n1\n2\n3\n", "--entity", "Tag")
        try both.importing(
            "b.csv", "code,weight,author,tags\nx,1.5,Ann,1;3\ny,2,Bob,2\nz,,Ann,3;2;1\n",
            "--entity",
            "Book")
    }

    // MARK: Whole stores

    @Test("copy takes a store into a database and back, and between databases")
    func copying() throws {
        try withBothPlaces { first in
            try fillShelf(first)
            try withBothPlaces { second in
                let copied = cairn("copy", first.work.store, second.url, "--json")
                #expect(copied.code == 0, "\(copied.errors)")
                #expect(copied.output.contains("\"objects\":8,"))
                #expect(copied.output.contains("\"pairs\":6,"))
                let back = cairn("copy", second.url, second.work.store)
                #expect(back.code == 0, "\(back.errors)")
                second.same("export", "STORE")
                #expect(
                    cairn("export", second.url).output
                        == cairn("export", first.work.store).output)
                // There is a store already.
                for place in [second.url, second.work.store] {
                    #expect(cairn("copy", first.url, place).code == 1)
                }
                #expect(cairn("check", second.url).code == 0)
                #expect(cairn("copy", first.work.store, second.work.store + "2").code == 2)
                try withBothPlaces { third in
                    let moved = cairn("copy", first.url, third.url)
                    #expect(moved.code == 0, "\(moved.errors)")
                    #expect(
                        cairn("export", third.url).output == cairn("export", first.url).output)
                }
            }
        }
    }

    @Test("migrate leads stores in both places to one model")
    func migrating() throws {
        try withBothPlaces { both in
            try fillShelf(both)
            let model = try both.work.list(
                "next.json",
                Self.shelf.replacing(
                    "\"weight\", \"type\": \"double\"",
                    with:
                        "\"weight\", \"type\": \"double\"}, {\"name\": \"pages\", \"type\": \"integer32\""
                ))
            both.same("migrate", "STORE", "--to", model)
            both.same("migrate", "STORE", "--to", model)
            both.same("query", "STORE", "Book", "--columns", "code,pages,weight", "--json")
            both.same("schema", "STORE", "--hashes")
            #expect(cairn("check", both.url).code == 0)
        }
    }

    // MARK: Reading

    @Test("query, count, get and find print what they print of a store in a folder")
    func reading() throws {
        try withBothPlaces { both in
            try fill(both)
            both.same("query", "STORE", "Thing")
            both.same("query", "STORE", "Thing", "--json")
            both.same(
                "query", "STORE", "Thing", "--where", "size > 1 OR name BEGINSWITH[c] 'an'",
                "--sort",
                "-size,code", "--columns", "code,size,objectID", "--json")
            both.same("query", "STORE", "Thing", "--limit", "2", "--offset", "1", "--json")
            both.same("query", "STORE", "Thing", "--where", "SELF IN {'p1', 'p3'}", "--json")
            both.same(
                "query", "STORE", "Thing", "--group-by", "name", "--columns",
                "name,count=@count,most=max:(size)", "--sort", "name", "--json")
            both.same("query", "STORE", "Thing", "--where", "price < 1e20", "--sql-nulls", "--json")
            #expect(both.same("count", "STORE", "Thing").output == "4\n")
            both.same("count", "STORE", "Thing", "--where", "name == NULL", "--json")
            both.same("get", "STORE", "Thing", "b")
            both.same("get", "STORE", "Thing", "p3", "--json")
            both.same("find", "STORE", "ANNA")
            both.same("find", "STORE", "b", "--json")
            both.same("schema", "STORE")
            both.same("schema", "STORE", "--hashes")
            both.same("model", "STORE", "--json")
            #expect(
                cairn("query", both.url, "Thing", "--where", "size > 1", "--explain").code == 0)
        }
    }

    @Test("export and hash are the same, and diff finds no difference")
    func exporting() throws {
        try withBothPlaces { both in
            try fill(both)
            let export = both.same("export", "STORE")
            #expect(export.lines.count == 5)
            both.same("hash", "STORE")
            both.same("hash", "STORE", "--entity", "Thing")
            let diff = cairn("diff", both.work.store, both.url)
            #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
            #expect(cairn("delete", both.url, "Thing", "--where", "code == 'b'").code == 0)
            #expect(cairn("diff", both.work.store, both.url).code == 1)
            #expect(cairn("hash", both.work.store).output != cairn("hash", both.url).output)
        }
    }

    @Test("Relationships are printed, hashed and compared in the same way, however they are kept")
    func relationships() throws {
        try withBothPlaces { both in
            try fillShelf(both)
            both.same(
                "query", "STORE", "Book", "--columns",
                "code,author=author.name,tags=tags.@count,most=tags.@max.number", "--json")
            both.same("query", "STORE", "Author", "--columns", "name,weight=books.@sum.weight")
            both.same("hash", "STORE")
            both.same("hash", "STORE", "--entity", "Book")
            let diff = cairn("diff", both.work.store, both.url)
            #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
            let lines = both.same("export", "STORE").lines
            #expect(lines.filter { $0.contains("\"source\"") }.count == 6)
        }
    }

    // MARK: Writing

    @Test("import says what it does, and does it once")
    func importing() throws {
        try withBothPlaces { both in
            let list = try both.work.list("1.json", Self.things)
            for place in [both.work.store, both.url] {
                let none = run(["import", place, list, "--entity", "Thing"])
                #expect(none.code == 2 && none.errors.contains("does not exist yet"))
            }
            try fill(both)
            let again = try cairn("import", both.url, list, "--entity", "Thing", "--json").json[0]
            #expect(Int(again, "unchanged") == 4 && again["commit"] is NSNull)
            #expect(again["newStore"] as? Bool == false)
            let more = try both.work.list("2.json", #"[{"code":"a","size":7},{"code":"e"}]"#)
            let first = cairn("import", both.url, more, "--entity", "Thing", "--set-only").lines[0]
            #expect(first == "Thing: 1 inserted, 1 updated, 0 unchanged, 0 skipped, 0 deleted")
            #expect(
                cairn("import", both.work.store, more, "--entity", "Thing", "--set-only").code == 0)
            both.same("export", "STORE")
            both.same(
                "import", "STORE", list, "--entity", "Thing", "--unique", "name", output: false)
            both.same("import", "STORE", list, "--entity", "Nothing", output: false)
            both.same("import", "STORE", list, "--entity", "Thing", "--sample", "2")
        }
    }

    @Test("A store that was made for a list that does not fit is taken away again")
    func failedImport() throws {
        try withBothPlaces { both in
            let twice = try both.work.list("1.json", #"[{"code":"a"},{"code":"a"}]"#)
            let failed = both.same(
                "import", "STORE", twice, "--entity", "Thing", "--unique", "code", "--policy",
                "fail")
            #expect(failed.code == 1)
            let tables = try both.sql(
                "SELECT count(*) FROM information_schema.tables WHERE table_schema = '\(both.space)'"
            )
            #expect(tables == "0\n")
            let list = try both.work.list("2.json", #"[{"code":"a","name":"b"}]"#)
            let run = cairn("import", both.url, list, "--entity", "Thing", "--unique", "name")
            #expect(run.code == 0, "\(run.errors)")
            // What others have in the schema stays.
            #expect(cairn("count", both.url, "Thing").output == "1\n")
        }
    }

    @Test("delete and duplicates do the same")
    func deleting() throws {
        try withBothPlaces { both in
            try fill(both)
            both.same("duplicates", "STORE", "Thing", "--by", "name")
            both.same("duplicates", "STORE", "Thing", "--by", "name", "--keep", "last", "--json")
            both.same(
                "duplicates", "STORE", "Thing", "--by", "name", "--keep", "smallest:price",
                "--merge",
                "--delete")
            both.same("get", "STORE", "Thing", "p1")
            both.same("delete", "STORE", "Thing", "--where", "size > 3")
            both.same("delete", "STORE", "Nothing", "--all")
            both.same("export", "STORE")
            both.same("hash", "STORE")
        }
    }

    @Test("history tells the same changes")
    func history() throws {
        try withBothPlaces { both in
            try fill(both)
            let none = both.same("history", "STORE")
            #expect(none.code == 1 && none.errors.contains("cairn history STORE --keep"))
            both.same("history", "STORE", "--keep", output: false)
            try both.importing(
                "2.json", #"[{"code":"a","size":7},{"code":"e"}]"#, "--entity", "Thing",
                "--set-only")
            #expect(both.same("delete", "STORE", "Thing", "--where", "code == 'b'").code == 0)
            func told(_ place: String) throws -> [NSDictionary] {
                try cairn("history", place, "--json").json.map { transaction in
                    var told = transaction
                    // The commits of a log begin with one that makes it, and another one that begins the history.
                    for key in ["number", "time"] { told[key] = nil }
                    return told as NSDictionary
                }
            }
            let changes = try told(both.url)
            #expect(changes.count == 2)
            #expect(try changes == told(both.work.store))
            let first = try #require(try cairn("history", both.url, "--json").json.first)
            let after = try #require(Int(first, "number"))
            let rest = try cairn("history", both.url, "--after", "\(after)", "--json").json
            #expect(rest.count == 1 && rest.first?["author"] as? String == "cairn delete")
            #expect(
                try cairn("history", both.url, "--type", "insert", "--json").json.count == 1)
            let values = cairn("history", both.url, "--values")
            #expect(values.code == 1)
            #expect(values.errors.contains("only stores in folders keep past states"))
        }
    }
}

// cairn import of lists that say where relationships lead.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn import sets relationships")
struct RelatedRecordsTests {
    private static let model = """
        {"entities": [
          {"name": "Author", "uniquenessConstraints": [["name"], ["first", "last"]],
           "attributes": [
             {"name": "name", "type": "string"}, {"name": "born", "type": "integer16"},
             {"name": "first", "type": "string"}, {"name": "last", "type": "string"}],
           "relationships": [
             {"name": "books", "destinationEntityName": "Book", "isToMany": true, "inverseName": "author"}]},
          {"name": "Tag", "uniquenessConstraints": [["number"]],
           "attributes": [{"name": "number", "type": "integer32"}, {"name": "words", "type": "string"}],
           "relationships": [
             {"name": "books", "destinationEntityName": "Book", "isToMany": true, "inverseName": "tags"}]},
          {"name": "Book", "uniquenessConstraints": [["code"]],
           "attributes": [{"name": "code", "type": "string"}, {"name": "title", "type": "string"}],
           "relationships": [
             {"name": "author", "destinationEntityName": "Author", "isToMany": false, "inverseName": "books"},
             {"name": "sequel", "destinationEntityName": "Book", "isToMany": false,
              "inverseName": "prequels"},
             {"name": "prequels", "destinationEntityName": "Book", "isToMany": true, "inverseName": "sequel"},
             {"name": "tags", "destinationEntityName": "Tag", "isToMany": true, "inverseName": "books"}]}
        ]}
        """

    private func filled() throws -> Workplace {
        let work = try Workplace()
        let model = try work.list("model.json", Self.model)
        let authors = try work.list(
            "authors.csv", "name,born,first,last\nAnn,1950,A,Nn\nBob,1960,B,Ob\n")
        let run = cairn("import", work.store, authors, "--entity", "Author", "--model", model)
        #expect(run.code == 0, "\(run.errors)")
        let tags = try work.list("tags.csv", "number,words\n1,one\n2,two\n3,three\n")
        #expect(cairn("import", work.store, tags, "--entity", "Tag").code == 0)
        return work
    }

    private func importing(
        _ work: borrowing Workplace, _ name: String, _ text: String, _ more: String...
    )
        throws -> ToolRun
    {
        run(["import", work.store, try work.list(name, text), "--entity", "Book"] + more)
    }

    /// What is said of books, by their codes.
    private func books(_ work: borrowing Workplace) throws -> [String: [String]] {
        let rows = try cairn(
            "query", work.store, "Book", "--columns",
            "code,author=author.name,sequel=sequel.code,least=tags.@min.number,most=tags.@max.number,tags=tags.@count",
            "--json"
        ).json
        var books: [String: [String]] = [:]
        for row in rows {
            let code = try #require(row["code"] as? String)
            books[code] = ["author", "sequel", "least", "most", "tags"].map { name in
                (row[name] as? String) ?? (row[name] as? NSNumber).map { "\($0)" } ?? "-"
            }
        }
        return books
    }

    @Test("a model in JSON makes a new store, and a store's model does, too")
    func model() throws {
        let work = try filled()
        #expect(cairn("count", work.store, "Author").output == "2\n")
        let other = work.folder.path("other.cairn")
        let list = try work.list("a.csv", "name\nAnn\n")
        let run = cairn("import", other, list, "--entity", "Author", "--model", work.store)
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            cairn("model", other, "--json").output == cairn("model", work.store, "--json").output)
    }

    @Test("a field of JSON carries the key of one target, an object with it, or an array of them")
    func json() throws {
        let work = try filled()
        let text = """
            [{"code":"a","author":"Ann","tags":[1,{"number":3},2]},
             {"code":"b","author":{"first":"B","last":"Ob"},"sequel":"d","tags":[]},
             {"code":"c","author":null,"tags":{"number":2}},
             {"code":"d","author":{"name":"Ann"},"sequel":{"code":"a"},"tags":2}]
            """
        let run = try importing(work, "1.json", text, "--json")
        #expect(run.code == 0, "\(run.errors)")
        let expected = [
            "a": ["Ann", "-", "1", "3", "3"], "b": ["Bob", "d", "-", "-", "0"],
            "c": ["-", "-", "2", "2", "1"], "d": ["Ann", "a", "2", "2", "1"],
        ]
        #expect(try books(work) == expected)
        let again = try importing(work, "1.json", text, "--json")
        #expect(try again.json[0]["commit"] is NSNull)
        let other = try importing(
            work, "2.json", #"[{"code":"a","tags":[2],"author":"Bob"}]"#, "--set-only")
        #expect(other.code == 0)
        #expect(try books(work)["a"] == ["Bob", "-", "2", "2", "1"])
    }

    @Test("a column of CSV carries the key, several with a separator, or a part of the key")
    func csv() throws {
        let work = try filled()
        let run = try importing(
            work, "1.csv",
            "code,author,sequel,tags\na,Ann,b,1;2; 3\nb,,c,\nc,Bob,,2\n", "--json")
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            try books(work) == [
                "a": ["Ann", "b", "1", "3", "3"], "b": ["-", "c", "-", "-", "0"],
                "c": ["Bob", "-", "2", "2", "1"],
            ])
        let parts = try importing(
            work, "2.csv", "code,author.first,author.last,tags\na,B,Ob,3|1\nb,A,Nn,\nc,,,2\n",
            "--separator", "|")
        #expect(parts.code == 0, "\(parts.errors)")
        #expect(
            try books(work) == [
                "a": ["Bob", "b", "1", "3", "2"], "b": ["Ann", "c", "-", "-", "0"],
                "c": ["-", "-", "2", "2", "1"],
            ])
        let renamed = try importing(
            work, "3.csv", "code,writer\nc,Ann\n", "--map", "writer=author", "--set-only")
        #expect(renamed.code == 0)
        #expect(try books(work)["c"] == ["Ann", "-", "2", "2", "1"])
    }

    @Test("an id, as it is printed, names a target where it is no key")
    func ids() throws {
        let work = try filled()
        let uri = try #require(
            try cairn("get", work.store, "Author", "Bob", "--json").json[0]["objectID"] as? String)
        let run = try importing(
            work, "1.json", #"[{"code":"a","tags":["p2"]},{"code":"b","tags":[3,"p1"]}]"#)
        #expect(run.code == 0, "\(run.errors)")
        #expect(try books(work).mapValues { $0[2] } == ["a": "2", "b": "1"])
        #expect(uri == "p2")
        let none = try importing(work, "2.json", #"[{"code":"a","tags":["p77"]}]"#)
        #expect(none.code == 1 && none.errors.contains("Book.tags"), "\(none.errors)")
    }

    @Test("a list that needs new attributes names targets with a separator and by ids as any other")
    func growing() throws {
        let work = try filled()
        let run = try importing(
            work, "1.csv", "code,tags,note\na,1|2,x\nb,p2|3,y\n", "--separator", "|",
            "--add-fields")
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.last == "Book.note was added, with type string")
        #expect(
            try books(work) == ["a": ["-", "-", "1", "2", "2"], "b": ["-", "-", "2", "3", "2"]])
    }

    @Test("the objects of which a list is all there is are named by what they lead to")
    func scope() throws {
        let work = try filled()
        let books = "code,author\na,Ann\nb,Ann\nc,Bob\n"
        #expect(try importing(work, "1.csv", books).code == 0)
        let run = try importing(
            work, "2.csv", "code,author\na,Ann\n", "--prune", "--scope", "author == 'p1'")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try self.books(work).keys.sorted() == ["a", "c"])
    }

    @Test("targets that are not there are named, or made with --create-targets")
    func made() throws {
        let work = try filled()
        let text = """
            [{"code":"a","author":{"name":"Cat","born":1970},"tags":[{"number":7,"words":"seven"},8]},
             {"code":"b","author":"Cat","sequel":{"code":"z","title":"Last"},"tags":[8,1]},
             {"code":"c","author":{"name":"Ann","born":1},"sequel":"a","tags":[]}]
            """
        let refused = try importing(work, "1.json", text)
        #expect(refused.code == 1)
        for part in ["record 1", "Book.author", "no Author has name", "Cat", "--create-targets"] {
            #expect(refused.errors.contains(part), "\(refused.errors)")
        }
        #expect(cairn("count", work.store, "Book").output == "0\n")
        let run = try importing(work, "1.json", text, "--create-targets")
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.contains("4 relationship targets were created"), "\(run.output)")
        #expect(
            try books(work) == [
                "a": ["Cat", "-", "7", "8", "2"], "b": ["Cat", "z", "1", "8", "2"],
                "c": ["Ann", "a", "-", "-", "0"], "z": ["-", "-", "-", "-", "0"],
            ])
        let cat = cairn("get", work.store, "Author", "Cat", "--json").output
        #expect(cat.contains(#""born":1970"#))
        // What is there stays as it is.
        let ann = cairn("get", work.store, "Author", "Ann", "--json").output
        #expect(ann.contains(#""born":1950"#))
        #expect(cairn("get", work.store, "Tag", "7", "--json").output.contains("seven"))
        let again = try importing(work, "1.json", text, "--create-targets", "--json")
        #expect(try again.json[0]["commit"] is NSNull)
        let pruned = try importing(
            work, "2.json", #"[{"code":"b","sequel":"y"}]"#, "--create-targets", "--prune")
        #expect(pruned.code == 0, "\(pruned.errors)")
        #expect(try books(work).keys.sorted() == ["b", "y"])
        #expect(cairn("check", work.store).code == 0)
    }

    @Test(
        "what names no target is refused with record, field and reason",
        arguments: [
            (#"[{"code":"a","tags":["x"]}]"#, "it is not a number"),
            (#"[{"code":"a","author":["Ann"]}]"#, "author is to-one: provide one key"),
            (#"[{"code":"a","author":{"born":5}}]"#, "name or first, last"),
            (#"[{"code":"a","author":{"name":"Ann","age":5}}]"#, "author.age"),
            (#"[{"code":"a","tags":[{"number":1,"age":5}]}]"#, "--map 'tags.age='"),
            (
                #"[{"code":"a","author":{"name":"Ann","books":["b"]}}]"#,
                "only a record of Author can set"
            ),
            (#"[{"code":"a","tags":[[1]]}]"#, "array"),
            (#"[{"code":"a","tags":[null]}]"#, "null"),
            (
                #"[{"code":"a","author.name":"Ann","author":"Bob"}]"#,
                "author.name is already mapped to author"
            ),
            (
                #"[{"code":"a","author":"x-coredata://b"}]"#,
                "type string: x-coredata://b is not the URI of an object"
            ),
        ])
    func refused(text: String, reason: String) throws {
        let work = try filled()
        let run = try importing(work, "1.json", text)
        #expect(run.code == 1)
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(cairn("count", work.store, "Book").output == "0\n")
    }

    @Test("a sample says which fields are relationships of the store")
    func sample() throws {
        let work = try filled()
        let run = try importing(work, "1.csv", "code,author\na,Ann\n", "--sample", "1", "--json")
        let fields = try #require(try run.json[0]["fields"] as? [[String: Any]])
        #expect(fields.map { $0["stored"] as? String } == ["string", "relationship"])
    }

    @Test("targets without a key are told in the order of the list")
    func order() throws {
        let work = try filled()
        let run = try importing(
            work, "1.csv", "code,sequel.title,author.born\na,x,5\nb,y,6\n", "--json")
        let misfits = try #require(try run.error["misfits"] as? [[String: Any]])
        #expect(misfits.map { $0["attribute"] as? String } == ["sequel", "author"])
        #expect(misfits.map { Int($0, "count") } == [2, 2])
    }

    @Test("members of nested objects are dropped and renamed as fields are")
    func mapped() throws {
        let work = try filled()
        let run = try importing(
            work, "1.json",
            #"[{"code":"a","tags":[{"no":1,"age":5},{"no":2}],"author":{"who":"Ann","age":1}}]"#,
            "--map", "tags.no=tags.number,tags.age=,author.who=author.name,author.age=")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try books(work)["a"] == ["Ann", "-", "1", "2", "2"])
        // As the list calls them, whatever the relationship is called.
        let labels = #"[{"code":"b","labels":[{"no":3,"number":1}],"writer":{"who":"Bob"}}]"#
        let names = "labels=tags,writer=author,writer.who=author.name,labels.no="
        let renamed = try importing(work, "2.json", labels, "--map", names)
        #expect(renamed.code == 0 && renamed.errors.isEmpty, "\(renamed.errors)")
        #expect(try books(work)["b"] == ["Bob", "-", "1", "1", "1"])
        let twice = try importing(work, "2.json", labels, "--map", names + "number")
        #expect(twice.code == 1 && twice.errors.contains("named number"), "\(twice.errors)")
    }

    @Test("the key of a target is not rounded, in whatever way it is given")
    func rounded() throws {
        let model = Self.model.replacing("integer32", with: "double").replacing(
            #"{"name": "name", "type": "string"}"#, with: #"{"name": "name", "type": "double"}"#)
        for (name, text) in [
            ("1.json", #"[{"code":"a","tags":[{"number":1234567890123456.78}]}]"#),
            ("2.json", #"[{"code":"a","tags":[1234567890123456.78]}]"#),
            ("3.json", #"[{"code":"a","author":{"name":1234567890123456.78}}]"#),
            ("4.csv", "code,author.name\na,1234567890123456.78\n"),
            ("5.csv", "code,tags\na,1;1234567890123456.78\n"),
        ] {
            let work = try Workplace()
            let run = try importing(
                work, name, text, "--create-targets", "--model",
                try work.list("model.json", model))
            #expect(run.code == 1 && run.errors.contains("a key must not be"), "\(run.errors)")
        }
    }
}

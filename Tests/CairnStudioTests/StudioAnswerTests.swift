// What the tool has as a command is answered as that command prints it.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("The studio's answers", .ahead)
struct StudioAnswerTests {
    @Test("Commands answer what they print")
    func commands() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try place.cairn("history", "STORE", "--keep")
        try place.cairn("past", "STORE", "--keep", "all")
        try place.cairn(
            "import", "STORE", "--entity", "Tag", try place.file("more.csv", "number\n3\n4\n-5\n"))
        let forms: [(String, KeyValuePairs<String, String>, [String])] = [
            ("schema", [:], ["schema", "STORE"]),
            ("schema", ["entity": "Book"], ["schema", "STORE", "--entity", "Book"]),
            ("space", [:], ["space", "STORE"]), ("past", [:], ["past", "STORE"]),
            ("history", [:], ["history", "STORE"]),
            (
                "history", ["values": "1", "limit": "1"],
                ["history", "STORE", "--values", "--limit", "1"]
            ),
            (
                "history", ["entity": "Tag", "object": "p4", "type": "insert"],
                ["history", "STORE", "--entity", "Tag", "--object", "p4", "--type", "insert"]
            ),
            ("query", ["entity": "Book"], ["query", "STORE", "Book"]),
            (
                "query",
                [
                    "entity": "Tag", "where": "number > -10 AND number != 2", "sort": "-number",
                    "limit": "2", "offset": "1", "columns": "number,objectID",
                ],
                [
                    "query", "STORE", "Tag", "--where", "number > -10 AND number != 2", "--sort",
                    "-number", "--limit", "2", "--offset", "1", "--columns", "number,objectID",
                ]
            ),
            (
                "query",
                [
                    "entity": "Book", "group-by": "author.name",
                    "columns": "author.name,@count,w=sum:(weight)",
                    "having": "@count > 1",
                ],
                [
                    "query", "STORE", "Book", "--group-by", "author.name", "--columns",
                    "author.name,@count,w=sum:(weight)", "--having", "@count > 1",
                ]
            ),
            (
                "query", ["entity": "Book", "columns": "author", "distinct": "1"],
                ["query", "STORE", "Book", "--columns", "author", "--distinct"]
            ),
            ("query", ["entity": "Tag", "at": "6"], ["query", "STORE", "Tag", "--at", "6"]),
            ("count", ["entity": "Book"], ["count", "STORE", "Book"]),
            (
                "count", ["entity": "Book", "where": "weight != 2", "sql-nulls": "1"],
                ["count", "STORE", "Book", "--where", "weight != 2", "--sql-nulls"]
            ),
            ("get", ["entity": "Book", "key": "x"], ["get", "STORE", "Book", "x"]),
            ("get", ["entity": "Book", "key": "p2"], ["get", "STORE", "Book", "p2"]),
            ("find", ["text": "ann"], ["find", "STORE", "ann"]),
            (
                "duplicates", ["entity": "Book", "by": "author", "keep": "last", "merge": "1"],
                ["duplicates", "STORE", "Book", "--by", "author", "--keep", "last", "--merge"]
            ),
            (
                "predicate", ["format": "a == %@ AND b IN {1, 2}", "argument": "--x"],
                ["predicate", "--", "a == %@ AND b IN {1, 2}", "--x"]
            ),
        ]
        try await place.studio { client in
            for (path, parameters, line) in forms {
                let response = try await client.get(path, parameters)
                let place = line.firstIndex(of: "--") ?? line.endIndex
                let printed = try place_run(line, at: place)
                #expect(response.status == 200, "\(path) \(parameters) \(response.text)")
                #expect(response.text == printed, "\(path) \(parameters)")
                let lines = ["history", "query", "find", "duplicates"].contains(path)
                #expect(
                    response.headers["content-type"]
                        == (lines ? "application/x-ndjson" : "application/json"))
            }
            func place_run(_ line: [String], at index: Int) throws -> String {
                try place.run(Array(line[..<index] + ["--json"] + line[index...]))
            }
            // Who has the store open differs.
            let information = try await client.get("info").json
            #expect(information["commit"] as? Int == 7)
            #expect((information["users"] as? [Any])?.isEmpty == false)
        }
    }

    @Test("A plan is a question's, with its counts")
    func plan() async throws {
        let place = try StudioPlace()
        try place.fillThings(300)
        try await place.studio { client in
            let plan = try await client.get(
                "query", ["entity": "Thing", "where": "size > 5000", "explain": "1"]
            ).json
            #expect(plan["results"] as? Int == (0..<300).filter { $0 * 7919 % 10_007 > 5000 }.count)
        }
    }

    @Test("The store says what it is")
    func about() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio { client in
            let store = try await client.get("store").json
            #expect(store["title"] as? String == place.store)
            #expect(store["kind"] as? String == "folder")
            #expect(store["writable"] as? Bool == false)
            #expect(store["commit"] as? Int == 4)
            #expect(store["cairn"] as? String == "1")
        }
    }

    @Test("An object has its values, and what its relationships lead to")
    func object() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio { client in
            let book = try await client.get("object", ["entity": "Book", "id": "p1"]).json
            #expect(book["version"] as? Int == 1)
            #expect(book["id"] as? String == "p1")
            let values = try #require(book["values"] as? [String: Any])
            let got = try JSONSerialization.jsonObject(
                with: Data(try place.cairn("get", "STORE", "Book", "p1", "--json").utf8))
            #expect((values as NSDictionary) == (got as? NSDictionary))
            let relationships = try #require(book["relationships"] as? [[String: Any]])
            #expect(relationships.map { $0["name"] as? String } == ["author", "tags"])
            #expect(relationships.map { $0["isToMany"] as? Bool } == [false, true])
            #expect(relationships.map { $0["count"] as? Int } == [1, 2])
            #expect(relationships.map { $0["destination"] as? String } == ["Author", "Tag"])
            let members = relationships.compactMap { $0["members"] as? [[String: String]] }
            #expect(members[0] == [["id": "p1", "entity": "Author", "label": "Ann"]])
            #expect(members[1].map { $0["label"] } == ["1", "3"])
            let attributes = try #require(book["attributes"] as? [[String: Any]])
            #expect(attributes.first?["name"] as? String == "code")
            #expect(attributes.first?["isOptional"] as? Bool == false)
            // What is long is cut; bytes are counted.
            let long = try await client.get("object", ["entity": "Book", "id": "p2"]).json
            let text = (long["values"] as? [String: Any])?["text"] as? [String: Any]
            #expect(text?["characters"] as? Int == 2800)
            #expect((text?["cut"] as? String)?.count == 1024)
            let author = try await client.get("object", ["entity": "Author", "id": "p1"]).json
            let photo = (author["values"] as? [String: Any])?["photo"] as? [String: Int]
            #expect(photo == ["bytes": StudioPlace.picture.count])
        }
    }

    @Test("A value is its bytes, and never what a browser would run")
    func values() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio { client in
            func value(_ entity: String, _ id: String, _ property: String) async throws
                -> StudioResponse
            {
                try await client.get("value", ["entity": entity, "id": id, "property": property])
            }
            let picture = try await value("Author", "p1", "photo")
            #expect(picture.headers["content-type"] == "image/png")
            #expect(picture.body == StudioPlace.picture)
            #expect(picture.headers["content-disposition"] == nil)
            let script = try await value("Author", "p2", "photo")
            #expect(script.headers["content-type"] == "application/octet-stream")
            #expect(
                script.headers["content-disposition"]
                    == "attachment; filename*=UTF-8''Author-p2-photo")
            #expect(script.text == "<script>alert(1)</script>")
            let text = try await value("Book", "p1", "text")
            #expect(text.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(text.text == "<b>bold</b>")
            #expect(try await value("Book", "p2", "text").text.count == 2800)
            #expect(try await value("Book", "p1", "day").text == "2024-05-01T00:00:00Z")
            #expect(try await value("Book", "p3", "weight").status == 404)
            #expect(try await value("Book", "p3", "nothing").status == 404)
            #expect(try await value("Book", "p77", "text").status == 404)
        }
    }

    @Test("An object's history is told with its values, the newest first")
    func objectHistory() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio { client in
            let none = try await client.get("object/history", ["entity": "Book", "id": "p1"])
            #expect(none.status == 400)
        }
        try place.cairn("history", "STORE", "--keep")
        try place.cairn("past", "STORE", "--keep", "all")
        for weight in ["4", "5"] {
            try place.cairn(
                "import", "STORE", "--entity", "Book", "--set-only",
                try place.file("w.csv", "code,weight\nx,\(weight)\ny,\(weight)\n"))
        }
        try await place.studio { client in
            let response = try await client.get("object/history", ["entity": "Book", "id": "p1"])
            let printed = try place.cairn(
                "history", "STORE", "--entity", "Book", "--object", "p1", "--values", "--json")
            #expect(response.lines == printed.split(separator: "\n").map(String.init).reversed())
            #expect(response.lines.count == 2)
            #expect(response.lines[0].contains("\"after\":{\"weight\":5}"))
            #expect(!response.text.contains("p2"))
            let one = try await client.get(
                "object/history", ["entity": "Book", "id": "p1", "limit": "1"])
            #expect(one.lines == [response.lines[0]])
        }
    }

    @Test("A check goes on by itself and tells what it has found")
    func check() async throws {
        let place = try StudioPlace()
        try place.fillThings(300)
        try await place.studio { client in
            #expect(try await client.get("check").json["running"] as? Bool == false)
            for depth in ["headers", "all"] {
                let begun = try await client.post("check?depth=\(depth)")
                #expect(begun.status == 200)
                var state = try await client.get("check").json
                while state["running"] as? Bool == true {
                    state = try await client.get("check").json
                }
                let printed = try place.cairn("check", "STORE", "--json", "--depth", depth)
                let result = try JSONSerialization.jsonObject(with: Data(printed.utf8))
                #expect((state["result"] as? NSDictionary) == (result as? NSDictionary))
                #expect(state["error"] == nil)
            }
            #expect(try await client.post("check?depth=deep").status == 400)
        }
    }

    @Test("Commits of other programs are news, and show in what is asked next")
    func news() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio { client in
            #expect(try await client.get("news", ["after": "3"]).json["commit"] as? Int == 4)
            async let news = client.get("news", ["after": "4"])
            try place.cairn(
                "import", "STORE", "--entity", "Tag", try place.file("n.csv", "number\n77\n"))
            #expect(try await news.json["commit"] as? Int == 5)
            #expect(try await client.get("store").json["commit"] as? Int == 5)
            #expect(try await client.get("count", ["entity": "Tag"]).json["count"] as? Int == 4)
            let rows = try await client.get("rows", ["entity": "Tag", "where": "number == 77"]).json
            #expect(rows["total"] as? Int == 1)
        }
    }

    @Test("A model that another program changes is followed")
    func migration() async throws {
        let place = try StudioPlace()
        try place.fillThings(20)
        try await place.studio { client in
            #expect(try await client.get("count", ["entity": "Thing"]).status == 200)
            try place.cairn(
                "import", "STORE", "--entity", "Thing", "--add-fields",
                try place.file("n.csv", "code,colour\nc1,red\n"))
            let rows = try await client.get(
                "rows", ["entity": "Thing", "where": "colour == 'red'"])
            #expect(try rows.json["total"] as? Int == 1, "\(rows.text)")
        }
    }

    @Test("Pictures are SVG without script or style, and change with the store")
    func pictures() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try place.cairn("past", "STORE", "--keep", "all")
        try await place.studio { client in
            var pictures: [String: String] = [:]
            for name in ["space.svg", "log.svg", "commits.svg", "model.svg"] {
                let response = try await client.get("pictures/\(name)")
                #expect(response.status == 200, "\(name) \(response.text)")
                #expect(response.headers["content-type"] == "image/svg+xml")
                #expect(response.text.hasPrefix("<svg"))
                for forbidden in ["<script", "<style", " style=\"", " onload", "href="] {
                    #expect(!response.text.contains(forbidden), "\(name) \(forbidden)")
                }
                #expect(try await client.get("pictures/\(name)").text == response.text)
                pictures[name] = response.text
            }
            #expect(pictures["model.svg"]?.contains("Book") == true)
            let narrow = try await client.get("pictures/space.svg", ["width": "380"])
            #expect(narrow.text != pictures["space.svg"])
            try place.cairn(
                "import", "STORE", "--entity", "Tag", try place.file("n.csv", "number\n77\n78\n"))
            #expect(try await client.get("pictures/commits.svg").text != pictures["commits.svg"])
            let compared = try await client.get("pictures/model.svg", ["against": "6"])
            #expect(compared.status == 200, "\(compared.text)")
            #expect(try await client.get("pictures/model.svg", ["against": "1"]).status == 404)
            #expect(try await client.get("pictures/space.svg", ["width": "1"]).status == 400)
            #expect(try await client.get("pictures/other.svg").status == 404)
        }
    }
}

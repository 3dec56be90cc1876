// What the page changes: saves, imports, and taking them back.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Changes by the studio", .ahead)
struct StudioWritingTests {
    @Test("Nothing is changed without --write")
    func readOnly() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        let before = try place.copy()
        try await place.studio { client in
            let save = try await client.post(
                "save", #"{"changes":[{"change":"delete","entity":"Tag","id":"p1","version":1}]}"#)
            #expect(save.status == 403)
            #expect(try await client.post("undo").status == 403)
            let list = try await client.importList("number\n9\n", ["entity": "Tag"])
            #expect(list.status == 403)
            let preview = try await client.importList(
                "number\n9\n", ["entity": "Tag", "preview": "1"])
            #expect(preview.status == 403)
        }
        #expect(try place.difference(from: before) == "")
    }

    @Test("A save is one commit by the studio, and is taken back by another")
    func saving() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try place.cairn("history", "STORE", "--keep")
        let before = try place.copy()
        try await place.studio(write: true) { client in
            let store = try await client.get("store").json
            #expect(store["writable"] as? Bool == true)
            let commit = try #require(store["commit"] as? Int)
            let saved = try await client.post(
                "save",
                """
                {"changes":[
                  {"change":"insert","entity":"Author","name":"new","values":{"name":"Cleo"}},
                  {"change":"insert","entity":"Book","name":"book","values":
                    {"code":"n","weight":2.5,"number":3,"isNew":true,"day":"2025-01-02T03:04:05Z",
                     "text":"ü","author":"new","tags":["p1","p2"]}},
                  {"change":"update","entity":"Book","id":"p1","version":1,
                   "values":{"weight":null,"tags":["p2"],"author":"p2"},"was":{"weight":1.5}},
                  {"change":"delete","entity":"Book","id":"p3","version":1}]}
                """)
            #expect(saved.status == 200, "\(saved.text)")
            #expect(try saved.json["commit"] as? Int == commit + 1)
            #expect(
                try saved.json["inserted"] as? [String: String] == ["new": "p4", "book": "p4"])
            let book = try place.cairn("get", "STORE", "Book", "n", "--json")
            #expect(
                book
                    == #"{"objectID":"p4","code":"n","weight":2.5,"text":"ü","day":"2025-01-02T03:04:05Z","number":3,"isNew":true,"author":"p4"}"#
                    + "\n")
            let tags = try place.cairn(
                "query", "STORE", "Tag", "--json", "--where", "ANY books.code == 'x'")
            #expect(tags == #"{"objectID":"p2","number":2}"# + "\n")
            let history = try place.cairn("history", "STORE", "--json", "--after", "\(commit)")
            #expect(history.contains(#""author":"studio""#))
            #expect(history.split(separator: "\n").count == 1)
            let undo = try #require(
                try await client.get("store").json["undo"] as? [String: Int])
            #expect(undo["commit"] == commit + 1)
            let undone = try await client.post("undo")
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try undone.json["commit"] as? Int == commit + 2)
            #expect(try place.difference(from: before) == "")
            // Nothing more can be taken back.
            #expect(try await client.post("undo").status == 409)
            #expect(try await client.get("store").json["undo"] is NSNull)
        }
        try place.cairn("check", "STORE")
    }

    @Test("A deleted object comes back with all that led to it, and ordered lists in their order")
    func undoOfDeletion() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        let before = try place.copy()
        try await place.studio(write: true) { client in
            for change in [
                #"{"change":"delete","entity":"Author","id":"p1","version":1}"#,
                #"{"change":"update","entity":"Author","id":"p1","version":V,"values":{"books":["p3","p2","p1"]}}"#,
                #"{"change":"delete","entity":"Tag","id":"p2","version":V2}"#,
            ] {
                func version(_ entity: String, _ id: String) async throws -> String {
                    let object = try await client.get("object", ["entity": entity, "id": id]).json
                    return "\(try #require(object["version"] as? Int))"
                }
                let text = change.replacing("V2", with: try await version("Tag", "p2"))
                    .replacing("V", with: try await version("Author", "p1"))
                let saved = try await client.post(
                    "save",
                    "{\"changes\":[\(change.contains("\"version\":1") ? change : text)]}")
                #expect(saved.status == 200, "\(saved.text)")
                #expect(try place.difference(from: before) != "")
                let undone = try await client.post("undo")
                #expect(undone.status == 200, "\(undone.text)")
                #expect(try place.difference(from: before) == "")
            }
        }
        try place.cairn("check", "STORE")
    }

    @Test("What somebody else has changed is a conflict, and nothing is written")
    func conflicts() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio(write: true) { client in
            func importing(_ text: String) throws {
                try place.cairn(
                    "import", "STORE", "--entity", "Book", "--set-only",
                    try place.file("c.csv", text))
            }
            try importing("code,weight\nx,9\n")
            let before = try place.copy()
            let response = try await client.post(
                "save",
                """
                {"changes":[{"change":"update","entity":"Book","id":"p1","version":1,
                  "values":{"weight":3,"text":"new"},"was":{"weight":1.5}},
                 {"change":"delete","entity":"Book","id":"p77","version":1}]}
                """)
            #expect(response.status == 409)
            // Who is gone is told first.
            let gone = try #require(try response.json["conflicts"] as? [[String: Any]])
            #expect(gone.map { $0["id"] as? String } == ["p77"])
            #expect(gone[0]["deleted"] as? Bool == true)
            let second = try await client.post(
                "save",
                """
                {"changes":[{"change":"update","entity":"Book","id":"p1","version":1,
                  "values":{"weight":3,"text":"new"},"was":{"weight":1.5}}]}
                """)
            #expect(second.status == 409)
            let entries = try #require(try second.json["conflicts"] as? [[String: Any]])
            #expect(entries.map { $0["property"] as? String } == ["text", "weight"])
            #expect(entries[1]["mine"] as? Int == 3)
            #expect(entries[1]["theirs"] as? Int == 9)
            #expect(entries[1]["was"] as? Double == 1.5)
            #expect(try place.difference(from: before) == "")
            // The same with the version of now is saved; undoing it stops at what came after.
            let third = try await client.post(
                "save",
                #"{"changes":[{"change":"update","entity":"Book","id":"p1","version":2,"values":{"weight":3}}]}"#
            )
            #expect(third.status == 200, "\(third.text)")
            try importing("code,weight\nx,10\n")
            let last = try place.copy()
            let undo = try await client.post("undo")
            #expect(undo.status == 409, "\(undo.text)")
            #expect(try place.difference(from: last) == "")
        }
    }

    @Test("What the model forbids names the property")
    func refusals() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        let before = try place.copy()
        try await place.studio(write: true) { client in
            func refused(_ change: String, _ status: Int) async throws -> [String: Any] {
                let response = try await client.post("save", "{\"changes\":[\(change)]}")
                #expect(response.status == status, "\(response.text)")
                return try response.error
            }
            let missing = try await refused(
                #"{"change":"insert","entity":"Book","values":{"weight":1}}"#, 400)
            #expect(missing["property"] as? String == "code")
            #expect(missing["entity"] as? String == "Book")
            let unique = try await refused(
                #"{"change":"insert","entity":"Book","values":{"code":"x"}}"#, 409)
            #expect(unique["property"] as? String == "code")
            let problems = try #require(unique["problems"] as? [[String: Any]])
            #expect(problems.map { $0["id"] as? String } == ["p1"])
            let misfit = try await refused(
                #"{"change":"insert","entity":"Book","values":{"code":"q","number":99999}}"#, 400)
            #expect(misfit["property"] as? String == "number")
            for (values, status) in [
                (#"{"code":1}"#, 400), (#"{"code":"q","isNew":"perhaps"}"#, 400),
                (#"{"code":"q","day":5}"#, 400), (#"{"code":"q","weight":"1,5"}"#, 400),
                (#"{"code":"q","weight":[1]}"#, 400), (#"{"code":"q","nothing":1}"#, 404),
                (#"{"code":"q","author":"p77"}"#, 404), (#"{"code":"q","author":["p1"]}"#, 400),
                (#"{"code":"q","tags":"p1"}"#, 400), (#"{"code":"q","tags":[1]}"#, 400),
                (#"{"code":"q","author":"Ann"}"#, 400), (#"{"code":"q","tags":null}"#, 400),
            ] {
                _ = try await refused(
                    "{\"change\":\"insert\",\"entity\":\"Book\",\"values\":\(values)}", status)
            }
            #expect(try place.difference(from: before) == "")
        }
    }

    @Test("A preview says what an import would do, and changes nothing")
    func preview() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        let before = try place.copy()
        let list = "code,weight\nx,1.5\ny,7\nnew,1\nnew,2\n"
        try await place.studio(write: true) { client in
            let preview = try await client.importList(
                list, ["entity": "Book", "set-only": "1", "preview": "1", "name": "w.csv"])
            #expect(preview.status == 200, "\(preview.text)")
            var told = try preview.json
            #expect(told["dryRun"] as? Bool == true)
            #expect(told["commit"] is NSNull)
            #expect(told["list"] as? String == "w.csv")
            #expect(try place.difference(from: before) == "")
            #expect(try await client.get("store").json["commit"] as? Int == 4)
            let done = try await client.importList(
                list, ["entity": "Book", "set-only": "1", "name": "w.csv"])
            var did = try done.json
            #expect(did["commit"] as? Int == 5)
            #expect(did["inserted"] as? Int == 1)
            #expect(did["updated"] as? Int == 2)
            #expect(did["unchanged"] as? Int == 1)
            for key in ["commit", "dryRun", "seconds", "rowsPerSecond"] {
                told[key] = nil
                did[key] = nil
            }
            #expect((told as NSDictionary) == (did as NSDictionary))
            #expect(try await client.post("undo").status == 200)
            #expect(try place.difference(from: before) == "")
            // What is wrong with a list is told by its lines, with the name that it had.
            let wrong = try await client.importList(
                "code,weight\nx,heavy\n", ["entity": "Book", "preview": "1", "name": "../w.csv"])
            #expect(wrong.status == 400)
            #expect((try wrong.error["message"] as? String)?.hasPrefix("..w.csv:2: ") != true)
            #expect(!wrong.text.contains("cairn-studio"))
            let misfits = try #require(try wrong.error["misfits"] as? [[String: Any]])
            #expect(misfits[0]["line"] as? Int == 2)
            #expect(try place.difference(from: before) == "")
        }
    }

    @Test("An import that deletes is taken back too")
    func undoOfImport() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        let before = try place.copy()
        try await place.studio(write: true) { client in
            let done = try await client.importList(
                #"[{"code":"x","weight":8,"tags":[2]},{"code":"k","author":"Bob"}]"#,
                ["entity": "Book", "prune": "1", "name": "b.json"])
            #expect(done.status == 200, "\(done.text)")
            #expect(try done.json["deleted"] as? Int == 2)
            let undone = try await client.post("undo")
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try place.difference(from: before) == "")
        }
        try place.cairn("check", "STORE")
    }

    @Test("Saves beside another writer come one after the other")
    func besideWriters() async throws {
        let place = try StudioPlace()
        try place.fillThings(50)
        try await place.studio(write: true) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let saved = try await client.post(
                            "save",
                            "{\"changes\":[{\"change\":\"insert\",\"entity\":\"Thing\",\"values\":{\"code\":\"s\(number)\"}}]}"
                        )
                        #expect(saved.status == 200, "\(saved.text)")
                    }
                }
                for number in 0..<5 {
                    try place.cairn(
                        "import", "STORE", "--entity", "Thing",
                        try place.file("i\(number).csv", "code\ni\(number)\n"))
                }
                try await group.waitForAll()
            }
            #expect(try await client.get("count", ["entity": "Thing"]).json["count"] as? Int == 75)
        }
    }
}

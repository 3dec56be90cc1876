// Changes by the studio beside others, and beside itself: what is taken back is what was meant.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Changes by the studio beside others", .ahead)
struct StudioOthersTests {
    private static func update(_ entity: String, _ id: String, _ version: Int, _ rest: String)
        -> String
    {
        #"{"changes":[{"change":"update","entity":"\#(entity)","id":"\#(id)","version":\#(version),\#(rest)}]}"#
    }

    @Test(
        "A save of what is stored already commits nothing, and the change before can be taken back")
    func nothing() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        let before = try place.copy()
        try await place.studio(write: true) { client in
            let first = try await client.post(
                "save", Self.update("Book", "p1", 1, #""values":{"weight":7}"#))
            let commit = try #require(try first.json["commit"] as? Int)
            let second = try await client.post(
                "save", Self.update("Book", "p1", 2, #""values":{"weight":7}"#))
            #expect(second.status == 200, "\(second.text)")
            #expect(try second.json["commit"] as? Int == commit)
            let undo = try #require(try second.json["undo"] as? [String: Int])
            #expect(undo["commit"] == commit)
            #expect(try await client.post("undo").status == 200)
            #expect(try place.difference(from: before) == "")
        }
    }

    @Test("What takes an older change back leaves the newer one alone")
    func older() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio(write: true) { client in
            let first = try await client.post(
                "save", Self.update("Book", "p1", 1, #""values":{"weight":7}"#))
            let commit = try #require(try first.json["commit"] as? Int)
            _ = try await client.post(
                "save", Self.update("Book", "p2", 1, #""values":{"weight":8}"#))
            let refused = try await client.post("undo?commit=\(commit)")
            #expect(refused.status == 409)
            let weight = try await client.get("object", ["entity": "Book", "id": "p2"]).json
            #expect((weight["values"] as? [String: Any])?["weight"] as? Int == 8)
            let undone = try await client.post("undo?commit=\(commit + 1)")
            #expect(undone.status == 200, "\(undone.text)")
        }
    }

    @Test("Members that somebody else has added since are a conflict")
    func members() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio(write: true) { client in
            let known = try await client.post(
                "save", Self.update("Book", "p1", 1, #""values":{"tags":["p1"]}"#))
            #expect(known.status == 200, "\(known.text)")
            let version = try #require(
                try await client.get("object", ["entity": "Book", "id": "p1"]).json["version"]
                    as? Int)
            let theirs = try await client.post(
                "save",
                Self.update(
                    "Book", "p1", version, #""values":{"tags":["p1","p2"]},"was":{"tags":["p1"]}"#)
            )
            #expect(theirs.status == 200, "\(theirs.text)")
            let mine = try await client.post(
                "save",
                Self.update("Book", "p1", version, #""values":{"tags":[]},"was":{"tags":["p1"]}"#))
            #expect(mine.status == 409)
            let conflicts = try #require(try mine.json["conflicts"] as? [[String: Any]])
            #expect(conflicts.map { $0["property"] as? String } == ["tags"])
            #expect(conflicts[0]["theirs"] as? [String] == ["p1", "p2"])
        }
    }
}

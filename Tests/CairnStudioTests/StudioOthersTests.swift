// Changes by the studio beside others, and beside itself: what is taken back is what was meant.

import CairnModel
import CairnObjects
import CairnStore
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

    /// What somebody else does between the state that the studio has read and the commit of its own.
    enum Meanwhile: CaseIterable {
        case nothing, another, same
    }

    @Test(
        "A change is remembered for taking back only if nobody can have changed the same between",
        arguments: Meanwhile.allCases)
    func between(meanwhile: Meanwhile) throws {
        let place = try StudioPlace()
        try place.fillThings(3)
        let news = StudioNews()
        var access = StoreAccess()
        access.isReadOnly = false
        let store = try StudioStore(
            place: place.store, access: access, kinds: StoreKinds([]), news: news)
        defer { store.close() }
        /// Saves a change of the studio's behind one of somebody else; gives what takes it back.
        func change(_ edit: String) throws -> StudioUndo? {
            try store.session { session in
                let before = try session.store.snapshot()
                if meanwhile != .nothing {
                    let other = ManagedObjectContext(store: session.store)
                    let number: UInt64 = meanwhile == .another ? 2 : 1
                    let thing = try #require(
                        try other.fetch(FetchRequest<ManagedObject>(entityName: "Thing")).first {
                            $0.objectID.reference == number
                        })
                    let name = try #require(thing.value(forKey: "name") as? String)
                    try thing.setValue(name + "!", forKey: "name")
                    try other.save()
                }
                let edits = try StudioEdit.read(Data(#"{"changes":[\#(edit)]}"#.utf8))
                let (_, changes) = try StudioRecorder.recording(
                    session.store, { try StudioSave(edits, session).run() }, commits: { _ in true })
                return try StudioUndo.of(
                    try #require(changes), before: before, session.store)
            }
        }
        let start = try place.copy()
        let version = meanwhile == .same ? 2 : 1
        let updated = try change(
            #"{"change":"update","entity":"Thing","id":"p1","version":\#(version),"values":{"size":-1}}"#
        )
        #expect((updated != nil) == (meanwhile != .same))
        if let updated {
            _ = try store.session { try updated.run($0.store) }
            let difference = try place.difference(from: start)
            #expect(difference.contains("name 31!") == (meanwhile == .another), "\(difference)")
            #expect(!difference.contains("size"), "\(difference)")
        }
        // Versions of deleted objects are not compared.
        let next = meanwhile == .same ? 4 : 3
        let deleted = try change(
            #"{"change":"delete","entity":"Thing","id":"p1","version":\#(next)}"#)
        #expect((deleted != nil) == (meanwhile == .nothing))
    }
}

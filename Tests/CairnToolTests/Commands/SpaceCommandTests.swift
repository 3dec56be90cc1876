// cairn space: the sums of entities, properties, indexes and segments agree with each other and with what was done.

import Foundation
import Testing

@testable import CairnTool

@Suite("cairn space")
struct SpaceCommandTests {
    private func filled(_ count: Int = 2000) throws -> Workplace {
        let work = try Workplace()
        let items = (0..<count).map {
            "{\"code\":\"c\($0)\",\"note\":\"note number \($0)\",\"flag\":true}"
        }
        try work.importing("1.json", "[\(items.joined(separator: ","))]")
        return work
    }

    private func space(_ store: String) throws -> [String: Any] {
        try #require(try cairn("space", store, "--json").json.first)
    }

    private func entity(_ space: [String: Any], _ name: String) throws -> [String: Any] {
        let entities = try #require(space["entities"] as? [[String: Any]])
        return try #require(entities.first { $0["name"] as? String == name })
    }

    @Test("a new store has properties, an index and a segment, and their sums agree")
    func sums() throws {
        let work = try filled()
        let space = try space(work.store)
        let thing = try entity(space, "Thing")
        #expect(Int(thing, "objects") == 2000)
        let properties = try #require(thing["properties"] as? [[String: Any]])
        #expect(properties.map { $0["name"] as? String } == ["code", "note", "flag"])
        let sum = properties.compactMap { Int($0, "bytes") }.reduce(0, +)
        #expect(try #require(Int(thing, "bytes")) == sum + (Int(thing, "otherBytes") ?? 0))
        #expect(Int(thing, "liveBytes") == Int(thing, "bytes"))
        let text = try #require(Int(properties[1], "bytes"))
        #expect(text > (Int(properties[2], "bytes") ?? .max))
        let index = try #require((space["indexes"] as? [[String: Any]])?.first)
        #expect(index["kind"] as? String == "unique" && Int(index, "entries") == 2000)
        #expect(try #require(Int(index, "memoryBytes")) >= 2000 * 8)
        let segments = try #require(space["segments"] as? [[String: Any]])
        #expect(segments.compactMap { Int($0, "bytes") }.reduce(0, +) == Int(space, "bytes"))
        #expect(
            segments.compactMap { Int($0, "liveBytes") }.reduce(0, +) == Int(space, "liveBytes"))
        #expect(try #require(Int(space, "bytes")) >= (Int(thing, "bytes") ?? .max))
    }

    @Test("deleting makes bytes dead in each property, and compaction gives them back")
    func dead() throws {
        let work = try filled(20_000)
        let before = try entity(try space(work.store), "Thing")
        #expect(cairn("delete", work.store, "Thing", "--where", "code ENDSWITH '5'").code == 0)
        let after = try entity(try space(work.store), "Thing")
        #expect(Int(after, "bytes") == Int(before, "bytes"))
        let live = try #require(Int(after, "liveBytes"))
        let bytes = try #require(Int(after, "bytes"))
        #expect(live < bytes && live > bytes * 8 / 10)
        for property in try #require(after["properties"] as? [[String: Any]]) {
            let stored = try #require(Int(property, "bytes"))
            #expect(try #require(Int(property, "liveBytes")) < stored || stored < 20)
        }
        #expect(cairn("delete", work.store, "Thing", "--where", "NOT code ENDSWITH '1'").code == 0)
        #expect(cairn("compact", work.store).code == 0)
        let compacted = try entity(try space(work.store), "Thing")
        #expect(Int(compacted, "objects") == 2000)
        #expect(try #require(Int(compacted, "bytes")) < bytes / 2)
        #expect(Int(compacted, "liveBytes") == Int(compacted, "bytes"))
    }

    @Test("people see entities with their properties, indexes and segments")
    func text() throws {
        let work = try filled()
        let lines = cairn("space", work.store).lines
        #expect(lines[0].hasSuffix(" are live"))
        for start in [
            "entity  property", "Thing ", "        note", "index   entity", "unique  Thing",
        ] {
            #expect(lines.contains { $0.hasPrefix(start) }, "\(start)")
        }
        #expect(lines.contains { $0.hasPrefix("segment  kind") })
    }

    @Test("large values are counted at the property they belong to")
    func large() throws {
        let work = try Workplace()
        let store = try golden("everything", in: work)
        let airport = try entity(try space(store), "Airport")
        let properties = try #require(airport["properties"] as? [[String: Any]])
        let large = properties.filter { (Int($0, "largeValueBytes") ?? 0) > 0 }
        #expect(!large.isEmpty)
        #expect(
            large.compactMap { Int($0, "largeValueBytes") }.reduce(0, +)
                == Int(airport, "largeValueBytes"))
        let pairs = try entity(try space(store), "Airport.partners")
        #expect(pairs["hidden"] as? Bool == true && (Int(pairs, "objects") ?? 0) > 0)
    }

    @Test("what cannot be read is said with its place")
    func failures() throws {
        let work = try Workplace()
        #expect(cairn("space", work.store).code == 1)
        let broken = cairn("space", try golden("everything.broken", in: work), "--json")
        #expect(broken.code == 3)
        #expect(Int(try broken.error, "offset") == 8496)
    }
}

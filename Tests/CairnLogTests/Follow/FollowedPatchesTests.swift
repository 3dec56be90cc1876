// A reader follows patches: what it leaves as it was, and that this is right whatever else happens to the rows.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Following patches")
struct FollowedPatchesTests {
    /// A writer, and a reader beside it.
    private struct Pair {
        let writer: LogStore
        let reader: LogStore

        init(hashBits: Int = 32) throws {
            let disk = MemoryFileSystem()
            var options = PatchedSample.options(on: disk)
            options.sizes.hashBits = hashBits
            writer = try LogStore.open(
                at: "/store", schema: try FollowedPatchesTests.schema(), options: options)
            var reading = FollowingStores.reading(disk)
            reading.sizes.hashBits = hashBits
            reader = try LogStore.open(at: "/store", options: reading)
        }

        func follow() throws {
            try reader.refresh()
            #expect(try SampleStore.text(reader) == SampleStore.text(writer))
        }

        /// What stays the same page for page as long as nothing is entered or taken out.
        var indexes: (keys: String, references: String, ordered: String) {
            let state = reader.engine.registry.published()
            return ("\(state.uniques)", "\(state.inverses)", "\(state.fetchIndexes)")
        }

        func close() throws {
            try writer.close()
            try reader.close()
        }
    }

    private static func schema() throws -> Schema {
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("serial", .integer64), .init("rank", .integer32), .init("name", .string),
                .init("note", .string),
            ], uniquenessConstraints: [["serial"]])
        item.relationships = [RelationshipDescription("owner", to: "Owner", inverse: "items")]
        item.indexes = [
            FetchIndexDescription("byRank", elements: [.init("rank")]),
            FetchIndexDescription("byName", elements: [.init("name"), .init("rank")]),
        ]
        var owner = EntityDescription("Owner", attributes: [.init("name", .string)])
        owner.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "owner")
        ]
        return try Schema(ManagedObjectModel(entities: [item, owner]))
    }

    private static func insert(_ store: LogStore, _ serials: Range<Int>) throws {
        var request = BatchInsertRequest(entityName: "Owner", objects: [["name": "one"]])
        request.resultType = .objectIDs
        let owner = try #require(try store.execute(request).objectIDs.first)
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Item",
                objects: serials.map {
                    [
                        "serial": $0, "rank": $0 % 10,
                        "name": "name \($0 % 3)",
                        "note": "note \($0), which takes some bytes in each block",
                        "owner": owner,
                    ]
                }))
    }

    private static func update(
        _ store: LogStore, _ property: String, _ expression: String, where predicate: String? = nil
    ) throws {
        var request = BatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = [property: try PatchedSample.expression(expression)]
        request.predicate = try predicate.map { try PredicateNode(format: $0) }
        _ = try store.execute(request)
    }

    @Test("Entries that depend on no column of a patch stay where they are")
    func untouched() throws {
        let pair = try Pair()
        try Self.insert(pair.writer, 0..<100)
        try pair.follow()
        let before = pair.indexes
        // The second one takes the place of the first.
        for note in ["name", "uppercase:(name)"] {
            try Self.update(pair.writer, "note", note)
            try pair.follow()
            #expect(PatchedSample.patches(pair.writer, ofEntity: "Item") == 5)
            #expect(pair.indexes == before)
        }
        #expect(try pair.reader.check().findings.isEmpty)
        try pair.close()
    }

    @Test("Keys that do are other ones")
    func touched() throws {
        let pair = try Pair()
        try Self.insert(pair.writer, 0..<100)
        try pair.follow()
        let before = pair.indexes
        try Self.update(pair.writer, "serial", "serial + 1000")
        try pair.follow()
        #expect(PatchedSample.patches(pair.writer, ofEntity: "Item") == 5)
        let after = pair.indexes
        #expect(after.keys != before.keys)
        #expect(after.references == before.references && after.ordered == before.ordered)
        #expect(try pair.reader.check().findings.isEmpty)
        try pair.close()
    }

    @Test("A reader that follows from time to time has what the writer has")
    func random() throws {
        var random = RandomSource()
        for _ in 0..<Campaign.count(3, whole: 200) {
            let pair = try Pair(hashBits: [5, 10, 32].randomElement(using: &random) ?? 32)
            try Self.insert(pair.writer, 0..<60)
            var next = 60
            for _ in 0..<40 {
                let least = Int(random.next() % 12)
                switch random.next() % 9 {
                case 0, 1: try Self.update(pair.writer, "note", "name", where: "rank >= \(least)")
                case 2, 3:
                    try Self.update(pair.writer, "rank", "rank \(random.oneIn(2) ? "+" : "-") 3")
                case 4: try Self.update(pair.writer, "name", "note", where: "rank < \(least)")
                case 5: try Self.update(pair.writer, "serial", "serial + 100000")
                case 6:
                    try Self.insert(pair.writer, next..<next + 25)
                    next += 25
                case 7:
                    let item = pair.writer.schema.entity(named: "Item")!.index
                    var gone = StoreFetch(entity: item)
                    gone.predicate = try PredicateNode(format: "rank == \(least)")
                    _ = try pair.writer.execute(BatchDeleteRequest(.fetch(gone)))
                default:
                    _ = random.oneIn(3) ? try pair.writer.compact() : nil
                    try pair.writer.engine.rollSegment()
                }
                guard random.oneIn(3) else { continue }
                try pair.follow()
                let findings = try pair.reader.check().findings
                #expect(findings.isEmpty, "\(findings), seed \(random.seed)")
                #expect(try FetchIndexTests.problems(pair.reader, &random).isEmpty)
            }
            try pair.close()
        }
    }
}

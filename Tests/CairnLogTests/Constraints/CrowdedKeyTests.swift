// Many rows that come to one key: within a commit, and in a salvage.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Many rows with one key")
struct CrowdedKeyTests {
    /// More than an index can hold of one key.
    private static let many = 27_000

    private func open(_ plain: [[String]], _ rules: [UniquenessRule], hashBits: Int = 32) throws
        -> LogStore
    {
        var file = EntityDescription(
            "File",
            attributes: [
                .init("code", .integer64), .init("kind", .string), .init("closed", .boolean),
            ], relationships: [.init("folder", to: "Folder", inverse: "files")],
            uniquenessConstraints: plain)
        file.uniquenessRules = rules
        let folder = EntityDescription(
            "Folder", attributes: [.init("name", .string)],
            relationships: [.init("files", to: "File", toMany: true, inverse: "folder")])
        var options = SampleStore.options(on: MemoryFileSystem())
        options.sizes.hashBits = hashBits
        return try LogStore.open(
            at: "/store", schema: Schema(ManagedObjectModel(entities: [file, folder])),
            options: options)
    }

    /// Saves new objects, which may refer to others.
    @discardableResult
    private func insert(_ store: LogStore, _ entity: String, _ rows: [[String: Value]]) throws
        -> SaveOutcome
    {
        let entity = try #require(store.schema.entity(named: entity))
        var request = SaveRequest()
        for (number, row) in rows.enumerated() {
            request.inserted.append(
                .init(
                    id: ObjectID(
                        temporary: UInt64(number) + 1,
                        hierarchy: store.identity.hierarchies[entity.index],
                        context: store.identity.identifier),
                    entity: entity.index, values: entity.columns.map { row[$0.name] ?? .null },
                    assigned: ColumnSet(entity.columns.indices)))
        }
        return try store.save(request)
    }

    /// The batch is refused, and the store is what it was.
    private func expectRefused(
        _ store: LogStore, _ body: () throws -> Void
    ) throws {
        let before = try store.statistics().entities.map(\.objects)
        let error = #expect(throws: StoreError.self) { try body() }
        #expect(error?.code == .constraintConflict, "\(String(describing: error))")
        #expect(try store.statistics().entities.map(\.objects) == before)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("New objects whose keys share a hash conflict only where they share a key")
    func sharedHashes() throws {
        let store = try open([["code"]], [], hashBits: 1)
        func insert(_ codes: [Int64]) throws -> SaveOutcome {
            try self.insert(store, "File", codes.map { ["code": .integer($0)] })
        }
        // Of three keys two share one of the two hashes at least.
        let error = #expect(throws: StoreError.self) { try insert([1, 2, 3, 1, 2, 3]) }
        #expect(error?.code == .constraintConflict)
        let text = try #require(error).description
        #expect(text.components(separatedBy: "File, code: ").count == 4, "\(text)")
        guard case .saved = try insert([1, 2, 3]) else {
            Issue.record("the keys are different ones")
            return
        }
        try store.close()
    }

    @Test("An index that gets more entries of one hash than it can hold says so")
    func index() {
        let pool = PagePool()
        var pages = PageTransaction(epoch: 1, pool: pool)
        var index = UniqueIndex()
        // So that it has the partitions of many from the start.
        index.reserve(Self.many, in: &pages)
        // Every day hashes of one partition, each with a place of its own: of one hash each entry looks at all those before.
        func hash(_ number: UInt32) -> UInt64 {
            Campaign.isLong ? 7 : UInt64(number &* 20_077 & 0x7FFF) << 10
        }
        for number in 1...26_000 as ClosedRange<UInt32> {
            index.insert(hash: hash(number), number: number, in: &pages)
        }
        #expect(!index.isCrowded)
        for number in 26_001...UInt32(Self.many) {
            index.insert(hash: hash(number), number: number, in: &pages)
        }
        #expect(index.isCrowded)
        index.removeAll(in: &pages)
        pages.abandon()
    }

    /// What gives very many objects one key.
    enum Crowding: String, CaseIterable, Sendable {
        case deletion = "a deletion"
        case crossing = "a batch that takes objects into a constraint's set"
        case second = "a batch with one key of a second constraint"
    }

    // In a campaign alone, since each entry looks at all those before.
    @Test(
        "What gives very many objects one key is refused", .enabled(if: Campaign.isLong),
        arguments: Crowding.allCases)
    func refused(_ crowding: Crowding) throws {
        switch crowding {
        case .deletion: try deletion()
        case .crossing: try crossing()
        case .second: try second()
        }
    }

    private func deletion() throws {
        let store = try open([], [UniquenessRule(["kind"], format: "folder == nil")])
        var folders = BatchInsertRequest(entityName: "Folder", objects: [["name": "a"]])
        folders.resultType = .objectIDs
        let folder = try store.execute(folders).objectIDs[0]
        try insert(
            store, "File",
            (0..<Self.many).map { _ in ["kind": .string("jpg"), "folder": .objectID(folder)] })
        let entity = try #require(store.schema.entity(named: "Folder"))
        try expectRefused(store) {
            _ = try store.execute(BatchDeleteRequest(.ids([folder], entity: entity.index)))
        }
    }

    private func crossing() throws {
        let store = try open([["code"]], [UniquenessRule(["kind"], format: "closed == nil")])
        func rows(_ closed: Any) -> BatchInsertRequest {
            var request = BatchInsertRequest(
                entityName: "File",
                objects: (0..<Self.many).map { ["code": $0, "kind": "jpg", "closed": closed] })
            request.mergePolicy = .mergeByPropertyObjectTrump
            return request
        }
        _ = try store.execute(rows(true))
        try expectRefused(store) { _ = try store.execute(rows(NSNull())) }
    }

    private func second() throws {
        let store = try open([["code"], ["kind"]], [])
        try expectRefused(store) {
            var request = BatchInsertRequest(
                entityName: "File",
                objects: (0..<Self.many).map { ["code": $0, "kind": "jpg"] })
            request.mergePolicy = .mergeByPropertyObjectTrump
            _ = try store.execute(request)
        }
    }

    @Test("Salvage keeps no two objects with one key, also where the key is what was lost")
    func salvage() throws {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "/store",
            schema: Schema(
                ConstraintSample.model([
                    UniquenessRule(["country", "name"], nilsAreEqual: true),
                    UniquenessRule(["rank"], format: "country == nil"),
                ])),
            options: SampleStore.options(on: disk))
        var countries = BatchInsertRequest(
            entityName: "Country", objects: [["name": "Austria"], ["name": "Utopia"]])
        countries.resultType = .objectIDs
        let ids = try store.execute(countries).objectIDs
        let airports: [(String, String, Int64?, ObjectID?)] = [
            ("A", "x", 1, ids[0]), ("B", "x", 2, ids[1]), ("C", "y", 3, ids[0]),
            ("D", "z", 3, ids[1]), ("E", "y", nil, nil),
        ]
        try insert(
            store, "Airport",
            airports.map { code, name, rank, country in
                [
                    "code": .string(code), "name": .string(name),
                    "rank": rank.map { .integer($0) } ?? .null,
                    "country": country.map { .objectID($0) } ?? .null,
                ]
            })
        try store.close()
        var image = try DiskImage(of: disk)
        let name = image.segments[0]
        // The block of the countries: who leads to them leads nowhere then.
        let frames = try SegmentFrames(try #require(image.files[name])).frames
        let lost = try #require(frames.first { $0.payload.contains(Array("Utopia".utf8)) })
        image.files[name]?[Int(lost.header.lsn) + FrameHeader.size + 8] ^= 0x20
        let salvaged = try SalvagedStore(image)
        let codes = ["A", "B", "C", "D", "E"].filter {
            salvaged.text.contains("\"code\":\"\($0)\"")
        }
        #expect(codes == ["B", "D", "E"], "\(salvaged.text)")
        let duplicates = salvaged.report.losses.filter { $0.kind == .duplicate }
        #expect(duplicates.count == 2)
        #expect(duplicates.allSatisfy { $0.reason.contains("is newer and has the same") })
    }
}

// Constraints with options in a store: reopened, from a checkpoint, compacted, salvaged, checked; and what older readers do.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Constraints with options in a store")
struct RuleStorageTests {
    private func open(
        _ disk: any FileSystem, _ schema: Schema? = nil,
        _ change: (inout LogStoreOptions) -> Void = { _ in }
    ) throws -> LogStore {
        var options = SampleStore.options(on: disk)
        change(&options)
        return try LogStore.open(
            at: "/store", schema: schema ?? ConstraintSample.schema(), options: options)
    }

    private func expectSound(_ store: LogStore) throws {
        let findings = try store.check().findings
        #expect(findings.isEmpty, "\(findings)")
        #expect(try ConstraintSample.probe(store) == ConstraintSample.answers)
    }

    @Test("A store that is opened again knows its keys, with and without a checkpoint")
    func reopening() throws {
        for bytes in [UInt64.max, 0] {
            let disk = MemoryFileSystem()
            var store = try open(disk) { $0.sizes.closingCheckpointBytes = bytes }
            try ConstraintSample.fill(store)
            try expectSound(store)
            try store.close()
            store = try open(disk)
            #expect((store.recovery.checkpoint != nil) == (bytes == 0))
            try expectSound(store)
            try store.close()
            // Without a model the store has its own.
            store = try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
            #expect(store.schema.model == ConstraintSample.model())
            try expectSound(store)
            try store.close()
        }
    }

    @Test("Compaction moves rows, not keys; what is salvaged keeps the newest of equal ones")
    func compaction() throws {
        let disk = MemoryFileSystem()
        var store = try open(disk) {
            $0.sizes.segmentBytes = 6000
            $0.sizes.askedCompactionFloor = 1
        }
        try ConstraintSample.fill(store)
        for round in 0..<40 {
            try ConstraintSample.insert(
                store, "Airport", [["code": "LOWW", "rank": round % 5 + 10]])
        }
        let before = try SampleStore.text(store)
        _ = try store.compact()
        #expect(try SampleStore.text(store) == before)
        try expectSound(store)
        try store.close()
        let image = try DiskImage(of: disk)
        for name in image.segments where image.files[name]![12] == 1 {
            #expect(image.files[name]![72] == 2, "F-715: \(name)")
        }
        store = try open(disk)
        try expectSound(store)
        try store.close()
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.report.isWhole)
        #expect(salvaged.rows.count == SalvagedStore.rows(before).count)
    }

    @Test("Who does not know the options may read and must not write")
    func olderVersions() throws {
        let disk = MemoryFileSystem()
        let store = try open(disk)
        try ConstraintSample.fill(store)
        let text = try SampleStore.text(store)
        try store.close()
        var image = try DiskImage(of: disk)
        let name = image.segments[0]
        #expect(image.files[name]![72] == 2, "the writer says so")
        // Another bit stands for what this version does not know.
        image.files[name]![72] = 2 | 128
        image.sealHeader(name)
        image.files.merge(try SealedStore(image, image.segments).sealed()) { $1 }
        image.files["lock"] = []
        #expect(try image.content().text == text)
        let newer = try image.disk()
        let error = #expect(throws: StoreError.self) {
            try LogStore.open(at: "/store", options: SampleStore.options(on: newer))
        }
        #expect(error?.code == .openFailed)
        #expect(error?.message.contains("can only read") ?? false)
        // A reader that passes over the key has the plain constraints, which all rows keep.
        let plain = try Catalog(new: ConstraintSample.schema())
        let json = try CatalogDocument.encode(plain)
        var object = try #require(
            try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        let entities = try #require(object["entities"] as? [[String: Any]])
        #expect((entities[0]["rules"] as? [[String: Any]])?.count == 3)
        #expect(entities[0]["constraints"] as? [[String]] == [["code"]])
        object["entities"] = entities.map { entity in
            var entity = entity
            entity["rules"] = nil
            return entity
        }
        // Conditions may be written in other words than this version's.
        let document = String(decoding: json, as: UTF8.self)
        let written = "\"where\":\"closed == NULL AND NOT rank IN {7, 8}\""
        let part = try #require(document.range(of: written))
        let reworded = document.replacingCharacters(
            in: part, with: "\"where\":\"(closed = nil) && !(rank IN {7,8})\"")
        let decoded = try Data(reworded.utf8).withUnsafeBytes { try CatalogDocument.decode($0) }
        #expect(decoded.schema.model == plain.schema.model)
        let other = document.replacingCharacters(in: part, with: "\"where\":\"closed == NULL\"")
        #expect(throws: FormatError.self) {
            try Data(other.utf8).withUnsafeBytes { try CatalogDocument.decode($0) }
        }
        let older = try JSONSerialization.data(withJSONObject: object)
        // The model of this version says more: the document does not fit it.
        #expect(throws: FormatError.self) {
            try older.withUnsafeBytes { try CatalogDocument.decode($0) }
        }
    }

    @Test("Two rows that have one key are found, whatever let them in (F-714)")
    func sharedKeys() throws {
        let disk = MemoryFileSystem()
        var store = try open(disk)
        try ConstraintSample.fill(store)
        try store.close()
        var image = try DiskImage(of: disk)
        for name in image.files.keys where name.hasPrefix("checkpoint") { image.files[name] = nil }
        image.files["lock"] = []
        var sealed = try SealedStore(image, image.segments)
        let schema = try LogRuleTests.last(.schema, sealed)
        // The condition of a constraint, in the schema and in its model: now it is wider than what the writer asked for.
        let text = String(decoding: sealed.frames[schema].payload, as: UTF8.self)
        #expect(text.components(separatedBy: "IN {7, 8}").count == 3)
        sealed.frames[schema].payload = Array(
            text.replacingOccurrences(of: "IN {7, 8}", with: "IN {9, 8}").utf8)
        image.files.merge(try sealed.sealed()) { $1 }
        store = try LogStore.open(
            at: "/store", options: SampleStore.options(on: try image.disk()))
        let findings = try store.check().findings
        #expect(findings.count == 2, "\(findings)")
        for finding in findings {
            #expect(
                finding.message.contains(
                    "have the same key (name: where closed == NULL AND NOT rank IN {9, 8},")
                    && finding.message.hasSuffix("(F-714)"), "\(finding)")
        }
        try store.close()
    }

    @Test("Stores without them have neither the bit nor the key")
    func plainStores() throws {
        let disk = MemoryFileSystem()
        let store = try open(disk, SampleStore.schema())
        try store.close()
        let image = try DiskImage(of: disk)
        #expect(image.files[image.segments[0]]![72] == 0)
        let json = try CatalogDocument.encode(Catalog(new: SampleStore.schema()))
        #expect(!String(decoding: json, as: UTF8.self).contains("rules"))
    }

    @Test("A store is not opened with other options than it was made with")
    func otherModel() throws {
        let disk = MemoryFileSystem()
        try open(disk).close()
        for rules in [
            [], [UniquenessRule(["name"])],
            ConstraintSample.model().entities[0].uniquenessRules.dropLast(),
        ] {
            let schema = try Schema(ConstraintSample.model(Array(rules)))
            let error = #expect(throws: StoreError.self) { try open(disk, schema) }
            #expect(error?.code == .incompatibleModel)
        }
        let plain = MemoryFileSystem()
        try open(plain, Schema(ConstraintSample.model([]))).close()
        let error = #expect(throws: StoreError.self) { try open(plain) }
        #expect(error?.code == .incompatibleModel)
    }

    @Test("Their indexes answer what implies them, and nothing else")
    func plans() throws {
        let store = try open(MemoryFileSystem())
        try ConstraintSample.fill(store)
        func plan(_ format: String, _ entity: String = "Airport") throws -> (String, Int) {
            let described = try #require(store.schema.entity(named: entity))
            let predicate = try PredicateNode(format: format).bound(
                to: described, in: store.schema)
            let result = try store.snapshot().fetch(
                StoreFetch(entity: described.index, predicate: predicate))
            return (result.plan, result.ids.count)
        }
        let first = "closed == nil AND NOT rank IN {7, 8}"
        for (format, count) in [
            ("name ==[cd] \"wien\" AND closed == nil AND NOT rank IN {7, 8}", 1),
            ("name == \"WIEN\" AND closed == nil AND NOT rank IN {7, 8} AND code == code", 1),
            ("name == \"wien\" AND closed == nil AND NOT rank IN {7, 8}", 0),
            ("name ==[c] \"WIEN\" AND rank == 7", 1), ("name == \"wien\" AND rank == 7", 1),
        ] {
            let (plan, found) = try plan(format)
            #expect(plan.contains("unique index (name"), "\(format): \(plan)")
            #expect(found == count, "\(format)")
        }
        for (format, count) in [
            ("name ==[cd] \"wien\"", 3), ("name ==[c] \"WIEN\" AND \(first)", 1),
            ("name ==[cd] \"wien\" AND closed == nil", 2), ("name == nil", 3),
            ("name ==[cd] \"wien\" AND rank == 7", 1),
            ("name ==[cd] \"wien\" OR \(first)", 8), ("name BEGINSWITH[c] \"W\"", 3),
        ] {
            let (plan, found) = try plan(format)
            #expect(!plan.contains("unique index"), "\(format): \(plan)")
            #expect(found == count, "\(format)")
        }
        try store.close()
    }

    @Test(
        "A random store is sound after every commit, and again when it is opened", arguments: 0..<4)
    func random(_ round: Int) throws {
        var random = RandomSource()
        let disk = MemoryFileSystem()
        let names = ["Wien", "wien", "WIEN", "Zürich", "zurich", "Straße", "STRASSE", "École"]
        for session in 0..<4 {
            let store = try open(disk) {
                $0.sizes.rowsPerBlock = 20
                $0.sizes.segmentBytes = 20_000
                $0.sizes.closingCheckpointBytes = session % 2 == 0 ? 0 : .max
            }
            for _ in 0..<25 {
                let rows = (0..<Int.random(in: 0..<30, using: &random)).map { _ -> [String: Any] in
                    var row: [String: Any] = ["code": "c\(Int.random(in: 0..<60, using: &random))"]
                    if Int.random(in: 0..<3, using: &random) > 0 {
                        row["name"] =
                            "\(names.randomElement(using: &random)!) \(Int.random(in: 0..<40, using: &random))"
                    }
                    if Int.random(in: 0..<2, using: &random) > 0 {
                        row["rank"] = Int.random(in: 0..<9, using: &random)
                    }
                    if Int.random(in: 0..<3, using: &random) == 0 {
                        row["closed"] = ConstraintSample.moment
                    }
                    if Int.random(in: 0..<9, using: &random) == 0 { row["closed"] = NSNull() }
                    return row
                }
                // A batch is refused whole where keys collide.
                do {
                    try ConstraintSample.insert(store, "Airport", rows)
                } catch {
                    #expect((error as? StoreError)?.code == .constraintConflict)
                }
            }
            if session == 2 { _ = try store.compact() }
            let findings = try store.check().findings
            #expect(findings.isEmpty, "\(findings) seed \(random.seed)")
            try store.close()
        }
    }
}

// Parts of a checkpoint that are compact until they are changed.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Dispatch
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Compact parts of a checkpoint")
struct CompactPartsTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Note",
            attributes: [
                .init("key", .integer64, optional: false), .init("code", .string),
                .init("rank", .integer32),
            ],
            uniquenessConstraints: [["key"], ["code"]])
    ])
    /// So many that the indexes have several partitions.
    private static let rows = 30_000

    private static func open(_ folder: FilePath, maps: Bool = true) throws -> LogStore {
        var options = SampleStore.options(on: POSIXFileSystem(), durability: .relaxed)
        options.mapsFiles = maps
        options.sizes.closingCheckpointBytes = 1
        options.makeScheduler = { ManualScheduler() }
        return try LogStore.open(
            at: folder.string, schema: try Schema(model), options: options)
    }

    private static func upsert(_ store: LogStore, _ keys: some Sequence<Int>, rank: Int) throws {
        var request = BatchInsertRequest(
            entityName: "Note",
            objects: keys.map { ["key": $0, "code": "code \($0)", "rank": rank] })
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
    }

    private static func delete(_ store: LogStore, below rank: Int) throws {
        let fetch = StoreFetch(
            entity: store.schema.entities[0].index,
            predicate: .compare("rank", .less, .integer(Int64(rank))))
        _ = try store.execute(BatchDeleteRequest(.fetch(fetch)))
    }

    /// The rank of the note with a key, looked up by one of both constraints; nil if there is none.
    private static func rank(_ store: LogStore, _ key: Int, byCode: Bool) throws -> Int32? {
        let entity = store.schema.entities[0]
        let rank = try entity.column("rank", as: Int32?.self)
        var found: Int32?
        if byCode {
            let code = try entity.column("code", as: String?.self)
            try store.snapshot().lookUp(
                StoreLookup(entity, by: ColumnSet(code)), code, ["code \(key)"]
            ) { found = $0[rank] }
        } else {
            let keys = try entity.column("key", as: Int64.self)
            try store.snapshot().lookUp(
                StoreLookup(entity, by: ColumnSet(keys)), keys, [Int64(key)]
            ) { found = $0[rank] }
        }
        return found
    }

    private static func expect(
        _ store: LogStore, _ ranks: [Int: Int], step: Int, _ comment: Comment
    ) throws {
        for key in stride(from: 0, to: Self.rows + 200, by: step) {
            let expected = ranks[key].map { Int32($0) }
            for byCode in [false, true] {
                let found = try rank(store, key, byCode: byCode)
                #expect(found == expected, "\(comment), key \(key)")
            }
        }
    }

    /// The content of a new store, closed with a checkpoint.
    private static func make(_ folder: FilePath) throws -> [Int: Int] {
        let store = try open(folder)
        try upsert(store, 0..<rows, rank: 1)
        // Blocks with dead rows, and rows that are in others than their neighbors.
        try upsert(store, stride(from: 5000, to: 6000, by: 3), rank: 2)
        try upsert(store, 7000..<7100, rank: 0)
        try delete(store, below: 1)
        try store.close()
        var ranks = Dictionary(uniqueKeysWithValues: (0..<rows).map { ($0, 1) })
        for key in stride(from: 5000, to: 6000, by: 3) { ranks[key] = 2 }
        for key in 7000..<7100 { ranks[key] = nil }
        return ranks
    }

    @Test("are read as they are, become whole when they are changed, and give the same answers")
    func changes() throws {
        try withTemporaryDirectory { folder in
            let path = folder.filePath.appending("store")
            var ranks = try Self.make(path)
            for maps in [true, false] {
                let store = try Self.open(path, maps: maps)
                let image = try #require(store.engine.image)
                try Self.expect(store, ranks, step: 61, "opened")
                #expect(image.progress.compact > 0 || !(maps && FileMapping.isSupported))
                if !maps { #expect(image.progress.compact == 0) }
                let before = image.progress.compact
                // Rows that are there, new ones, and some that go.
                let changed = stride(from: 100, to: 3000, by: 7)
                try Self.upsert(store, changed, rank: 5)
                for key in changed { ranks[key] = 5 }
                try Self.upsert(store, Self.rows..<Self.rows + 100, rank: 6)
                for key in Self.rows..<Self.rows + 100 { ranks[key] = 6 }
                #expect(image.progress.compact < before || before == 0)
                try Self.upsert(store, 9000..<9300, rank: -1)
                try Self.delete(store, below: 0)
                for key in 9000..<9300 { ranks[key] = nil }
                try Self.expect(store, ranks, step: 17, "changed")
                #expect(try store.check().findings.isEmpty)
                try store.engine.rollSegment()
                // What is not in memory may be missing from now on.
                #expect(image.progress.compact == 0)
                #expect(image.progress.loaded == image.progress.parts)
                try Self.expect(store, ranks, step: 61, "rolled")
                try store.engine.takeCheckpoint()
                try store.close()
            }
            let store = try Self.open(path)
            try Self.expect(store, ranks, step: 13, "opened again")
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
    }

    @Test("What was damaged before it was read is taken from the log (CK1)")
    func damaged() throws {
        try withTemporaryDirectory { folder in
            let path = folder.filePath.appending("store")
            let ranks = try Self.make(path)
            let store = try Self.open(path)
            let files = POSIXFileSystem()
            let name = try #require(
                try files.list(path).first { $0.hasPrefix("checkpoint") })
            let file = try files.open(path.appending(name), .readWrite)
            var random = RandomSource()
            var place = UInt64(CheckpointHeader.size)
            while place < (try file.size()) {
                var byte = UInt8(truncatingIfNeeded: random.next())
                try withUnsafeBytes(of: &byte) { try file.write($0, at: place) }
                place += .random(in: 1...2000, using: &random)
            }
            try Self.expect(store, ranks, step: 31, "damaged")
            #expect(store.engine.image?.failure == nil)
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
    }

    @Test("Threads that read them find the same rows while others make them whole")
    func threads() throws {
        try withTemporaryDirectory { folder in
            let path = folder.filePath.appending("store")
            let ranks = try Self.make(path)
            for round in 0..<3 {
                let store = try Self.open(path)
                let wrong = Atomic(0)
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    if thread == 0 {
                        // New values only for keys that the others do not read.
                        for step in 0..<20 {
                            let keys = stride(from: 3 + step * 4, to: Self.rows, by: 1024)
                            if (try? Self.upsert(store, keys, rank: 50 + round)) == nil {
                                wrong.wrappingAdd(1, ordering: .relaxed)
                            }
                        }
                        store.engine.image?.loadAhead(wholly: round == 1)
                    } else {
                        for step in 0..<400 {
                            let key = (step * 7919 + thread * 13) % Self.rows & ~3
                            let found = try? Self.rank(store, key, byCode: step % 2 == 0)
                            if found != ranks[key].map({ Int32($0) }) {
                                wrong.wrappingAdd(1, ordering: .relaxed)
                            }
                        }
                    }
                }
                #expect(wrong.load(ordering: .relaxed) == 0)
                #expect(try store.check().findings.isEmpty)
                try store.close()
            }
        }
    }

    @Test("A directory whose rows are in no order is read whole")
    func shuffled() throws {
        try withTemporaryDirectory { folder in
            let path = folder.filePath.appending("store")
            var ranks = try Self.make(path)
            var store = try Self.open(path)
            // Every third row gets a version of its own.
            for step in 0..<3 {
                let keys = stride(from: step, to: Self.rows / 4, by: 3 + step)
                try Self.upsert(store, keys, rank: 10 + step)
                for key in keys { ranks[key] = 10 + step }
            }
            try store.close()
            store = try Self.open(path)
            try Self.expect(store, ranks, step: 11, "opened")
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
    }
}

// A small store with patches of all kinds, made step by step: the same steps give the same bytes.
//
// Blocks are too small to be compressed, and full enough to be patched.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

enum PatchedSample {
    static func options(on disk: any FileSystem) -> LogStoreOptions {
        var options = SampleStore.options(on: disk)
        options.sizes.rowsPerBlock = 20
        options.sizes.packsColumns = false
        options.sizes.largeValueBytes = 200
        options.sizes.askedCompactionFloor = 1
        options.sizes.compactionBlocks = 2
        options.sizes.checkpointBytes = .max
        return options
    }

    static func insert(_ store: LogStore, _ numbers: Range<Int>) throws {
        let objects = numbers.map { number -> [String: Any] in
            var row: [String: Any] = [
                "code": "A\(number)", "elevation": number, "latitude": Double(number) / 7,
                "since": Date(timeIntervalSinceReferenceDate: Double(number)),
                "big": number * 1_000_003,
            ]
            row["note"] =
                number % 10 == 3
                ? String(repeating: "note \(number) ", count: 40) : "note \(number)"
            return row
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Airport", objects: objects))
    }

    static func update(
        _ store: LogStore, _ properties: [String: UpdatedValue], where predicate: String? = nil
    ) throws {
        var request = BatchUpdateRequest(entityName: "Airport")
        request.propertiesToUpdate = properties
        request.predicate = try predicate.map { try PredicateNode(format: $0) }
        _ = try store.execute(request)
    }

    static func expression(_ format: String) throws -> UpdatedValue {
        .expression(try ExpressionNode(format: format))
    }

    static func delete(_ store: LogStore, _ codes: [String]) throws {
        for code in codes {
            _ = try store.execute(
                BatchDeleteRequest(
                    .fetch(try SampleStore.fetch(store, .compare("code", .equal, .string(code))))))
        }
    }

    /// 60 objects in a segment, 40 in the next one, with patches of all of them there.
    private static let patching: [@Sendable (LogStore) throws -> Void] = [
        { try insert($0, 0..<60) },
        { store in
            try store.engine.rollSegment()
            try insert(store, 60..<100)
        },
        { try update($0, ["latitude": try expression("latitude + 1")]) },
        { try update($0, ["since": nil]) }, { try delete($0, ["A1"]) },
        { try delete($0, ["A77"]) },
    ]

    static func patched(_ store: LogStore) throws {
        for step in patching { try step(store) }
    }

    /// What a store held while that was done.
    static func contents() throws -> [String] {
        let store = try LogStore.open(
            at: "\(DiskImage.folder)", schema: try SampleStore.schema(),
            options: options(on: MemoryFileSystem()))
        defer { try? store.close() }
        return try patching.map { step in
            try step(store)
            return try SampleStore.text(store)
        }
    }

    /// The blocks of the first segment have gone, and the patches of the others have become others.
    static func compacted(_ store: LogStore) throws {
        try store.engine.rollSegment()
        let state = store.engine.registry.published()
        let first = try #require(state.segments.mains.first?.number)
        let run = try CompactionRun(store.engine, victims: [first])
        while case .moved = try run.step() {}
        run.end()
        try update(store, ["elevation": 7])
        try delete(store, ["A2", "A78"])
    }

    static func image() throws -> DiskImage {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "\(DiskImage.folder)", schema: try SampleStore.schema(),
            options: options(on: disk))
        try patched(store)
        try compacted(store)
        try store.close()
        return try DiskImage(of: disk)
    }

    /// The blocks of airports that are patches, as a state has them, and all of them.
    static func blocks(_ store: LogStore) -> (patches: [BlockEntry], all: [BlockEntry]) {
        let state = store.engine.registry.published()
        let all = state.blocks.all(ofEntity: 0).map { state.blocks.entry($0) }
        return (all.filter { !$0.patched.isNone }, all)
    }

    /// How many blocks of an entity are patches.
    static func patches(_ store: LogStore, ofEntity name: String) -> Int {
        let state = store.engine.registry.published()
        return state.blocks.all(ofEntity: store.schema.entity(named: name)!.index)
            .count { !state.blocks.entry($0).patched.isNone }
    }
}

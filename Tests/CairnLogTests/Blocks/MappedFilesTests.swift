// Blocks that are read from mapped files: the same rows and the same errors, and files that are let go.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Blocks in mapped files")
struct MappedFilesTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Note",
            attributes: [.init("key", .integer64, optional: false), .init("text", .string)],
            uniquenessConstraints: [["key"]])
    ])

    private static func options(maps: Bool = true) -> LogStoreOptions {
        var options = SampleStore.options(on: POSIXFileSystem())
        options.mapsFiles = maps
        options.sizes.packsColumns = true
        options.sizes.askedCompactionFloor = 1
        return options
    }

    /// Creates a store of 10,000 notes in a folder.
    private static func make(in folder: FilePath, options: LogStoreOptions = options()) throws
        -> LogStore
    {
        let store = try LogStore.open(
            at: folder.string, schema: try Schema(model), options: options)
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Note",
                objects: (0..<10_000).map { ["key": $0, "text": text($0)] }))
        return store
    }

    private static func text(_ key: Int) -> String { "note \(key * 7919 % 10_000)" }

    private static func lookUp(_ store: LogStore, _ key: Int) throws -> String? {
        let entity = store.schema.entities[0]
        let keys = try entity.column("key", as: Int64.self)
        let text = try entity.column("text", as: String?.self)
        var found: String?
        try store.snapshot().lookUp(StoreLookup(entity, by: ColumnSet(keys)), keys, [Int64(key)]) {
            found = $0[text]
        }
        return found
    }

    /// The mapped files of this process in a folder.
    private static func maps(of folder: FilePath) throws -> [String] {
        let file = try POSIXFileSystem().open("/proc/self/maps", .read)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try piece.withUnsafeMutableBytes {
                try file.read(into: $0, at: UInt64(bytes.count))
            }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { $0.contains(folder.string) && $0.contains(".segment") }
    }

    /// Whether all blocks of the current state are mapped, or none; nil if some are. Reads them all.
    private static func isMapped(_ store: LogStore) throws -> Bool? {
        let reader = store.engine.reader
        let state = store.engine.registry.published()
        let answers = Set(
            try state.blocks.all(ofEntity: 0).map { handle in
                try reader.block(state.blocks.entry(handle), in: state).payload.ownCount == 0
            })
        return answers.count == 1 ? answers.first : nil
    }

    /// Whether this system maps files.
    private static let isSupported =
        (try? withTemporaryDirectory { folder -> Bool in
            let store = try make(in: folder.filePath.appending("store"))
            defer { try? store.close() }
            return try isMapped(store) == true
        }) ?? false

    @Test(
        "The same rows with and without, of which only copies take memory of the cache",
        arguments: [true, false])
    func rows(_ maps: Bool) throws {
        try withTemporaryDirectory { folder in
            let options = Self.options(maps: maps)
            let store = try Self.make(in: folder.filePath.appending("store"), options: options)
            for key in stride(from: 0, to: 10_000, by: 37) {
                #expect(try Self.lookUp(store, key) == Self.text(key))
            }
            #expect(try Self.lookUp(store, 10_000) == nil)
            let state = store.engine.registry.published()
            let stored = state.blocks.all(ofEntity: 0).reduce(0) {
                $0 + Int(state.blocks.entry($1).length)
            }
            let isMapped = maps && Self.isSupported
            #expect(store.blockCache.blocks == 10)
            #expect(isMapped == (store.blockCache.bytes < stored))
            #expect(try Self.isMapped(store) == isMapped)
            // Scans read the same, and so do patched blocks after a change.
            let fetch = StoreFetch(entity: 0, predicate: .compare("key", .less, .integer(500)))
            #expect(try store.snapshot().count(fetch) == 500)
            var update = BatchUpdateRequest(entityName: "Note", propertiesToUpdate: ["text": "x"])
            update.predicate = try PredicateNode(format: "key < 3333")
            _ = try store.execute(update)
            for key in stride(from: 0, to: 10_000, by: 37) {
                #expect(try Self.lookUp(store, key) == (key < 3333 ? "x" : Self.text(key)))
            }
            try store.close()
        }
    }

    @Test(
        "Only what is synced is mapped, in segments that the store still has",
        .enabled(if: isSupported))
    func synced() throws {
        try withTemporaryDirectory { folder in
            var options = Self.options()
            options.durability = .relaxed
            let path = folder.filePath.appending("store")
            var store = try Self.make(in: path, options: options)
            #expect(try Self.isMapped(store) == false)
            try store.close()
            store = try LogStore.open(at: path.string, options: options)
            #expect(try Self.isMapped(store) == true)
            // A snapshot reads on from files that are removed when it ends.
            let snapshot = try store.snapshot()
            _ = try store.execute(
                BatchUpdateRequest(entityName: "Note", propertiesToUpdate: ["text": "new"]))
            _ = try store.compact()
            #expect(try snapshot.fetch(StoreFetch(entity: 0)).ids.count == 10_000)
            try store.close()
        }
    }

    @Test(
        "A file that ends too early is an error with its place, as without mapping",
        arguments: [true, false])
    func truncated(_ maps: Bool) throws {
        try withTemporaryDirectory { folder in
            let path = folder.filePath.appending("store")
            try Self.make(in: path).close()
            let store = try LogStore.open(at: path.string, options: Self.options(maps: maps))
            let state = store.engine.registry.published()
            let last = try #require(
                state.blocks.all(ofEntity: 0).map { state.blocks.entry($0).place }
                    .max { $0.byteOffset < $1.byteOffset })
            let name = path.appending(SegmentName.name(of: last.segment))
            try POSIXFileSystem().open(name, .readWrite).truncate(to: UInt64(last.byteOffset) + 100)
            var found = 0
            var errors: Set<String> = []
            for key in stride(from: 0, to: 10_000, by: 500) {
                do {
                    #expect(try Self.lookUp(store, key) == Self.text(key))
                    found += 1
                } catch {
                    let error = try #require(error as? StoreError)
                    #expect(error.code == .damaged)
                    errors.insert("\(error)")
                }
            }
            #expect(found >= 16 && errors.count == 1)
            #expect(errors.first?.contains("the file ends inside a frame") == true)
            try? store.close()
        }
    }

    @Test(
        "Files that compaction removed are let go, once no snapshot needs them",
        .enabled(if: isSupported))
    func removed() throws {
        try withTemporaryDirectory { folder in
            let store = try Self.make(in: folder.filePath.appending("store"))
            for key in stride(from: 0, to: 10_000, by: 500) { _ = try Self.lookUp(store, key) }
            _ = try store.execute(
                BatchUpdateRequest(entityName: "Note", propertiesToUpdate: ["text": "new"]))
            for key in stride(from: 0, to: 10_000, by: 500) {
                #expect(try Self.lookUp(store, key) == "new")
            }
            #expect(try !Self.maps(of: folder.filePath).isEmpty)
            _ = try store.compact()
            for key in stride(from: 0, to: 10_000, by: 500) {
                #expect(try Self.lookUp(store, key) == "new")
            }
            let maps = try Self.maps(of: folder.filePath)
            #expect(!maps.isEmpty && !maps.contains { $0.contains("(deleted)") })
            try store.close()
        }
    }

    @Test("A frame in two windows of a file is copied", .enabled(if: isSupported))
    func betweenWindows() throws {
        try withTemporaryDirectory { folder in
            let file = try POSIXFileSystem().open(folder.filePath.appending("1.segment"), .create)
            let header = SegmentHeader(
                kind: .main, store: StoreID(SampleStore.identifier), number: 1, created: 0,
                commit: 0)
            let segment = Segment(header: header, file: file)
            let border: UInt64 = 64 << 20
            var payloads: [(at: UInt64, bytes: [UInt8])] = []
            // Before the border, around it, and after it.
            for (index, start) in [border - 8192, border - 4096, border + 8192].enumerated() {
                var writer = ByteWriter()
                let frame = writer.beginFrame()
                let bytes = [UInt8](repeating: UInt8(index + 1), count: index == 1 ? 8000 : 4000)
                bytes.withUnsafeBytes { writer.append($0) }
                writer.endFrame(
                    at: frame, kind: .block, commit: 1, lsn: header.baseLSN + start, mark: 0,
                    predecessor: 0, storeTag: header.store.tag, segment: 1)
                try file.write(writer.bytes, at: start)
                payloads.append((start, bytes))
            }
            for (index, (start, bytes)) in payloads.enumerated() {
                for length in [0, FrameHeader.size + bytes.count] {
                    let (_, payload) = try segment.frame(
                        at: start, storeTag: header.store.tag, .mapped(length: length))
                    #expect(Array(payload.bytes) == bytes)
                    #expect((payload.ownCount == 0) == (index != 1))
                }
            }
            #expect(throws: StoreError.self) {
                try segment.frame(at: 4096, storeTag: header.store.tag, .mapped(length: 100))
            }
        }
    }
}

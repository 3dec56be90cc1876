// The stores in Format/golden, as they are made.
//
//   NAME.cairn          a store                    NAME.jsonl          its canonical export
//   NAME.broken.cairn   the same with damage       NAME.broken.error   what opening it says
//
// Blocks stay below the size at which they are compressed, since the compressor's output may change with its
// version; the bytes of `compressed` are read but not compared, like those of `checkpointed`.
// To write them anew: CAIRN_GOLDEN=write swift test --filter GoldenStoreTests

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

struct GoldenStore: Sendable, CustomTestStringConvertible {
    let name: String
    /// The files of the store.
    let make: @Sendable () throws -> DiskImage
    /// Damages the files.
    let harm: @Sendable (inout DiskImage) -> Void
    /// Whether making it gives the same bytes everywhere.
    var isReproducible = true
    /// An entity of it, and a text that each of its objects needs.
    var entity = "Airport"
    var key = "code"

    var testDescription: String { name }

    static let all: [GoldenStore] = [
        GoldenStore(name: "empty", make: { try made(steps: 0, rowsPerBlock: 20) }) { image in
            // The segment's header.
            image.files["0000000001.segment"]![100] ^= 1
        },
        GoldenStore(name: "everything", make: { try made(steps: 7, rowsPerBlock: 20) }) { image in
            // A value in a block.
            let bytes = image.files["0000000001.segment"]!
            image.files["0000000001.segment"]![
                bytes.firstRange(of: Array("LOWW".utf8))!.lowerBound] ^=
                0x20
        },
        GoldenStore(
            name: "segments", make: { try made(steps: 7, rowsPerBlock: 20, segmentBytes: 6000) }
        ) { image in
            image.files["0000000002.segment"] = nil
        },
        GoldenStore(
            name: "unclean",
            make: {
                var image = try made(steps: 5, rowsPerBlock: 20, closes: false)
                let whole = try made(steps: 6, rowsPerBlock: 20, closes: false)
                // The next commit was being written when the machine stopped.
                image.files["0000000001.segment"] = whole.files["0000000001.segment"]!.dropLast(90)
                return image
            }
        ) { image in
            // Cut in the middle of what the mark vouches for.
            image.files["0000000001.segment"]!.removeSubrange(12_000...)
        },
        GoldenStore(
            name: "continued",
            make: {
                let disk = try made(
                    steps: 2, rowsPerBlock: 20, closes: false,
                    tail: [UInt8](repeating: 7, count: 99)
                ).disk()
                let store = try LogStore.open(
                    at: "/store", options: options(on: disk, rowsPerBlock: 20))
                for step in SampleStore.steps[2...] { try step(store) }
                try store.close()
                return try DiskImage(of: disk)
            }
        ) { image in
            // The place where the successor says that its predecessor ends.
            image.files["0000000001.segment"]!.removeLast(108)
        },
        GoldenStore(
            name: "compacted",
            make: {
                let (store, disk) = try dead()
                _ = try store.compact()
                try SampleStore.secondRows(store)
                try SampleStore.largeValue(store)
                try store.close()
                return try DiskImage(of: disk)
            }
        ) { image in
            // A value in a block of a side segment.
            let name = image.segments.first { image.files[$0]![12] == 2 }!
            let at = image.files[name]!.firstRange(of: Array("LOWW".utf8))!.lowerBound
            image.files[name]![at] ^= 0x20
        },
        GoldenStore(
            name: "compacting",
            make: {
                let (store, disk) = try dead()
                try store.engine.rollSegment()
                try SampleStore.secondRows(store)
                let state = store.engine.registry.published()
                let run = try CompactionRun(
                    store.engine, victims: Set(state.segments.mains.dropLast().map(\.number)))
                // Rows have moved, and their segments are there yet.
                for _ in 0..<run.victims.count + 4 { _ = try run.step() }
                try SampleStore.changedRows(store)
                try store.close()
                return try DiskImage(of: disk)
            }
        ) { image in
            let name = image.segments.first { image.files[$0]![12] == 2 }!
            image.files[name] = nil
        },
        GoldenStore(
            name: "copying",
            make: {
                let source = MemoryFileSystem()
                let store = try LogStore.open(
                    at: "/source", schema: try SampleStore.schema(),
                    options: options(on: source, rowsPerBlock: 20, segmentBytes: 8000))
                for step in SampleStore.steps[..<2] { try step(store) }
                let disk = MemoryFileSystem()
                _ = try store.backup(to: "/store", on: disk)
                for step in SampleStore.steps[2...] { try step(store) }
                // The second copy breaks off in a segment that the first one did not have.
                let faulty = FaultInjectingFileSystem(over: disk)
                faulty.crash(atMutation: 9, afterWriting: 5000)
                do { _ = try store.backup(to: "/store", on: faulty) } catch {}
                try store.close()
                return try DiskImage(of: disk)
            }
        ) { image in
            // A value in a block that the first copy has.
            let at = image.files["0000000002.segment"]!.firstRange(of: Array("LOWW".utf8))!
            image.files["0000000002.segment"]![at.lowerBound] ^= 0x20
        },
        // The hashes in a checkpoint have a seed of their own.
        GoldenStore(
            name: "checkpointed",
            make: { try made(steps: 7, rowsPerBlock: 20, closingCheckpointBytes: 0) },
            harm: { image in
                // Cut below what checkpoint and mark vouch for.
                image.files["0000000001.segment"]!.removeSubrange(12_000...)
            }, isReproducible: false),
        GoldenStore(
            name: "indexed",
            make: {
                try made(
                    steps: 7, rowsPerBlock: 20, closingCheckpointBytes: 0,
                    schema: SampleStore.indexedSchema())
            },
            harm: { image in
                // Cut below what checkpoint and mark vouch for.
                image.files["0000000001.segment"]!.removeSubrange(12_000...)
            }, isReproducible: false),
        GoldenStore(
            name: "ordered",
            make: {
                let disk = MemoryFileSystem()
                let store = try LogStore.open(
                    at: "/store", schema: try OrderedSample.schema(),
                    options: options(on: disk, rowsPerBlock: 20))
                try OrderedSample(store).fill()
                try store.close()
                return try DiskImage(of: disk)
            },
            harm: { image in
                // The property id of an order key, in the schema.
                let bytes = image.files["0000000001.segment"]!
                let at = bytes.firstRange(of: Array("folder.order".utf8))!.lowerBound
                image.files["0000000001.segment"]![at] ^= 0x20
            }),
        GoldenStore(
            name: "metadata",
            make: {
                let disk = MemoryFileSystem()
                var options = GoldenStore.options(
                    on: disk, rowsPerBlock: 20, segmentBytes: 8000)
                options.sizes.askedCompactionFloor = 1
                options.sizes.compactionBlocks = 2
                options.sizes.checkpointBytes = .max
                let store = try LogStore.open(
                    at: "/store", schema: try SampleStore.schema(), options: options)
                try store.setMetadata(["token": .string("first")])
                for step in SampleStore.steps { try step(store) }
                try store.setMetadata(
                    MetadataTests.values,
                    identifier: UUID(uuidString: "3F2504E0-4F89-41D3-9A0C-0305E82C3301"))
                try store.writeMetadata()
                try store.engine.rollSegment()
                try SampleStore.changedRows(store)
                // They are in a side segment afterwards.
                _ = try store.compact()
                try SampleStore.secondRows(store)
                try store.close()
                return try DiskImage(of: disk)
            }
        ) { image in
            let name = image.segments.first { image.files[$0]![12] == 2 }!
            let at = image.files[name]!.firstRange(of: Array("\"token\":".utf8))!.lowerBound
            image.files[name]![at + 1] ^= 0x20
        },
        GoldenStore(
            name: "history",
            make: {
                let disk = MemoryFileSystem()
                var options = GoldenStore.options(
                    on: disk, rowsPerBlock: 20, segmentBytes: 8000)
                options.sizes.askedCompactionFloor = 1
                options.sizes.compactionBlocks = 2
                options.sizes.checkpointBytes = .max
                options.persistentHistoryTracking = true
                options.historyProcess = (7, "sample")
                let store = try LogStore.open(
                    at: "/store", schema: try HistoryTests.schema(), options: options)
                for step in SampleStore.steps { try step(store) }
                try store.registerHistoryConsumer("search")
                let second = try store.execute(.fetchHistory(after: nil)).transactions[1]
                try store.advance("search", to: second.token)
                // The first transaction goes, and the others are in a side segment afterwards.
                try store.execute(.deleteHistory(before: second))
                try store.engine.rollSegment()
                try SampleStore.changedRows(store)
                _ = try store.compact()
                try SampleStore.secondRows(store)
                try SampleStore.deletedRows(store)
                try store.close()
                return try DiskImage(of: disk)
            }
        ) { image in
            // The name of a program in changes of a side segment.
            let name = image.segments.first { image.files[$0]![12] == 2 }!
            let at = image.files[name]!.firstRange(of: Array("sample".utf8))!.lowerBound
            image.files[name]![at + 1] ^= 0x20
        },
        GoldenStore(
            name: "redirected",
            make: {
                let disk = MemoryFileSystem()
                var options = GoldenStore.options(
                    on: disk, rowsPerBlock: 20, segmentBytes: 8000)
                options.sizes.askedCompactionFloor = 1
                options.sizes.compactionBlocks = 2
                options.sizes.checkpointBytes = .max
                options.persistentHistoryTracking = true
                options.historyProcess = (7, "sample")
                let store = try LogStore.open(
                    at: "/store", schema: try SampleStore.schema(), options: options)
                try FoldedAirports.fillGolden(store)
                try store.close()
                return try DiskImage(of: disk)
            }
        ) { image in
            // A redirect in a side segment.
            let name = image.segments.first { image.files[$0]![12] == 2 }!
            let bytes = image.files[name]!
            let at = FoldedAirports.place(ofRedirectsIn: bytes)!
            image.files[name]![at + 20] ^= 1
        },
        GoldenStore(
            name: "migrated", make: { try MigratedSample.image() },
            harm: { image in
                // A value in a block of the last version.
                let value = Array("note 64".utf8)
                let name = image.segments.last { image.files[$0]!.firstRange(of: value) != nil }!
                let at = image.files[name]!.firstRange(of: value)!.lowerBound
                image.files[name]![at] ^= 0x20
            }, entity: "Article", key: "key"),
        GoldenStore(
            name: "mapped", make: { try MigratedSample.mappedImage() },
            harm: { image in
                // A value in a block of the rows that the mapping made.
                let value = Array("note 11".utf8)
                let name = image.segments.last { image.files[$0]!.firstRange(of: value) != nil }!
                let at = image.files[name]!.firstRange(of: value)!.lowerBound
                image.files[name]![at] ^= 0x20
            }, entity: "Article", key: "key"),
        GoldenStore(
            name: "past",
            make: {
                let disk = MemoryFileSystem()
                var options = GoldenStore.options(
                    on: disk, rowsPerBlock: 20, segmentBytes: 8000)
                options.sizes.askedCompactionFloor = 1
                options.sizes.compactionBlocks = 2
                options.sizes.checkpointBytes = .max
                options.pastStates = .seconds(86_400)
                let store = try LogStore.open(
                    at: "/store", schema: try SampleStore.schema(), options: options)
                for step in SampleStore.steps { try step(store) }
                try store.engine.rollSegment()
                try SampleStore.changedRows(store)
                // All that was written so far is kept for past states alone afterwards.
                _ = try store.compact()
                try SampleStore.secondRows(store)
                try store.close()
                return try DiskImage(of: disk)
            }
        ) { image in
            // The name of the key that says what is kept, in the newest metadata.
            let key = Array("\"held\":".utf8)
            let name = image.segments.last { image.files[$0]!.firstRange(of: key) != nil }!
            let at = image.files[name]!.firstRange(of: key)!.lowerBound
            image.files[name]![at + 1] ^= 0x20
        },
        GoldenStore(name: "patched", make: { try PatchedSample.image() }) { image in
            // A bit of the first patch of all: it is of a block in a segment that is gone.
            let name = "0000000002.segment"
            let frames = FrameMap(image.files[name]!).frames
            let patch = frames.first { $0.header.kind == .patch }!
            image.files[name]![patch.range.lowerBound + FrameHeader.size + 3] ^= 1
        },
        GoldenStore(
            name: "constraints",
            make: {
                let disk = MemoryFileSystem()
                let store = try LogStore.open(
                    at: "/store", schema: try ConstraintSample.schema(),
                    options: options(on: disk, rowsPerBlock: 20))
                try ConstraintSample.fill(store)
                try store.close()
                return try DiskImage(of: disk)
            },
            harm: { image in
                // A value in a block.
                let bytes = image.files["0000000001.segment"]!
                let at = bytes.firstRange(of: Array("LOWW".utf8))!.lowerBound
                image.files["0000000001.segment"]![at] ^= 0x20
            }),
        GoldenStore(
            name: "compressed", make: { try made(steps: 7, rowsPerBlock: 1024) },
            harm: { $0.files["0000000001.segment"]![4100] ^= 0x80 }, isReproducible: false),
        GoldenStore(name: "packed", make: { try PackedSample.image() }) { image in
            // The last row of the store has a place in texts that is behind their end.
            PackedSample.harm(&image)
        },
    ]

    /// A store in several segments with much that is dead.
    private static func dead() throws -> (store: LogStore, disk: MemoryFileSystem) {
        let disk = MemoryFileSystem()
        var options = options(on: disk, rowsPerBlock: 20, segmentBytes: 8000)
        options.sizes.askedCompactionFloor = 1
        options.sizes.compactionBlocks = 2
        options.sizes.checkpointBytes = .max
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for step in SampleStore.steps { try step(store) }
        try SampleStore.changedRows(store)
        return (store, disk)
    }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Format/golden").standardizedFileURL

    static func options(on disk: any FileSystem, rowsPerBlock: Int, segmentBytes: UInt64 = 1 << 30)
        -> LogStoreOptions
    {
        var options = SampleStore.options(on: disk, segmentBytes: segmentBytes)
        options.sizes.rowsPerBlock = rowsPerBlock
        // They are as stores were before there were packed columns.
        options.sizes.packsColumns = false
        return options
    }

    static func made(
        steps: Int, rowsPerBlock: Int, segmentBytes: UInt64 = 1 << 30, closes: Bool = true,
        tail: [UInt8] = [], closingCheckpointBytes: UInt64 = .max, schema: Schema? = nil
    ) throws -> DiskImage {
        let disk = MemoryFileSystem()
        var options = options(on: disk, rowsPerBlock: rowsPerBlock, segmentBytes: segmentBytes)
        options.sizes.closingCheckpointBytes = closingCheckpointBytes
        let store = try LogStore.open(
            at: "/store", schema: schema ?? SampleStore.schema(), options: options)
        for step in SampleStore.steps[..<steps] { try step(store) }
        if closes {
            try store.close()
            return try DiskImage(of: disk)
        }
        var image = try DiskImage(of: disk)
        image.files[image.segments.last!]! += tail
        try store.close()
        return image
    }
}

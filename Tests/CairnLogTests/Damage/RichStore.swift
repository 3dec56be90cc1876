// A store with everything in it, large enough that damage finds a place, and what may become of it.
//
//   segments      several, of at least 64 KiB together, with every kind of frame that is written; some were
//                 compacted, and of those some wait to be removed until there is another checkpoint
//   checkpoint    one, of a state in the middle: what is behind it is read at opening, what is before is not
//   mark          of the end
//
// Invariants: everything is committed with `full`, so that each frame promises all commits before its own.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

/// A store's files, and all that its history knows.
struct RichStore: Sendable {
    /// A frame as it was written.
    struct Frame: Sendable {
        let segment: String
        let offset: Int
        let header: FrameHeader
    }

    /// The files after closing.
    let closed: DiskImage
    /// The files as a crash would leave them behind the last commit.
    let crashed: DiskImage
    /// The name of the checkpoint.
    let checkpoint: String
    /// The canonical exports, each another than the one before, and the LSN behind the commit that made it. The
    /// first is the new store.
    let history: [(content: [UInt8], lsn: UInt64)]
    /// The frames of the log, as far as their segments are still there.
    let frames: [Frame]
    /// The segments that make up the store; others wait to be removed.
    let live: Set<String>

    static let made = Result { try RichStore(isCompacted: true) }
    /// The same without compaction.
    static let plain = Result { try RichStore(isCompacted: false) }

    /// The canonical export.
    var content: [UInt8] { history.last?.content ?? [] }

    static func options(on disk: any FileSystem) -> LogStoreOptions {
        var options = SampleStore.options(on: disk, segmentBytes: 12_000)
        options.sizes.rowsPerBlock = 64
        options.sizes.mergedBlocks = 3
        options.sizes.compactionBlocks = 2
        options.sizes.askedCompactionFloor = 1 << 10
        // What compaction finds dead in which segment is what the tests want with the sizes that rows have without.
        options.sizes.packsColumns = false
        // Checkpoints and compaction where the test wants them.
        options.sizes.compactionFloor = .max
        options.sizes.checkpointBytes = .max
        return options
    }

    private init(isCompacted: Bool) throws {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "\(DiskImage.folder)", schema: try SampleStore.schema(),
            options: Self.options(on: disk))
        var steps = SampleStore.steps
        for number in 0..<11 {
            steps.append { try Self.wideRows($0, number) }
            // Not where compaction would then take the checkpoint's own segment.
            if number == 2 || number == 7 && !isCompacted {
                steps.append { try Self.changedColumn($0, number) }
            }
            if isCompacted, number == 5 || number == 9 { steps.append { _ = try $0.compact() } }
            if number == 6 { steps.append { try $0.engine.takeCheckpoint() } }
            steps.append(number % 2 == 0 ? SampleStore.deletedRows : SampleStore.secondRows)
        }
        steps.append { try Self.changedColumn($0, 10) }
        var history = [(try store.exported(), store.engine.registry.pin().state.commitEnd.lsn)]
        for step in steps {
            try step(store)
            let content = try store.exported()
            if content != history.last?.0 {
                history.append((content, store.engine.registry.pin().state.commitEnd.lsn))
            }
        }
        let set = store.engine.registry.pin().state.segments
        crashed = try DiskImage(of: disk)
        try store.close()
        let closed = try DiskImage(of: disk)
        self.closed = closed
        // Closing may begin one.
        let last = SegmentName.name(of: set.current.number)
        let later = closed.segments.filter { $0 > last }
        live = Set(set.all.map { SegmentName.name(of: $0.number) } + later)
        checkpoint = try #require(closed.files.keys.first { $0.hasPrefix("checkpoint") })
        self.history = history
        let files = closed.files
        let mains = set.mains.map { SegmentName.name(of: $0.number) } + later
        frames = try mains.flatMap { try Self.frames(of: $0, files[$0] ?? []) }
        try #require(closed.segments.reduce(0) { $0 + (files[$1]?.count ?? 0) } >= 64 << 10)
        var kinds: Set<FrameKind> = [
            .start, .schema, .block, .patch, .deaths, .value, .commit, .close,
        ]
        if isCompacted {
            kinds = [.start, .block, .patch, .deaths, .commit, .close, .adopt, .retire]
            try #require(!set.sides.isEmpty && live.count < closed.segments.count)
        }
        try #require(kinds.subtracting(frames.compactMap(\.header.kind)).isEmpty)
        try #require(mains.count > 1)
    }

    /// Another value in a column of all rows: full blocks get patches.
    private static func changedColumn(_ store: LogStore, _ number: Int) throws {
        var request = BatchUpdateRequest(entityName: "Airport")
        request.propertiesToUpdate[number % 2 == 0 ? "small" : "factor"] = .value(
            number % 2 == 0 ? .integer(Int64(number)) : .float(Float(number)))
        _ = try store.execute(request)
    }

    /// Rows with texts that do not repeat, so that blocks are large, some of them kept apart.
    private static func wideRows(_ store: LogStore, _ number: Int) throws {
        var state = UInt64(number + 1)
        func word() -> String {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return String(state >> 20, radix: 36)
        }
        var request = BatchInsertRequest(
            entityName: number % 3 == 2 ? "Heliport" : "Airport",
            objects: (0..<50).map { row in
                let length = number == 4 && row == 7 ? 700 : 3 + row % 7
                return [
                    "code": "W\(number % 3)-\((number * 17 + row) % 90)",
                    "elevation": row * number - 40, "latitude": Double(row) / 3,
                    "note": (0..<length).map { _ in word() }.joined(separator: " "),
                ]
            })
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
    }

    private static func frames(of name: String, _ bytes: [UInt8]) throws -> [Frame] {
        var frames: [Frame] = []
        var offset = SegmentHeader.size
        while offset < bytes.count {
            let header = try bytes[offset...].withUnsafeBytes { try FrameHeader(decoding: $0) }
            frames.append(Frame(segment: name, offset: offset, header: header))
            offset += header.frameLength
        }
        return frames
    }

    // MARK: What may become of it

    /// The LSN below which something that is still whole in damaged files says that the log was durable: a
    /// frame's header at its place, or the mark. Who opens the files must miss nothing below it.
    func promised(by image: DiskImage) -> UInt64 {
        var promised: UInt64 = 0
        for (name, frames) in Dictionary(grouping: frames, by: \.segment) {
            let whole = frames.filter {
                isWhole($0.offset..<$0.offset + FrameHeader.size, of: name, in: image)
            }
            // A file of a header and a start frame that are not whole, and nothing else, is one whose creation
            // broke off, by Format 60.4, step 2: it is passed over with all it says.
            if whole.count == 1, whole[0].offset == SegmentHeader.size,
                !isWhole(
                    0..<SegmentHeader.size + whole[0].header.frameLength, of: name, in: image)
            {
                continue
            }
            for frame in whole { promised = max(promised, frame.header.mark) }
        }
        if let now = image.files["lock"], now.count >= MarkRecord.size,
            let mark = try? now.withUnsafeBytes({ try MarkRecord(decoding: $0) })
        {
            promised = max(promised, mark.lsn)
        }
        return promised
    }

    private func isWhole(_ place: Range<Int>, of name: String, in image: DiskImage) -> Bool {
        guard let now = image.files[name], now.count >= place.upperBound,
            let then = closed.files[name]
        else { return false }
        return now[place] == then[place]
    }

    /// Whether a content is one that damaged files may have: the newest, or an older one of which nothing that
    /// is left says that more was there.
    func isHonest(_ content: [UInt8], of image: DiskImage) -> Bool {
        guard let index = history.lastIndex(where: { $0.content == content }) else { return false }
        return index == history.count - 1 || promised(by: image) < history[index + 1].lsn
    }
}

extension LogStore {
    /// The canonical export.
    func exported() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try export { bytes.append(contentsOf: $0) }
        return bytes
    }
}

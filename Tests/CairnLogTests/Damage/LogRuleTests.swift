// The rules of the log, each broken in a store in which all else is right.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Rules of the log")
struct LogRuleTests {
    /// A way to break a rule.
    struct Break: Sendable, CustomTestStringConvertible {
        let rule: String
        let isCompacted: Bool
        let change: @Sendable (inout SealedStore) throws -> Void
        var testDescription: String { rule }

        init(
            _ rule: String, isCompacted: Bool = false,
            _ change: @escaping @Sendable (inout SealedStore) throws -> Void
        ) {
            self.rule = rule
            self.isCompacted = isCompacted
            self.change = change
        }
    }

    /// A store of one segment, or one that was compacted, without checkpoint and mark.
    static func image(isCompacted: Bool) throws -> DiskImage {
        var image = try isCompacted ? compacted() : SampleStore.history().closed
        for name in image.files.keys where name.hasPrefix("checkpoint") { image.files[name] = nil }
        image.files["lock"] = []
        return image
    }

    /// A store whose newest segment adopts and retires.
    private static func compacted() throws -> DiskImage {
        let disk = MemoryFileSystem()
        var options = CompactionTests.options(on: disk)
        options.sizes.segmentBytes = 1 << 30
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        try CompactionTests.fill(store)
        let result = try store.compact()
        try #require(result.retiredSegments == 1)
        try store.close()
        return try DiskImage(of: disk)
    }

    static func last(_ kind: FrameKind, _ store: SealedStore) throws -> Int {
        try #require(store.frames.lastIndex { $0.header.kind == kind })
    }

    /// Changes the chain values that the last adoption states.
    static func changeChains(_ store: inout SealedStore, start: UInt32, end: UInt32) throws {
        let index = try last(.adopt, store)
        let parts = try store.frames[index].payload.withUnsafeBytes {
            try AdoptPayload(decoding: $0).parts
        }
        write(&store, index) {
            AdoptPayload(
                parts: parts.map {
                    .init(
                        segment: $0.segment, start: $0.start, end: $0.end,
                        startChain: $0.startChain ^ start, endChain: $0.endChain ^ end)
                }
            ).encode(to: &$0)
        }
    }

    /// Writes another payload into a frame.
    static func write(
        _ store: inout SealedStore, _ index: Int, _ encode: (inout ByteWriter) -> Void
    ) {
        var writer = ByteWriter(capacity: 256)
        encode(&writer)
        store.frames[index].payload = Array(writer.bytes)
        store.frames[index].isChanged = true
    }

    static let breaks: [Break] = [
        Break("F-211") { store in
            var frame = store.frames[0]
            let close = try last(.close, store)
            frame.isChanged = true
            frame.header.commit = store.frames[close].header.commit
            frame.header.mark = store.frames[close].header.mark
            store.frames.insert(frame, at: close)
        },
        Break("F-218") { store in store.frames[0].header.commit = 5 },
        Break("F-601") { store in
            let index = try last(.commit, store)
            var record = try store.frames[index].payload.withUnsafeBytes {
                try CommitPayload(decoding: $0)
            }
            record.frameCount += 1
            write(&store, index) { record.encode(to: &$0) }
        },
        Break("F-602") { store in
            let number = store.frames[try last(.commit, store)].header.commit
            for index in store.frames.indices where store.frames[index].header.commit == number {
                store.frames[index].header.commit = 1
            }
        },
        Break("F-602") { store in store.frames[try last(.block, store)].header.commit += 1 },
        Break("F-603") { store in store.frames[try last(.close, store)].header.commit += 1 },
        Break("F-614") { store in
            // The offset in the first entry's place.
            let index = try last(.deaths, store)
            store.frames[index].payload[12] ^= 1
            store.frames[index].isChanged = true
        },
        Break("F-622") { store in
            write(&store, try last(.close, store)) {
                ClosePayload(time: 0, counters: [TreeCounter(tree: 1, next: 2)]).encode(to: &$0)
            }
        },
        Break("F-643") { store in
            let index = try last(.block, store)
            store.frames.insert(store.frames[index], at: index)
        },
        Break("F-652", isCompacted: true) { try changeChains(&$0, start: 1, end: 0) },
        Break("F-652", isCompacted: true) { try changeChains(&$0, start: 0, end: 1) },
        Break("F-654", isCompacted: true) { store in
            let index = try last(.retire, store)
            write(&store, index) { RetirePayload(segments: [1, 77]).encode(to: &$0) }
        },
    ]

    /// Opening says damage, by the rule and at a place (F-110).
    private func expect(_ rule: String, _ image: DiskImage) throws {
        let error = #expect(throws: StoreError.self) { try image.content() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("(\(rule))") ?? false, "\(String(describing: error))")
        #expect(error?.context.segment != nil)
    }

    @Test("A store that breaks a rule of its log is damaged, by that rule", arguments: breaks)
    func broken(_ one: Break) throws {
        var image = try Self.image(isCompacted: one.isCompacted)
        // Of a compacted store the segment whose adopt and retire frames count.
        let mains = try image.segments.filter {
            try (image.files[$0] ?? []).withUnsafeBytes { try SegmentHeader(decoding: $0) }.kind
                == .main
        }
        var store = try SealedStore(image, mains.suffix(1))
        image.files.merge(try store.sealed()) { $1 }
        _ = try image.content()
        try one.change(&store)
        image.files.merge(try store.sealed()) { $1 }
        try expect(one.rule, image)
    }

    @Test("A segment under another number, or one that is gone, is damage (F-204, F-216)")
    func files() throws {
        let image = try SampleStore.history(segmentBytes: 6000).closed
        var other = image
        let last = try #require(image.segments.last)
        other.files[last]?[32] += 1
        other.sealHeader(last)
        try expect("F-204", other)
        other = image
        other.files[image.segments[0]] = nil
        try expect("F-216", other)
    }

    @Test(
        "What counts is what lies below the end: the frames of a commit without its end do not (F-641)"
    )
    func unfinishedCommit() throws {
        var image = try Self.image(isCompacted: false)
        let before = try SampleStore.history(steps: SampleStore.steps.count - 1).contents.last
        let store = try SealedStore(image, image.segments)
        var cut = store
        // A frame that says what it must not say, in a commit that does not count.
        let commit = try Self.last(.commit, store)
        cut.frames.removeSubrange(commit...)
        cut.frames[try Self.last(.block, cut)].payload[0] ^= 0xFF
        image.files.merge(try cut.sealed()) { $1 }
        let (text, recovery) = try image.content()
        #expect(text == before)
        #expect(recovery.bytesLeftBehind > 0)
    }

    @Test("A side segment holds no frame of the log (F-655)")
    func sideSegment() throws {
        var image = try Self.image(isCompacted: true)
        let side = try #require(
            try image.segments.last {
                try (image.files[$0] ?? []).withUnsafeBytes { try SegmentHeader(decoding: $0) }.kind
                    == .side
            })
        var frames = try SegmentFrames(image.files[side] ?? [])
        var close = try #require(frames.frames.last)
        close.header.rawKind = FrameKind.close.rawValue
        var writer = ByteWriter(capacity: 64)
        ClosePayload(time: 0).encode(to: &writer)
        close.payload = Array(writer.bytes)
        frames.frames.append(close)
        let bytes = frames.sealed()
        image.files[side] = bytes
        let header = try bytes[(bytes.count - FrameHeader.size - close.payload.count)...]
            .withUnsafeBytes { try FrameHeader(decoding: $0) }
        let names = try image.segments.filter {
            try (image.files[$0] ?? []).withUnsafeBytes { try SegmentHeader(decoding: $0) }.kind
                == .main
        }
        var store = try SealedStore(image, names.suffix(1))
        let index = try Self.last(.adopt, store)
        let part = try store.frames[index].payload.withUnsafeBytes {
            try #require(try AdoptPayload(decoding: $0).parts.last)
        }
        Self.write(&store, index) {
            AdoptPayload(parts: [
                .init(
                    segment: part.segment, start: part.start, end: UInt64(bytes.count),
                    startChain: part.startChain, endChain: header.chain)
            ]).encode(to: &$0)
        }
        image.files.merge(try store.sealed()) { $1 }
        try expect("F-655", image)
    }

    @Test("A reference to a large value that leads elsewhere is damage (F-631, F-632, F-634)")
    func largeValues() throws {
        let image = try SampleStore.history().closed
        let store = try LogStore.open(
            at: "/store", options: SampleStore.options(on: try image.disk()))
        defer { try? store.close() }
        let engine = store.engine
        let frames = try SegmentFrames(image.files[image.segments[0]] ?? [])
        let value = try #require(frames.frames.first { $0.header.kind == .value })
        let head = try value.payload.withUnsafeBytes { try ValuePayload(decoding: $0) }
        let block = try #require(frames.frames.first { $0.header.kind == .block })
        let whole = ValueReference(
            place: Place(segment: 1, byteOffset: Int(value.header.lsn)), length: head.totalLength,
            checksum: value.payload.withUnsafeBytes { Checksum.crc32c(ValuePayload.piece(of: $0)) })
        let owner = LargeValueReader.Owner(
            tree: head.tree, number: head.number, property: head.property)
        func read(_ reference: ValueReference, _ owner: LargeValueReader.Owner) throws -> [UInt8] {
            var writer = ByteWriter(capacity: 32)
            reference.encode(to: &writer)
            return try engine.reader.largeValues.read(writer.bytes, from: whole.place, owner: owner)
        }
        #expect(UInt64(try read(whole, owner).count) == head.totalLength)
        func expect(
            _ rule: String, _ owner: LargeValueReader.Owner? = nil,
            _ change: (inout ValueReference) -> Void
        ) {
            var reference = whole
            change(&reference)
            let wanted =
                owner
                ?? LargeValueReader.Owner(
                    tree: head.tree, number: head.number, property: head.property)
            let error = #expect(throws: StoreError.self) { try read(reference, wanted) }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("(\(rule))") ?? false, "\(String(describing: error))")
        }
        expect("F-631") { $0.place = Place(segment: 9, byteOffset: 4096) }
        expect("F-631") { $0.place = Place(segment: 1, byteOffset: Int(block.header.lsn)) }
        expect("F-631") { $0.length = 0 }
        expect("F-632") { $0.length += 1 }
        expect("F-632") { $0.length = .max }
        expect("F-634") { $0.checksum ^= 1 }
        expect(
            "F-632", .init(tree: head.tree, number: head.number + 1, property: head.property)
        ) { _ in }
    }
}

// The store of the worked example, made by the codec: two commits, an update, a clean end.

import CairnFormat

/// A segment that is built frame by frame.
struct SegmentBuilder: ~Copyable {
    let store: StoreID
    let number: UInt32
    var writer = ByteWriter()
    var chain: UInt32
    var commit: UInt64 = 0
    var mark: UInt64 = 0
    let baseLSN: UInt64

    init(_ header: SegmentHeader) {
        store = header.store
        number = header.number
        baseLSN = header.baseLSN
        commit = header.commit
        chain = header.encode(to: &writer)
    }

    var lsn: UInt64 { baseLSN + UInt64(writer.count) }

    var place: Place { Place(segment: number, byteOffset: writer.count) }

    mutating func frame(
        _ kind: FrameKind, flags: UInt8 = 0, _ payload: (inout ByteWriter) throws -> Void
    ) rethrows {
        let lsn = lsn
        let start = writer.beginFrame()
        try payload(&writer)
        chain =
            writer.endFrame(
                at: start, kind: kind, flags: flags, commit: commit, lsn: lsn, mark: mark,
                predecessor: chain, storeTag: store.tag, segment: number
            ).chain
    }
}

enum ExampleStore {
    static let store = StoreID(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)

    /// The schema as it stands in the frame.
    static let schema = """
        {"format":1,"version":1,"entities":[{"id":1,"name":"Airport","tree":1,"parent":null,\
        "abstract":false,"hidden":false,"properties":[\
        {"id":1,"name":"icao","kind":"string","column":"bytes","optional":false},\
        {"id":2,"name":"elevation","kind":"double","column":"double","optional":true},\
        {"id":3,"name":"opened","kind":"date","column":"double","optional":true}],\
        "constraints":[["icao"]]}],"relationships":[],"model":{}}
        """

    static let export = """
        {"cairn":"export","format":1,"schema":1}
        {"entity":"Airport","id":1,"version":1,"values":{"icao":"EDDB","elevation":47.5,"opened":null}}
        {"entity":"Airport","id":2,"version":2,"values":{"icao":"LSZH","elevation":432,\
        "opened":"1948-06-14T00:00:00Z"}}

        """

    struct Files {
        var segment: [UInt8]
        var lock: [UInt8]
        /// Where each frame begins, and what it is.
        var frames: [(offset: Int, title: String)]
    }

    static func make() throws -> Files {
        var builder = SegmentBuilder(SegmentHeader(store: store, number: 1, created: 815_184_000))
        var frames: [(offset: Int, title: String)] = []
        frames.append((builder.writer.count, "start frame"))
        builder.frame(.start) { StartPayload().encode(to: &$0) }
        builder.mark = builder.lsn

        builder.commit = 1
        let first = builder.lsn
        frames.append((builder.writer.count, "commit 1: schema frame"))
        builder.frame(.schema) { $0.append(utf8: schema) }
        let block = builder.place
        frames.append((builder.writer.count, "commit 1: block with rows 1 and 2"))
        try builder.frame(.block) {
            try append(
                [
                    .strings(1, ["EDDB", "LSZH"]), .doubles(2, [47.5, 431.25]),
                    .doubles(3, [nil, nil]),
                ], numbers: [1, 2], versions: [1, 1], to: &$0)
        }
        frames.append((builder.writer.count, "commit 1: commit frame"))
        builder.frame(.commit) {
            CommitPayload(
                firstLSN: first, frameCount: 2, time: 815_184_001, inserted: 2,
                counters: [TreeCounter(tree: 1, next: 3)], author: "example"
            ).encode(to: &$0)
        }
        builder.mark = builder.lsn

        builder.commit = 2
        let second = builder.lsn
        frames.append((builder.writer.count, "commit 2: block with the new version of row 2"))
        try builder.frame(.block) {
            // 1948-06-14.
            try append(
                [.strings(1, ["LSZH"]), .doubles(2, [432]), .doubles(3, [-1_658_361_600])],
                numbers: [2], versions: [2], to: &$0)
        }
        frames.append((builder.writer.count, "commit 2: deaths frame, slot 1 of the first block"))
        builder.frame(.deaths) { writer in
            var encoder = DeathsEncoder(to: &writer)
            [UInt16(1)].withUnsafeBufferPointer {
                encoder.add(block, slots: $0, rows: 2, to: &writer)
            }
            encoder.finish(&writer)
        }
        frames.append((builder.writer.count, "commit 2: commit frame"))
        builder.frame(.commit) {
            CommitPayload(
                firstLSN: second, frameCount: 2, time: 815_184_002.5, updated: 1, context: "main"
            ).encode(to: &$0)
        }
        builder.mark = builder.lsn
        frames.append((builder.writer.count, "close frame"))
        builder.frame(.close) { ClosePayload(time: 815_184_003).encode(to: &$0) }

        var lock = ByteWriter()
        MarkRecord(store: store, commit: 2, lsn: builder.lsn, chain: builder.chain, segment: 1)
            .encode(to: &lock)
        return Files(
            segment: Array(builder.writer.bytes), lock: Array(lock.bytes), frames: frames)
    }

    private static func append(
        _ columns: [TestColumn], numbers: [UInt32], versions: [UInt32], to writer: inout ByteWriter
    ) throws {
        var block = TestBlock(columns, rows: numbers.count)
        block.entity = 1
        block.schemaVersion = 1
        block.numbers = numbers
        block.versions = versions
        try block.encode().withUnsafeBytes { writer.append($0) }
    }
}

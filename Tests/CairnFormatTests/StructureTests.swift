import CairnFormat
import CairnTestSupport
import Testing

@Suite("Structures of segments and frames")
struct StructureTests {
    static let store = StoreID(low: 0x1122_3344_5566_7788, high: 42)

    @Test("F-102: the checksum is CRC-32C")
    func checksum() {
        #expect(Array("123456789".utf8).withUnsafeBytes { Checksum.crc32c($0) } == 0xe306_9283)
        #expect([UInt8]().withUnsafeBytes { Checksum.crc32c($0) } == 0)
        let halves = Array("1234".utf8).withUnsafeBytes { Checksum.crc32c($0) }
        let whole = Array("56789".utf8).withUnsafeBytes { Checksum.crc32c($0, continuing: halves) }
        #expect(whole == 0xe306_9283)
    }

    @Test("F-201: names of segments have ten digits")
    func names() {
        #expect(SegmentName.name(of: 1) == "0000000001.segment")
        #expect(SegmentName.name(of: .max) == "4294967295.segment")
        #expect(SegmentName.number(in: "0000000001.segment") == 1)
        #expect(SegmentName.number(in: "4294967295.segment") == .max)
        let wrong = [
            "0000000000.segment", "4294967296.segment", "1.segment", "00000000001.segment",
            "000000000a.segment", "0000000001.Segment", "0000000001.segmenT", "lock", "",
            "+000000001.segment",
        ]
        for name in wrong { #expect(SegmentName.number(in: name) == nil, "\(name)") }
    }

    @Test("Segment headers come back, with predecessor and flags")
    func segmentHeader() throws {
        let headers = [
            SegmentHeader(store: Self.store, number: 1, created: 12.5),
            SegmentHeader(
                flags: FeatureFlags(compatible: 7, readOnlyCompatible: 1 << 63), store: Self.store,
                number: 9, predecessor: 4, baseLSN: 1 << 40, predecessorEnd: 8192,
                predecessorChain: 77, created: -1, commit: 1000),
            SegmentHeader(kind: .side, store: Self.store, number: 3),
        ]
        for header in headers {
            var writer = ByteWriter()
            let checksum = header.encode(to: &writer)
            #expect(writer.count == 4096)
            #expect(try SegmentHeader(decoding: writer.bytes) == header)
            #expect(SegmentHeader.chain(ofEncoded: writer.bytes) == checksum)
        }
        #expect(headers[0].flags.allowsWriting)
        #expect(!headers[1].flags.allowsWriting, "F-207")
    }

    /// Changes that a right checksum does not excuse.
    struct HeaderChange: Sendable {
        let rule: String
        let code: FormatError.Code
        let change: @Sendable (inout ByteWriter) -> Void
    }

    static let headerChanges: [HeaderChange] = [
        HeaderChange(rule: "F-205", code: .unsupportedVersion) { $0.store(UInt32(0), at: 8) },
        HeaderChange(rule: "F-205", code: .unsupportedVersion) { $0.store(UInt32(2), at: 8) },
        HeaderChange(rule: "F-208", code: .unsupportedFeature) { $0.store(UInt64(4), at: 80) },
        HeaderChange(rule: "F-209", code: .malformed) { $0.store(UInt32(3), at: 12) },
        HeaderChange(rule: "F-202", code: .malformed) { $0.store(UInt32(0), at: 32) },
        HeaderChange(rule: "F-103", code: .malformed) { $0.store(UInt8(1), at: 60) },
        HeaderChange(rule: "F-103", code: .malformed) { $0.store(UInt8(1), at: 4091) },
        HeaderChange(rule: "F-212", code: .malformed) { $0.store(UInt64(8), at: 40) },
        HeaderChange(rule: "F-212", code: .malformed) { $0.store(UInt32(5), at: 36) },
    ]

    @Test(
        "A header that breaks a rule under a right checksum is refused",
        arguments: headerChanges.indices)
    func headerRules(_ index: Int) throws {
        let change = Self.headerChanges[index]
        var writer = ByteWriter()
        SegmentHeader(store: Self.store, number: 5).encode(to: &writer)
        change.change(&writer)
        let checksum = Checksum.crc32c(UnsafeRawBufferPointer(rebasing: writer.bytes[..<4092]))
        writer.store(checksum, at: 4092)
        let error = #expect(throws: FormatError.self) {
            _ = try SegmentHeader(decoding: writer.bytes)
        }
        #expect(error?.rule == change.rule)
        #expect(error?.code == change.code)
    }

    @Test("F-221: places are a segment and an eighth of an offset")
    func places() {
        #expect(Place(segment: 3, byteOffset: 4096) == Place(segment: 3, offset8: 512))
        #expect(Place(segment: 3, offset8: .max).byteOffset == 34_359_738_360)
        #expect(Place(segment: 1, offset8: 9) < Place(segment: 2, offset8: 0))
        #expect(Place.none.isNone)
    }

    @Test("F-213: the mark record comes back")
    func mark() throws {
        let mark = MarkRecord(
            store: Self.store, commit: .max, lsn: 1 << 50, chain: 0xdead_beef, segment: 12)
        var writer = ByteWriter()
        mark.encode(to: &writer)
        #expect(writer.count == 64)
        #expect(try MarkRecord(decoding: writer.bytes) == mark)
    }

    @Test("F-226: what is left of a mark record is not taken for another program's file")
    func foreignLocks() throws {
        let mark = MarkRecord(store: Self.store, commit: 3, lsn: 8192, chain: 7, segment: 1)
        var writer = ByteWriter()
        mark.encode(to: &writer)
        let whole = Array(writer.bytes)
        for count in 0...64 {
            let start = Array(whole[..<count])
            let zeros = [UInt8](repeating: 0, count: 64 - count)
            let remains = [start, start + zeros, zeros + whole[(64 - count)...]]
            for bytes in remains { #expect(!bytes.withUnsafeBytes { MarkRecord.isForeign($0) }) }
        }
        for bit in 0..<64 {
            var flipped = whole
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!flipped.withUnsafeBytes { MarkRecord.isForeign($0) })
        }
        for text in ["7", "4711\n", "{\"pid\": 12}", "\u{7f}ELF\u{2}\u{1}\u{1}", "cairnmrk"] {
            #expect(Array(text.utf8).withUnsafeBytes { MarkRecord.isForeign($0) }, "\(text)")
            let isText = Array(text.utf8).withUnsafeBytes { MarkRecord.isForeignText($0) }
            #expect(isText == !text.contains("ELF"))
        }
    }

    @Test("F-227: the host record comes back, its name cut at a character")
    func host() throws {
        for name in ["", "north", String(repeating: "Zoë", count: 30)] {
            let record = HostRecord(high: .max, low: 1 << 40, name: name)
            var writer = ByteWriter()
            record.encode(to: &writer)
            #expect(writer.count == 128)
            let read = try HostRecord(decoding: writer.bytes)
            #expect(read == record && name.hasPrefix(read.name))
            #expect(read.name == name || (62...64).contains(read.name.utf8.count))
            #expect(read.isSameHost(as: HostRecord(high: .max, low: 1 << 40, name: "south")))
            #expect(!read.isSameHost(as: HostRecord(high: .max, low: 1, name: name)))
        }
    }

    @Test("Payloads of start, commit and close frames come back")
    func payloads() throws {
        let counters = [TreeCounter(tree: 1, next: 9), TreeCounter(tree: 7, next: .max)]
        let start = StartPayload(
            live: [
                .init(number: 1, kind: .main, end: 4096, chain: 1),
                .init(number: 4, kind: .side, end: 1 << 34, chain: 2),
            ], counters: counters, schema: Place(segment: 1, offset8: 600), schemaVersion: 3)
        var writer = ByteWriter()
        start.encode(to: &writer)
        #expect(try StartPayload(decoding: writer.bytes) == start)
        writer.reset()
        StartPayload().encode(to: &writer)
        #expect(try StartPayload(decoding: writer.bytes) == StartPayload())

        let commit = CommitPayload(
            firstLSN: 4200, frameCount: 3, time: 0.25, inserted: 1, updated: 2, deleted: 1 << 40,
            counters: counters, author: "Zoë", context: String(repeating: "c", count: 4096))
        writer.reset()
        commit.encode(to: &writer)
        #expect(try CommitPayload(decoding: writer.bytes) == commit)

        let close = ClosePayload(time: 99, counters: counters)
        writer.reset()
        close.encode(to: &writer)
        #expect(try ClosePayload(decoding: writer.bytes) == close)
    }

    @Test("F-621, F-606: counters out of order and names that are not UTF-8 are refused")
    func payloadRules() throws {
        var writer = ByteWriter()
        ClosePayload(
            time: 0, counters: [TreeCounter(tree: 1, next: 1), TreeCounter(tree: 2, next: 1)]
        ).encode(to: &writer)
        writer.store(UInt32(2), at: 16)
        #expect(throws: FormatError.self) { _ = try ClosePayload(decoding: writer.bytes) }

        writer.reset()
        CommitPayload(firstLSN: 0, frameCount: 0, time: 0, author: "ab").encode(to: &writer)
        writer.store(UInt8(0xff), at: 56)
        let error = #expect(throws: FormatError.self) {
            _ = try CommitPayload(decoding: writer.bytes)
        }
        #expect(error?.rule == "F-606")
    }

    @Test("F-631, F-633: references and pieces of large values come back")
    func values() throws {
        let reference = ValueReference(
            place: Place(segment: 2, offset8: 513), length: 1 << 33, checksum: 5)
        var writer = ByteWriter()
        reference.encode(to: &writer)
        #expect(writer.count == ValueReference.size)
        #expect(try ValueReference(decoding: writer.bytes) == reference)

        let head = ValuePayload(
            tree: 1, number: 2, property: 3, sequence: 4, totalLength: 100, pieceOffset: 90)
        writer.reset()
        let piece: [UInt8] = [1, 2, 3]
        piece.withUnsafeBytes { head.encode(piece: $0, to: &writer) }
        #expect(try ValuePayload(decoding: writer.bytes) == head)
        #expect(Array(ValuePayload.piece(of: writer.bytes)) == piece)
        for (offset, value) in [(16, UInt64(92)), (24, 98), (24, 101), (24, 0)] {
            var broken = ByteWriter()
            broken.append(writer.bytes)
            broken.store(value, at: offset)
            #expect(throws: FormatError.self) { _ = try ValuePayload(decoding: broken.bytes) }
        }
    }

    @Test("Limits fit each other")
    func limits() {
        #expect(FrameHeader.size % FormatLimits.frameAlignment == 0)
        #expect(FormatLimits.segmentHeaderSize % FormatLimits.frameAlignment == 0)
        #expect(FormatLimits.maximumRows == 1 << 10)
        #expect(FormatLimits.maximumVersion == 1 << 22 - 1)
        #expect(ValuePayload.headSize + ValuePayload.maximumPiece == FormatLimits.maximumPayload)
        #expect(HiddenProperty.number >= FormatLimits.firstHiddenProperty)
        #expect(FrameKind.allCases.map(\.rawValue) == Array(1...14))
        #expect(FrameKind.allCases.filter(\.isDefined).count == 13)
    }
}

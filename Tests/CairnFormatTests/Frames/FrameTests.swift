import CairnFormat
import CairnTestSupport
import Testing

@Suite("Frames")
struct FrameTests {
    static let store = StructureTests.store

    /// A whole frame, and what a reader expects at its place.
    static func frame(_ payload: [UInt8], kind: FrameKind = .block, flags: UInt8 = 0) -> (
        bytes: [UInt8], expected: FrameHeader.Expectation
    ) {
        var writer = ByteWriter()
        let start = writer.beginFrame()
        payload.withUnsafeBytes { writer.append($0) }
        writer.endFrame(
            at: start, kind: kind, flags: flags, commit: 7, lsn: 1 << 33, mark: 4096,
            predecessor: 99, storeTag: store.tag, segment: 3)
        return (
            Array(writer.bytes),
            .init(segment: 3, storeTag: store.tag, lsn: 1 << 33, chain: 99, mark: 4000)
        )
    }

    /// Everything that a reader does with a frame.
    static func read(_ bytes: [UInt8], _ expected: FrameHeader.Expectation) throws -> [UInt8] {
        try bytes.withUnsafeBytes { bytes in
            let header = try FrameHeader(decoding: bytes)
            try header.check(expected)
            guard header.frameLength <= bytes.count else {
                throw FormatError(.truncated, "F-303", "the frame is longer than the file")
            }
            let payload = try header.payload(
                of: UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.size..<header.frameLength]))
            return Array(payload)
        }
    }

    @Test("F-301: a frame comes back, padded to a multiple of 8", arguments: 0...17)
    func roundTrip(length: Int) throws {
        let payload = (0..<length).map { UInt8($0 + 1) }
        let (bytes, expected) = Self.frame(payload)
        #expect(bytes.count == 56 + (length + 7) / 8 * 8)
        #expect(try Self.read(bytes, expected) == payload)
        let header = try bytes.withUnsafeBytes { try FrameHeader(decoding: $0) }
        #expect(header.kind == .block)
        #expect(header.commit == 7)
        #expect(header.frameLength == bytes.count)
        #expect(!bytes.withUnsafeBytes { FrameHeader.isZero($0) })
        #expect([UInt8](repeating: 0, count: 56).withUnsafeBytes { FrameHeader.isZero($0) })
    }

    @Test("F-302, F-304, F-305: no flipped bit of a frame goes unnoticed")
    func flips() throws {
        let (bytes, expected) = Self.frame(Array("thirteen byte".utf8))
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: FormatError.self, "bit \(bit)") { try Self.read(flipped, expected) }
        }
    }

    @Test("F-303: no truncated frame is read")
    func truncations() throws {
        let (bytes, expected) = Self.frame(Array("thirteen byte".utf8))
        for count in 0..<bytes.count {
            #expect(throws: FormatError.self, "\(count) bytes") {
                try Self.read(Array(bytes[..<count]), expected)
            }
        }
    }

    @Test(
        "F-306, F-307, F-308, F-309: a whole frame of another place is refused, by the rule it breaks"
    )
    func strangers() throws {
        let (bytes, expected) = Self.frame([1])
        let header = try bytes.withUnsafeBytes { try FrameHeader(decoding: $0) }
        var wrong: [(String, FrameHeader.Expectation)] = []
        var other = expected
        other.segment = 4
        wrong.append(("F-307", other))
        other = expected
        other.storeTag &+= 1
        wrong.append(("F-307", other))
        other = expected
        other.lsn += 8
        wrong.append(("F-306", other))
        other = expected
        other.chain = 98
        wrong.append(("F-308", other))
        other = expected
        other.mark = 4104
        wrong.append(("F-309", other))
        for (rule, expectation) in wrong {
            let error = #expect(throws: FormatError.self) { try header.check(expectation) }
            #expect(error?.rule == rule)
            #expect(error?.code == .mismatch)
        }
    }

    /// Changes that a right header checksum does not excuse.
    static let changes: [(rule: String, offset: Int, value: UInt8)] = [
        ("F-310", 4, 0), ("F-313", 5, 1), ("F-313", 5, 0x40), ("F-313", 7, 1), ("F-303", 11, 1),
        ("F-309", 39, 1),
    ]

    @Test(
        "A header that breaks a rule under a right checksum is refused", arguments: changes.indices)
    func headerRules(_ index: Int) throws {
        let change = Self.changes[index]
        var (bytes, _) = Self.frame([1])
        bytes[change.offset] = change.value
        Self.repair(&bytes)
        let error = #expect(throws: FormatError.self) {
            _ = try bytes.withUnsafeBytes { try FrameHeader(decoding: $0) }
        }
        #expect(error?.rule == change.rule)
    }

    @Test(
        "F-311, F-312, F-120: unknown kinds are passed over or refused, other payload versions refused"
    )
    func unknownKinds() throws {
        func header(kind: UInt8, flags: UInt8 = 0, version: UInt8 = 0) throws -> FrameHeader {
            var (bytes, _) = Self.frame([1])
            bytes[4] = kind
            bytes[5] = flags
            bytes[6] = version
            Self.repair(&bytes)
            return try bytes.withUnsafeBytes { try FrameHeader(decoding: $0) }
        }
        #expect(try header(kind: 3).readableKind() == .block)
        #expect(try header(kind: 200, flags: 0x80).readableKind() == nil)
        #expect(try header(kind: FrameKind.reserve.rawValue, flags: 0x80).readableKind() == nil)
        for kind in [8, 15, 255] as [UInt8] {
            let error = #expect(throws: FormatError.self) {
                _ = try header(kind: kind).readableKind()
            }
            #expect(error?.rule == "F-311")
            #expect(error?.code == .unsupportedFeature)
        }
        // Readers from before metadata pass them over.
        #expect(try header(kind: 11, flags: 0x80).readableKind() == .metadata)
        let unmarked = #expect(throws: FormatError.self) {
            _ = try header(kind: 11).readableKind()
        }
        #expect(unmarked?.rule == "F-754")
        // The same with readers from before there was a history.
        #expect(try header(kind: 7, flags: 0x80).readableKind() == .changes)
        let unmarkedChanges = #expect(throws: FormatError.self) {
            _ = try header(kind: 7).readableKind()
        }
        #expect(unmarkedChanges?.rule == "F-776")
        #expect(try header(kind: 14, flags: 0x80).readableKind() == .redirects)
        let unmarkedRedirects = #expect(throws: FormatError.self) {
            _ = try header(kind: 14, flags: 0).readableKind()
        }
        #expect(unmarkedRedirects?.rule == "F-784")
        let error = #expect(throws: FormatError.self) {
            _ = try header(kind: 3, version: 1).readableKind()
        }
        #expect(error?.rule == "F-312")
    }

    /// Makes the header checksum right again.
    static func repair(_ bytes: inout [UInt8]) {
        let checksum = bytes[..<52].withUnsafeBytes { Checksum.crc32c($0) }
        for index in 0..<4 {
            bytes[52 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index)))
        }
    }
}

import CairnFormat
import CairnTestSupport
import Testing

@Suite("F-111: bytes without right checksums never trap a decoder")
struct FuzzTests {
    /// Decodes all slices without looking at their checksums, and touches every cell.
    static func readUnverified(_ payload: UnsafeRawBufferPointer) throws -> Int {
        let head = try BlockHead(decoding: payload)
        var touched = 0
        for entry in head.columns {
            let column = try? DecodedColumn.decode(
                unverified: UnsafeRawBufferPointer(rebasing: payload[entry.range]), entry,
                rows: head.rows)
            touched += column?.cells.count ?? 0
        }
        return touched
    }

    @Test("Changed slices give a column or an error")
    func changedSlices() throws {
        var random = RandomSource()
        let payload = try DamageTests.richBlock().encode()
        let slices = try payload.withUnsafeBytes { try BlockHead(decoding: $0).headLength }
        for _ in 0..<1500 {
            var changed = payload
            for _ in 0..<random.number(1...4) {
                changed[random.number(slices...payload.count - 1)] = UInt8(
                    truncatingIfNeeded: random.next())
            }
            _ = try changed.withUnsafeBytes { try Self.readUnverified($0) }
        }
    }

    @Test("Changed heads with a repaired checksum give a column or an error")
    func changedHeads() throws {
        var random = RandomSource()
        let payload = try DamageTests.richBlock().encode()
        let slices = try payload.withUnsafeBytes { try BlockHead(decoding: $0).headLength }
        for _ in 0..<3000 {
            var changed = payload
            for _ in 0..<random.number(1...3) {
                let value: UInt8 =
                    random.oneIn(2)
                    ? UInt8(random.number(0...8)) : UInt8(truncatingIfNeeded: random.next())
                changed[random.number(0...slices - 1)] = value
            }
            DamageTests.repairHead(&changed)
            _ = try? changed.withUnsafeBytes { try Self.readUnverified($0) }
        }
    }

    @Test("Random slices of every kind and encoding give a column or an error")
    func randomSlices() throws {
        var random = RandomSource()
        for encoding in ColumnEncoding.allCases {
            for kind in ColumnKind.allCases where encoding.fits(kind) {
                for _ in 0..<150 {
                    var flags = UInt8(random.number(0...3))
                    if encoding == .lengths, random.oneIn(2) { flags |= 4 }
                    let rows = random.oneIn(3) ? random.number(1...1024) : random.number(32...40)
                    var slice = random.bytes(
                        random.oneIn(2) ? random.number(1...40) : random.number(1...600))
                    // Small numbers make lengths, counts and widths that fit now and then.
                    for index in slice.indices where !random.oneIn(3) { slice[index] &= 3 }
                    let rawLength =
                        flags & 2 == 0 ? slice.count : slice.count + random.number(1...2000)
                    let payload = Self.payload(slice, kind, encoding, flags, rows: rows, rawLength)
                    _ = try? payload.withUnsafeBytes { try Self.readUnverified($0) }
                }
            }
        }
    }

    /// A block payload whose first column is the slice.
    static func payload(
        _ slice: [UInt8], _ kind: ColumnKind, _ encoding: ColumnEncoding, _ flags: UInt8, rows: Int,
        _ rawLength: Int
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt32(1))
        writer.append(UInt32(1))
        writer.append(UInt16(rows))
        writer.append(UInt16(3))
        writer.append(UInt32(0))
        writer.append(UInt32(rawLength + 18))
        writer.append(UInt32(0))
        for (property, kind, encoding, flags, stored, raw) in [
            (1, kind.rawValue, encoding.rawValue, flags, slice.count, rawLength),
            (HiddenProperty.number, 1, 1, 0, 9, 9), (HiddenProperty.version, 1, 1, 0, 9, 9),
        ] {
            writer.append(property)
            writer.append(kind)
            writer.append(encoding)
            writer.append(flags)
            writer.append(UInt8(0))
            writer.append(UInt32(stored))
            writer.append(UInt32(raw))
            writer.append(UInt32(0))
        }
        slice.withUnsafeBytes { writer.append($0) }
        writer.appendZeros(18)
        var payload = Array(writer.bytes)
        DamageTests.repairHead(&payload)
        return payload
    }

    @Test("Random bytes give every other structure or an error")
    func randomBytes() throws {
        var random = RandomSource()
        for _ in 0..<3000 {
            var bytes = random.bytes(random.number(0...200))
            for index in bytes.indices where !random.oneIn(4) { bytes[index] &= 1 }
            bytes.withUnsafeBytes { bytes in
                _ = try? StartPayload(decoding: bytes)
                _ = try? CommitPayload(decoding: bytes)
                _ = try? ClosePayload(decoding: bytes)
                _ = try? AdoptPayload(decoding: bytes)
                _ = try? RetirePayload(decoding: bytes)
                _ = try? ValueReference(decoding: bytes)
                if (try? ValuePayload(decoding: bytes)) != nil {
                    _ = ValuePayload.piece(of: bytes).count
                }
                _ = try? DecimalBytes(decoding: bytes)
                _ = try? BlockHead(decoding: bytes)
                _ = try? FrameHeader(decoding: bytes)
                if let payload = try? DeathsPayload(decoding: bytes) {
                    for entry in payload.entries {
                        try? entry.forEachSlot(rows: random.number(1...1024)) { _ in }
                    }
                }
            }
        }
    }

    @Test("Truncated payloads of every structure are refused")
    func truncations() throws {
        var payloads: [(String, [UInt8], (UnsafeRawBufferPointer) throws -> Void)] = []
        var writer = ByteWriter()
        StartPayload(
            live: [.init(number: 1, kind: .main, end: 4096, chain: 1)],
            counters: [TreeCounter(tree: 1, next: 9)], schema: Place(segment: 1, offset8: 600),
            schemaVersion: 3
        ).encode(to: &writer)
        payloads.append(("start", Array(writer.bytes), { _ = try StartPayload(decoding: $0) }))
        writer.reset()
        CommitPayload(
            firstLSN: 4200, frameCount: 3, time: 0.25, counters: [TreeCounter(tree: 1, next: 9)],
            author: "a", context: "c"
        ).encode(to: &writer)
        payloads.append(("commit", Array(writer.bytes), { _ = try CommitPayload(decoding: $0) }))
        writer.reset()
        ClosePayload(time: 1, counters: [TreeCounter(tree: 1, next: 9)]).encode(to: &writer)
        payloads.append(("close", Array(writer.bytes), { _ = try ClosePayload(decoding: $0) }))
        payloads.append(
            (
                "deaths",
                DeathsTests.encode([
                    .init(block: Place(segment: 1, offset8: 600), rows: 1000, slots: [3, 900]),
                    .init(block: Place(segment: 1, offset8: 700), rows: 9, slots: [3, 4]),
                ]), { _ = try DeathsPayload(decoding: $0).entries.count }
            ))
        for (name, bytes, decode) in payloads {
            for count in 0..<bytes.count {
                #expect(throws: FormatError.self, "\(name), \(count) bytes") {
                    try bytes[..<count].withUnsafeBytes { try decode($0) }
                }
            }
            #expect(throws: FormatError.self, "\(name), a byte too many") {
                try (bytes + [0]).withUnsafeBytes { try decode($0) }
            }
        }
    }
}

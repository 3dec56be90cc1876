import CairnFormat
import CairnTestSupport
import Testing

@Suite("Damaged bytes")
struct DamageTests {
    /// A block that uses every encoding and flag.
    static func richBlock() -> TestBlock {
        let rows = 40
        var block = TestBlock(
            [
                .integers(1, (0..<rows).map { $0 % 7 == 3 ? nil : Int64($0 * $0) }),
                .integers(2, (0..<rows).map { Int64($0) * 3 - 50 }),
                .doubles(3, (0..<rows).map { Double($0) / 100 }),
                .doubles(4, (0..<rows).map { 1 / Double($0 + 1) }),
                .doubles(5, Array(repeating: .infinity, count: rows)),
                TestColumn(
                    kind: .float, propertyID: 6, cells: (0..<rows).map { .float(UInt32($0) << 20) }),
                .strings(7, (0..<rows).map { "a string that LZ4 likes \($0)" }),
                .strings(8, (0..<rows).map { $0 % 5 == 0 ? nil : "code \($0 % 3)" }),
                TestColumn(
                    kind: .bytes, propertyID: 9,
                    cells: (0..<rows).map {
                        $0 % 4 == 0
                            ? .reference(Array(repeating: UInt8($0), count: 24)) : .bytes([1, 2])
                    }),
                TestColumn(
                    kind: .fixed16, propertyID: 10,
                    cells: (0..<rows).map {
                        .fixed16((0..<16).map { [row = $0] in UInt8(truncatingIfNeeded: row * $0) })
                    }),
            ], rows: rows)
        block.numbers = (0..<rows).map { UInt32($0 * $0 + 1) }
        return block
    }

    @Test(
        "F-401, F-410: no flipped bit of a block goes unnoticed, not even without the frame's checksum"
    )
    func blockFlips() throws {
        let block = Self.richBlock()
        let payload = try block.encode()
        let encodings = try payload.withUnsafeBytes {
            Set(try BlockHead(decoding: $0).columns.map(\.encoding))
        }
        #expect(encodings.count >= 7)
        var random = RandomSource()
        let step = Campaign.step(3)
        for bit in stride(
            from: Int.random(in: 0..<step, using: &random), to: payload.count * 8, by: step)
        {
            var flipped = payload
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: FormatError.self, "bit \(bit)") {
                try flipped.withUnsafeBytes { try TestBlock(decoding: $0, shape: block.columns) }
            }
        }
    }

    @Test("F-104, F-405: no truncated block is read")
    func blockTruncations() throws {
        let block = Self.richBlock()
        let payload = try block.encode()
        for count in 0..<payload.count {
            #expect(throws: FormatError.self, "\(count) bytes") {
                try payload[..<count].withUnsafeBytes { bytes in
                    try TestBlock(decoding: bytes, shape: block.columns)
                }
            }
        }
    }

    @Test(
        "F-203, F-213, F-227: no flipped bit of a segment header, a mark or a host record goes unnoticed"
    )
    func headerFlips() throws {
        let files = try ExampleStore.make()
        for bit in 0..<4096 * 8 {
            var flipped = Array(files.segment[..<4096])
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let isRefused = flipped.withUnsafeBytes { (try? SegmentHeader(decoding: $0)) == nil }
            if !isRefused { Issue.record("bit \(bit) of the segment header") }
        }
        for bit in 0..<64 * 8 {
            var flipped = files.lock
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let isRefused = flipped.withUnsafeBytes { (try? MarkRecord(decoding: $0)) == nil }
            if !isRefused { Issue.record("bit \(bit) of the mark record") }
        }
        var host = ByteWriter()
        HostRecord(high: 1, low: 2, name: "north").encode(to: &host)
        for bit in 0..<HostRecord.size * 8 {
            var flipped = Array(host.bytes)
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let isRefused = flipped.withUnsafeBytes { (try? HostRecord(decoding: $0)) == nil }
            if !isRefused { Issue.record("bit \(bit) of the host record") }
        }
        for count in [0, 1, 4095] {
            #expect(throws: FormatError.self) {
                _ = try files.segment[..<count].withUnsafeBytes { try SegmentHeader(decoding: $0) }
            }
        }
    }

    @Test(
        "F-402 to F-409, F-412, F-413: a head that breaks a rule under a right checksum is refused")
    func headRules() throws {
        let payload = try TestBlock([.integers(1, [1, 2]), .strings(2, ["a", "b"])], rows: 2)
            .encode()
        // Offsets: head at 0, entries of properties 1, 2, number and version from 24 on.
        let changes: [(rule: String, offset: Int, value: UInt8)] = [
            ("F-402", 8, 0), ("F-402", 9, 5), ("F-403", 12, 2), ("F-403", 14, 1), ("F-403", 0, 0),
            ("F-404", 24, 2), ("F-409", 28, 0), ("F-409", 28, 2), ("F-409", 29, 15),
            ("F-413", 29, 9),
            ("F-409", 30, 8),
            ("F-409", 30, 4), ("F-103", 31, 1), ("F-405", 16, 0), ("F-412", 32, 1),
            ("F-412", 30, 2), ("F-406", 39, 2), ("F-407", 24 + 60, 0xfe),
            ("F-407", 24 + 46, 1),
        ]
        for change in changes {
            var broken = payload
            broken[change.offset] = change.value
            Self.repairHead(&broken)
            let error = #expect(throws: FormatError.self, "byte \(change.offset)") {
                _ = try broken.withUnsafeBytes { try BlockHead(decoding: $0) }
            }
            if change.offset == 16 {
                #expect(error?.rule == "F-406")
            } else if change.rule == "F-407", change.offset == 84 {
                #expect(error?.rule == "F-404")
            } else {
                #expect(error?.rule == change.rule, "byte \(change.offset)")
            }
        }
    }

    /// Makes the checksum of head and table right again, if the table is inside the bytes.
    static func repairHead(_ payload: inout [UInt8]) {
        let columns = Int(payload[10]) | Int(payload[11]) << 8
        let end = min(24 + columns * 20, payload.count)
        let first = payload[..<20].withUnsafeBytes { Checksum.crc32c($0) }
        let checksum = payload[24..<end].withUnsafeBytes { Checksum.crc32c($0, continuing: first) }
        for index in 0..<4 {
            payload[20 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index)))
        }
    }
}

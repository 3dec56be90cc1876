import CairnFormat
import CairnTestSupport
import Testing

@Suite("Deaths by place")
struct DeathsTests {
    struct Death: Equatable {
        var block: Place
        var rows: Int
        var slots: [UInt16]
    }

    static func encode(_ deaths: [Death]) -> [UInt8] {
        var writer = ByteWriter()
        var encoder = DeathsEncoder(to: &writer)
        for death in deaths {
            death.slots.withUnsafeBufferPointer {
                encoder.add(death.block, slots: $0, rows: death.rows, to: &writer)
            }
        }
        encoder.finish(&writer)
        return Array(writer.bytes)
    }

    @Test("Random deaths come back in the shortest form")
    func roundTrip() throws {
        var random = RandomSource()
        for _ in 0..<200 {
            let deaths = (0..<random.number(1...20)).map { index in
                let rows = random.number(1...1024)
                let count = random.number(1...rows)
                let slots = Array((0..<rows).shuffled(using: &random).prefix(count)).sorted()
                return Death(
                    block: Place(segment: UInt32(index + 1), offset8: 512), rows: rows,
                    slots: slots.map { UInt16($0) })
            }
            let bytes = Self.encode(deaths)
            try bytes.withUnsafeBytes { bytes in
                let payload = try DeathsPayload(decoding: bytes)
                #expect(payload.entries.count == deaths.count)
                for (entry, death) in zip(payload.entries, deaths) {
                    var slots: [UInt16] = []
                    try entry.forEachSlot(rows: death.rows) { slots.append($0) }
                    #expect(Death(block: entry.block, rows: death.rows, slots: slots) == death)
                    #expect(entry.deadCount == death.slots.count)
                    let form: DeathsForm =
                        death.slots.count == death.rows
                        ? .all : death.slots.count * 2 <= (death.rows + 7) / 8 ? .slots : .bitmap
                    #expect(entry.form == form)
                }
            }
        }
    }

    @Test("F-613: deaths outside their block are refused")
    func outside() throws {
        let block = Place(segment: 1, offset8: 600)
        let cases: [(Death, Int)] = [
            (Death(block: block, rows: 10, slots: Array(0..<10)), 9),
            (Death(block: block, rows: 1000, slots: [3, 900]), 900),
            (Death(block: block, rows: 10, slots: [1, 3, 9]), 9),
            (Death(block: block, rows: 10, slots: [1, 3, 5]), 8),
        ]
        for (death, rows) in cases {
            try Self.encode([death]).withUnsafeBytes { bytes in
                let entry = try DeathsPayload(decoding: bytes).entries[0]
                let error = #expect(throws: FormatError.self) {
                    try entry.forEachSlot(rows: rows) { _ in }
                }
                #expect(error?.rule == "F-613")
            }
        }
    }

    @Test("F-611, F-612: entries that contradict themselves are refused")
    func contradictions() throws {
        let block = Place(segment: 1, offset8: 600)
        let list = Self.encode([Death(block: block, rows: 1000, slots: [3, 900])])
        // Count; form; dead; length; slot order; segment.
        let changes: [(Int, UInt8)] = [
            (0, 0), (0, 2), (16, 0), (16, 4), (18, 1), (20, 2), (25, 4), (8, 0), (25, 200),
        ]
        for (offset, value) in changes {
            var broken = list
            broken[offset] = value
            #expect(throws: FormatError.self, "byte \(offset)") {
                _ = try broken.withUnsafeBytes { try DeathsPayload(decoding: $0).entries.count }
            }
        }
    }
}

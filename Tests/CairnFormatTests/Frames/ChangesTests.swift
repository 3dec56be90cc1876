// Changes for the history: what is written is read, and what contradicts itself is refused.

import CairnFormat
import CairnTestSupport
import Testing

@Suite("Changes for the history")
struct ChangesTests {
    private static func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter()
        body(&writer)
        return Array(writer.bytes)
    }

    private static let head = ChangesPayload.Head(
        commit: 9, time: 0.5, process: 7, author: "ä", context: "main", program: "sample")

    private static func decoded(_ bytes: [UInt8]) throws -> ChangesPayload {
        try bytes.withUnsafeBytes { try ChangesPayload(decoding: $0) }
    }

    @Test("What is encoded is decoded, values of deleted objects among it")
    func roundTrip() throws {
        var encoder = ChangesEncoder()
        let numbers: [ClosedRange<UInt32>] = [1...1, 3...130, 4_000_000_000...0xFFFF_FFFE]
        encoder.add(entity: 1, .insert, properties: [], runs: numbers)
        encoder.add(
            entity: 2, .update, properties: [.init(id: 3), .init(id: 4, through: 5)],
            runs: [7...7])
        let cells: [ChangesPayload.Cell] = [
            .integer(.min), .bytes([]), .none, .notKept, .double(1), .fixed16(Array(0..<16)),
            .float(2), .bytes([1, 2, 3]),
        ]
        var values = ByteWriter()
        for cell in cells { values.append(cell: cell) }
        encoder.add(
            entity: 3, .delete, properties: [.init(id: 1), .init(id: 2)], runs: [2...3, 9...10],
            cells: values.bytes)
        encoder.add(entity: 4, .delete, properties: [], runs: [1...2])
        let isFull = encoder.isPartFull
        #expect(!isFull)
        let changes = try Self.decoded(
            Self.written { encoder.encodePart(Self.head, isLast: true, to: &$0) })
        #expect(changes.head == Self.head)
        #expect(changes.entries.map(\.operation) == [.insert, .update, .delete, .delete])
        #expect(changes.entries[0].runs == numbers)
        #expect(changes.entries[1].properties == [.init(id: 3), .init(id: 4, through: 5)])
        #expect(changes.entries[2].cells == cells)
        #expect(changes.entries[2].count == 4 && changes.entries[3].cells.isEmpty)
    }

    @Test("Many changes are divided into parts, of which the first has the names")
    func parts() throws {
        var encoder = ChangesEncoder()
        let runs = (0..<UInt32(ChangesEncoder.mostRuns)).map { $0 * 300 + 1...$0 * 300 + 200 }
        var entities: [UInt32] = []
        var part: UInt32 = 0
        func write(_ encoder: inout ChangesEncoder, isLast: Bool) throws {
            let bytes = Self.written { encoder.encodePart(Self.head, isLast: isLast, to: &$0) }
            encoder.beginPart()
            #expect(bytes.count < FormatLimits.maximumPayload / 2)
            let changes = try Self.decoded(bytes)
            #expect(changes.head.part == part)
            #expect(changes.head.isLast == isLast)
            #expect(changes.head.author == (part == 0 ? "ä" : ""))
            #expect(changes.entries.allSatisfy { $0.runs == runs })
            entities += changes.entries.map(\.entity)
            part += 1
        }
        for entity in 1...UInt32(40) {
            if encoder.isPartFull { try write(&encoder, isLast: false) }
            encoder.add(entity: entity, .insert, properties: [], runs: runs)
        }
        try write(&encoder, isLast: true)
        #expect(part > 1)
        #expect(entities == Array(1...40))
    }

    /// One entry with one deleted object and one value.
    private static var small: [UInt8] {
        var encoder = ChangesEncoder()
        var values = ByteWriter()
        values.append(cell: .integer(5))
        encoder.add(
            entity: 1, .delete, properties: [.init(id: 1)], runs: [200...200], cells: values.bytes)
        return written {
            encoder.encodePart(
                .init(commit: 9, time: 0, process: 1, author: "ab"), isLast: true, to: &$0)
        }
    }

    @Test(
        "F-771, F-772, F-773: what contradicts itself is refused",
        arguments: [
            // Offset, bytes, rule. The entry begins at 42, its property at 58, its run at 66, its value at 69.
            (0, [0, 0], "F-771"), (7, [0x40], "F-771"), (24, [2], "F-771"), (36, [0], "F-771"),
            (20, [1], "F-771"), (40, [0xFF], "F-771"), (28, [0xFF, 0xFF], "F-771"),
            (34, [1], "F-103"), (36, [9], "F-772"),
            (42, [0], "F-772"), (46, [0], "F-772"), (47, [1], "F-103"), (50, [0], "F-772"),
            (50, [99], "F-772"), (54, [99], "F-772"), (48, [0xFF, 0xFF], "F-772"),
            (66, [0x80, 0x00], "F-772"), (66, [0, 0], "F-772"), (46, [2], "F-773"),
            (46, [1], "F-773"), (69, [7], "F-773"), (69, [0], "F-773"), (69, [4], "F-773"),
            (48, [2], "F-772"), (68, [1], "F-773"),
        ] as [(Int, [UInt8], String)])
    func refused(offset: Int, bytes: [UInt8], rule: String) throws {
        var payload = Self.small
        #expect(throws: Never.self) { _ = try Self.decoded(payload) }
        payload.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        let error = #expect(throws: FormatError.self) { _ = try Self.decoded(payload) }
        #expect(
            error?.rule == rule || (rule == "F-773" && error?.rule == "F-104"),
            "\(String(describing: error))")
    }

    @Test("An operation of a later version is passed over, and cut bytes are refused")
    func later() throws {
        var payload = Self.small
        payload[46] = 200
        #expect(try Self.decoded(payload).entries.map(\.operation) == [nil])
        for length in 0..<Self.small.count {
            #expect(throws: FormatError.self) { _ = try Self.decoded(Array(Self.small[..<length])) }
        }
        #expect(throws: FormatError.self) { _ = try Self.decoded(Self.small + [0]) }
    }

    @Test("Who does not know that there may be a history does not write")
    func flags() throws {
        #expect(FeatureFlags.history.readOnlyCompatible == 4)
        #expect(FeatureFlags.history.allowsHistory && !FeatureFlags.metadata.allowsHistory)
        #expect(FeatureFlags.history.allowsWriting)
        #expect(!FeatureFlags(readOnlyCompatible: 1 << 40).allowsWriting)
    }
}

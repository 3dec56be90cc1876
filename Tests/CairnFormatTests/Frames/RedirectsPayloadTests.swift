// Redirects: what is written is read, and what contradicts itself is refused.

import CairnFormat
import CairnTestSupport
import Testing

@Suite("Redirects in a frame")
struct RedirectsPayloadTests {
    private static func written(_ payload: RedirectsPayload) -> [UInt8] {
        var writer = ByteWriter()
        payload.encode(to: &writer)
        return Array(writer.bytes)
    }

    private static func decoded(_ bytes: [UInt8]) throws -> RedirectsPayload {
        try bytes.withUnsafeBytes { try RedirectsPayload(decoding: $0) }
    }

    private static let some = RedirectsPayload(groups: [
        .init(tree: 1, entries: [.init(old: 1, new: 7, turn: 1), .init(old: 3, new: 0, turn: 2)]),
        .init(tree: 9, entries: [.init(old: 0xFFFF_FFFE, new: 1, turn: .max)]),
    ])

    @Test("What is encoded is decoded, each entry in twelve bytes")
    func roundTrip() throws {
        let bytes = Self.written(Self.some)
        #expect(bytes.count == RedirectsPayload.headSize + 2 * 8 + 3 * RedirectsPayload.entrySize)
        #expect(try Self.decoded(bytes) == Self.some)
        #expect(Self.some.count == 3)
        for length in 0..<bytes.count {
            #expect(throws: FormatError.self) { _ = try Self.decoded(Array(bytes[..<length])) }
        }
        #expect(throws: FormatError.self) { _ = try Self.decoded(bytes + [0]) }
        // No frame is so large that it could not be written.
        let largest = RedirectsPayload.mostEntries * (RedirectsPayload.entrySize + 8) + 8
        #expect(largest <= FormatLimits.maximumPayload)
    }

    @Test(
        "F-781: what contradicts itself is refused",
        arguments: [
            // Offset, bytes, rule. The first tree begins at 8, its entries at 16 and 28, the second tree at 40.
            (0, [0], "F-781"), (4, [1], "F-103"), (8, [0], "F-781"), (12, [0], "F-781"),
            (12, [200], "F-781"), (16, [0], "F-781"), (16, [3], "F-781"), (20, [1], "F-781"),
            (20, [0xFF, 0xFF, 0xFF, 0xFF], "F-781"), (24, [0], "F-781"), (28, [1], "F-781"),
            (40, [1], "F-781"), (48, [0xFF], "F-781"),
        ] as [(Int, [UInt8], String)])
    func refused(offset: Int, bytes: [UInt8], rule: String) throws {
        var payload = Self.written(Self.some)
        payload.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        let error = #expect(throws: FormatError.self) { _ = try Self.decoded(payload) }
        #expect(error?.rule == rule, "\(String(describing: error))")
    }

    @Test("F-784: who does not know redirects passes them over, and does not write")
    func flags() throws {
        #expect(FeatureFlags.redirects.readOnlyCompatible == 8)
        #expect(FeatureFlags.redirects.allowsRedirects && !FeatureFlags.history.allowsRedirects)
        #expect(FeatureFlags.redirects.allowsWriting)
        #expect(!FeatureFlags(readOnlyCompatible: 1 << 40).allowsWriting)
    }

    @Test("F-773: the history says to whom each object was led")
    func history() throws {
        func payload(_ targets: [UInt32]) throws -> ChangesPayload {
            var encoder = ChangesEncoder()
            var numbers = ByteWriter()
            for target in targets { numbers.append(target) }
            encoder.add(
                entity: 1, .redirect, properties: [], runs: [2...3, 7...7], cells: numbers.bytes)
            var writer = ByteWriter()
            encoder.encodePart(.init(commit: 1, time: 0, process: 1), isLast: true, to: &writer)
            return try ChangesPayload(decoding: writer.bytes)
        }
        let entry = try #require(try payload([5, 6, 0xFFFF_FFFE]).entries.first)
        #expect(entry.operation == .redirect && entry.targets == [5, 6, 0xFFFF_FFFE])
        for targets: [UInt32] in [[], [1, 2], [1, 2, 3, 4], [1, 0, 2], [1, .max, 2]] {
            let error = #expect(throws: FormatError.self) { _ = try payload(targets) }
            #expect(error?.rule == "F-773")
        }
    }
}

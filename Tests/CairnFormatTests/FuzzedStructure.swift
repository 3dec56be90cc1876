// Every structure of the format as a fuzzer needs it: valid bytes, how its checksums are made right after a
// change, and how it is decoded to the last number.

import CairnFormat
import CairnTestSupport
import Foundation

struct FuzzedStructure: Sendable, CustomStringConvertible {
    let name: String
    /// Valid bytes, of a random content.
    let make: @Sendable (inout RandomSource) throws -> [UInt8]
    /// Makes checksums right, so that what is behind them is reached.
    var seal: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// Decodes and touches everything; throws what bad bytes may throw.
    let decode: @Sendable (UnsafeRawBufferPointer) throws -> Void

    var description: String { name }

    static let all: [FuzzedStructure] = [
        segmentHeader, mark, hostRecord, frameHeader, checkpointHeader, checkpointContents,
        checkpointUnit,
        start, adopt, retire, commit, close, deaths, changes, redirects, value, reference, decimal,
        schema,
        block, patch,
    ]

    private static func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter()
        body(&writer)
        return Array(writer.bytes)
    }

    /// Puts the checksum of what is before it at an offset.
    static func seal(_ bytes: inout [UInt8], at offset: Int) {
        guard bytes.count >= offset + 4 else { return }
        let checksum = bytes[..<offset].withUnsafeBytes { Checksum.crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) {
            bytes.replaceSubrange(offset..<offset + 4, with: $0)
        }
    }

    // MARK: Heads

    static let segmentHeader = FuzzedStructure(
        name: "segment header",
        make: { random in
            var header = SegmentHeader(
                store: ExampleStore.store, number: UInt32(random.number(2...9)), created: 1)
            if random.oneIn(2) {
                header.predecessor = 1
                header.predecessorEnd = 8192
                header.baseLSN = 8192
            }
            return written { _ = header.encode(to: &$0) }
        }, seal: { seal(&$0, at: 4092) },
        decode: { _ = try SegmentHeader(decoding: $0) })

    static let mark = FuzzedStructure(
        name: "mark record",
        make: { random in
            written {
                MarkRecord(
                    store: ExampleStore.store, commit: random.next(), lsn: random.next() & ~7,
                    chain: 1, segment: 2
                ).encode(to: &$0)
            }
        }, seal: { seal(&$0, at: 60) }, decode: { _ = try MarkRecord(decoding: $0) })

    static let hostRecord = FuzzedStructure(
        name: "host record",
        make: { random in
            let name = String(repeating: "é-", count: random.number(0...40))
            return written {
                HostRecord(high: random.next(), low: random.next(), name: name).encode(to: &$0)
            }
        }, seal: { seal(&$0, at: 124) }, decode: { _ = try HostRecord(decoding: $0) })

    static let frameHeader = FuzzedStructure(
        name: "frame",
        make: { random in
            let files = try ExampleStore.make()
            let frame = files.frames[random.number(0...files.frames.count - 1)].offset
            return Array(files.segment[frame...].prefix(700))
        }, seal: { seal(&$0, at: 52) },
        decode: { bytes in
            let header = try FrameHeader(decoding: bytes)
            _ = try header.readableKind()
            let rest = UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.size...])
            guard header.paddedLength <= rest.count else { return }
            _ = try header.payload(
                of: UnsafeRawBufferPointer(rebasing: rest[..<header.paddedLength]))
        })

    static let checkpointHeader = FuzzedStructure(
        name: "checkpoint header",
        make: { random in
            var writer = ByteWriter()
            let unit = random.bytes(100).withUnsafeBytes {
                CheckpointUnit.append($0, to: &writer, startingAt: 128)
            }
            return written {
                CheckpointHeader(
                    store: ExampleStore.store, commit: 9, lsn: 8192, segment: 1, chain: 7,
                    endOffset: 8192, commitOffset: 8000, hashSeed: random.next(), contents: unit
                ).encode(to: &$0)
            }
        }, seal: { seal(&$0, at: 124) },
        decode: { _ = try CheckpointHeader(decoding: $0, fileLength: 1000) })

    static let checkpointContents = FuzzedStructure(
        name: "checkpoint contents",
        make: { random in
            var writer = ByteWriter()
            let unit = random.bytes(100).withUnsafeBytes {
                CheckpointUnit.append($0, to: &writer, startingAt: 128)
            }
            let leaves = (0..<UInt32(random.number(0...3))).map {
                CheckpointContents.Leaves(first: $0 * 4, count: 2, unit: unit)
            }
            var contents = CheckpointContents()
            contents.schema = Place(segment: 1, offset8: 600)
            contents.schemaVersion = 1
            contents.trees = (0..<UInt32(random.number(1...3))).map {
                .init(id: $0 + 1, next: 7, reserved: 9, cells: leaves)
            }
            contents.counts = [1, 2, 3]
            contents.uniques = [
                .init(bits: 2, partitions: [.init(number: 1, capacity: 64, unit: unit)])
            ]
            contents.inverses = [.init(heads: leaves, links: leaves)]
            contents.lastBlock = 5
            contents.blocks = [unit]
            return written { contents.encode(to: &$0) }
        }, decode: { _ = try CheckpointContents(decoding: $0, fileLength: 4000) })

    /// The bytes of contents with one part, which is described at their end.
    private static let partStart: Int = {
        var writer = ByteWriter()
        var contents = CheckpointContents()
        contents.blocks = [
            CheckpointUnit.append(
                UnsafeRawBufferPointer(start: nil, count: 0), to: &writer, startingAt: 0)
        ]
        return written { contents.encode(to: &$0) }.count
    }()

    /// Contents of one part, and behind them that part: its bytes are changed and sealed.
    static let checkpointUnit = FuzzedStructure(
        name: "checkpoint part",
        make: { random in
            var part = ByteWriter()
            let raw = (0..<random.number(1...600)).map { UInt8(truncatingIfNeeded: $0 / 3) }
            let unit = raw.withUnsafeBytes {
                CheckpointUnit.append($0, to: &part, startingAt: 0)
            }
            var contents = CheckpointContents()
            contents.blocks = [unit]
            return written { writer in
                contents.encode(to: &writer)
                writer.append(part.bytes)
            }
        },
        seal: { bytes in
            // The unit is the last of the contents, which otherwise are counts of zero.
            guard bytes.count > partStart else { return }
            // The unit: offset u64, stored and raw length u32, checksum u32, zero u32.
            let unit = partStart - 24
            let stored = UInt32(bytes.count - partStart)
            withUnsafeBytes(of: UInt64(0)) { bytes.replaceSubrange(unit..<unit + 8, with: $0) }
            withUnsafeBytes(of: stored.littleEndian) {
                bytes.replaceSubrange(unit + 8..<unit + 12, with: $0)
            }
            let checksum = bytes[partStart...].withUnsafeBytes { Checksum.crc32c($0) }
            withUnsafeBytes(of: checksum.littleEndian) {
                bytes.replaceSubrange(unit + 16..<unit + 20, with: $0)
            }
        },
        decode: { bytes in
            guard bytes.count > partStart else { return }
            let part = UnsafeRawBufferPointer(rebasing: bytes[partStart...])
            let contents = try CheckpointContents(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[..<partStart]),
                fileLength: UInt64(part.count))
            for unit in contents.blocks where unit.storedLength == part.count {
                let target = UnsafeMutableRawBufferPointer.allocate(
                    byteCount: Int(unit.rawLength), alignment: 16)
                defer { target.deallocate() }
                try unit.expand(part, into: target)
            }
        })

    // MARK: Payloads

    private static func counters(_ random: inout RandomSource) -> [TreeCounter] {
        (0..<UInt32(random.number(0...4))).map {
            TreeCounter(tree: $0 * 3 + 1, next: UInt32(random.number(1...9000)))
        }
    }

    static let start = FuzzedStructure(
        name: "start frame",
        make: { random in
            let counters = counters(&random)
            return written {
                StartPayload(
                    live: [
                        .init(number: 1, kind: .main, end: 4096, chain: 1),
                        .init(number: 3, kind: .main, end: 9000 * 8, chain: 2),
                    ], counters: counters, schema: Place(segment: 1, offset8: 600),
                    schemaVersion: 3
                ).encode(to: &$0)
            }
        }, decode: { _ = try StartPayload(decoding: $0) })

    static let adopt = FuzzedStructure(
        name: "adopt frame",
        make: { random in
            let parts = (0..<UInt32(random.number(1...3))).map {
                AdoptPayload.Part(
                    segment: $0 + 3, start: 4096, end: 4096 + UInt64(random.number(1...99)) * 8,
                    startChain: 1, endChain: 2)
            }
            return written { AdoptPayload(parts: parts).encode(to: &$0) }
        }, decode: { _ = try AdoptPayload(decoding: $0) })

    static let retire = FuzzedStructure(
        name: "retire frame",
        make: { random in
            let count = UInt32(random.number(1...5))
            return written { RetirePayload(segments: (1...count).map { $0 * 2 }).encode(to: &$0) }
        }, decode: { _ = try RetirePayload(decoding: $0) })

    static let commit = FuzzedStructure(
        name: "commit frame",
        make: { random in
            let counters = counters(&random)
            return written {
                CommitPayload(
                    firstLSN: 4200, frameCount: 3, time: 0.25, inserted: 7, counters: counters,
                    author: "an author", context: "main"
                ).encode(to: &$0)
            }
        }, decode: { _ = try CommitPayload(decoding: $0) })

    static let close = FuzzedStructure(
        name: "close frame",
        make: { random in
            let counters = counters(&random)
            return written { ClosePayload(time: 1, counters: counters).encode(to: &$0) }
        }, decode: { _ = try ClosePayload(decoding: $0) })

    static let deaths = FuzzedStructure(
        name: "deaths",
        make: { random in
            var writer = ByteWriter()
            var encoder = DeathsEncoder(to: &writer)
            for index in 0..<random.number(1...5) {
                let rows = random.number(1...1024)
                let share = [1, 2, 30][random.number(0...2)]
                var slots = (0..<rows).filter { _ in random.oneIn(share) }.map { UInt16($0) }
                if slots.isEmpty { slots = [0] }
                slots.withUnsafeBufferPointer {
                    encoder.add(
                        Place(segment: 1, offset8: UInt32(600 + index)), slots: $0, rows: rows,
                        to: &writer)
                }
            }
            encoder.finish(&writer)
            return Array(writer.bytes)
        },
        decode: { bytes in
            for entry in try DeathsPayload(decoding: bytes).entries {
                for rows in [1, 9, 64, 1000, 1024] {
                    try? entry.forEachSlot(rows: rows) { slot in
                        precondition(slot < rows, "a slot of a row that is not there")
                    }
                }
            }
        })

    static let changes = FuzzedStructure(
        name: "changes",
        make: { random in
            var encoder = ChangesEncoder()
            for entity in 1...UInt32(random.number(1...4)) {
                var next: UInt32 = 0
                let runs = (0..<random.number(1...9)).map { _ in
                    let first = next + UInt32(random.number(1...(random.oneIn(3) ? 40_000 : 3)))
                    next = first + UInt32(random.number(0...(random.oneIn(3) ? 900 : 2))) + 1
                    return first...next - 1
                }
                let properties = (0..<UInt32(random.number(1...3))).map {
                    ChangesPayload.Property(id: $0 + 1, through: $0 & 1)
                }
                switch random.number(0...2) {
                case 0: encoder.add(entity: entity, .insert, properties: [], runs: runs)
                case 1: encoder.add(entity: entity, .update, properties: properties, runs: runs)
                default:
                    var cells = ByteWriter()
                    for _ in 0..<runs.reduce(0, { $0 + $1.count }) * properties.count {
                        let all: [ChangesPayload.Cell] = [
                            .none, .integer(-1), .double(7), .float(3), .bytes([1, 2]),
                            .fixed16(Array(repeating: 9, count: 16)), .notKept,
                        ]
                        cells.append(cell: all[random.number(0...all.count - 1)])
                    }
                    encoder.add(
                        entity: entity, .delete, properties: properties, runs: runs,
                        cells: cells.bytes)
                }
            }
            return written {
                encoder.encodePart(
                    .init(
                        commit: 9, time: 0.5, process: 7, author: "an author", context: "main",
                        program: "sample"), isLast: true, to: &$0)
            }
        },
        decode: { bytes in
            let changes = try ChangesPayload(decoding: bytes)
            for entry in changes.entries where entry.operation == .delete {
                precondition(
                    entry.cells.count == entry.count * entry.properties.count,
                    "each object has its values")
            }
        })

    static let redirects = FuzzedStructure(
        name: "redirects",
        make: { random in
            var tree: UInt32 = 0
            let groups = (0..<random.number(1...3)).map { _ in
                tree += UInt32(random.number(1...3))
                var old: UInt32 = 0
                let entries = (0..<random.number(1...9)).map { _ in
                    old += UInt32(random.number(1...40))
                    return RedirectsPayload.Entry(
                        old: old, new: random.oneIn(4) ? 0 : old + 1,
                        turn: UInt32(random.number(1...3)))
                }
                return RedirectsPayload.Group(tree: tree, entries: entries)
            }
            return written { RedirectsPayload(groups: groups).encode(to: &$0) }
        },
        decode: { bytes in
            let redirects = try RedirectsPayload(decoding: bytes)
            precondition(redirects.count > 0, "there is an entry")
        })

    static let value = FuzzedStructure(
        name: "value",
        make: { random in
            let piece = random.bytes(random.number(1...80))
            return written { writer in
                piece.withUnsafeBytes {
                    ValuePayload(
                        tree: 1, number: 2, property: 3, sequence: 0, totalLength: 200,
                        pieceOffset: 0
                    ).encode(piece: $0, to: &writer)
                }
            }
        },
        decode: { bytes in
            let value = try ValuePayload(decoding: bytes)
            let piece = ValuePayload.piece(of: bytes)
            precondition(
                value.pieceOffset + UInt64(piece.count) <= value.totalLength, "F-633")
        })

    static let reference = FuzzedStructure(
        name: "value reference",
        make: { random in
            let length = random.next() | 1
            return written {
                ValueReference(
                    place: Place(segment: 1, offset8: 600), length: length, checksum: 7
                ).encode(to: &$0)
            }
        }, decode: { _ = try ValueReference(decoding: $0) })

    static let decimal = FuzzedStructure(
        name: "decimal",
        make: { random in
            let coefficient = UInt128(random.next()) << UInt128(random.number(0...64))
            let exponent = random.number(-128...100)
            return written {
                _ = DecimalBytes(
                    isNegative: false, exponent: exponent, coefficient: coefficient
                ).encode(to: &$0)
            }
        }, decode: { _ = try DecimalBytes(decoding: $0) })

    static let schema = FuzzedStructure(
        name: "schema",
        make: { _ in Array(try JSONEncoder().encode(SchemaTests.document(SchemaTests.entities))) },
        decode: { bytes in
            let document = try JSONDecoder().decode(
                SchemaDocument<IgnoredModel>.self, from: Data(bytes))
            try document.check()
        })
}

import CairnTestSupport
import Testing

@testable import CairnFormat

@Suite("Columns whose cells are read by themselves (Format 50.13)")
struct PackedColumnTests {
    @Test("Numbers of every width come back, at every place", arguments: 0...64)
    func numbers(width: Int) {
        var random = RandomSource()
        for count in [1, 2, 7, 8, 9, 63, 64, 65, 1024] {
            let numbers = (0..<count).map { _ in
                [0, UInt64.max, random.next()].randomElement(using: &random)!
                    & PackedNumbers.mask(width)
            }
            let size = PackedNumbers.size(count, width: width)
            // With something before and behind that is neither read nor written.
            var bytes = [UInt8](repeating: 0xAB, count: size + 32)
            bytes.withUnsafeMutableBytes { room in
                let target = room.baseAddress! + 16
                PackedNumbers.pack(count, width: width, into: target) { numbers[$0] }
                let packed = PackedNumbers(target, width: width)
                #expect((0..<count).reversed().map { packed.bits($0) }.reversed() == numbers)
                if width <= 32 {
                    let whole = [UInt32](unsafeUninitializedCapacity: count) { room, filled in
                        packed.unpack(count, into: room.baseAddress!, as: UInt32.self)
                        filled = count
                    }
                    #expect(whole == numbers.map { UInt32($0) })
                }
            }
            #expect(bytes.prefix(16).allSatisfy { $0 == 0xAB })
            #expect(bytes.suffix(16).allSatisfy { $0 == 0xAB })
            #expect(bytes.dropLast(16).suffix(8).allSatisfy { $0 == 0 })
        }
    }

    struct Choice: Sendable {
        let title: String
        let column: @Sendable () -> TestColumn
        let encoding: ColumnEncoding
        let length: Int
    }

    /// Four bytes a row, of which none says anything about another.
    static func codes(_ rows: Int) -> TestColumn {
        TestColumn(
            kind: .bytes, propertyID: 2,
            cells: (0..<rows).map { row in
                withUnsafeBytes(of: UInt32(truncatingIfNeeded: row &* 2_654_435_761 ^ row << 7)) {
                    .bytes(Array($0))
                }
            })
    }

    static let choices: [Choice] = [
        Choice(
            title: "equal integers", column: { .integers(1, Array(repeating: 77, count: 100)) },
            encoding: .packed, length: 12 + 8),
        Choice(
            title: "numbers in a row", column: { .integers(1, (0..<100).map { 5000 + $0 }) },
            encoding: .sequence, length: 16),
        Choice(
            title: "ten bits",
            column: { .integers(1, (0..<100).map { 1 << 40 + $0 * $0 % 1024 }) },
            encoding: .packed, length: 12 + 125 + 8),
        Choice(
            title: "one far above",
            column: { .integers(1, (0..<200).map { $0 == 77 ? .max : $0 * $0 % 1000 }) },
            encoding: .packed, length: 12 + 10 + 250 + 8),
        Choice(
            title: "one far below",
            column: { .integers(1, (0..<200).map { $0 == 0 ? .min : 1 << 50 + $0 * $0 % 1000 }) },
            encoding: .packed, length: 12 + 10 + 250 + 8),
        Choice(
            title: "the whole range",
            column: { .integers(1, (0..<64).map { $0 % 2 == 0 ? .min : .max }) },
            encoding: .packed, length: 12 + 512 + 8),
        Choice(
            title: "prices", column: { .doubles(1, (0..<100).map { Double($0 * 37 % 500) / 100 }) },
            encoding: .packedDecimals, length: 12 + 113 + 8),
        Choice(
            title: "sixteenths",
            column: { .doubles(1, (0..<128).map { 7e8 + Double($0 * $0 % 4096) / 16 }) },
            encoding: .packedBits, length: 12 + 192 + 8),
        Choice(
            title: "equal doubles", column: { .doubles(1, Array(repeating: .nan, count: 100)) },
            encoding: .constant, length: 8),
        Choice(
            title: "few strings", column: { .strings(1, (0..<100).map { "category \($0 % 7)" }) },
            encoding: .packedDictionary, length: 3 + 38 + 8 + 9 + 8 + 70),
        Choice(
            title: "codes of one length without a pattern", column: { codes(100) },
            encoding: .texts, length: 9 + 8 + 400),
    ]

    @Test("The smallest encoding is chosen", arguments: choices.indices)
    func choice(index: Int) throws {
        let choice = Self.choices[index]
        let column = choice.column()
        var block = TestBlock([column], rows: column.cells.count)
        block.isPacking = true
        let entry = try block.encode().withUnsafeBytes { try BlockHead(decoding: $0) }.columns[0]
        #expect(entry.encoding == choice.encoding, "\(choice.title)")
        #expect(entry.storedLength == choice.length, "\(choice.title)")
        #expect(try block.roundTrip() == block, "\(choice.title)")
    }

    /// Texts of words in random order.
    static func sentences(_ rows: Int, _ random: inout RandomSource) -> [String] {
        let words = ["anchor", "basalt", "cobble", "dolmen", "esker", "flint", "granite", "hamlet"]
        return (0..<rows).map { row in
            (0..<3).map { _ in words.randomElement(using: &random)! }.joined(separator: " ")
                + " \(row * 7919 % 4096)"
        }
    }

    @Test("Texts of words take less than half with symbols, and each is read by itself")
    func symbols() throws {
        var random = RandomSource()
        let texts = Self.sentences(1024, &random)
        var block = TestBlock([.strings(1, texts)], rows: 1024)
        block.isPacking = true
        let entry = try block.encode().withUnsafeBytes { try BlockHead(decoding: $0) }.columns[0]
        #expect(entry.encoding == .symbols)
        let total = texts.reduce(0) { $0 + $1.utf8.count }
        #expect(entry.storedLength * 2 < total)
        // What is said before LZ4 is what they take without symbols, about.
        #expect(entry.rawLength > total)
        #expect(try block.roundTrip() == block)
    }

    @Test(
        "A text of symbols is compared without being written out: with itself, and with what is nearly the same"
    )
    func comparing() throws {
        var random = RandomSource()
        // From none on, and with bytes that are no symbol.
        let texts = Self.sentences(512, &random).enumerated().map { row, text in
            String(text.prefix(row % 40)) + (row % 5 == 0 ? "\u{1}\(row)" : "")
        }
        var block = TestBlock([.strings(1, texts)], rows: texts.count)
        block.isPacking = true
        try block.encode().withUnsafeBytes { payload in
            let entry = try BlockHead(decoding: payload).columns[0]
            #expect(entry.encoding == .symbols)
            let slice = UnsafeRawBufferPointer(rebasing: payload[entry.range])
            let cells = try #require(try CellReader(verifying: slice, entry, rows: texts.count))
            for (row, text) in texts.enumerated() {
                func has(_ bytes: [UInt8]) -> Bool? {
                    bytes.withUnsafeBytes { cells.hasBytes(row, $0) }
                }
                let bytes = Array(text.utf8)
                #expect(has(bytes) == true)
                #expect(has(bytes + [0]) == false)
                #expect(has(bytes + Array("anchor ".utf8)) == false)
                guard !bytes.isEmpty else { continue }
                #expect(has(Array(bytes.dropLast())) == false)
                var other = bytes
                other[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << 6
                #expect(has(other) == false, "seed \(random.seed)")
            }
        }
    }

    @Test("Symbols of one block serve those after it, and are found anew when texts become others")
    func laterBlocks() throws {
        var random = RandomSource()
        var encoder = BlockEncoder()
        let memory = PlainMemory()
        var lengths: [Int] = []
        var total = 0
        for turn in 0..<12 {
            var texts = Self.sentences(500, &random)
            if turn >= 4 { texts = texts.map { String($0.uppercased().reversed()) } }
            total = texts.reduce(0) { $0 + $1.utf8.count }
            let block = TestBlock([.strings(1, texts)], rows: 500)
            var writer = ByteWriter()
            try encoder.encode(
                entity: 5, schemaVersion: 2, isPacking: true,
                columns: block.columns.map { memory.plain($0) }, rows: 500,
                numbers: memory.copy(block.numbers), versions: memory.copy(block.versions),
                into: &writer)
            #expect(try TestBlock(decoding: writer.bytes, shape: block.columns) == block)
            lengths.append(try BlockHead(decoding: writer.bytes).columns[0].storedLength)
        }
        // Texts that have nothing in common with the symbols take twice their bytes, or all of them as they are.
        #expect(lengths[11] * 2 < total, "\(lengths)")
    }

    @Test("Long texts that have much in common are left to LZ4")
    func longTexts() throws {
        let common = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 9)
        let column = TestColumn.strings(1, (0..<200).map { "\(common)\($0)" })
        var block = TestBlock([column], rows: 200)
        block.isPacking = true
        let entry = try block.encode().withUnsafeBytes { try BlockHead(decoding: $0) }.columns[0]
        #expect(entry.encoding == .lengths)
        #expect(entry.flags.contains(.lz4))
        #expect(try block.roundTrip() == block)
    }

    @Test("A block of few rows is never packed (F-413)", arguments: [1, 31])
    func fewRows(rows: Int) throws {
        var random = RandomSource()
        var block = TestBlock(random.columns(rows: rows), rows: rows)
        block.isPacking = true
        let head = try block.encode().withUnsafeBytes { try BlockHead(decoding: $0) }
        #expect(!head.isPacked)
        #expect(try block.roundTrip() == block)
    }

    @Test("What is written anew of a block is packed where that is allowed, whatever the block is")
    func rewriting() throws {
        var random = RandomSource()
        for (before, after) in [(false, false), (false, true), (true, true)] {
            let values = (0..<300).map { Int64($0 * 7919 % 1000) }
            var block = TestBlock(
                [.integers(1, values), .strings(2, Self.sentences(300, &random))], rows: 300)
            block.isPacking = before
            let patch = try TestPatch(
                of: try block.encode(), [.integers(1, values.map { $0 + 1 })], isPacking: after,
                versions: Array(repeating: 2, count: 300))
            let own = try patch.payload.withUnsafeBytes { try PatchHead(decoding: $0) }.own
            #expect(own.isPacked == after)
        }
    }

    @Test("Exceptions that the numbers do not say, and places that fall, are refused")
    func contradictions() throws {
        let values = (0..<200).map { $0 == 77 ? Int64.max : Int64($0 * $0 % 1000) }
        var block = TestBlock([.integers(1, values), Self.codes(200)], rows: 200)
        block.isPacking = true
        let payload = try block.encode()
        let head = try payload.withUnsafeBytes { try BlockHead(decoding: $0) }
        func refusal(_ column: Int, _ offset: Int, _ byte: UInt8) throws -> String? {
            var bytes = payload
            bytes[head.columns[column].offset + offset] = byte
            sealBlock(&bytes)
            return try bytes.withUnsafeBytes { bytes in
                let head = try BlockHead(decoding: bytes)
                let entry = head.columns[column]
                do {
                    _ = try DecodedColumn.decode(
                        entry.propertyID, kind: entry.kind, of: head, in: bytes)
                } catch let error as FormatError {
                    return error.rule
                }
                return nil
            }
        }
        // The row of the exception, the width, a number that has the mark of one.
        #expect(try refusal(0, 12, 78) == "F-561")
        #expect(try refusal(0, 8, 65) == "F-561")
        #expect(try refusal(0, 9, 1) == "F-561")
        #expect(try refusal(0, head.columns[0].storedLength - 1, 1) == "F-560")
        // Texts: the base, the width.
        #expect(try refusal(1, 0, 1) == "F-563")
        #expect(try refusal(1, 8, 33) == "F-563")
    }
}

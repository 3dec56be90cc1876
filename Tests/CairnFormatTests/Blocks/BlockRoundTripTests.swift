import CairnFormat
import CairnTestSupport
import Testing

@Suite("Writing a block and reading it again")
struct BlockRoundTripTests {
    @Test(
        "Random columns of every kind come back bit by bit",
        arguments: [1, 2, 31, 32, 33, 63, 64, 65, 200, 1024], [false, true])
    func randomColumns(rows: Int, isPacking: Bool) throws {
        var random = RandomSource()
        for _ in 0..<Campaign.count(rows > 100 ? 5 : 20, whole: rows > 100 ? 15 : 60) {
            var block = TestBlock(random.columns(rows: rows), rows: rows)
            block.isMoved = random.oneIn(2)
            block.isPacking = isPacking
            if random.oneIn(2) {
                block.numbers = (0..<rows).map { _ in
                    UInt32.random(in: 1...FormatLimits.maximumNumber, using: &random)
                }
                block.versions = (0..<rows).map { _ in
                    UInt32.random(in: 1..<(1 << 22), using: &random)
                }
            }
            #expect(try block.roundTrip() == block)
        }
    }

    @Test("A selection takes the chosen rows in its order")
    func selection() throws {
        var random = RandomSource()
        for _ in 0..<40 {
            let columns = random.columns(rows: 100)
            let chosen = (0..<random.number(1...150)).map { _ in UInt16(random.number(0...99)) }
            let expected = TestBlock(
                columns.map { column in
                    TestColumn(
                        kind: column.kind, propertyID: column.propertyID,
                        cells: chosen.map { column.cells[Int($0)] })
                }, rows: chosen.count)
            let memory = PlainMemory()
            var encoder = BlockEncoder()
            var writer = ByteWriter()
            try encoder.encode(
                entity: expected.entity, schemaVersion: expected.schemaVersion,
                columns: columns.map { memory.plain($0) }, rows: chosen.count,
                selection: memory.copy(chosen), numbers: memory.copy(expected.numbers),
                versions: memory.copy(expected.versions), into: &writer)
            #expect(try TestBlock(decoding: writer.bytes, shape: expected.columns) == expected)
            withExtendedLifetime(memory) {}
        }
    }

    @Test("One encoder and one buffer serve many blocks, staged before they get their numbers")
    func staging() throws {
        var random = RandomSource()
        var encoder = BlockEncoder()
        var staging = ByteWriter()
        var staged: [StagedBlock] = []
        var blocks: [TestBlock] = []
        let memory = PlainMemory()
        for _ in 0..<20 {
            let rows = random.number(1...300)
            let block = TestBlock(random.columns(rows: rows), rows: rows)
            blocks.append(block)
            staged.append(
                try encoder.stage(
                    columns: block.columns.map { memory.plain($0) }, rows: rows, into: &staging))
        }
        for (block, staged) in zip(blocks, staged) {
            var writer = ByteWriter()
            try encoder.finish(
                staged, in: staging, entity: block.entity, schemaVersion: block.schemaVersion,
                numbers: memory.copy(block.numbers), versions: memory.copy(block.versions),
                into: &writer)
            #expect(try TestBlock(decoding: writer.bytes, shape: block.columns) == block)
            #expect(staged.rawLength <= (try BlockHead(decoding: writer.bytes)).rawLength)
        }
    }

    @Test("F-408: a column without any value is left out, and reads as nil")
    func absentColumn() throws {
        let block = TestBlock(
            [.integers(1, [nil, nil]), .strings(2, ["a", nil])], rows: 2)
        let payload = try block.encode()
        let head = try payload.withUnsafeBytes { try BlockHead(decoding: $0) }
        #expect(head.column(1) == nil)
        #expect(
            head.columns.map(\.propertyID) == [2, HiddenProperty.number, HiddenProperty.version])
        #expect(try block.roundTrip() == block)
        for kind in ColumnKind.allCases {
            let column = DecodedColumn.allNil(kind: kind, rows: 9)
            #expect(column.cells == Array(repeating: nil, count: 9))
            #expect(column.nilCount == 9)
        }
    }

    struct Choice: Sendable {
        let title: String
        let column: @Sendable () -> TestColumn
        let encoding: ColumnEncoding
        let rawLength: Int
    }

    static let choices: [Choice] = [
        Choice(
            title: "equal integers", column: { .integers(1, Array(repeating: 77, count: 100)) },
            encoding: .narrow, rawLength: 9),
        Choice(
            title: "numbers in a row", column: { .integers(1, (0..<100).map { 5000 + $0 }) },
            encoding: .sequence, rawLength: 16),
        Choice(
            title: "small integers",
            column: { .integers(1, (0..<100).map { 1 << 40 + $0 * $0 % 200 }) },
            encoding: .narrow, rawLength: 9 + 100),
        Choice(
            title: "the whole range", column: { .integers(1, [.min, .max, 0]) }, encoding: .narrow,
            rawLength: 9 + 24),
        Choice(
            title: "prices", column: { .doubles(1, (0..<100).map { Double($0 * 37 % 500) / 100 }) },
            encoding: .scaled, rawLength: 10 + 200),
        Choice(
            title: "whole doubles", column: { .doubles(1, (0..<100).map { Double($0 % 3) }) },
            encoding: .scaled, rawLength: 10 + 100),
        Choice(
            title: "equal doubles", column: { .doubles(1, Array(repeating: .nan, count: 100)) },
            encoding: .constant, rawLength: 8),
        Choice(
            title: "minus zero", column: { .doubles(1, [0, -0.0, 1, 2]) }, encoding: .planes,
            rawLength: 32),
        Choice(
            title: "few strings", column: { .strings(1, (0..<100).map { "category \($0 % 7)" }) },
            encoding: .dictionary, rawLength: 3 + 5 + 70 + 100),
        Choice(
            title: "one string", column: { .strings(1, Array(repeating: "same", count: 100)) },
            encoding: .dictionary, rawLength: 3 + 5 + 4),
        Choice(
            title: "codes of one length", column: { .strings(1, (100..<200).map { "K\($0)" }) },
            encoding: .lengths, rawLength: 5 + 400),
    ]

    @Test("The smallest encoding is chosen", arguments: choices.indices)
    func choice(_ index: Int) throws {
        let choice = Self.choices[index]
        let column = choice.column()
        let block = TestBlock([column], rows: column.cells.count)
        let entry = try block.encode().withUnsafeBytes {
            try #require(try BlockHead(decoding: $0).column(1))
        }
        #expect(entry.encoding == choice.encoding, "\(choice.title)")
        #expect(entry.rawLength == choice.rawLength, "\(choice.title)")
        #expect(try block.roundTrip() == block, "\(choice.title)")
    }

    @Test("F-413: only blocks of 32 rows and more are compressed (BL6)")
    func compression() throws {
        for rows in [31, 32] {
            let text = String(repeating: "long and boring ", count: 4)
            let block = TestBlock([.strings(1, (0..<rows).map { "\($0)\(text)" })], rows: rows)
            let payload = try block.encode()
            let head = try payload.withUnsafeBytes { try BlockHead(decoding: $0) }
            #expect(try #require(head.column(1)).flags.contains(.lz4) == (rows == 32))
            #expect(try block.roundTrip() == block)
        }
    }

    @Test("F-406: a block whose slices exceed 16 MiB is refused")
    func tooLarge() throws {
        let cell = TestCell.bytes(Array(repeating: 1, count: 5 << 20))
        let column = TestColumn(kind: .bytes, propertyID: 1, cells: [cell, cell])
        var other = column
        other.propertyID = 2
        let error = #expect(throws: FormatError.self) {
            try TestBlock([column, other], rows: 2).encode()
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.rule == "F-406")
    }

    @Test("F-303: a block whose slices fit but whose payload does not is refused")
    func payloadTooLarge() throws {
        let half = TestCell.bytes(Array(repeating: 7, count: (8 << 20) - 30))
        let column = TestColumn(kind: .bytes, propertyID: 1, cells: [half, half])
        let error = #expect(throws: FormatError.self) { try TestBlock([column], rows: 2).encode() }
        #expect(error?.code == .tooLarge)
        #expect(error?.rule == "F-303")
    }

    @Test("A dictionary gives codes and entries to kernels")
    func dictionaryAccess() throws {
        let values = (0..<100).map { $0 % 10 == 9 ? nil : "v\($0 % 3)" }
        let block = TestBlock([.strings(1, values)], rows: 100)
        try block.encode().withUnsafeBytes { payload in
            let head = try BlockHead(decoding: payload)
            let column = try DecodedColumn.decode(1, kind: .bytes, of: head, in: payload)
            #expect(column.dictionaryCount == 3)
            #expect(column.nilCount == 10)
            for row in 0..<100 {
                guard let value = values[row] else {
                    #expect(column.code(at: row) == 0)
                    #expect(column.bytes(at: row).isEmpty)
                    continue
                }
                #expect(Array(column.dictionaryEntry(column.code(at: row))) == Array(value.utf8))
            }
        }
    }

    @Test("F-511, F-554: integers outside their column's range are refused on demand")
    func integerRange() throws {
        let block = TestBlock([.integers(1, [1, nil, 40_000])], rows: 3)
        try block.encode().withUnsafeBytes { payload in
            let head = try BlockHead(decoding: payload)
            let column = try DecodedColumn.decode(1, kind: .integer, of: head, in: payload)
            try column.requireIntegers(in: 1...40_000, rule: "F-554")
            #expect(throws: FormatError.self) {
                try column.requireIntegers(in: 1...39_999, rule: "F-554")
            }
        }
    }
}

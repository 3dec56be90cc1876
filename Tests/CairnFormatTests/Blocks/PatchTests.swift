import CairnFormat
import CairnTestSupport
import Testing

@Suite("Patches of blocks")
struct PatchTests {
    private static func hidden(_ values: [UInt32]) -> [TestCell?] {
        values.map { .integer(Int64($0)) }
    }

    /// Some columns of a block with other values, and some that it does not have.
    private static func changes(of columns: [TestColumn], _ rows: Int, _ random: inout RandomSource)
        -> [TestColumn]
    {
        var changes: [TestColumn] = []
        for column in columns where random.oneIn(3) {
            var new = random.column(column.propertyID, rows: rows)
            // A property keeps its kind.
            while new.kind != column.kind { new = random.column(column.propertyID, rows: rows) }
            if random.oneIn(4) { new.cells = Array(repeating: nil, count: rows) }
            changes.append(new)
        }
        if random.oneIn(4) {
            changes.append(random.column((columns.last?.propertyID ?? 0) + 1, rows: rows))
        }
        return changes
    }

    @Test("Whether it becomes a patch or a block, what changes has changed and nothing else has")
    func random() throws {
        var (patches, blocks, later) = (0, 0, 0)
        try Rounds.run("patches", everyDay: 60, whole: 20_000) { random in
            let rows = random.oneIn(2) ? random.number(1...40) : random.number(32...400)
            var block = TestBlock(random.columns(rows: rows), rows: rows)
            block.numbers = (0..<rows).map { _ in
                UInt32.random(in: 1...FormatLimits.maximumNumber, using: &random)
            }
            let base = try block.encode()
            var now = Dictionary(
                uniqueKeysWithValues: block.columns.map { ($0.propertyID, $0.cells) })
            var stored: (base: [UInt8], patch: [UInt8]?) = (base, nil)
            for version in 2...UInt32(random.number(2...4)) {
                let changes = Self.changes(of: block.columns, rows, &random)
                let versions = (0..<rows).map { version + UInt32($0 & 1) }
                let patch = try TestPatch(
                    of: stored.base, behind: stored.patch, changes, versions: versions)
                for column in changes { now[column.propertyID] = column.cells }
                for (property, cells) in now {
                    let expected = cells.allSatisfy { $0 == nil } ? nil : cells
                    let found = try patch.cells(property)
                    #expect(found == expected || found == cells, "\(property)")
                }
                #expect(
                    try patch.cells(HiddenProperty.number) == Self.hidden(block.numbers))
                #expect(try patch.cells(HiddenProperty.version) == Self.hidden(versions))
                if patch.isPatch {
                    patches += 1
                    if stored.patch != nil { later += 1 }
                    stored.patch = patch.payload
                } else {
                    blocks += 1
                    stored = (patch.payload, nil)
                }
            }
        }
        #expect(patches > 0 && blocks > 0 && later > 0)
    }

    /// A block of two columns that are not small, and the patch of a third one.
    private static func sample() throws -> TestPatch {
        let rows = 40
        let block = TestBlock(
            [
                .integers(1, (0..<rows).map { Int64($0) }),
                .strings(4, (0..<rows).map { "s\($0)" }),
                .doubles(9, (0..<rows).map { 1 / Double($0 + 1) }),
            ], rows: rows)
        return try TestPatch(
            of: try block.encode(), [.integers(1, Array(repeating: 7, count: rows))],
            versions: Array(repeating: 2, count: rows))
    }

    @Test("F-458: of a block that would be borrowed from in less than half a whole block is made")
    func wholeBlocks() throws {
        let rows = 40
        let block = TestBlock(
            [
                .doubles(1, (0..<rows).map { 1 / Double($0 + 1) }),
                .doubles(2, (0..<rows).map { 1 / Double($0 + 2) }),
                .doubles(3, (0..<rows).map { 1 / Double($0 + 3) }),
            ], rows: rows)
        let base = try block.encode()
        let versions = Array(repeating: UInt32(2), count: rows)
        let first = try TestPatch(of: base, [block.columns[0]], versions: versions)
        #expect(first.isPatch)
        let again = try TestPatch(
            of: base, behind: first.payload, [block.columns[0]], versions: versions)
        #expect(again.isPatch && again.payload.count == first.payload.count)
        let second = try TestPatch(
            of: base, behind: first.payload, [block.columns[1]], versions: versions)
        #expect(!second.isPatch)
        // Another version of the schema would mean something else by what is not there.
        let other = try TestPatch(
            of: base, [block.columns[0]], schemaVersion: 3, versions: versions)
        #expect(!other.isPatch)
    }

    @Test("F-456: a patch says that no row has a value in a column any more")
    func emptyColumns() throws {
        let rows = 33
        var random = RandomSource(seed: 9)
        for kind in ColumnKind.allCases {
            var columns = [TestColumn.doubles(1, (0..<rows).map { 1 / Double($0 + 1) })]
            var column = random.column(2, rows: rows)
            while column.kind != kind || column.cells.allSatisfy({ $0 == nil }) {
                column = random.column(2, rows: rows)
            }
            columns.append(column)
            let empty = TestColumn(
                kind: kind, propertyID: 2, cells: Array(repeating: nil, count: rows))
            let patch = try TestPatch(
                of: try TestBlock(columns, rows: rows).encode(), [empty],
                versions: Array(repeating: 2, count: rows))
            #expect(patch.isPatch)
            #expect(try patch.cells(2) == empty.cells)
        }
    }

    struct Change: Sendable {
        let rule: String
        let code: FormatError.Code
        /// To the patch, then to the block that it is of.
        var patch: @Sendable (inout [UInt8]) -> Void = { _ in }
        var base: @Sendable (inout TestBlock) -> Void = { _ in }
    }

    private static let changes: [Change] = [
        Change(rule: "F-452", code: .malformed, patch: { $0[12] |= 2 }),
        Change(rule: "F-452", code: .malformed, patch: { $0[16] = 1 }),
        Change(
            rule: "F-452", code: .malformed,
            patch: { $0.replaceSubrange(0..<4, with: [0, 0, 0, 0]) }),
        // The flag moved, and a hidden column of another name.
        Change(rule: "F-453", code: .malformed, patch: { $0[24 + 12] |= 1 }),
        Change(rule: "F-453", code: .malformed, patch: { $0[24 + 24 + 20] = 0xFE }),
        Change(rule: "F-454", code: .malformed, base: { $0.entity = 6 }),
        Change(rule: "F-454", code: .malformed, base: { $0.schemaVersion = 1 }),
        Change(
            rule: "F-454", code: .malformed,
            base: { block in
                block.numbers.removeLast()
                block.versions.removeLast()
                for index in block.columns.indices { block.columns[index].cells.removeLast() }
            }),
        Change(rule: "F-455", code: .malformed, patch: { $0[8] ^= 1 }),
        Change(rule: "F-455", code: .malformed, patch: { $0[12] |= 1 }),
    ]

    @Test("A patch that breaks a rule under right checksums is refused", arguments: changes.indices)
    func rules(_ index: Int) throws {
        let change = Self.changes[index]
        let rows = 40
        var block = TestBlock(
            [
                .integers(1, (0..<rows).map { Int64($0) }),
                .strings(4, (0..<rows).map { "s\($0)" }),
            ], rows: rows)
        let patch = try TestPatch(
            of: try block.encode(), [.integers(1, Array(repeating: 7, count: rows))],
            versions: Array(repeating: 2, count: rows))
        try #require(patch.isPatch)
        var bytes = patch.payload
        change.patch(&bytes)
        sealPatch(&bytes)
        change.base(&block)
        let base = try block.encode()
        let error = #expect(throws: FormatError.self) {
            try bytes.withUnsafeBytes { bytes in
                try base.withUnsafeBytes { base in
                    let head = try PatchHead(decoding: bytes)
                    _ = try head.joined(to: try BlockHead(decoding: base))
                }
            }
        }
        #expect(error?.rule == change.rule)
        #expect(error?.code == change.code)
    }

    @Test("F-451: no flipped bit of a patch goes unnoticed, and none of its beginnings is one")
    func damage() throws {
        let patch = try Self.sample()
        try #require(patch.isPatch)
        func read(_ bytes: [UInt8]) throws {
            try bytes.withUnsafeBytes { try FuzzedStructure.readPatch($0, of: patch.base) }
        }
        try read(patch.payload)
        for bit in 0..<patch.payload.count * 8 {
            var bytes = patch.payload
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: FormatError.self, "bit \(bit)") { try read(bytes) }
        }
        for length in 0..<patch.payload.count {
            #expect(throws: FormatError.self) { try read(Array(patch.payload[..<length])) }
        }
    }
}

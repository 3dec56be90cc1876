import CairnFormat
import CairnTestSupport
import Testing

@Suite("Blocks of one row")
struct SingleRowTests {
    @Test("The short way writes the bytes that the way of many rows writes")
    func sameBytes() throws {
        var random = RandomSource()
        for _ in 0..<Campaign.count(250, whole: 20_000) {
            var block = TestBlock(random.columns(rows: 1), rows: 1)
            block.isMoved = random.oneIn(2)
            block.schemaVersion = UInt32.random(in: 0 ... .max, using: &random)
            block.numbers = [UInt32.random(in: 1...FormatLimits.maximumNumber, using: &random)]
            block.versions = [UInt32.random(in: 1..<(1 << 22), using: &random)]
            let memory = PlainMemory()
            let cells = memory.copy(block.columns.compactMap { memory.cell($0) })
            var writer = ByteWriter(capacity: 64)
            writer.append(UInt32(7))
            let rawLength = try BlockEncoder.encodeRow(
                entity: block.entity, schemaVersion: block.schemaVersion, isMoved: block.isMoved,
                cells: UnsafeBufferPointer(
                    start: cells, count: block.columns.count { $0.cells[0] != nil }),
                number: block.numbers[0], version: block.versions[0], into: &writer)
            let expected = try block.encode()
            #expect(Array(writer.bytes.dropFirst(4)) == expected, "CAIRN_SEED=\(random.seed)")
            #expect(
                try expected.withUnsafeBytes { try BlockHead(decoding: $0).rawLength } == rawLength)
            withExtendedLifetime(memory) {}
        }
    }

    @Test("A row that no block can hold is refused and leaves nothing of itself")
    func tooLarge() {
        let memory = PlainMemory()
        let byte = memory.copy([UInt8(0)])
        for count in [FormatLimits.maximumRawBlock - 22, FormatLimits.maximumRawBlock, Int.max] {
            let cells = [RowCell(.bytes, 1, value: byte, count: count)]
            var writer = ByteWriter()
            #expect(throws: FormatError.self) {
                try cells.withUnsafeBufferPointer { cells throws(FormatError) in
                    _ = try BlockEncoder.encodeRow(
                        entity: 1, schemaVersion: 1, cells: cells, number: 1, version: 1,
                        into: &writer)
                }
            }
            #expect(writer.count == 0)
        }
    }
}

extension PlainMemory {
    /// The first cell of a column; nil if it is nil.
    fileprivate func cell(_ column: TestColumn) -> RowCell? {
        func raw<T>(_ value: T) -> UnsafeRawPointer { UnsafeRawPointer(copy([value])) }
        let id = column.propertyID
        switch column.cells[0] {
        case nil: return nil
        case .integer(let value): return RowCell(.integer, id, value: raw(value))
        case .double(let bits): return RowCell(.double, id, value: raw(bits))
        case .float(let bits): return RowCell(.float, id, value: raw(bits))
        case .fixed16(let bytes):
            return RowCell(.fixed16, id, value: UnsafeRawPointer(copy(bytes)))
        case .bytes(let bytes):
            return RowCell(
                .bytes, id, value: UnsafeRawPointer(copy(bytes)), count: bytes.count)
        case .reference(let bytes):
            return RowCell(
                .bytes, id, value: UnsafeRawPointer(copy(bytes)), count: bytes.count,
                isExternal: true)
        }
    }
}

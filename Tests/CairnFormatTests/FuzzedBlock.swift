// Blocks as a fuzzer needs them. Slices, table and head have checksums of their own, so that a change behind
// one of them needs the others made right.

import CairnFormat
import CairnTestSupport

extension FuzzedStructure {
    static let block = FuzzedStructure(
        name: "block",
        make: { random in
            let rows = random.oneIn(2) ? random.number(1...31) : random.number(32...300)
            return try TestBlock(random.columns(rows: rows), rows: rows).encode()
        }, seal: { sealBlock(&$0) }, decode: { try readBlock($0) })

    /// Makes all that can be computed right: the slices' lengths as far as the last one can give or take,
    /// the sum of raw lengths, and all checksums.
    static func sealBlock(_ payload: inout [UInt8]) {
        func word(_ offset: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(payload[offset + $1]) << UInt32($1 * 8) }
        }
        func put(_ value: UInt32, _ offset: Int) {
            withUnsafeBytes(of: value.littleEndian) {
                payload.replaceSubrange(offset..<offset + 4, with: $0)
            }
        }
        guard payload.count > 24 else { return }
        let columns = Int(payload[10]) | Int(payload[11]) << 8
        guard columns > 0, payload.count >= 24 + columns * 20 else { return }
        var offset = 24 + columns * 20
        var raw: UInt32 = 0
        for column in 0..<columns {
            let entry = 24 + column * 20
            var length = Int(word(entry + 8))
            if column == columns - 1 || offset + length > payload.count {
                length = payload.count - offset
                put(UInt32(length), entry + 8)
            }
            if payload[entry + 6] & 2 == 0 { put(UInt32(length), entry + 12) }
            raw &+= word(entry + 12)
            put(
                payload[offset..<offset + length].withUnsafeBytes { Checksum.crc32c($0) },
                entry + 16)
            offset += length
        }
        put(raw, 16)
        DamageTests.repairHead(&payload)
    }

    /// Decodes every column and touches every cell.
    static func readBlock(_ payload: UnsafeRawBufferPointer) throws {
        let head = try BlockHead(decoding: payload)
        var refusal: (any Error)?
        for entry in head.columns {
            do {
                let column = try DecodedColumn.decode(
                    entry.propertyID, kind: entry.kind, of: head, in: payload)
                precondition(column.cells.count == head.rows, "a cell a row")
                for code in 0..<column.dictionaryCount {
                    _ = column.dictionaryEntry(code).reduce(0) { $0 &+ Int($1) }
                }
            } catch {
                refusal = error
            }
        }
        _ = try DecodedColumn.decodeNumbers(of: head, in: payload)
        _ = try DecodedColumn.decodeVersions(of: head, in: payload)
        if let refusal { throw refusal }
    }
}

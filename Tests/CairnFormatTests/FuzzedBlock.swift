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
        }, seal: { CairnTestSupport.sealBlock(&$0) }, decode: { try readBlock($0) })

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

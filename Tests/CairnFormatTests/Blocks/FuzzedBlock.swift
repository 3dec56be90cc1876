// Blocks as a fuzzer needs them. Slices, table and head have checksums of their own, so that a change behind
// one of them needs the others made right.

import CairnFormat
import CairnTestSupport

extension FuzzedStructure {
    static let block = FuzzedStructure(
        name: "block",
        make: { random in
            let rows = random.oneIn(2) ? random.number(1...31) : random.number(32...300)
            var block = TestBlock(random.columns(rows: rows), rows: rows)
            block.isPacking = random.oneIn(2)
            return try block.encode()
        }, seal: { CairnTestSupport.sealBlock(&$0) }, decode: { try readBlock($0) })

    /// Decodes every column and touches every cell.
    static func readBlock(_ payload: UnsafeRawBufferPointer) throws {
        let head = try BlockHead(decoding: payload)
        let refusal = Self.refusal(head, payload)
        _ = try DecodedColumn.decodeNumbers(of: head, in: payload)
        _ = try DecodedColumn.decodeVersions(of: head, in: payload)
        if let refusal { throw refusal }
    }

    private static func readColumns(_ head: BlockHead, _ payload: UnsafeRawBufferPointer) throws {
        if let refusal = refusal(head, payload) { throw refusal }
    }

    /// Decodes all columns, also behind one that is refused; gives why the last of these is.
    private static func refusal(_ head: BlockHead, _ payload: UnsafeRawBufferPointer)
        -> (any Error)?
    {
        var refusal: (any Error)?
        for entry in head.columns {
            // Cells are read by themselves without most of what is checked of a whole column.
            do {
                let slice = UnsafeRawBufferPointer(rebasing: payload[entry.range])
                if let cells = try CellReader(verifying: slice, entry, rows: head.rows) {
                    _ = try cells.cells(head.rows)
                }
            } catch {
                refusal = error
            }
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
        return refusal
    }

    /// A patch of a column of a block.
    static let patch = FuzzedStructure(
        name: "patch",
        make: { random in
            let rows = random.number(32...200)
            var columns = random.columns(rows: rows)
            columns.append(
                .doubles(9000, (0..<rows).map { 1 / Double($0 + 1) }))
            columns.append(.integers(9001, (0..<rows).map { Int64($0 &* 77 % 100) }))
            let patch = try TestPatch(
                of: try TestBlock(columns, rows: rows).encode(),
                [.integers(9001, (0..<rows).map { Int64($0) })],
                versions: Array(repeating: 3, count: rows))
            return patch.payload
        }, seal: { sealPatch(&$0) },
        decode: { payload in
            // Of whatever block it may be: what it borrows has other checks.
            let head = try PatchHead(decoding: payload)
            _ = head.hasReferences
            try readColumns(head.own, payload)
        })

    /// Decodes every column of a patch and touches every cell; joins it with its block.
    static func readPatch(_ payload: UnsafeRawBufferPointer, of base: [UInt8]) throws {
        let head = try PatchHead(decoding: payload)
        try readColumns(head.own, payload)
        try base.withUnsafeBytes { _ = try head.joined(to: try BlockHead(decoding: $0)) }
    }
}

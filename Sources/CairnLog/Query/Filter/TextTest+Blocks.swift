// Tests all strings of a column at once.
//
//   1. With a dictionary each distinct string is tested once.
//   2. CONTAINS searches the bytes of all cells in one pass, if they need no folding or are all ASCII: a
//      match across the end of a cell does not count.
//   3. Otherwise each cell is tested; a cell with frames of its own is read.
//
// A nil cell never matches.

import CCairn
import CairnFormat
import CairnStore

extension TextTest {
    /// Sets a byte of 0 or 1 for each row.
    func evaluate(
        _ cells: DecodedColumn, _ block: CachedBlock, _ mask: UnsafePointer<UInt8>?,
        into out: UnsafeMutablePointer<UInt8>
    ) throws(StoreError) {
        let rows = block.rows
        if cells.dictionaryCount > 0 {
            FilterKernels.select(cells, rows, into: out) { holds($0) }
        } else if search(cells, rows, into: out) {
            guard cells.externals != nil else { return Self.dropNils(cells, rows, out) }
            for row in 0..<rows where cells.isExternal(at: row) {
                let isAsked = mask.map { $0[row] != 0 } ?? true
                out[row] = isAsked ? try block.withBytes(cells, row) { holds($0) } ? 1 : 0 : 0
            }
        } else {
            for row in 0..<rows {
                if cells.isNil(at: row) || mask.map({ $0[row] == 0 }) == true {
                    out[row] = 0
                } else if cells.isExternal(at: row) {
                    out[row] = try block.withBytes(cells, row) { holds($0) } ? 1 : 0
                } else {
                    out[row] = holds(cells.bytes(at: row)) ? 1 : 0
                }
            }
        }
        Self.dropNils(cells, rows, out)
    }

    private static func dropNils(
        _ cells: DecodedColumn, _ rows: Int, _ out: UnsafeMutablePointer<UInt8>
    ) {
        guard let nils = cells.nils else { return }
        for row in 0..<rows { out[row] &= nils[row] ^ 1 }
    }

    /// Searches all cells in one pass; false if the result would differ from testing each cell.
    private func search(
        _ cells: DecodedColumn, _ rows: Int, into out: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard case .contains = question, !constant.isEmpty else { return false }
        let whole = UnsafeRawBufferPointer(
            start: cells.values + Int(cells.offsets[0]),
            count: Int(cells.offsets[rows]) - Int(cells.offsets[0]))
        guard isFolded else {
            find(in: whole, cells, rows, into: out)
            return true
        }
        guard Self.isASCII(whole) else { return false }
        guard isCaseless else {
            find(in: whole, cells, rows, into: out)
            return true
        }
        let small = UnsafeMutableRawBufferPointer.allocate(byteCount: whole.count, alignment: 8)
        defer { small.deallocate() }
        Self.lower(whole, into: small)
        find(in: UnsafeRawBufferPointer(small), cells, rows, into: out)
        return true
    }

    private func find(
        in whole: UnsafeRawBufferPointer, _ cells: DecodedColumn, _ rows: Int,
        into out: UnsafeMutablePointer<UInt8>
    ) {
        out.update(repeating: 0, count: rows)
        guard let base = whole.baseAddress else { return }
        let first = Int(cells.offsets[0])
        constant.withUnsafeBytes { part in
            var from = 0
            var row = 0
            while true {
                let found = cairn_find(
                    base + from, whole.count - from, part.baseAddress, part.count)
                guard found >= 0 else { return }
                let place = from + found
                while Int(cells.offsets[row + 1]) - first <= place { row += 1 }
                let end = Int(cells.offsets[row + 1]) - first
                if place + part.count <= end {
                    out[row] = 1
                    from = end
                } else {
                    from = place + 1
                }
            }
        }
    }
}

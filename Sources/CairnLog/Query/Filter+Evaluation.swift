// Runs a compiled condition over one block: a byte of 0 or 1 for each slot.
//
// Each comparison is one loop over one column; AND, OR and NOT combine whole selections. A column that the
// block does not have is nil in every row.

import CCairn
import CairnFormat
import CairnStore
import FoundationEssentials

extension Filter {
    /// Fills `out` with 1 for the slots that match.
    func evaluate(
        _ block: CachedBlock, _ entity: Catalog.StoredEntity, into out: UnsafeMutablePointer<UInt8>
    )
        throws(StoreError)
    {
        let rows = block.rows
        switch self {
        case .constant(let value): out.update(repeating: value ? 1 : 0, count: rows)
        case .isNull(let column):
            guard let cells = try block.column(entity.columns[column]) else {
                out.update(repeating: 1, count: rows)
                return
            }
            if let nils = cells.nils {
                out.update(from: nils, count: rows)
            } else {
                out.update(repeating: 0, count: rows)
            }
        case .integer(let column, let order, let value):
            guard let cells = try block.column(entity.columns[column]) else {
                return none(rows, out)
            }
            compare(rows, cells, order, value, into: out) { cells.integer(at: $0) }
        case .double(let column, let order, let value):
            guard let cells = try block.column(entity.columns[column]) else {
                return none(rows, out)
            }
            compare(rows, cells, order, value, into: out) { cells.double(at: $0) }
        case .float(let column, let order, let value):
            guard let cells = try block.column(entity.columns[column]) else {
                return none(rows, out)
            }
            compare(rows, cells, order, value, into: out) { cells.float(at: $0) }
        case .bytes(let column, let order, let value):
            guard let cells = try block.column(entity.columns[column]) else {
                return none(rows, out)
            }
            try compareBytes(rows, block, cells, order, value, into: out)
        case .decimal(let column, let order, let value):
            guard let cells = try block.column(entity.columns[column]) else {
                return none(rows, out)
            }
            for row in 0..<rows {
                let cell = cells.isNil(at: row) ? nil : DecimalCoding.decode(cells.bytes(at: row))
                out[row] = cell.map { order.holds($0, value) } == true ? 1 : 0
            }
        case .number(let wanted):
            let numbers = try block.numbers()
            for row in 0..<rows { out[row] = wanted.contains(numbers.number(row)) ? 1 : 0 }
        case .not(let filter):
            try filter.evaluate(block, entity, into: out)
            for row in 0..<rows { out[row] ^= 1 }
        case .and(let filters): try combine(filters, block, entity, out, empty: 1) { $0 & $1 }
        case .or(let filters): try combine(filters, block, entity, out, empty: 0) { $0 | $1 }
        }
    }

    @inline(__always)
    private func combine(
        _ filters: [Filter], _ block: CachedBlock, _ entity: Catalog.StoredEntity,
        _ out: UnsafeMutablePointer<UInt8>, empty: UInt8, _ body: (UInt8, UInt8) -> UInt8
    ) throws(StoreError) {
        let rows = block.rows
        guard let first = filters.first else {
            out.update(repeating: empty, count: rows)
            return
        }
        try first.evaluate(block, entity, into: out)
        let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: rows)
        defer { scratch.deallocate() }
        for filter in filters.dropFirst() {
            try filter.evaluate(block, entity, into: scratch)
            for row in 0..<rows { out[row] = body(out[row], scratch[row]) }
        }
    }

    private func none(_ rows: Int, _ out: UnsafeMutablePointer<UInt8>) {
        out.update(repeating: 0, count: rows)
    }

    /// The loops are separate for each order so that none has a branch on it.
    @inline(__always)
    private func compare<T: Comparable>(
        _ rows: Int, _ cells: DecodedColumn, _ order: Order, _ value: T,
        into out: UnsafeMutablePointer<UInt8>, _ cell: (Int) -> T
    ) {
        switch order {
        case .equal: for row in 0..<rows { out[row] = cell(row) == value ? 1 : 0 }
        case .less: for row in 0..<rows { out[row] = cell(row) < value ? 1 : 0 }
        case .lessOrEqual: for row in 0..<rows { out[row] = cell(row) <= value ? 1 : 0 }
        case .greater: for row in 0..<rows { out[row] = cell(row) > value ? 1 : 0 }
        case .greaterOrEqual: for row in 0..<rows { out[row] = cell(row) >= value ? 1 : 0 }
        }
        if let nils = cells.nils {
            for row in 0..<rows { out[row] &= nils[row] ^ 1 }
        }
    }

    private func compareBytes(
        _ rows: Int, _ block: CachedBlock, _ cells: DecodedColumn, _ order: Order, _ value: [UInt8],
        into out: UnsafeMutablePointer<UInt8>
    ) throws(StoreError) {
        var failure: StoreError?
        value.withUnsafeBytes { value in
            if cells.dictionaryCount > 0 {
                // One comparison for each distinct value, then a look-up a row.
                let matches = (0..<cells.dictionaryCount).map { entry -> UInt8 in
                    order.holds(compareCells(cells.dictionaryEntry(entry), value)) ? 1 : 0
                }
                for row in 0..<rows { out[row] = matches[cells.code(at: row)] }
            } else {
                for row in 0..<rows {
                    if cells.isExternal(at: row) {
                        do throws(StoreError) {
                            let bytes = try block.large(cells.bytes(at: row))
                            out[row] =
                                bytes.withUnsafeBytes { order.holds(compareCells($0, value)) }
                                ? 1 : 0
                        } catch {
                            failure = error
                            return
                        }
                    } else {
                        out[row] = order.holds(compareCells(cells.cell(row), value)) ? 1 : 0
                    }
                }
            }
            if let nils = cells.nils {
                for row in 0..<rows { out[row] &= nils[row] ^ 1 }
            }
        }
        if let failure { throw failure }
    }
}

/// The order of two cells by their bytes: negative, zero or positive.
func compareCells(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let common = min(left.count, right.count)
    if common > 0, let a = left.baseAddress, let b = right.baseAddress {
        let order = cairn_compare(a, b, common)
        if order != 0 { return Int(order) }
    }
    return left.count - right.count
}

extension Filter.Order {
    func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
        switch self {
        case .equal: left == right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }

    /// Whether it holds for two things that compare so.
    func holds(_ comparison: Int) -> Bool { holds(comparison, 0) }
}

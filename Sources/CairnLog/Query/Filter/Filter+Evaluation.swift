// Evaluates a compiled filter on one block: a byte of 0 or 1 for each slot.
//
// Each comparison is one loop over one column; AND, OR and NOT combine whole selections. A column that the
// block does not have is nil in every row.
//
// Conditions across relationships or evaluated row by row are general: they are only evaluated on the rows of
// a mask, which are live and not yet decided by the conditions before them. The result is undefined for the
// other rows.

import CairnFormat
import CairnStore
import FoundationEssentials

/// A block, and the entity of its rows.
struct FilterPlace {
    let block: CachedBlock
    let stored: Catalog.StoredEntity
    /// The entity as an index of the catalog.
    let entity: Int

    /// The cells of a column by its index; nil if the block does not have it.
    @inline(__always)
    func cells(_ column: Int) throws(StoreError) -> DecodedColumn? {
        try block.column(stored.columns[column])
    }
}

extension Filter {
    /// Fills `out` with 1 for the slots that match.
    ///
    /// - Parameters:
    ///   - mask: 1 for the slots to evaluate; required if the condition is general, and if values have frames
    ///     of their own: those of dead rows may be gone.
    ///   - objects: required if the condition is general.
    func evaluate(
        _ place: FilterPlace, _ mask: UnsafePointer<UInt8>?, _ objects: StoredObjects?,
        into out: UnsafeMutablePointer<UInt8>
    ) throws(StoreError) {
        let block = place.block
        let rows = block.rows
        switch self {
        case .constant(let value): out.update(repeating: value ? 1 : 0, count: rows)
        case .isNull(let column):
            guard let cells = try place.cells(column) else {
                out.update(repeating: 1, count: rows)
                return
            }
            if let nils = cells.nils {
                out.update(from: nils, count: rows)
            } else {
                out.update(repeating: 0, count: rows)
            }
        case .integer(let column, let order, let value):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            FilterKernels.compare(cells, order, value, rows, into: out)
            dropNils(rows, cells, out)
        case .integers(let column, let set):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            select(rows, cells, into: out) {
                set.contains(UInt64(bitPattern: cells.integer(at: $0)))
            }
        case .double(let column, let order, let value):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            FilterKernels.compare(
                cells.values.assumingMemoryBound(to: Double.self), order, value, rows, into: out)
            dropNils(rows, cells, out)
        case .doubles(let column, let set):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            select(rows, cells, into: out) { set.contains(Self.bits(cells.double(at: $0))) }
        case .float(let column, let order, let value):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            FilterKernels.compare(
                cells.values.assumingMemoryBound(to: Float.self), order, value, rows, into: out)
            dropNils(rows, cells, out)
        case .bytes(let column, let order, let value):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            try selectBytes(block, cells, mask, into: out) { bytes in
                value.withUnsafeBytes { order.holds(compareCells(bytes, $0)) }
            }
        case .keys(let column, let set):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            try selectBytes(block, cells, mask, into: out) { set.contains($0) }
        case .text(let column, let test):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            try test.evaluate(cells, block, mask, into: out)
        case .decimal(let column, let order, let value):
            guard let cells = try place.cells(column) else { return none(rows, out) }
            try selectBytes(block, cells, mask, into: out) { bytes in
                DecimalCoding.decode(bytes).map { order.holds($0, value) } ?? false
            }
        case .columns(let left, let order, let right):
            try compareColumns(place, left, order, right, into: out)
        case .number(let wanted):
            let numbers = try block.numbers()
            for row in 0..<rows { out[row] = wanted.contains(numbers.number(row)) ? 1 : 0 }
        case .entity(let wanted):
            out.update(repeating: wanted.contains(place.entity) ? 1 : 0, count: rows)
        case .value, .row:
            // Even a column's values are only decoded for the masked rows.
            for row in 0..<rows {
                let isAsked = mask.map { $0[row] != 0 } ?? true
                out[row] = isAsked ? (try matches(place, row, objects) ? 1 : 0) : 0
            }
            try objects?.rethrow()
        case .through(let filter):
            let (mask, objects) = general(mask, objects)
            try filter.evaluate(place, mask, objects, into: out)
        case .members(let filter):
            let (mask, objects) = general(mask, objects)
            try filter.evaluate(place, mask, objects, into: out)
        case .not(let filter):
            try filter.evaluate(place, mask, objects, into: out)
            for row in 0..<rows { out[row] ^= 1 }
        case .and(let filters):
            try combine(filters, place, mask, objects, out, empty: 1) {
                $0 & $1
            } open: {
                $0
            }
        case .or(let filters):
            try combine(filters, place, mask, objects, out, empty: 0) {
                $0 | $1
            } open: {
                $0 ^ 1
            }
        }
    }

    private func general(_ mask: UnsafePointer<UInt8>?, _ objects: StoredObjects?)
        -> (UnsafePointer<UInt8>, StoredObjects)
    {
        guard let mask, let objects else {
            preconditionFailure("a general condition requires a mask and the objects")
        }
        return (mask, objects)
    }

    /// - Parameter open: 1 if the results so far do not decide a row.
    @inline(__always)
    private func combine(
        _ filters: [Filter], _ place: FilterPlace, _ mask: UnsafePointer<UInt8>?,
        _ objects: StoredObjects?, _ out: UnsafeMutablePointer<UInt8>, empty: UInt8,
        _ body: (UInt8, UInt8) -> UInt8, open: (UInt8) -> UInt8
    ) throws(StoreError) {
        let rows = place.block.rows
        guard let first = filters.first else {
            out.update(repeating: empty, count: rows)
            return
        }
        try first.evaluate(place, mask, objects, into: out)
        guard filters.count > 1 else { return }
        let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: rows * 2)
        let needed = scratch + rows
        defer { scratch.deallocate() }
        for filter in filters.dropFirst() {
            if let mask, filter.cost > 0 {
                var isNeeded: UInt8 = 0
                for row in 0..<rows {
                    needed[row] = mask[row] & open(out[row])
                    isNeeded |= needed[row]
                }
                if isNeeded == 0 { return }
                try filter.evaluate(place, needed, objects, into: scratch)
            } else {
                try filter.evaluate(place, mask, objects, into: scratch)
            }
            for row in 0..<rows { out[row] = body(out[row], scratch[row]) }
        }
    }

    private func none(_ rows: Int, _ out: UnsafeMutablePointer<UInt8>) {
        out.update(repeating: 0, count: rows)
    }

    /// The bits of a double, with a single zero.
    @inline(__always)
    static func bits(_ number: Double) -> UInt64 { number == 0 ? 0 : number.bitPattern }

    @inline(__always)
    private func select(
        _ rows: Int, _ cells: DecodedColumn, into out: UnsafeMutablePointer<UInt8>,
        _ holds: (Int) -> Bool
    ) {
        for row in 0..<rows { out[row] = holds(row) ? 1 : 0 }
        dropNils(rows, cells, out)
    }

    private func dropNils(
        _ rows: Int, _ cells: DecodedColumn, _ out: UnsafeMutablePointer<UInt8>
    ) {
        guard let nils = cells.nils else { return }
        for row in 0..<rows { out[row] &= nils[row] ^ 1 }
    }

    /// Tests the bytes of each row; with a dictionary, those of each distinct value.
    @inline(__always)
    private func selectBytes(
        _ block: CachedBlock, _ cells: DecodedColumn, _ mask: UnsafePointer<UInt8>?,
        into out: UnsafeMutablePointer<UInt8>, _ holds: (UnsafeRawBufferPointer) -> Bool
    ) throws(StoreError) {
        let rows = block.rows
        if cells.dictionaryCount > 0 {
            // One comparison for each distinct value, then a lookup per row.
            FilterKernels.select(cells, rows, into: out, holds)
        } else if cells.externals != nil {
            for row in 0..<rows {
                // The result for a nil row is undefined: it is cleared below.
                let isAsked = mask.map { $0[row] != 0 } ?? true
                out[row] = isAsked ? try block.withBytes(cells, row) { holds($0) } ? 1 : 0 : 0
            }
        } else {
            for row in 0..<rows { out[row] = holds(cells.cell(row)) ? 1 : 0 }
        }
        dropNils(rows, cells, out)
    }
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

    /// Whether the order holds for two operands with this comparison result.
    func holds(_ comparison: Int) -> Bool { holds(comparison, 0) }
}

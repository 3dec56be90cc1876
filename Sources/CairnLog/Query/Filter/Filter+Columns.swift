// Comparisons of two columns in one row, if both have the same kind.
//
// Both nil is equal; one of them nil is neither equal nor less.

import CairnFormat
import CairnStore

extension Filter {
    func compareColumns(
        _ place: FilterPlace, _ left: Int, _ order: Order, _ right: Int,
        into out: UnsafeMutablePointer<UInt8>
    ) throws(StoreError) {
        let rows = place.block.rows
        guard let a = try place.cells(left), let b = try place.cells(right) else {
            for row in 0..<rows {
                out[row] = try compareColumns(place, row, left, order, right) ? 1 : 0
            }
            return
        }
        switch a.kind {
        case .integer:
            for row in 0..<rows {
                out[row] = order.holds(a.integer(at: row), b.integer(at: row)) ? 1 : 0
            }
        case .double:
            for row in 0..<rows {
                out[row] = order.holds(a.double(at: row), b.double(at: row)) ? 1 : 0
            }
        case .float:
            for row in 0..<rows {
                out[row] = order.holds(a.float(at: row), b.float(at: row)) ? 1 : 0
            }
        default:
            for row in 0..<rows {
                out[row] = try compareColumns(place, row, left, order, right) ? 1 : 0
            }
            return
        }
        guard a.nils != nil || b.nils != nil else { return }
        let both: UInt8 = order == .equal ? 1 : 0
        for row in 0..<rows {
            let (isNil, isOtherNil) = (a.isNil(at: row), b.isNil(at: row))
            if isNil || isOtherNil { out[row] = isNil && isOtherNil ? both : 0 }
        }
    }

    /// Compares the columns of one row likewise.
    func compareColumns(
        _ place: FilterPlace, _ slot: Int, _ left: Int, _ order: Order, _ right: Int
    ) throws(StoreError) -> Bool {
        let (a, b) = (try place.cells(left), try place.cells(right))
        let isNil = a?.isNil(at: slot) ?? true
        let isOtherNil = b?.isNil(at: slot) ?? true
        guard let a, let b, !isNil, !isOtherNil else {
            return isNil && isOtherNil && order == .equal
        }
        switch a.kind {
        case .integer: return order.holds(a.integer(at: slot), b.integer(at: slot))
        case .double: return order.holds(a.double(at: slot), b.double(at: slot))
        case .float: return order.holds(a.float(at: slot), b.float(at: slot))
        default:
            if a.isExternal(at: slot) {
                let value = try place.block.large(a.cell(slot))
                return try place.block.withBytes(b, slot) { other in
                    value.withUnsafeBytes { order.holds(compareCells($0, other)) }
                }
            }
            return try place.block.withBytes(b, slot) {
                order.holds(compareCells(a.cell(slot), $0))
            }
        }
    }
}

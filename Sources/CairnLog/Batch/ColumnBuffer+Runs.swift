// Rows of a batch compared with as many consecutive stored rows: column by column instead of cell by cell.
//
// Invariants: there are `BatchProbes.group` rows from the first ones on, on both sides.
// Threads: as the column.

import CCairn
import CairnFormat
import CairnStore

extension ColumnBuffer {
    /// Which rows of a group differ from the stored ones: one bit per row, lowest bit first.
    ///
    /// - Parameter keepsUntouched: whether a cell that the row does not name has the stored value.
    func differing(
        _ row: Int, _ cells: UnsafePointer<CellColumn>, _ view: BlockView, _ slot: Int,
        keepsUntouched: Bool
    ) throws(StoreError) -> UInt32 {
        if isPlain(row, cells, slot) {
            switch kind {
            case .integer: return differingIntegers(row, cells, slot)
            case .double:
                let given = (values + row &* 8).assumingMemoryBound(to: UInt64.self)
                let stored = cells.pointee.values.unsafelyUnwrapped + slot &* 8
                return Self.differing {
                    given[$0] == stored.loadUnaligned(fromByteOffset: $0 &* 8, as: UInt64.self)
                }
            case .bytes: return differingBytes(row, cells, slot)
            case .float, .fixed16: break
            }
        }
        var differing: UInt32 = 0
        for place in 0..<BatchProbes.group {
            if keepsUntouched, states[row &+ place] == State.untouched { continue }
            if try !isEqual(row &+ place, cells, view, slot &+ place) { differing |= 1 &<< place }
        }
        return differing
    }

    /// Whether every cell on both sides has a value, stored inline.
    @inline(__always)
    private func isPlain(_ row: Int, _ cells: UnsafePointer<CellColumn>, _ slot: Int) -> Bool {
        func areAll(_ mark: UInt64, _ bytes: UnsafePointer<UInt8>) -> Bool {
            let bytes = UnsafeRawPointer(bytes)
            return bytes.loadUnaligned(as: UInt64.self) == mark
                && bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == mark
        }
        guard areAll(0x0101_0101_0101_0101, states + row), cells.pointee.externals == nil else {
            return false
        }
        guard let nils = cells.pointee.nils else { return true }
        return areAll(0, nils + slot)
    }

    /// A bit for each place at which a condition does not hold.
    @inline(__always)
    private static func differing(_ isEqual: (Int) -> Bool) -> UInt32 {
        var differing: UInt32 = 0
        for place in 0..<BatchProbes.group where !isEqual(place) { differing |= 1 &<< place }
        return differing
    }

    @inline(__always)
    private func differingIntegers(_ row: Int, _ cells: UnsafePointer<CellColumn>, _ slot: Int)
        -> UInt32
    {
        let given = (values + row &* 8).assumingMemoryBound(to: Int64.self)
        let base = cells.pointee.base
        let stored = cells.pointee.values.unsafelyUnwrapped + slot &* Int(cells.pointee.width)
        switch cells.pointee.width {
        case 8:
            return Self.differing {
                given[$0] == stored.loadUnaligned(fromByteOffset: $0 &* 8, as: Int64.self)
            }
        case 4:
            return Self.differing {
                given[$0] &- base
                    == Int64(stored.loadUnaligned(fromByteOffset: $0 &* 4, as: UInt32.self))
            }
        case 2:
            return Self.differing {
                given[$0] &- base
                    == Int64(stored.loadUnaligned(fromByteOffset: $0 &* 2, as: UInt16.self))
            }
        case 1:
            return Self.differing {
                given[$0] &- base == Int64(stored.load(fromByteOffset: $0, as: UInt8.self))
            }
        default: return Self.differing { given[$0] == base }
        }
    }

    @inline(__always)
    private func differingBytes(_ row: Int, _ cells: UnsafePointer<CellColumn>, _ slot: Int)
        -> UInt32
    {
        let starts = (values + row &* 4).assumingMemoryBound(to: UInt32.self)
        if cells.pointee.codes == nil, areSameRun(row, starts, cells, slot) { return 0 }
        return Self.differing {
            let stored = cells.pointee.bytes(slot &+ $0)
            guard stored.count == Int(lengths[row &+ $0]) else { return false }
            guard let base = stored.baseAddress else { return true }
            return cairn_equal(base, data + Int(starts[$0]), stored.count) != 0
        }
    }

    /// Whether the bytes are contiguous in the same way on both sides, and equal: then one call compares them
    /// all. False says nothing about the rows.
    @inline(__always)
    private func areSameRun(
        _ row: Int, _ starts: UnsafePointer<UInt32>, _ cells: UnsafePointer<CellColumn>, _ slot: Int
    ) -> Bool {
        let storedStarts = cells.pointee.starts.unsafelyUnwrapped + slot
        let storedEnds = cells.pointee.ends.unsafelyUnwrapped + slot
        let mask = cells.pointee.mask
        var difference: UInt32 = 0
        var length = 0
        for place in 0..<BatchProbes.group {
            let stored = storedEnds[place] &- (storedStarts[place] & mask)
            difference |= stored ^ lengths[row &+ place]
            difference |= (storedStarts[place] &- storedStarts[0]) ^ (starts[place] &- starts[0])
            length &+= Int(stored)
        }
        // Without gaps, and in this order.
        guard difference == 0,
            Int(starts[BatchProbes.group &- 1] &- starts[0])
                &+ Int(lengths[row &+ BatchProbes.group &- 1]) == length
        else { return false }
        return cairn_compare(
            cells.pointee.values.unsafelyUnwrapped + Int(storedStarts[0]), data + Int(starts[0]),
            length) == 0
    }
}

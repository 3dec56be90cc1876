// Prefetches the memory of cells: a row of a column block touches as many cache lines as it has columns, which can be
// fetched concurrently.

import CCairn
import CairnStore

extension CellColumn {
    /// Prefetches the memory of a cell, apart from its bytes.
    @inline(__always) func prefetch(_ row: Int) {
        if let nils { cairn_prefetch(nils + row) }
        if let codes { return cairn_prefetch(codes + row) }
        guard let starts else {
            if let values { cairn_prefetch(values + row &* Int(width)) }
            return
        }
        cairn_prefetch(starts + row)
    }

    /// Prefetches the bytes of a cell; of one with a dictionary, the start of its entry.
    @inline(__always) func prefetchBytes(_ row: Int) {
        guard let starts, let values else { return }
        if let codes { return cairn_prefetch(starts + Int(codes[row])) }
        let start = values + Int(starts[row])
        cairn_prefetch(start)
        // Most strings end in the next line at the latest.
        let length = Int(ends.unsafelyUnwrapped[row] &- (starts[row] & mask))
        if length > 1 { cairn_prefetch(start + min(length &- 1, 64)) }
    }

    /// Prefetches the bytes of a cell with a dictionary, which are not cached if few rows of many blocks are
    /// read.
    @inline(__always) func prefetchEntry(_ row: Int) {
        guard let codes, let starts, let values else { return }
        cairn_prefetch(values + Int(starts[Int(codes[row])]))
    }
}

extension UnsafeBufferPointer<CellColumn> {
    /// Prefetches the memory of the cells of some rows, apart from their bytes.
    @inline(__always) func prefetch(_ slots: UnsafeBufferPointer<UInt16>) {
        for column in self {
            for slot in slots { column.prefetch(Int(slot)) }
        }
    }

    /// Prefetches their bytes.
    @inline(__always) func prefetchBytes(_ slots: UnsafeBufferPointer<UInt16>) {
        for column in self where column.kind == .bytes {
            for slot in slots { column.prefetchBytes(Int(slot)) }
        }
    }
}

// The part of a batch update that is done column by column for the rows of a block.

import CairnFormat
import CairnModel
import CairnStore

extension UpdateTarget {
    /// Whether an update of a row only sets values, and these can be computed for whole columns.
    func isPlain(_ plan: BatchUpdatePlan) -> Bool {
        constraints.isEmpty && references.isEmpty && !derives && !isWatched && !movesInIndexes
            && zip(plan.assignments, kernels).allSatisfy { assignment, kernel in
                if case .constant = assignment.content { true } else { kernel != nil }
            }
    }

    /// Whether a block is best rewritten as it is, except for the updated columns, if this many of its rows
    /// change: at least an eighth of the live ones. If half of its rows have died, they move to other blocks
    /// instead.
    func keepsTogether(
        _ block: CachedBlock, _ entry: BlockEntry, _ catalog: Catalog, changes count: Int
    ) -> Bool {
        entry.level == .full && Int(entry.rows) == block.rows
            && block.head.schemaVersion == catalog.version && !derives && !movesInIndexes
            && count * 8 >= Int(entry.live) && Int(entry.live) * 2 > block.rows
    }

    /// Whether enough rows of a block change to rewrite all of it, if the updated columns are too much of it
    /// for a patch: three quarters.
    static func isWorthABlock(_ count: Int, of rows: Int) -> Bool { count * 4 >= rows * 3 }

    /// Whether the columns are more than half of a block's size, so that it is unlikely to become a patch.
    func areMost(of block: CachedBlock) -> Bool {
        let ids = Set(columns.map { stored.columns[$0].propertyID })
        var (updated, all) = (0, 0)
        for column in block.head.columns {
            all += column.storedLength
            if ids.contains(column.propertyID) { updated += column.storedLength }
        }
        return updated * 2 > all
    }

    /// Fills the gathered rows with the values that all rows of a block will have in the columns: the new
    /// value if a row changes, else the stored one. Returns false if that must be done row by row, because of
    /// values in frames of their own.
    ///
    /// - Parameters:
    ///   - view: with the updated columns first.
    ///   - slots: the affected rows.
    ///   - changed: those of them that change, by their places.
    func spread(
        _ rows: Int, _ view: BlockView, _ slots: UnsafeBufferPointer<UInt16>,
        _ changed: UnsafeBufferPointer<UInt16>
    ) throws(StoreError) -> Bool {
        let spread = gathered.batch
        for (place, column) in columns.enumerated() {
            let cells = view.cells + place
            if cells.pointee.externals != nil { return false }
            spread.columns[column].reset(rows: rows, capacity: ColumnBatch.capacity)
            for slot in 0..<rows {
                try spread.columns[column].copyCell(
                    from: cells.pointee, view, slot, to: slot, isWhole: false)
            }
            let new = UnsafePointer(values.columns.baseAddress.unsafelyUnwrapped + column)
            for row in changed {
                spread.columns[column].copyCell(
                    of: new, from: Int(row), to: Int(slots[Int(row)]))
            }
        }
        return true
    }

    /// Calculates the new values of the rows in some slots. Returns false if they must be evaluated object by
    /// object.
    func calculate(_ block: CachedBlock, _ slots: UnsafeBufferPointer<UInt16>) throws(StoreError)
        -> Bool
    {
        for (place, column) in columns.enumerated() {
            // A column without a kernel is set to a constant.
            guard let kernel = kernels[place] else { continue }
            clear(column, rows: slots.count)
            guard try kernel.calculate(block, stored, slots, into: &values.columns[column]) else {
                return false
            }
        }
        return true
    }

    /// Lists the rows whose new values differ from the stored ones. Returns their number.
    ///
    /// - Parameters:
    ///   - view: with the updated columns first.
    ///   - slots: where the rows are.
    ///   - rows: room for one entry per slot.
    func changes(
        _ view: BlockView, _ slots: UnsafeBufferPointer<UInt16>,
        into rows: UnsafeMutablePointer<UInt16>
    ) throws(StoreError) -> Int {
        if columns.count == 1, let count = wordsThatChange(view, slots, into: rows) { return count }
        var count = 0
        for row in 0..<slots.count {
            let slot = Int(slots[row])
            for (place, column) in columns.enumerated()
            where try !values.columns[column].isEqual(row, view.cells + place, view, slot) {
                rows[count] = UInt16(truncatingIfNeeded: row)
                count &+= 1
                break
            }
        }
        return count
    }

    /// The same for a single column of doubles or integers in which every row has a value, before and after;
    /// nil for others.
    private func wordsThatChange(
        _ view: BlockView, _ slots: UnsafeBufferPointer<UInt16>,
        into rows: UnsafeMutablePointer<UInt16>
    ) -> Int? {
        let (cells, new) = (view.cells.pointee, values.columns[columns[0]])
        guard cells.nils == nil, let stored = cells.values else { return nil }
        let set = ColumnBuffer.State.set
        var isFull = true
        for row in 0..<slots.count { isFull = isFull && new.states[row] == set }
        guard isFull else { return nil }
        var count = 0
        switch cells.kind {
        case .double:
            for row in 0..<slots.count {
                let old = stored.load(fromByteOffset: Int(slots[row]) &* 8, as: UInt64.self)
                let word = new.values.load(fromByteOffset: row &* 8, as: UInt64.self)
                rows[count] = UInt16(truncatingIfNeeded: row)
                count &+= word != old ? 1 : 0
            }
        case .integer:
            for row in 0..<slots.count {
                let old = cells.integer(Int(slots[row]))
                let word = new.values.load(fromByteOffset: row &* 8, as: Int64.self)
                rows[count] = UInt16(truncatingIfNeeded: row)
                count &+= word != old ? 1 : 0
            }
        case .float, .bytes, .fixed16: return nil
        }
        return count
    }
}

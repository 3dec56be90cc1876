// Compares two tables that share most of their pages.
//
// The tables are compared from the roots down, in parallel: a page that both share is equal. A table may be
// higher than the other, which then counts as its first part.
//
// Threads: any; both tables belong to states that are pinned.

extension PagedTable where Record == UInt64 {
    /// Calls a closure with each index, ascending, whose cell differs between both tables, and with the
    /// cells.
    static func eachDifference(
        _ old: PagedTable, _ new: PagedTable, _ body: (UInt32, UInt64, UInt64) -> Void
    ) {
        let (old, new) = (old.top, new.top)
        compare(old.root, old.shift, new.root, new.shift, 0, body)
    }

    private static func compare(
        _ old: Page, _ oldShift: Int, _ new: Page, _ newShift: Int, _ start: Int,
        _ body: (UInt32, UInt64, UInt64) -> Void
    ) {
        if old.isNone && new.isNone { return }
        // An empty table has the height of the other.
        let oldShift = old.isNone ? newShift : oldShift
        let newShift = new.isNone ? oldShift : newShift
        if old.address == new.address, oldShift == newShift { return }
        let shift = max(oldShift, newShift)
        if shift == 0 { return compareLeaves(old, new, start, body) }
        for slot in 0..<512 {
            let (before, beforeShift) = part(of: old, oldShift, slot, shift)
            let (after, afterShift) = part(of: new, newShift, slot, shift)
            if before.address == after.address, beforeShift == afterShift || before.isNone {
                continue
            }
            compare(before, beforeShift, after, afterShift, start + slot &<< shift, body)
        }
    }

    /// The part of a table under a slot of a page of some height. A lower table counts as the first part of a
    /// higher one.
    private static func part(of page: Page, _ height: Int, _ slot: Int, _ shift: Int)
        -> (page: Page, shift: Int)
    {
        if page.isNone { return (.none, 0) }
        if height == shift { return (child(page, slot), below(shift)) }
        return slot == 0 ? (page, height) : (.none, 0)
    }

    private static func compareLeaves(
        _ old: Page, _ new: Page, _ start: Int, _ body: (UInt32, UInt64, UInt64) -> Void
    ) {
        let (old, new) = (loaded(old), loaded(new))
        if old.address == new.address { return }
        for index in 0..<512 {
            let before = old.isNone ? 0 : cell(index, of: old)
            let after = new.isNone ? 0 : cell(index, of: new)
            if before != after { body(UInt32(truncatingIfNeeded: start + index), before, after) }
        }
    }
}

// What a batch reports about its rows: their outcomes, those without a key, and those for the same object.

import CairnStore

extension BatchInserter {
    mutating func touch(_ number: UInt32, _ row: Int) {
        lastNumber = number
        // The same row may come here again when the open block is written.
        guard tracks, touchedRow != firstRow + row else { return }
        touchedRow = firstRow + row
        if request.reportsRepeats, touched.contains(number) { noteRepeats(1, from: row) }
        touched.insert(number)
    }

    /// Counts rows about objects of earlier rows; one bit per row, beginning at a row.
    mutating func noteRepeats(_ bits: UInt64, from row: Int) {
        if bits == 0 { return }
        result.repeatedCount += bits.nonzeroBitCount
        var rest = bits
        // In a group, the unchanged rows are noted first. The first ten in order are picked at the end.
        while rest != 0, result.repeatedRows.count < 10 + BatchProbes.group {
            result.repeatedRows.append(firstRow + row + rest.trailingZeroBitCount)
            rest &= rest &- 1
        }
    }

    /// Whether a row without a key is left out. Counts it in any case.
    @inline(never)
    mutating func leavesOut(keyless row: Int) -> Bool {
        result.keylessCount += 1
        if result.keylessRows.count < 10 { result.keylessRows.append(firstRow + row) }
        switch request.missingKey {
        case .insert: return false
        case .fail:
            lastNumber = 0
            if keylessRows.count < 100 { keylessRows.append(firstRow + row) }
            return true
        case .skip:
            skipRow()
            return true
        }
    }

    /// Leaves out a row, and ignores its relationships.
    mutating func skipRow() {
        lastNumber = 0
        result.skippedCount += 1
        note(.skipped, nil)
    }

    /// Leaves out a row because all rows about its object together equal what is stored.
    mutating func leaveOut() {
        lastNumber = 0
        result.unchangedCount += 1
        note(.unchanged, nil)
    }

    mutating func note(_ outcome: BatchRowOutcome, _ number: UInt32?) {
        if request.reportsOutcomes { result.outcomes.append(outcome) }
        if let number { listID(number) }
    }
}

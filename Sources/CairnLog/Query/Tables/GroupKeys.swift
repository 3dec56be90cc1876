// Assigns numbers to rows by their values in some columns: equal rows get the same number.
//
// Each key numbers its values, and with more than one key, pairs of numbers are numbered again. No cell
// becomes a value.
//
// Threads: one reading; hashing changes nothing.

import CairnFormat
import CairnModel
import CairnStore

/// The keys of groups, or the columns of distinct rows.
final class GroupKeys {
    let columns: [GroupColumn]
    /// For each key after the first: the pairs of a group of the preceding keys and a value of this key.
    private let pairs: [WordNumbers]
    private let next: UnsafeMutablePointer<UInt32>

    init(_ keys: [ExpressionNode], _ plan: TablePlan, _ objects: StoredObjects)
        throws(PredicateFormatError)
    {
        var columns: [GroupColumn] = []
        for key in keys { columns.append(try GroupColumn(key, plan, objects)) }
        self.columns = columns
        pairs = columns.dropFirst().map { _ in WordNumbers() }
        next = .allocate(capacity: FormatLimits.maximumRows)
    }

    deinit { next.deallocate() }

    /// The largest group number so far, plus one.
    var most: Int { (pairs.last?.words.count ?? columns.first?.most ?? 0) + 1 }

    /// Reserves capacity for `groups` groups.
    func reserve(_ groups: Int) {
        if let last = pairs.last { last.reserve(groups) } else { columns.first?.reserve(groups) }
    }

    /// Numbers the rows in some slots of a block; without keys, all numbers are 0.
    ///
    /// - Parameter hashes: the hashes of each row's keys, if they are known.
    func number(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        into groups: UnsafeMutablePointer<UInt32>, _ objects: StoredObjects,
        hashes: UnsafePointer<UInt64>? = nil
    ) throws(StoreError) {
        guard let first = columns.first else {
            groups.update(repeating: 0, count: slots.count)
            return
        }
        try first.number(
            block, of: entity, slots, into: groups, objects,
            hashes: columns.count == 1 ? hashes : nil)
        for index in 1..<max(1, columns.count) {
            try columns[index].number(block, of: entity, slots, into: next, objects)
            let pairs = pairs[index - 1]
            for row in slots.indices {
                groups[row] = pairs.number(of: UInt64(groups[row]) << 32 | UInt64(next[row]))
            }
        }
    }

    /// Returns the value number of each key for each of some groups. There must be at least two keys.
    func parts(of groups: [UInt32]) -> [[UInt32]] {
        var parts = columns.map { _ in [UInt32](repeating: 0, count: groups.count) }
        for (index, group) in groups.enumerated() {
            var group = group
            for key in stride(from: columns.count - 1, to: 0, by: -1) {
                let pair = pairs[key - 1].words[Int(group) - 1]
                parts[key][index] = UInt32(truncatingIfNeeded: pair)
                group = UInt32(truncatingIfNeeded: pair >> 32)
            }
            parts[0][index] = group
        }
        return parts
    }
}

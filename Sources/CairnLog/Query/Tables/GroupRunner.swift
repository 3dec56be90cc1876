// Groups the objects that match, and computes the aggregates of each group.
//
//   1. Block by block: the keys number the rows (`GroupKeys`), and each figure processes the rows with their
//      group numbers. No cell becomes a value.
//   2. Groups that HAVING excludes by their number of rows are skipped. Keys and figures become values only
//      for the other groups.
//
// If only groups with more rows than nearly all groups have are wanted, `GroupSifting` selects the rows.
//
// Threads: one reading; hashing changes nothing.

import CCairn
import CairnFormat
import CairnModel
import CairnStore

final class GroupRunner {
    private let plan: TablePlan
    private let objects: StoredObjects
    private let numbering: GroupKeys
    private let figures: [GroupFigure]
    private var counts = GroupBuffer(0)
    /// The number of rows.
    private var rows = 0
    private let groups: UnsafeMutablePointer<UInt32>

    init(_ plan: TablePlan, _ objects: StoredObjects) throws(PredicateFormatError) {
        self.plan = plan
        self.objects = objects
        numbering = try GroupKeys(plan.keys, plan, objects)
        var figures: [GroupFigure] = []
        for aggregate in plan.aggregates {
            figures.append(try GroupFigure(aggregate, plan, objects.catalog))
        }
        self.figures = figures
        groups = .allocate(capacity: FormatLimits.maximumRows)
    }

    deinit { groups.deallocate() }

    private var keys: [GroupColumn] { numbering.columns }
    /// The largest group number so far, plus one.
    private var most: Int { numbering.most }

    // MARK: Hashing

    /// Whether most rows so far are groups of their own that will not be wanted, and there were enough rows
    /// to tell.
    var isScattered: Bool {
        plan.rowsWanted.lowerBound > 1 && rows >= 32_768 && most > rows / 4 * 3
            && keys.allSatisfy(\.hasHashes)
    }

    /// Whether the groups of several instances can be merged (`absorb`), and so be computed by several
    /// threads: then `objects` is only used for its catalog.
    var canBeParts: Bool { keys.count == 1 && figures.allSatisfy { !$0.asksObjects } }

    /// Hashes the keys of the rows in some slots of a block; false if they cannot be hashed.
    func hash(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        into hashes: UnsafeMutablePointer<UInt64>
    ) throws(StoreError) -> Bool {
        hashes.update(repeating: 0, count: slots.count)
        for key in keys {
            guard try key.hash(block, of: entity, slots, into: hashes, objects) else {
                return false
            }
        }
        return true
    }

    // MARK: Taking

    /// Reserves capacity for `groups` groups.
    func reserve(_ groups: Int) {
        numbering.reserve(groups)
        counts.reserve(groups + 1)
    }

    /// Processes the rows in some slots of a block.
    ///
    /// - Parameter hashes: the hashes of each row's keys, if they are known.
    func take(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        hashes: UnsafePointer<UInt64>? = nil
    ) throws(StoreError) {
        rows += slots.count
        try numbering.number(block, of: entity, slots, into: groups, objects, hashes: hashes)
        counts.reserve(most)
        let counts = counts.values
        for row in slots.indices { counts[Int(groups[row])] &+= 1 }
        for figure in figures {
            try figure.take(block, of: entity, slots, groups, below: most, objects)
        }
    }

    /// Merges the wanted groups of another instance, none of which exist here; no rows can be processed after
    /// that.
    func absorb(_ other: GroupRunner) {
        for group in other.wanted() {
            let number = keys[0].append(group, of: other.keys[0])
            counts.reserve(most)
            counts.values[Int(number)] = other.counts.values[Int(group)]
            for (figure, its) in zip(figures, other.figures) {
                figure.reserve(most)
                figure.take(Int(number), from: its, Int(group))
            }
        }
    }

    // MARK: Rows

    /// Returns the groups that have a wanted number of rows.
    private func wanted() -> [UInt32] {
        let bounds = plan.rowsWanted
        counts.reserve(most)
        for figure in figures { figure.reserve(most) }
        var wanted: [UInt32] = []
        for group in 0..<most {
            let count = counts.values[group]
            // Without keys there is always one group, of all rows.
            if count > 0 || keys.isEmpty, bounds.contains(count) { wanted.append(UInt32(group)) }
        }
        return wanted
    }

    /// Returns the rows of the table: one for each wanted group, in order, within offset and limit.
    func rows(offset: Int, limit: Int?) throws(PredicateFormatError) -> [[Value]] {
        let bounds = plan.rowsWanted
        let keys = self.keys
        var (groups, parts) = inOrder(wanted())
        // Bounds cannot express a condition that no group meets: the minimum is at least 1 then, and HAVING
        // decides.
        let asksHaving = !plan.asksRowsAlone || bounds.lowerBound == bounds.upperBound
        var answer = try GroupRows(plan, asksHaving: asksHaving, inOrder: true)
        // If nothing else excludes or reorders groups, offset and limit apply before values are created.
        let isFinal = plan.sort.isEmpty && !plan.isDistinct && (!asksHaving || plan.having == nil)
        if isFinal {
            let rest = groups.indices.dropFirst(max(0, offset))
            let range = limit.map { rest.prefix(max(0, $0)) } ?? rest
            groups = Array(groups[range])
            parts = parts.map { Array($0[range]) }
        }
        answer.reserve(groups.count)
        for (index, group) in groups.enumerated() {
            // Values are stored in the order of their rows, which is not the order of the groups.
            let (ahead, further) = (index + 8, index + 16)
            if further < groups.count {
                cairn_prefetch(counts.values + Int(groups[ahead]))
                for key in keys.indices {
                    keys[key].prefetchPlace(parts[key][further])
                    keys[key].prefetch(parts[key][ahead])
                }
            }
            let rows = counts.values[Int(group)]
            answer.add { key in
                keys[key].value(parts[key][index])
            } figure: { figure in
                figures[figure].value(of: Int(group), rows: rows)
            }
        }
        return isFinal
            ? answer.rows.values : plan.arranged(answer.rows, offset, limit, inOrder: true)
    }

    /// Returns groups in the order of their keys, and the value number of each key for each group.
    private func inOrder(_ wanted: [UInt32]) -> (groups: [UInt32], parts: [[UInt32]]) {
        if keys.isEmpty { return (wanted, []) }
        if keys.count == 1 {
            var groups = wanted
            keys[0].sort(&groups)
            return (groups, [groups])
        }
        let parts = numbering.parts(of: wanted)
        // By the last key first; each sort is stable.
        var order = Array(wanted.indices)
        for (key, part) in zip(keys, parts).reversed() { order = key.sorted(order, by: part) }
        return (order.map { wanted[$0] }, parts.map { part in order.map { part[$0] } })
    }
}

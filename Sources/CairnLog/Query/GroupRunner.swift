// Groups the objects that match, and makes the figures of each group.
//
//   1. Block by block: each key numbers the values of the rows, pairs of numbers are numbered again for more than one key,
//      and each figure takes the rows with the numbers of their groups. No value is made of a cell.
//   2. Groups that a condition on the number of rows forbids are passed over. Only of the rest are keys and figures made
//      into values.
//
// Threads: one reading.

import CairnFormat
import CairnModel
import CairnStore

struct GroupRunner: ~Copyable {
    private let plan: TablePlan
    private let objects: StoredObjects
    private let keys: [GroupColumn]
    /// For each key after the first: the pairs of a group of those before it with a value of it.
    private let pairs: [WordNumbers]
    private let figures: [GroupFigure]
    private var counts = GroupBuffer(0)
    private let groups: UnsafeMutablePointer<UInt32>
    private let next: UnsafeMutablePointer<UInt32>

    init(_ plan: TablePlan, _ objects: StoredObjects) throws(PredicateFormatError) {
        self.plan = plan
        self.objects = objects
        var keys: [GroupColumn] = []
        for key in plan.keys { keys.append(try GroupColumn(key, plan, objects)) }
        var figures: [GroupFigure] = []
        for aggregate in plan.aggregates {
            figures.append(try GroupFigure(aggregate, plan, objects.catalog))
        }
        self.keys = keys
        self.figures = figures
        pairs = keys.dropFirst().map { _ in WordNumbers() }
        groups = .allocate(capacity: FormatLimits.maximumRows)
        next = .allocate(capacity: FormatLimits.maximumRows)
    }

    deinit {
        groups.deallocate()
        next.deallocate()
    }

    /// The most that the number of a group can be by now, and one.
    private var most: Int { (pairs.last?.words.count ?? keys.first?.most ?? 0) + 1 }

    /// Takes the rows in some slots of a block.
    mutating func take(_ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>)
        throws(StoreError)
    {
        if let first = keys.first {
            try first.number(block, of: entity, slots, into: groups, objects)
            for index in 1..<max(1, keys.count) {
                try keys[index].number(block, of: entity, slots, into: next, objects)
                let pairs = pairs[index - 1]
                for row in slots.indices {
                    groups[row] = pairs.number(of: UInt64(groups[row]) << 32 | UInt64(next[row]))
                }
            }
        } else {
            groups.update(repeating: 0, count: slots.count)
        }
        counts.reserve(most)
        let counts = counts.values
        for row in slots.indices { counts[Int(groups[row])] &+= 1 }
        for figure in figures {
            try figure.take(block, of: entity, slots, groups, below: most, objects)
        }
    }

    /// The rows of the groups that are wanted, in no order.
    mutating func rows() throws(PredicateFormatError) -> [TablePlan.Row] {
        let bounds = plan.rowsWanted
        // A bound of no group at all is none: the least is at least 1 then, and the condition says the rest.
        var answer = try GroupRows(
            plan, asksHaving: !plan.asksRowsAlone || bounds.lowerBound == bounds.upperBound)
        counts.reserve(most)
        for figure in figures { figure.reserve(most) }
        for group in 0..<most {
            let count = counts.values[group]
            // Without keys there is always the group of all.
            guard count > 0 || keys.isEmpty, bounds.contains(count) else { continue }
            answer.add(
                key: key(UInt32(group)),
                figures: figures.map { $0.value(of: group, rows: count) })
        }
        return answer.rows
    }

    private func key(_ group: UInt32) -> [Value] {
        guard !keys.isEmpty else { return [] }
        var key = [Value](repeating: .null, count: keys.count)
        var group = group
        for index in stride(from: keys.count - 1, to: 0, by: -1) {
            let pair = pairs[index - 1].words[Int(group) - 1]
            key[index] = keys[index].value(UInt32(truncatingIfNeeded: pair))
            group = UInt32(truncatingIfNeeded: pair >> 32)
        }
        key[0] = keys[0].value(group)
        return key
    }
}

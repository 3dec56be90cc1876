// Groups the objects that match, and makes the figures of each group.
//
//   1. If only groups of more rows are wanted than nearly all have, the rows go through a sieve first.
//   2. Block by block: each key numbers the values of the rows, pairs of numbers are numbered again for more than one key,
//      and each figure takes the rows with the numbers of their groups. No value is made of a cell.
//   3. Groups that a condition on the number of rows forbids are passed over. Only of the rest are keys and figures made
//      into values.
//
// Threads: one reading.

import CCairn
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
    /// How many rows there were.
    private var rows = 0
    private let sieve: GroupSieve?
    private let groups: UnsafeMutablePointer<UInt32>
    private let next: UnsafeMutablePointer<UInt32>

    /// - Parameter sieve: what knows the keys of all rows, if single ones are not wanted.
    init(_ plan: TablePlan, _ objects: StoredObjects, _ sieve: GroupSieve? = nil)
        throws(PredicateFormatError)
    {
        self.plan = plan
        self.sieve = sieve
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

    // MARK: Sieving

    /// Whether most rows so far are groups of their own that will not be wanted, and there were enough of them to tell.
    var isScattered: Bool {
        sieve == nil && plan.rowsWanted.lowerBound > 1 && rows >= 32_768 && most > rows / 4 * 3
            && keys.allSatisfy(\.hasHashes)
    }

    /// Notes the keys of the rows in some slots of a block; false if they cannot be hashed.
    func note(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        in sieve: GroupSieve
    ) throws(StoreError) -> Bool {
        guard try hash(block, of: entity, slots, in: sieve) else { return false }
        sieve.note(slots.count)
        return true
    }

    private func hash(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        in sieve: GroupSieve
    ) throws(StoreError) -> Bool {
        sieve.hashes.update(repeating: 0, count: slots.count)
        for key in keys {
            guard try key.hash(block, of: entity, slots, into: sieve.hashes, objects) else {
                return false
            }
        }
        return true
    }

    // MARK: Taking

    /// Takes the rows in some slots of a block, which are its own to change.
    mutating func take(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeMutableBufferPointer<UInt16>
    ) throws(StoreError) {
        rows += slots.count
        var kept = slots.count
        if let sieve {
            guard try hash(block, of: entity, UnsafeBufferPointer(slots), in: sieve) else {
                preconditionFailure("the keys were hashed before")
            }
            kept = sieve.reduce(slots)
        }
        try number(block, of: entity, UnsafeBufferPointer(rebasing: slots[..<kept]))
    }

    private mutating func number(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>
    ) throws(StoreError) {
        if let first = keys.first {
            try first.number(
                block, of: entity, slots, into: groups, objects,
                hashes: keys.count == 1 ? sieve.map { UnsafePointer($0.hashes) } : nil)
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

    // MARK: Rows

    /// The rows of the table: one for each group that is wanted, in order, within offset and limit.
    mutating func rows(offset: Int, limit: Int?) throws(PredicateFormatError) -> [[Value]] {
        let bounds = plan.rowsWanted
        counts.reserve(most)
        for figure in figures { figure.reserve(most) }
        var wanted: [UInt32] = []
        for group in 0..<most {
            let count = counts.values[group]
            // Without keys there is always the group of all.
            if count > 0 || keys.isEmpty, bounds.contains(count) { wanted.append(UInt32(group)) }
        }
        var (groups, parts) = inOrder(wanted)
        // A bound of no group at all is none: the least is at least 1 then, and the condition says the rest.
        let asksHaving = !plan.asksRowsAlone || bounds.lowerBound == bounds.upperBound
        var answer = try GroupRows(plan, asksHaving: asksHaving, inOrder: true)
        // Groups that nothing else leaves out or moves are cut before anything is made of them.
        let isFinal = plan.sort.isEmpty && !plan.isDistinct && (!asksHaving || plan.having == nil)
        if isFinal {
            let rest = groups.indices.dropFirst(max(0, offset))
            let range = limit.map { rest.prefix(max(0, $0)) } ?? rest
            groups = Array(groups[range])
            parts = parts.map { Array($0[range]) }
        }
        answer.reserve(groups.count)
        for (index, group) in groups.enumerated() {
            // Values lie as their rows came, which is not the order of the groups.
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

    /// Groups in the order of their keys, and the number of the value of each key of each.
    private func inOrder(_ wanted: [UInt32]) -> (groups: [UInt32], parts: [[UInt32]]) {
        if keys.isEmpty { return (wanted, []) }
        if keys.count == 1 {
            var groups = wanted
            keys[0].sort(&groups)
            return (groups, [groups])
        }
        var parts = keys.map { _ in [UInt32](repeating: 0, count: wanted.count) }
        for (index, group) in wanted.enumerated() {
            var group = group
            for key in stride(from: keys.count - 1, to: 0, by: -1) {
                let pair = pairs[key - 1].words[Int(group) - 1]
                parts[key][index] = UInt32(truncatingIfNeeded: pair)
                group = UInt32(truncatingIfNeeded: pair >> 32)
            }
            parts[0][index] = group
        }
        // By the last key first, and each time what is equal stays as it is.
        var order = Array(wanted.indices)
        for (key, part) in zip(keys, parts).reversed() { order = key.sorted(order, by: part) }
        return (order.map { wanted[$0] }, parts.map { part in order.map { part[$0] } })
    }
}

// Groups by the leading elements of an ordered index, from the index alone.
//
// Entries of one group are adjacent, and each stores how many bytes it shares with the previous one: if these
// include the whole key of the group, it is counted without reading its bytes. The keys of wanted groups are
// decoded from the index, too, so no block is read.
//
// Only the number of rows of a group can be computed. Truncated keys do not distinguish groups: then the rows
// are read.
//
// Threads: one reading.

import CCairn
import CairnModel
import CairnStore

struct IndexGroups {
    private let plan: TablePlan
    private let identity: StoreIdentity
    private let planner: QueryPlanner
    private let path: IndexPath
    private let parts: [Catalog.IndexPart]
    /// For each group key, the index element, and the type of its values.
    private let keys: [(element: Int, kind: SchemaColumn.Kind)]
    private let order: Order

    /// The order of the groups in the index.
    private enum Order: Int {
        case byKeys, byKeysBackward, other
    }

    /// - Returns: nil if no index contains everything that the table needs, or none in a way that pays off.
    init?(_ plan: TablePlan, _ fetch: StoreFetch, _ state: EngineState, _ identity: StoreIdentity) {
        guard !plan.keys.isEmpty, QueryPlanner.hasIndexes(state.catalog, fetch.entity) else {
            return nil
        }
        var columns: [Int] = []
        for key in plan.keys {
            guard let column = Self.column(key, plan) else { return nil }
            columns.append(column)
        }
        for aggregate in plan.aggregates {
            guard aggregate.function == .count else { return nil }
            guard let argument = aggregate.argument else { continue }
            guard let column = Self.column(argument, plan), columns.contains(column) else {
                return nil
            }
        }
        let planner = QueryPlanner.planner(fetch, state, identity)
        // All columns needed, and no others except those that are equal everywhere.
        func width(_ definition: Catalog.FetchIndexDefinition, _ fixed: Int) -> Int? {
            let all = definition.parts.map(\.column)
            guard let last = all.lastIndex(where: columns.contains),
                columns.allSatisfy(all.contains),
                definition.parts[...last].allSatisfy({ $0.kind != .decimal }),
                all[...last].dropFirst(fixed).allSatisfy(columns.contains)
            else { return nil }
            return last + 1
        }
        // An index in the order of the keys is preferred, then the one with the shortest entries: all have
        // one entry for each match.
        var best: IndexGroups?
        var least = (0, 0)
        for path in planner.wholePaths {
            let definition = planner.definition(path)
            let fixed = planner.outline.ways[path.way].equal.count
            guard let width = width(definition, fixed) else { continue }
            let groups = IndexGroups(
                plan, identity, planner, path, Array(definition.parts[..<width]), columns, fixed)
            let rank = (groups.order.rawValue, definition.parts.count)
            if best != nil, rank >= least { continue }
            (best, least) = (groups, rank)
        }
        guard let best else { return nil }
        // Sorting the result rows of groups takes longer than sorting the keys of a scan's groups.
        if best.order == .other, plan.rowsWanted.lowerBound <= 1, best.path.count > Self.fewRows {
            return nil
        }
        self = best
    }

    private init(
        _ plan: TablePlan, _ identity: StoreIdentity, _ planner: QueryPlanner, _ path: IndexPath,
        _ parts: [Catalog.IndexPart], _ columns: [Int], _ fixed: Int
    ) {
        self.plan = plan
        self.identity = identity
        self.planner = planner
        self.path = path
        self.parts = parts
        keys = columns.map { column in
            (parts.firstIndex { $0.column == column } ?? 0, plan.entity.columns[column].kind)
        }
        let free = keys.map(\.element).filter { $0 >= fixed }
        if free != free.sorted() {
            order = .other
        } else if free.allSatisfy({ parts[$0].isAscending }) {
            order = .byKeys
        } else {
            order = free.contains { parts[$0].isAscending } ? .other : .byKeysBackward
        }
    }

    /// The number of rows whose groups may be sorted, even if each row is a group.
    private static let fewRows = 10_000

    private static func column(_ key: ExpressionNode, _ plan: TablePlan) -> Int? {
        guard case .keyPath(let path) = key else { return nil }
        return plan.entity.columnIndex(named: path)
    }

    /// The name of the path in a query plan.
    var name: String {
        var name = PlanName([planner.name(path)], isOrdered: true)
        name.isCovering = true
        return name.text
    }

    /// The number of entries that it counts.
    var entries: Int { path.count }

    // MARK: Going through

    /// The group being counted.
    private struct Group: ~Copyable {
        /// Its first entry.
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: OrderedLeaf.longestEntry, alignment: 8)
        /// The number of bytes of the entry that are the key of the group.
        var length = 0
        var rows = 0

        deinit { bytes.deallocate() }
    }

    /// Returns the rows of the table, within offset and limit; nil if keys are truncated.
    ///
    /// - Parameter goesOn: called for each leaf; once it returns false, the result contains the rows so far.
    func rows(offset: Int, limit: Int?, while goesOn: () -> Bool) throws(PredicateFormatError)
        -> [[Value]]?
    {
        let wanted = plan.rowsWanted
        let asksHaving = !plan.asksRowsAlone || wanted.lowerBound == wanted.upperBound
        var answer = try GroupRows(plan, asksHaving: asksHaving, inOrder: order != .other)
        // If nothing else excludes or reorders groups, the search can end after the last wanted group.
        var most = Int.max
        if order == .byKeys, plan.sort.isEmpty, !plan.isDistinct, let limit {
            let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(max(0, offset))
            if !isTooMuch { most = sum }
        }
        var group = Group()
        var isCut = false
        planner.forEachLeaf(path) { leaf, entries in
            isCut = !count(leaf, entries, &group, wanted, &answer)
            return !isCut && answer.rows.values.count < most && goesOn()
        }
        if isCut { return nil }
        finish(group, wanted, &answer)
        if order == .byKeysBackward { answer.reverse() }
        return plan.arranged(answer.rows, offset, limit, inOrder: order != .other)
    }

    /// Counts some entries of a leaf; false if a key is truncated.
    private func count(
        _ leaf: OrderedLeaf, _ entries: Range<Int>, _ group: inout Group,
        _ wanted: ClosedRange<Int>, _ answer: inout GroupRows
    ) -> Bool {
        let base = UnsafeRawPointer(leaf.page.data)
        // An unreadable leaf is empty; the caller gets the error afterwards.
        let entries = entries.clamped(to: 0..<leaf.count)
        return withUnsafeTemporaryAllocation(
            byteCount: OrderedLeaf.longestEntry, alignment: 8
        ) { room in
            guard let entry = room.baseAddress else { return false }
            var offset = OrderedLeaf.headerBytes
            // The first requested entry of the leaf is compared with the group by its bytes.
            var isKnown = false
            for index in 0..<entries.upperBound {
                let shared = Int(base.load(fromByteOffset: offset, as: UInt8.self))
                let rest = Int(base.load(fromByteOffset: offset &+ 1, as: UInt8.self))
                let bytes = base + (offset &+ 2)
                offset &+= 2 &+ rest
                if isKnown, shared >= group.length {
                    group.rows &+= 1
                    continue
                }
                (entry + shared).copyMemory(from: bytes, byteCount: rest)
                if index < entries.lowerBound { continue }
                if !isKnown {
                    isKnown = true
                    if group.rows > 0, shared &+ rest >= group.length &+ 4,
                        cairn_compare(entry, group.bytes, group.length) == 0
                    {
                        group.rows &+= 1
                        continue
                    }
                }
                finish(group, wanted, &answer)
                let key = UnsafeRawBufferPointer(start: entry, count: shared &+ rest &- 4)
                guard let length = IndexKey.length(of: parts[...], in: key) else { return false }
                group.bytes.copyMemory(from: entry, byteCount: length)
                group.length = length
                group.rows = 1
            }
            return true
        }
    }

    /// Adds a wanted group to the result.
    private func finish(
        _ group: borrowing Group, _ wanted: ClosedRange<Int>, _ answer: inout GroupRows
    ) {
        if group.rows == 0 || !wanted.contains(group.rows) { return }
        let key = UnsafeRawBufferPointer(start: group.bytes, count: group.length)
        let rows = group.rows
        answer.add { index in
            value(index, key)
        } figure: { index in
            guard let argument = plan.aggregates[index].argument else {
                return .value(.integer(Int64(rows)))
            }
            let isNil =
                plan.keys.firstIndex(of: argument).map { value($0, key).isNull } ?? true
            return .value(.integer(isNil ? 0 : Int64(rows)))
        }
    }

    /// Returns the value of a key of a group.
    private func value(_ index: Int, _ key: UnsafeRawBufferPointer) -> Value {
        let (element, kind) = keys[index]
        guard let start = IndexKey.length(of: parts[..<element], in: key) else { return .null }
        return IndexKey.value(
            of: parts[element], in: UnsafeRawBufferPointer(rebasing: key[start...]), kind, identity)
    }
}

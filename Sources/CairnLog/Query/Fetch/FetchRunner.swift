// Executes a fetch on one state.
//
//   1. Plan: an equality on all properties of a uniqueness constraint uses its index; object ids use the
//      directory; an equality on a to-one relationship uses its inverse table; everything else scans the
//      blocks of the entity and its descendants.
//   2. The full filter is evaluated on candidates from an index; a scan evaluates it block by block.
//   3. Sort by the keys, then by number, so that pages are stable; then apply offset and limit. With a limit,
//      a scan begins where the first rows can be (`firstOfOrder`), and drops rows beyond the limit as it goes
//      along.
//   4. Rows are read for the remaining hits, if requested.
//
// Threads: one runner in one thread, but for what its helpers use; the state is pinned by whoever made it.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

struct FetchRunner {
    let reader: StoreReader
    let state: EngineState
    let fetch: StoreFetch
    /// The filter; nil if there is none, if it is a list of keys, or if indexes alone execute it.
    let filter: Filter?
    /// The planner that has planned the fetch; nil if it has not been planned yet.
    var planner: QueryPlanner?
    /// The uniqueness constraint whose keys are listed, if the predicate is a list of keys.
    private let keys: KeyIndex?
    /// The objects on which conditions across relationships or row by row are evaluated; nil if there are
    /// none.
    let objects: StoredObjects?
    /// The end of what is certainly written; a published state contains nothing after it.
    private let writtenLSN: UInt64
    /// Records what the fetch does, if requested.
    let trace: QueryTrace?

    /// A runner for any fetch.
    init(
        reader: StoreReader, state: EngineState, fetch: StoreFetch, writtenLSN: UInt64 = .max,
        trace: QueryTrace? = nil
    ) throws(StoreError) {
        try self.init(
            reader: reader, state: state, bound: fetch.bound(to: state, reader.identity),
            writtenLSN: writtenLSN, trace: trace)
    }

    /// A runner for a fetch that is bound to the state.
    ///
    /// - Parameters:
    ///   - planner: the planner that has planned the fetch.
    ///   - isAnswered: whether indexes alone execute the fetch, according to the planner: its filter is not
    ///     compiled then.
    init(
        reader: StoreReader, state: EngineState, bound fetch: StoreFetch,
        writtenLSN: UInt64 = .max, trace: QueryTrace? = nil, planner: QueryPlanner? = nil,
        isAnswered: Bool = false
    ) throws(StoreError) {
        self.reader = reader
        self.state = state
        self.writtenLSN = writtenLSN
        self.trace = trace
        self.planner = planner
        guard state.catalog.schema.entities.indices.contains(fetch.entity) else {
            throw StoreError(
                .invalidRequest, "the model has no entity with the index \(fetch.entity)")
        }
        var fetch = fetch
        // The search for candidates walks it; the compiler rejects a predicate that is still too deep.
        fetch.predicate = fetch.predicate.map { (try? $0.walkable()) ?? $0 }
        self.fetch = fetch
        keys = isAnswered ? nil : Self.keys(fetch, state.catalog)
        // A list of keys only uses the index: thousands of keys cost more to compile than to look up.
        if !isAnswered, keys == nil, let predicate = fetch.predicate {
            filter = try FilterCompiler(state, reader.identity, entity: fetch.entity)
                .compile(predicate)
        } else {
            filter = nil
        }
        objects =
            filter?.isGeneral == true
            ? StoredObjects(reader: reader, state: state, writtenLSN: writtenLSN, trace: trace)
            : nil
    }

    var catalog: Catalog { state.catalog }

    /// A runner whose fetch is planned first: a fetch that indexes alone execute needs nothing else.
    ///
    /// - Parameter wantsOrder: whether the caller will use `hits`, and not only `count` or `indexed`.
    static func planned(
        _ reader: StoreReader, _ state: EngineState, _ fetch: StoreFetch, wantsOrder: Bool,
        trace: QueryTrace? = nil
    ) throws(StoreError) -> FetchRunner {
        let fetch = try fetch.bound(to: state, reader.identity)
        let planner = QueryPlanner.prepared(fetch, state, reader.identity)
        return try FetchRunner(
            reader: reader, state: state, bound: fetch, trace: trace, planner: planner,
            isAnswered: planner?.isAnswer(wantsOrder: wantsOrder) == true)
    }

    /// Whether the predicate is a list of keys.
    var listsKeys: Bool { keys != nil }

    private static func keys(_ fetch: StoreFetch, _ catalog: Catalog) -> KeyIndex? {
        guard case .comparison(let comparison)? = fetch.predicate, comparison.operator == .in,
            case .list = comparison.right
        else { return nil }
        return KeyIndex(comparison, entity: fetch.entity, catalog: catalog)
    }

    /// Returns the rows as objects on which expressions can be evaluated: those of the filter, if it uses
    /// any, as they have cached its blocks already.
    func storedObjects() -> StoredObjects {
        objects
            ?? StoredObjects(reader: reader, state: state, writtenLSN: writtenLSN, trace: trace)
    }

    /// The requested entities.
    var family: [Int] {
        fetch.includesSubentities ? catalog.family(of: fetch.entity) : [fetch.entity]
    }

    /// Throws if the fetch was cancelled. Called for each block, or for every thousand rows of an index.
    func checkCancelled() throws(StoreError) {
        if let isCancelled = fetch.isCancelled, isCancelled() { throw cancelled }
    }

    var cancelled: StoreError { StoreError(.cancelled, "the fetch was cancelled") }

    // MARK: Answers

    func result() throws(StoreError) -> StoreFetchResult {
        let (hits, plan) = try hits()
        var rows: [Row] = []
        if fetch.includesRows { rows = try reader.rows(hits, in: state, trace: trace) }
        return StoreFetchResult(
            ids: hits.map { reader.identity.id(UInt64($0.number), entity: $0.entity) }, rows: rows,
            plan: plan.text)
    }

    func count() throws(StoreError) -> Int { try counting().count }

    /// Returns the number of matches within offset and limit, and its plan; no plan if it was a scan.
    func counting() throws(StoreError) -> (count: Int, plan: PlanName?) {
        let total: Int
        var plan: PlanName?
        if let (count, name) = counted() {
            total = count
            plan = name
        } else if let found = try indexed() {
            total = found.hits.count
            plan = found.plan
            plan?.isCovering = found.isWhole
        } else {
            total = try scanCount()
        }
        return (fetch.cut(total), plan)
    }

    /// Returns the matches in order, within offset and limit.
    func hits() throws(StoreError) -> (hits: [RowHit], plan: PlanName) {
        if trace == nil, var found = FirstRows.hits(fetch, state) {
            found.plan.isCovering = !fetch.includesRows
            return found
        }
        var hits: [RowHit] = []
        var plan: PlanName
        var isOrdered = false
        var skipped = 0
        if let found = try indexed(wantsOrder: true) {
            hits = found.hits
            plan = found.plan
            isOrdered = found.isOrdered
            skipped = found.skipped
            plan.isCovering =
                found.isWhole && !fetch.includesRows && (isOrdered || fetch.sort.isEmpty)
        } else {
            let rows = family.reduce(0) { $0 + state.counts[$1] }
            if let bound = SortBound(fetch, catalog), bound.wanted < rows {
                hits = try firstOfOrder(bound)
            } else {
                hits = try all()
            }
            plan = PlanName(scanPlan)
        }
        if isOrdered { return (cut(hits, skipped), plan) }
        trace?.sorts = !fetch.sort.isEmpty
        if fetch.sort.isEmpty {
            hits.sort { $0.number < $1.number }
        } else {
            try RowSorter(runner: self).sort(&hits, by: fetch.sort)
        }
        return (cut(hits, skipped), plan)
    }

    /// Returns all matches, unsorted.
    private func all() throws(StoreError) -> [RowHit] {
        var hits: [RowHit] = []
        try scan { block, entity, slots throws(StoreError) in
            let numbers = try block.numbers()
            let directory = state.directories[catalog.entities[entity].tree]
            for slot in slots {
                let number = numbers.number(Int(slot))
                hits.append(RowHit(number: number, cell: directory[number], entity: entity))
            }
            return true
        }
        return hits
    }

    /// The name of a scan in a query plan.
    var scanPlan: String {
        "scan of \(family.map { catalog.entities[$0].name }.joined(separator: ", "))"
    }

    /// Applies offset and limit to hits of which `skipped` come before the first.
    private func cut(_ hits: [RowHit], _ skipped: Int) -> [RowHit] {
        guard fetch.offset > 0 || fetch.limit != nil else { return hits }
        let rest = hits.dropFirst(max(0, fetch.offset - skipped))
        return Array(fetch.limit.map { rest.prefix(max(0, $0)) } ?? rest)
    }

    func block(_ handle: BlockHandle) throws(StoreError) -> CachedBlock {
        try block(state.blocks.entry(handle))
    }

    func block(_ entry: BlockEntry) throws(StoreError) -> CachedBlock {
        trace?.read(entry)
        return try untracedBlock(entry)
    }

    /// Whether the whole state is written: what is unwritten belongs to the thread that writes.
    var isPublished: Bool { writtenLSN == .max }

    /// Returns a block that the trace records elsewhere, or that helpers read.
    ///
    /// - Parameters:
    ///   - isPassing: whether the block will not be read again.
    ///   - isScan: whether all blocks are read.
    func untracedBlock(
        _ entry: BlockEntry, isPassing: Bool = false, isScan: Bool = false
    ) throws(StoreError) -> CachedBlock {
        if writtenLSN != .max {
            let segment = state.segments.current
            if segment.number == entry.segment,
                segment.baseLSN + UInt64(entry.place.byteOffset) >= writtenLSN
            {
                return try reader.unwrittenBlock(entry.place, in: state)
            }
        }
        if isScan, !isPassing { return try reader.scannedBlock(entry, in: state) }
        return isPassing
            ? try reader.passingBlock(entry, in: state) : try reader.block(entry, in: state)
    }

    // MARK: Indexes

    /// Returns the matches, if an index can find them; nil for a scan.
    ///
    /// - Parameter wantsOrder: whether the rows are wanted in the order of the fetch, within its limit; the
    ///   result may be unsorted all the same.
    func indexed(wantsOrder: Bool = false) throws(StoreError) -> Found? {
        if let (hits, plan) = try keyed() { return Found(hits: hits, plan: plan) }
        let known = candidates()
        if let found = try found(wantsOrder: wantsOrder, beside: known?.count) { return found }
        guard let known else { return nil }
        trace?.estimate = known.count
        return Found(hits: try match(try numbers(known)), plan: PlanName(plan(known)))
    }

    /// Returns the objects that have one of a list of keys.
    private func keyed() throws(StoreError) -> (hits: [RowHit], plan: PlanName)? {
        guard let keys, case .comparison(let comparison)? = fetch.predicate,
            case .list(let values) = comparison.right
        else { return nil }
        let hits = try KeyListSearch(self, keys, values).hits()
        trace?.estimate = hits.count
        trace?.rows = hits.count
        return (hits, PlanName(catalog.uniques[keys.unique].plan))
    }

    /// Returns the candidates that exist, belong to the requested entities, and match.
    ///
    /// - Parameters:
    ///   - isMatch: whether all existing candidates are known to match.
    ///   - isOfAll: whether all belong to the requested entities.
    ///   - most: the maximum number of matches; the first ones are returned.
    func match(
        _ numbers: [UInt32], isMatch: Bool = false, isOfAll: Bool = false, most: Int = .max
    ) throws(StoreError) -> [RowHit] {
        let family: Set<Int>? = isOfAll ? nil : Set(self.family)
        let tree = catalog.entities[fetch.entity].tree
        var hits: [RowHit] = []
        hits.reserveCapacity(min(numbers.count, most))
        trace?.asksRows = filter != nil && !isMatch
        let directory = state.directories[tree]
        for (index, number) in numbers.enumerated() {
            if hits.count >= most { break }
            if index & 1023 == 0 { try checkCancelled() }
            trace?.rows += 1
            // Directory cells are prefetched some rows in advance.
            if index + 16 < numbers.count { directory.cells.table.prefetch(numbers[index + 16]) }
            let cell = directory[number]
            guard !cell.isEmpty else { continue }
            let entity = Int(state.blocks.entry(cell.handle).entity)
            guard family?.contains(entity) != false else { continue }
            if let filter, !isMatch {
                let place = FilterPlace(
                    block: try block(cell.handle), stored: catalog.entities[entity], entity: entity)
                guard try filter.matches(place, cell.slot, objects) else { continue }
            }
            hits.append(RowHit(number: number, cell: cell, entity: entity))
        }
        try objects?.rethrow()
        return hits
    }
}

extension StoreFetch {
    /// Returns how many of `total` rows are within offset and limit.
    func cut(_ total: Int) -> Int {
        let rest = max(0, total - max(0, offset))
        return min(rest, max(0, limit ?? rest))
    }
}

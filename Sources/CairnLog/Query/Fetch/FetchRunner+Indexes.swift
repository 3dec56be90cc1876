// Finds rows through indexes.
//
//   - Without an order, numbers are collected, sorted and intersected with those of other indexes; the rows
//     are read in the order in which they are stored.
//   - In the order of the index, rows are read one by one until the last wanted row is found. If the filter
//     leaves so few rows that a scan would have been cheaper, a scan takes over.
//
// Truncated keys do not define the order of two strings: if a truncated key occurs, all rows of the last such
// key are included, and the result is sorted.
//
// Threads: one reading.

import CairnModel
import CairnStore

extension FetchRunner {
    /// The result of an index search.
    struct Found {
        var hits: [RowHit]
        let plan: PlanName
        /// Whether the hits are in the order of the fetch.
        var isOrdered = false
        /// The number of rows before them that the offset skips.
        var skipped = 0
        /// Whether the index alone defines the result: no row was filtered.
        var isWhole = false
    }

    /// Finds the matches through a fetch index; nil if another access path is cheaper.
    ///
    /// - Parameter other: the number of rows that another access path would read, in no order.
    func found(wantsOrder: Bool, beside other: Int?) throws(StoreError) -> Found? {
        guard QueryPlanner.hasIndexes(catalog, fetch.entity) else { return nil }
        let planner = planner ?? .planner(fetch, state, reader.identity)
        planner.named = other
        var choice = planner.choice(wantsOrder: wantsOrder)
        if case .index(let path, let order?, _) = choice {
            if let other, planner.price(of: other) <= planner.price(of: path, in: order) {
                return nil
            }
            trace?.estimate = path.count
            if let found = try ordered(path, order, planner) { return found }
            // It took longer than estimated.
            choice = planner.choice(wantsOrder: wantsOrder, inOrder: false)
        }
        guard case .index(let path, _, let others) = choice else { return nil }
        if let other, planner.price(of: other) <= planner.price(of: path, in: nil) { return nil }
        trace?.estimate = path.count
        let numbers = collect(path, others, planner)
        let name = PlanName(([path] + others).map(planner.name), isOrdered: false)
        // Numbers are ascending, which is the order of a fetch without sort keys: the first matches suffice.
        var most = Int.max
        if wantsOrder, fetch.sort.isEmpty, let limit = fetch.limit {
            let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(max(0, fetch.offset))
            if !isTooMuch { most = sum }
        }
        let areWhole = planner.areWhole(path, others)
        return Found(
            hits: try match(
                numbers, isMatch: areWhole, isOfAll: planner.isOfAll(path), most: most),
            plan: name, isWhole: areWhole)
    }

    /// The number of matches and its plan, if it is known without reading any row.
    func counted() -> (count: Int, plan: PlanName)? {
        guard fetch.predicate != nil else {
            let all = family.reduce(0) { $0 + state.counts[$1] }
            trace?.estimate = all
            return (all, PlanName("the numbers of objects that are kept"))
        }
        guard !listsKeys, QueryPlanner.hasIndexes(catalog, fetch.entity) else { return nil }
        let planner = planner ?? .planner(fetch, state, reader.identity)
        guard let path = planner.countingPath else { return nil }
        trace?.estimate = path.count
        trace?.rows = path.count
        var name = PlanName([planner.name(path)], isOrdered: false)
        name.isCovering = true
        return (path.count, name)
    }

    // MARK: In no order

    private func collect(_ path: IndexPath, _ others: [IndexPath], _ planner: QueryPlanner)
        -> [UInt32]
    {
        var numbers = numbers(path, planner)
        for other in others {
            let more = self.numbers(other, planner)
            var kept: [UInt32] = []
            kept.reserveCapacity(min(numbers.count, more.count))
            var place = 0
            for number in numbers {
                while place < more.count, more[place] < number { place += 1 }
                if place < more.count, more[place] == number { kept.append(number) }
            }
            numbers = kept
        }
        return numbers
    }

    /// Returns the numbers of a path, ascending and without duplicates.
    private func numbers(_ path: IndexPath, _ planner: QueryPlanner) -> [UInt32] {
        var numbers: [UInt32] = []
        numbers.reserveCapacity(path.count)
        if var cursor = planner.postings(path) {
            while let number = cursor.next() { numbers.append(number) }
            return numbers
        }
        for ranks in path.list ?? [path.ranks] {
            var cursor = planner.cursor(path, ranks)
            while let number = cursor.next() { numbers.append(number) }
        }
        NumberSort.sort(&numbers) { $0 }
        return numbers
    }

    // MARK: In order

    private func ordered(
        _ path: IndexPath, _ order: OrderedCursor.Direction, _ planner: QueryPlanner
    ) throws(StoreError) -> Found? {
        let name = planner.name(path)
        guard let ranks = path.onlyRange else {
            return Found(hits: [], plan: PlanName([name], isOrdered: false), isOrdered: true)
        }
        let isWhole = planner.isWhole(path)
        let isTied = planner.isTied(path)
        let rows = planner.rows
        let family: Set<Int>? = planner.isOfAll(path) ? nil : Set(self.family)
        let directory = state.directories[catalog.entities[fetch.entity].tree]
        var wanted = planner.wanted
        var skipped = 0
        var cursor = planner.cursor(path, ranks, order)
        if isWhole, family == nil {
            if !isTied {
                skipped = cursor.skipped(fetch.offset)
            } else if !planner.takesAnyOfEqual {
                let span = planner.span(path, order)
                cursor = planner.cursor(path, span.ranks, order)
                skipped = span.skipped
            }
            wanted -= min(wanted, skipped)
        }
        // A scan takes over once so many more rows than estimated have been read that it would have been
        // cheaper.
        var most = Int.max
        if filter != nil || fetch.predicate == nil {
            most = max(planner.looks(path, order) * 2, rows * 2 / QueryPlanner.look)
        }
        var hits: [RowHit] = []
        var looked = 0
        // Rows of entities that were not requested, which cost as much.
        var others = 0
        var isCut = false
        // The bytes that the previous entry shares with all entries equal to it, if these are unordered, and
        // where they begin.
        var tie: [UInt8]?
        var first = 0
        func endTie() { hits[first...].sort { $0.number < $1.number } }
        while let number = cursor.next() {
            if isTied || cursor.isCut {
                if tie.map(cursor.begins) != true {
                    if hits.count >= wanted { break }
                    if isTied { endTie() }
                    first = hits.count
                    let bytes = isTied ? planner.tiedBytes(path, cursor) : cursor.key.count
                    tie = Array(cursor.key.prefix(bytes))
                    isCut = isCut || bytes == IndexKey.longest
                }
            } else {
                if hits.count >= wanted { break }
                tie = nil
            }
            if planner.takesAnyOfEqual, !isCut, hits.count >= wanted { break }
            cursor.prefetch(directory)
            let cell = directory[number]
            guard !cell.isEmpty else { continue }
            let entity = Int(state.blocks.entry(cell.handle).entity)
            if (looked &+ others) & 1023 == 0 { try checkCancelled() }
            if looked &+ others >= most { return nil }
            guard family?.contains(entity) != false else {
                others += 1
                continue
            }
            looked += 1
            if !isWhole, let filter {
                let place = FilterPlace(
                    block: try block(cell.handle), stored: catalog.entities[entity], entity: entity)
                guard try filter.matches(place, cell.slot, objects) else { continue }
            }
            hits.append(RowHit(number: number, cell: cell, entity: entity))
        }
        if isTied { endTie() }
        trace?.rows = looked
        trace?.asksRows = !isWhole && filter != nil
        try objects?.rethrow()
        return Found(
            hits: hits, plan: PlanName([name], isOrdered: !isCut), isOrdered: !isCut,
            skipped: skipped, isWhole: isWhole || filter == nil)
    }
}

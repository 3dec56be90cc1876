// Finds rows through indexes.
//
//   - In no order, numbers are collected, sorted, intersected with those of other indexes, and looked at in the order in which
//     the rows lie.
//   - In the order of the index, rows are looked at one by one, and the way ends with the last one that is wanted. If the
//     condition leaves so few that a scan would have been cheaper, a scan it is.
//
// Keys that are cut do not say which of two texts comes first: if there was one, all rows of the last such key are taken as
// well, and what was found is sorted.
//
// Threads: one reading.

import CairnModel
import CairnStore

extension FetchRunner {
    /// What an index has found.
    struct Found {
        var hits: [Hit]
        let plan: PlanName
        /// Whether the hits are in the order of the fetch.
        var isOrdered = false
    }

    /// What matches through a fetch index; nil if another way is cheaper.
    ///
    /// - Parameter other: how many rows another way would look at, in no order.
    func found(wantsOrder: Bool, beside other: Int?) throws(StoreError) -> Found? {
        guard QueryPlanner.hasIndexes(catalog, fetch.entity) else { return nil }
        let planner = planner ?? .planner(fetch, state, engine.identity)
        guard case .index(let path, let order, let others) = planner.choice(wantsOrder: wantsOrder)
        else { return nil }
        if let other, planner.price(of: other) <= planner.price(of: path, in: order) { return nil }
        trace?.estimate = path.count
        if let order { return try ordered(path, order, planner) }
        let numbers = collect(path, others, planner)
        let name = PlanName(([path] + others).map(planner.name), isOrdered: false)
        // Numbers rise, which is the order of a fetch that asks for none: the first that match will do.
        var most = Int.max
        if wantsOrder, fetch.sort.isEmpty, let limit = fetch.limit {
            let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(max(0, fetch.offset))
            if !isTooMuch { most = sum }
        }
        return Found(
            hits: try match(
                numbers, isMatch: planner.areWhole(path, others),
                isOfAll: planner.isOfAll(path), most: most), plan: name)
    }

    /// How many rows match, if an index alone says it.
    func counted() -> Int? {
        guard fetch.predicate != nil, !listsKeys,
            QueryPlanner.hasIndexes(catalog, fetch.entity)
        else { return nil }
        return (planner ?? .planner(fetch, state, engine.identity)).counted()
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

    /// The numbers that a path names, rising, each once.
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
        let rows = planner.rows
        let family: Set<Int>? = planner.isOfAll(path) ? nil : Set(self.family)
        let directory = state.directories[catalog.entities[fetch.entity].tree]
        var wanted = Int.max
        if let limit = fetch.limit {
            let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(max(0, fetch.offset))
            if !isTooMuch { wanted = sum }
        }
        var cursor = planner.cursor(path, ranks, order)
        var hits: [Hit] = []
        var looked = 0
        // Rows of entities that are not asked for, which cost as much.
        var others = 0
        var isCut = false
        // The key that the entry before has, if it is cut.
        var cutKey: [UInt8]?
        while let number = cursor.next() {
            let key = cursor.isCut ? Array(cursor.key) : nil
            if hits.count >= wanted, key == nil || key != cutKey { break }
            cutKey = key
            isCut = isCut || key != nil
            let cell = directory[number]
            guard !cell.isEmpty else { continue }
            let entity = Int(state.blocks.entry(cell.handle).entity)
            guard family?.contains(entity) != false else {
                others += 1
                if others * QueryPlanner.look > rows * 2 { return nil }
                continue
            }
            looked += 1
            if !isWhole, let filter {
                let place = FilterPlace(
                    block: try block(cell.handle), stored: catalog.entities[entity], entity: entity)
                guard try filter.matches(place, cell.slot, objects) else {
                    if looked * QueryPlanner.look > rows * 2 { return nil }
                    continue
                }
            }
            hits.append(Hit(number: number, cell: cell, entity: entity))
        }
        trace?.rows = looked
        trace?.asksRows = !isWhole && filter != nil
        try objects?.rethrow()
        return Found(hits: hits, plan: PlanName([name], isOrdered: !isCut), isOrdered: !isCut)
    }
}

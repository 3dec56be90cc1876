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
        /// Whether the index says it all: no row was asked a condition.
        var isWhole = false
    }

    /// What matches through a fetch index; nil if another way is cheaper.
    ///
    /// - Parameter other: how many rows another way would look at, in no order.
    func found(wantsOrder: Bool, beside other: Int?) throws(StoreError) -> Found? {
        guard QueryPlanner.hasIndexes(catalog, fetch.entity) else { return nil }
        let planner = QueryPlanner(self)
        guard case .index(let path, let order, let others) = planner.choice(wantsOrder: wantsOrder)
        else { return nil }
        if let other, planner.price(of: other) <= planner.price(of: path, in: order) { return nil }
        let isWhole = planner.isWhole(path)
        trace?.estimate = path.count
        if let order {
            return try ordered(path, order, isWhole: isWhole, rows: planner.rows)
        }
        let paths = [path] + others
        let numbers = collect(path, others)
        let name = PlanName(paths.map(\.name), isOrdered: false)
        // Numbers rise, which is the order of a fetch that asks for none: the first that match will do.
        var most = Int.max
        if wantsOrder, fetch.sort.isEmpty, let limit = fetch.limit {
            let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(max(0, fetch.offset))
            if !isTooMuch { most = sum }
        }
        let areWhole = planner.areWhole(paths)
        return Found(
            hits: try match(numbers, isMatch: areWhole, most: most), plan: name, isWhole: areWhole)
    }

    /// How many rows match, if an index alone says it, and which, if somebody wants to know.
    func counted() -> (count: Int, plan: PlanName?)? {
        guard QueryPlanner.hasIndexes(catalog, fetch.entity), filter != nil else { return nil }
        let planner = QueryPlanner(self)
        guard case .index(let path, _, _) = planner.choice(wantsOrder: false),
            planner.isWhole(path), isOfAll(path)
        else { return nil }
        guard let trace else { return (path.count, nil) }
        trace.estimate = path.count
        trace.rows = path.count
        var name = PlanName([path.name], isOrdered: false)
        name.isCovering = true
        return (path.count, name)
    }

    /// Whether all objects of an index are of the entities that are asked for.
    private func isOfAll(_ path: IndexPath) -> Bool {
        Set(family).isSuperset(of: path.view.definition.family)
    }

    // MARK: In no order

    private func collect(_ path: IndexPath, _ others: [IndexPath]) -> [UInt32] {
        var numbers = numbers(path)
        for other in others {
            let more = self.numbers(other)
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
    private func numbers(_ path: IndexPath) -> [UInt32] {
        var numbers: [UInt32] = []
        numbers.reserveCapacity(path.count)
        if let equal = path.equal, let (count, cursor) = path.view.postings(equal: equal),
            count == path.count
        {
            // As many as the ordered index counts: no other key has the hash.
            var cursor = cursor
            while let number = cursor.next() { numbers.append(number) }
            return numbers
        }
        for range in path.ranges {
            var cursor = path.view.cursor(range)
            while let number = cursor.next() { numbers.append(number) }
        }
        NumberSort.sort(&numbers) { $0 }
        return numbers
    }

    // MARK: In order

    private func ordered(
        _ path: IndexPath, _ order: OrderedCursor.Direction, isWhole: Bool, rows: Int
    ) throws(StoreError) -> Found? {
        guard let range = path.ranges.first else {
            return Found(hits: [], plan: PlanName([path.name], isOrdered: false), isOrdered: true)
        }
        let family = Set(self.family)
        let directory = state.directories[catalog.entities[fetch.entity].tree]
        var wanted = Int.max
        if let limit = fetch.limit {
            let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(max(0, fetch.offset))
            if !isTooMuch { wanted = sum }
        }
        var cursor = path.view.cursor(range, order)
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
            guard family.contains(entity) else {
                others += 1
                if others * QueryPlanner.look > rows * 2 { return nil }
                continue
            }
            looked += 1
            if looked & 1023 == 0 { try checkCancelled() }
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
        return Found(
            hits: hits, plan: PlanName([path.name], isOrdered: !isCut), isOrdered: !isCut,
            isWhole: isWhole || filter == nil)
    }
}

// Sorts hits by columns: nil first when ascending unless the key specifies otherwise, strings by their bytes,
// ties by number.
//
// The keys of all hits are read once, block by block, into one array for each sort key; then positions are
// sorted. Ordered numbers become integers with the same order, so that comparing them is one instruction;
// strings become bytes, and these are replaced by the number of runs before them.
//
// A key across to-one relationships is followed step by step: the destinations of all hits are found first,
// without duplicates, and the key of each is read once, however many rows refer to it.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

struct RowSorter {
    let runner: FetchRunner

    /// The keys of one column.
    private enum Keys {
        case words([UInt64?])
        case decimals([Decimal?])
    }

    func sort(_ hits: inout [RowHit], by sort: [SortKey]) throws(StoreError) {
        // Rows of one block together, so that each block is read once.
        hits.sort { $0.cell.handle.raw < $1.cell.handle.raw }
        var keys: [(keys: Keys, isAscending: Bool, nilOrder: Int)] = []
        for path in try paths(sort) {
            keys.append(
                (try read(path, hits), path.isAscending, path.nilIsGreatest ? 1 : -1))
        }
        let numbers = hits.map(\.number)
        var order = Array(hits.indices)
        order.sort { left, right in
            for (key, isAscending, nilOrder) in keys {
                let comparison = Self.compare(key, left, right, nilOrder)
                if comparison != 0 { return isAscending ? comparison < 0 : comparison > 0 }
            }
            return numbers[left] < numbers[right]
        }
        hits = order.map { [hits] in hits[$0] }
    }

    private static func compare(_ keys: Keys, _ left: Int, _ right: Int, _ nilOrder: Int) -> Int {
        switch keys {
        case .words(let words): compare(words[left], words[right], nilOrder)
        case .decimals(let values): compare(values[left], values[right], nilOrder)
        }
    }

    /// - Parameter nilOrder: the position of nil relative to values: -1 before, 1 after.
    private static func compare<T: Comparable>(_ left: T?, _ right: T?, _ nilOrder: Int) -> Int {
        switch (left, right) {
        case (nil, nil): 0
        case (nil, _): nilOrder
        case (_, nil): -nilOrder
        case (let a?, let b?): a < b ? -1 : a > b ? 1 : 0
        }
    }

    private func paths(_ sort: [SortKey]) throws(StoreError) -> [SortPath] {
        let entity = runner.catalog.description(of: runner.fetch.entity)
        return try [SortPath](sort, of: entity, in: runner.catalog.schema)
    }

    // MARK: Reading keys

    private func read(_ path: SortPath, _ hits: [RowHit]) throws(StoreError) -> Keys {
        if path.steps.isEmpty { return try read(path, hits.map(\.cell)) }
        let (cells, places) = try follow(path, hits)
        switch try read(path, cells) {
        case .words(let words): return .words(places.map { $0.flatMap { words[$0] } })
        case .decimals(let decimals): return .decimals(places.map { $0.flatMap { decimals[$0] } })
        }
    }

    /// Returns the rows that a path refers to, without duplicates, and for each hit which of them; nil where
    /// the path passes through nil or its target does not exist.
    private func follow(_ path: SortPath, _ hits: [RowHit]) throws(StoreError)
        -> (cells: [DirectoryCell], places: [Int?])
    {
        var cells = hits.map(\.cell)
        var places: [Int?] = hits.indices.map { $0 }
        var entity = runner.fetch.entity
        for step in path.steps {
            let targets = try targets(step, of: entity, cells)
            let directory = runner.state.directories[runner.catalog.entities[step.destination].tree]
            // Here, too, rows of one block together. A relationship without a delete rule may refer to an
            // object that does not exist.
            let found = Set(targets.lazy.compactMap { $0 })
                .map { (number: $0, cell: directory[$0]) }.filter { !$0.cell.isEmpty }
                .sorted { $0.cell.handle.raw < $1.cell.handle.raw }
            var index: [UInt32: Int] = [:]
            for (place, target) in found.enumerated() { index[target.number] = place }
            places = places.map { $0.flatMap { targets[$0] }.flatMap { index[$0] } }
            cells = found.map(\.cell)
            entity = step.destination
        }
        return (cells, places)
    }

    private func targets(_ step: SortPath.Step, of entity: Int, _ rows: [DirectoryCell])
        throws(StoreError) -> [UInt32?]
    {
        let column = runner.catalog.entities[entity].columns[step.column]
        var targets: [UInt32?] = []
        targets.reserveCapacity(rows.count)
        for row in rows {
            guard let cells = try runner.block(row.handle).column(column),
                !cells.isNil(at: row.slot)
            else {
                targets.append(nil)
                continue
            }
            targets.append(UInt32(truncatingIfNeeded: cells.integer(at: row.slot)))
        }
        return targets
    }

    /// Reads the keys of rows from the column at the end of a path.
    private func read(_ path: SortPath, _ rows: [DirectoryCell]) throws(StoreError) -> Keys {
        let catalog = runner.catalog
        let column = catalog.entities[path.entity].columns[path.column]
        let kind = catalog.description(of: path.entity).columns[path.column].kind
        let isDecimal = kind == .attribute(.decimal)
        var words: [UInt64?] = []
        let runs = ByteRuns()
        // The run of each row.
        var places: [Int?] = []
        var decimals: [Decimal?] = []
        for row in rows {
            let block = try runner.block(row.handle)
            let cells = try block.column(column)
            let isNil = cells.map { $0.isNil(at: row.slot) } ?? true
            switch column.kind {
            case .bytes, .fixed16:
                guard let cells, !isNil else {
                    if isDecimal { decimals.append(nil) } else { places.append(nil) }
                    continue
                }
                if isDecimal {
                    decimals.append(
                        try block.withBytes(cells, row.slot) { DecimalCoding.decode($0) })
                    continue
                }
                places.append(runs.count)
                try block.withBytes(cells, row.slot) {
                    if path.comparison == .binary {
                        runs.append($0)
                    } else {
                        let text = String(decoding: $0, as: UTF8.self)
                        path.comparison.bytes(of: text).withUnsafeBytes { runs.append($0) }
                    }
                }
            case .integer, .double, .float:
                guard let cells, !isNil else {
                    words.append(nil)
                    continue
                }
                words.append(Self.word(cells, row.slot, column.kind))
            }
        }
        if column.kind == .bytes || column.kind == .fixed16 {
            if isDecimal { return .decimals(decimals) }
            let ranks = runs.ranks()
            return .words(places.map { $0.map { UInt64(ranks[$0]) } })
        }
        return .words(words)
    }

    /// Returns an unsigned number that sorts like the cell. NaN is above everything.
    static func word(_ cells: DecodedColumn, _ slot: Int, _ kind: ColumnBuffer.Kind)
        -> UInt64
    {
        switch kind {
        case .double: OrderedWord.of(cells.double(at: slot))
        case .float: OrderedWord.of(Double(cells.float(at: slot)))
        default: OrderedWord.of(cells.integer(at: slot))
        }
    }
}

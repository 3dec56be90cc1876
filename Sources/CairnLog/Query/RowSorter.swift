// Sorts hits by columns: nil first when ascending, text by its bytes, ties by number.
//
// The keys of all hits are read once, block by block, into one array for each sort key; then positions are
// sorted. Ordered numbers become integers whose order is theirs, so that comparing them is one instruction.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

struct RowSorter {
    let runner: FetchRunner

    /// The keys of one column.
    private enum Keys {
        case words([UInt64?])
        case bytes([[UInt8]?])
        case decimals([Decimal?])
    }

    func sort(_ hits: inout [FetchRunner.Hit], by sort: [SortKey]) throws(StoreError) {
        // Rows of one block together, so that each block is looked at once.
        hits.sort { $0.cell.handle.raw < $1.cell.handle.raw }
        var keys: [(keys: Keys, isAscending: Bool)] = []
        for key in sort { keys.append((try read(key, hits), key.isAscending)) }
        let numbers = hits.map(\.number)
        var order = Array(hits.indices)
        order.sort { left, right in
            for (key, isAscending) in keys {
                let comparison = Self.compare(key, left, right)
                if comparison != 0 { return isAscending ? comparison < 0 : comparison > 0 }
            }
            return numbers[left] < numbers[right]
        }
        hits = order.map { [hits] in hits[$0] }
    }

    private static func compare(_ keys: Keys, _ left: Int, _ right: Int) -> Int {
        switch keys {
        case .words(let words): compare(words[left], words[right])
        case .decimals(let values): compare(values[left], values[right])
        case .bytes(let bytes):
            switch (bytes[left], bytes[right]) {
            case (nil, nil): 0
            case (nil, _): -1
            case (_, nil): 1
            case (let a?, let b?):
                a.withUnsafeBytes { a in b.withUnsafeBytes { compareCells(a, $0) } }
            }
        }
    }

    private static func compare<T: Comparable>(_ left: T?, _ right: T?) -> Int {
        switch (left, right) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (let a?, let b?): a < b ? -1 : a > b ? 1 : 0
        }
    }

    private func read(_ key: SortKey, _ hits: [FetchRunner.Hit]) throws(StoreError) -> Keys {
        let catalog = runner.state.catalog
        let entity = catalog.description(of: runner.fetch.entity)
        guard let index = entity.columnIndex(named: key.key) else {
            throw StoreError(
                .invalidRequest, "the entity has no stored property of this name to sort by",
                context: .init(entity: entity.name, key: key.key))
        }
        let column = catalog.entities[runner.fetch.entity].columns[index]
        let isDecimal = entity.columns[index].kind == .attribute(.decimal)
        var words: [UInt64?] = []
        var bytes: [[UInt8]?] = []
        var decimals: [Decimal?] = []
        for hit in hits {
            let block = try runner.block(hit.cell.handle)
            let cells = try block.column(column)
            let isNil = cells.map { $0.isNil(at: hit.cell.slot) } ?? true
            switch column.kind {
            case .bytes, .fixed16:
                guard let cells, !isNil else {
                    if isDecimal { decimals.append(nil) } else { bytes.append(nil) }
                    continue
                }
                let value = try block.withBytes(cells, hit.cell.slot) { Array($0) }
                if isDecimal {
                    decimals.append(value.withUnsafeBytes { DecimalCoding.decode($0) })
                } else {
                    bytes.append(value)
                }
            case .integer, .double, .float:
                guard let cells, !isNil else {
                    words.append(nil)
                    continue
                }
                words.append(Self.word(cells, hit.cell.slot, column.kind))
            }
        }
        if column.kind == .bytes || column.kind == .fixed16 {
            return isDecimal ? .decimals(decimals) : .bytes(bytes)
        }
        return .words(words)
    }

    /// An unsigned number whose order is that of the cell. NaN is above everything.
    static func word(_ cells: DecodedColumn, _ slot: Int, _ kind: ColumnBuffer.Kind)
        -> UInt64
    {
        switch kind {
        case .double: ordered(cells.double(at: slot))
        case .float: ordered(Double(cells.float(at: slot)))
        default: UInt64(bitPattern: cells.integer(at: slot)) ^ (1 << 63)
        }
    }

    private static func ordered(_ value: Double) -> UInt64 {
        if value.isNaN { return .max }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}

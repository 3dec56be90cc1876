// The first sort key of the worst row within a limit: rows beyond it are not collected.
//
// Rows whose first key equals the bound are kept, since the other keys decide. Nil sorts before or after all
// values. Keys stored outside of their column are never beyond. Decimals, keys across relationships and
// strings that are not compared by their bytes have no bound.
//
// Threads: one bound in one thread.

import CairnFormat
import CairnModel
import CairnStore

/// Limits how many matches a sorted fetch with a limit collects.
struct SortBound {
    private enum Key {
        case null
        case word(UInt64)
        case bytes([UInt8])
    }

    /// The number of rows collected beyond the limit before the worst are dropped.
    private static let slack = 1024

    /// The column of the key.
    let column: Int
    private let isAscending: Bool
    /// Whether nil comes before all values.
    private let isNilFirst: Bool
    /// The number of wanted rows.
    let wanted: Int
    private var key: Key?

    /// A bound for the fetch; nil if all matches are wanted, or the first key has no plain order.
    init?(_ fetch: StoreFetch, _ catalog: Catalog) {
        guard let limit = fetch.limit, let first = fetch.sort.first else { return nil }
        let (wanted, isTooMany) = max(0, limit).addingReportingOverflow(max(0, fetch.offset))
        let entity = catalog.description(of: fetch.entity)
        guard !isTooMany, first.comparison == .binary,
            let column = entity.columnIndex(named: first.key),
            entity.columns[column].kind != .attribute(.decimal)
        else { return nil }
        self.column = column
        self.wanted = wanted
        isAscending = first.isAscending
        isNilFirst = first.isAscending != first.nilIsGreatest
    }

    /// Whether it excludes anything yet.
    var isSet: Bool { key != nil }

    /// Whether so many rows have been collected that it is time to sort them and drop the worst.
    func isExceeded(by count: Int) -> Bool { count - wanted > max(Self.slack, wanted) }

    /// Takes the key of the last row still wanted.
    mutating func move(to hit: RowHit, _ runner: FetchRunner) throws(StoreError) {
        let stored = runner.catalog.entities[hit.entity].columns[column]
        let block = try runner.block(hit.cell.handle)
        guard let cells = try block.column(stored), !cells.isNil(at: hit.cell.slot) else {
            key = .null
            return
        }
        switch stored.kind {
        case .integer, .double, .float:
            key = .word(RowSorter.word(cells, hit.cell.slot, stored.kind))
        case .bytes, .fixed16:
            key = .bytes(try block.withBytes(cells, hit.cell.slot) { Array($0) })
        }
    }

    // MARK: Blocks

    /// The part of values and zones that is compared: the first eight bytes of strings. A smaller rank comes
    /// first in the order.
    struct Rank: Comparable {
        /// 0: nil, where it is first; 1: a value; 2: nil, where it is last.
        let part: UInt8
        let word: UInt64

        static func < (left: Rank, right: Rank) -> Bool {
            (left.part, left.word) < (right.part, right.word)
        }
    }

    /// Returns the best rank that a block with a zone can contain.
    func best(in zone: BlockZone) -> Rank {
        if zone.hasNil, isNilFirst { return Rank(part: 0, word: 0) }
        if !zone.hasValue { return Rank(part: 2, word: 0) }
        return rank(isAscending ? zone.low : zone.high)
    }

    /// Whether a rank is certainly beyond the bound.
    func isBeyond(_ rank: Rank) -> Bool {
        switch key {
        case nil: false
        case .null: rank > Rank(part: isNilFirst ? 0 : 2, word: 0)
        case .word(let word): rank > self.rank(word)
        case .bytes(let bytes):
            rank > self.rank(bytes.withUnsafeBytes { OrderedWord.of($0) })
        }
    }

    private func rank(_ word: UInt64) -> Rank { Rank(part: 1, word: isAscending ? word : ~word) }

    /// Keeps the slots of a block that are not beyond the bound, and returns their number.
    func reduce(
        _ slots: UnsafeMutableBufferPointer<UInt16>, _ block: CachedBlock,
        _ stored: Catalog.StoredEntity
    ) throws(StoreError) -> Int {
        let count = slots.count
        guard let key else { return count }
        let kind = stored.columns[column].kind
        let cells = try block.column(stored.columns[column])
        var kept = 0
        switch key {
        case .null:
            // If nil comes first, everything but nil is beyond it; else nothing is.
            if !isNilFirst { return count }
            guard let cells else { return count }
            for index in 0..<count {
                slots[kept] = slots[index]
                kept &+= cells.isNil(at: Int(slots[index])) ? 1 : 0
            }
        case .word(let bound):
            guard let cells else { return isNilFirst ? count : 0 }
            for index in 0..<count {
                let slot = Int(slots[index])
                let stays: Bool
                if cells.isNil(at: slot) {
                    stays = isNilFirst
                } else {
                    let word = RowSorter.word(cells, slot, kind)
                    stays = isAscending ? word <= bound : word >= bound
                }
                slots[kept] = slots[index]
                kept &+= stays ? 1 : 0
            }
        case .bytes(let bound):
            guard let cells else { return isNilFirst ? count : 0 }
            bound.withUnsafeBytes { bound in
                for index in 0..<count {
                    let slot = Int(slots[index])
                    let stays: Bool
                    if cells.isNil(at: slot) {
                        stays = isNilFirst
                    } else if cells.isExternal(at: slot) {
                        stays = true
                    } else {
                        let order = compareCells(cells.cell(slot), bound)
                        stays = isAscending ? order <= 0 : order >= 0
                    }
                    slots[kept] = slots[index]
                    kept &+= stays ? 1 : 0
                }
            }
        }
        return kept
    }
}

// The known ranges of the cells in blocks, which allow a scan to skip blocks.
//
// The zone of a block's column is noted when a condition, or the first rows of an order, first require it. It
// is valid as long as the block is where it is: rows in it die, but none changes. Zones are only in memory:
// for each column that was tested, up to 64 bytes for each block of the store.
//
// Threads: any; one lock.

import CairnFormat
import CairnStore
import Synchronization

/// The zone of a block's column: minimum and maximum as words with the same order as the values, and whether
/// some cells are nil.
struct BlockZone: BitwiseCopyable {
    var low = UInt64.max
    var high = UInt64.min
    var hasNil = false
    var hasValue = false

    /// A zone that excludes nothing.
    static let unknown = BlockZone(low: .min, high: .max, hasNil: true, hasValue: true)

    @inline(__always)
    mutating func add(_ word: UInt64) {
        if word < low { low = word }
        if word > high { high = word }
    }

    /// The zone of the cells of all rows, including dead ones.
    static func of(_ cells: CellColumn, rows: Int) -> BlockZone {
        // Values with frames of their own would have to be read.
        if cells.externals != nil { return .unknown }
        return switch cells.kind {
        case .integer: of(cells, rows) { OrderedWord.of(cells.integer($0)) }
        case .double: of(cells, rows) { OrderedWord.of(cells.double($0)) }
        case .float: of(cells, rows) { OrderedWord.of(Double(cells.float($0))) }
        case .bytes: of(cells, rows) { OrderedWord.of(cells.bytes($0)) }
        case .fixed16: of(cells, rows) { OrderedWord.of(cells.fixed16($0)) }
        }
    }

    @inline(__always)
    private static func of(_ cells: CellColumn, _ rows: Int, _ word: (Int) -> UInt64) -> BlockZone {
        var zone = BlockZone()
        for slot in 0..<rows {
            if cells.isNil(slot) {
                zone.hasNil = true
            } else {
                zone.hasValue = true
                zone.add(word(slot))
            }
        }
        return zone
    }
}

/// The known zones.
final class BlockZones: Sendable {
    private struct Entry: BitwiseCopyable {
        /// The place of the block that had the handle; no block is at 0.
        var place: UInt64 = 0
        var zone = BlockZone()
    }

    /// By property, then by handle.
    private let columns = Mutex<[UInt32: [Entry]]>([:])

    private static func key(_ entry: BlockEntry) -> UInt64 {
        UInt64(entry.segment) << 32 | UInt64(entry.offset8)
    }

    /// Marks the blocks of a scan that cannot contain a match, and those of which a tested zone is unknown.
    func look(_ blocks: inout [ScanBlock], _ tests: [ZoneTest], _ catalog: Catalog) {
        columns.withLock { columns in
            for test in tests {
                var known: (property: UInt32, entries: [Entry])?
                for index in blocks.indices where blocks[index].look != .nothing {
                    let property = catalog.entities[blocks[index].entity].columns[test.column]
                        .propertyID
                    if known?.property != property {
                        known = (property, columns[property] ?? [])
                    }
                    let handle = Int(blocks[index].handle.raw)
                    guard let entries = known?.entries, handle < entries.count,
                        entries[handle].place == Self.key(blocks[index].entry)
                    else {
                        blocks[index].look = .andNote
                        continue
                    }
                    if !test.canHold(in: entries[handle].zone) { blocks[index].look = .nothing }
                }
            }
        }
    }

    /// The zones of a column, one per block. Marks the blocks whose zone is unknown, so that it is noted.
    func known(of column: Int, _ blocks: inout [ScanBlock], _ catalog: Catalog) -> [BlockZone?] {
        columns.withLock { columns in
            var zones = [BlockZone?](repeating: nil, count: blocks.count)
            var known: (property: UInt32, entries: [Entry])?
            for index in blocks.indices {
                let block = blocks[index]
                let property = catalog.entities[block.entity].columns[column].propertyID
                if known?.property != property { known = (property, columns[property] ?? []) }
                let handle = Int(block.handle.raw)
                if let entries = known?.entries, handle < entries.count,
                    entries[handle].place == Self.key(block.entry)
                {
                    zones[index] = entries[handle].zone
                } else {
                    blocks[index].look = .andNote
                }
            }
            return zones
        }
    }

    /// Notes the zone of a block's column.
    func note(_ zone: BlockZone, of property: UInt32, _ block: ScanBlock) {
        let handle = Int(block.handle.raw)
        columns.withLock { columns in
            var entries = columns.removeValue(forKey: property) ?? []
            if entries.count <= handle {
                let most = max(handle + 1, entries.count * 2)
                entries.append(contentsOf: repeatElement(Entry(), count: most - entries.count))
            }
            entries[handle] = Entry(place: Self.key(block.entry), zone: zone)
            columns[property] = entries
        }
    }
}

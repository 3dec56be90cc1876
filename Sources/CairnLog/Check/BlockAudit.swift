// Decodes every block of a log and follows its rows from their creation to their deletion.
//
//   1. Every column of every block must decode, with the kind of its property (F-415), and numbers must have
//      been issued when the block's commit ended (DR1).
//   2. A number lives in one place or in none (BL1). If the whole history is available, the death of the old
//      place comes with the birth at the new one (BL2). A row that only moved was live before, in the same
//      version (BL3).
//   3. Large values of live rows are read.
//   4. No entity has too many small blocks (BL5), and an entity that a migration removed has no live rows.
//
// Threads: one audit in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct BlockAudit: ~Copyable {
    private let audit: LogAudit
    private let catalog: Catalog
    private let sizes: StoreSizes
    private let segments: [UInt32: Segment]
    private let largeValues: LargeValueReader
    private(set) var findings: [StoreError] = []
    private(set) var blocks = 0
    private(set) var rows = 0
    private var indexes: [Place: Int] = [:]
    private var dead: [SlotSet]
    private var directories: [RowDirectory]
    private var pages = PageTransaction(epoch: 1, pool: PagePool())
    private var isReadable: [Bool]
    /// The versions of rows that were both written and ended in the current commit, by tree and number.
    private var passing: [UInt64: UInt32] = [:]
    private var withReferences: [Int] = []
    /// Blocks of entities that the schema no longer has.
    private var gone: [Int] = []

    init(_ audit: LogAudit, catalog: Catalog, sizes: StoreSizes) {
        self.audit = audit
        self.catalog = catalog
        self.sizes = sizes
        let store = audit.folder.storeID ?? StoreID(low: 0, high: 0)
        largeValues = LargeValueReader(storeTag: audit.folder.storeTag)
        var segments: [UInt32: Segment] = [:]
        for segment in audit.folder.segments where segment.role != .foreign {
            let readable = segment.segment(of: store)
            segments[segment.number] = readable
            largeValues.add(readable)
        }
        self.segments = segments
        for (index, block) in audit.blocks.enumerated() { indexes[block.place] = index }
        dead = audit.blocks.map { _ in SlotSet() }
        isReadable = audit.blocks.map { _ in false }
        directories = catalog.trees.map { _ in RowDirectory() }
    }

    /// Runs all checks. Returns the number of blocks, the number of live rows, and the findings.
    consuming func run(progress: (Int, Int) -> Void) -> (
        blocks: Int, rows: Int, findings: [StoreError]
    ) {
        let isHistory = self.isHistory
        if !isHistory {
            bury(audit.carried)
            for commit in audit.commits { bury(commit) }
            for index in audit.blocks.indices where audit.blocks[index].isSide {
                enter(index, counters: [:], isHistory: false)
            }
        }
        var counters: [UInt32: UInt32] = [:]
        for (position, commit) in audit.commits.enumerated() {
            if position & 63 == 0 { progress(blocks, audit.blocks.count) }
            for counter in commit.counters { counters[counter.tree] = counter.next }
            if isHistory { bury(commit) }
            passing.removeAll(keepingCapacity: true)
            for index in commit.blocks {
                enter(index, counters: isHistory ? counters : [:], isHistory: isHistory)
            }
        }
        for index in withReferences { readValues(index) }
        for index in gone where dead[index].count < audit.blocks[index].rows {
            find(
                "there are live rows of an entity that the schema no longer has (F-722)",
                audit.blocks[index])
        }
        countSmallBlocks()
        progress(audit.blocks.count, audit.blocks.count)
        let result = (blocks, rows, findings)
        pages.abandon()
        return result
    }

    /// Whether every commit from the first one on is available, with its deaths. Rows that compaction moved,
    /// or that a missing segment held, have no history. Neither have the others if a segment between two was
    /// retired: all that may be left of it is deaths that a side segment carries, or not even those.
    private var isHistory: Bool {
        guard audit.outline.damage.isEmpty,
            !audit.folder.segments.contains(where: { $0.role == .side })
        else { return false }
        let mains = audit.folder.segments.filter { $0.role == .main }
        return mains.first?.baseLSN == 0
            && zip(mains, mains.dropFirst()).allSatisfy { $1.header?.predecessor == $0.number }
    }

    private mutating func find(_ message: String, _ block: LogAudit.Block) {
        guard findings.count < 10_000 else { return }
        findings.append(
            .damaged(
                message, segment: block.place.segment, offset: UInt64(block.place.byteOffset)))
    }

    private mutating func bury(_ commit: LogAudit.Commit) {
        for death in commit.deaths {
            guard let index = indexes[death.place] else { continue }
            for slot in death.slots { dead[index].insert(Int(slot)) }
        }
    }

    // MARK: Births

    private func cached(_ block: LogAudit.Block) throws(StoreError) -> CachedBlock {
        try CachedBlock.read(
            block.place, storeTag: audit.folder.storeTag, largeValues: largeValues
        ) { segments[$0] }
    }

    private mutating func enter(_ index: Int, counters: [UInt32: UInt32], isHistory: Bool) {
        let block = audit.blocks[index]
        blocks += 1
        // If all rows of a patch are dead, the patched block may be gone.
        if !block.patched.isNone, segments[block.patched.segment] == nil,
            dead[index].count == block.rows
        {
            return
        }
        do throws(StoreError) {
            let cached = try cached(block)
            guard let entityIndex = catalog.entityIndex(id: UInt32(block.entity)) else {
                if catalog.mayHaveBlocks(ofEntity: UInt32(block.entity)) {
                    gone.append(index)
                    return
                }
                return find("a block of an entity that the schema lacks (F-415)", block)
            }
            let entity = catalog.entities[entityIndex]
            let isEarlier = cached.head.schemaVersion < catalog.version && catalog.isMigrated
            let next = catalog.next.properties[entity.tree]
            var known: Set<UInt32> = []
            for column in entity.allColumns {
                known.insert(column.propertyID)
                let cells: DecodedColumn?
                do {
                    cells = try cached.column(column)
                } catch {
                    find(error.message, block)
                    continue
                }
                if column.target != nil, let cells {
                    checkTargets(cells, block, entity, column)
                }
            }
            for entry in cached.head.columns.dropLast(2)
            where !known.contains(entry.propertyID) && !(isEarlier && entry.propertyID < next) {
                find("a column of a property that the entity lacks (F-415)", block)
            }
            if cached.head.hasReferences { withReferences.append(index) }
            isReadable[index] = true
            place(
                index, try cached.numbers(), try cached.versions(), entity,
                next: counters[catalog.trees[entity.tree].id], isHistory: isHistory)
        } catch {
            if findings.count < 10_000 { findings.append(error) }
        }
    }

    private mutating func checkTargets(
        _ cells: DecodedColumn, _ block: LogAudit.Block, _ entity: Catalog.StoredEntity,
        _ column: Catalog.StoredColumn
    ) {
        for slot in 0..<block.rows where !cells.isNil(at: slot) {
            guard let target = UInt32(exactly: cells.integer(at: slot)), target != 0 else {
                return find(
                    "\(entity.name).\(column.name) refers to an impossible number", block)
            }
        }
    }

    private mutating func place(
        _ index: Int, _ numbers: DecodedColumn, _ versions: DecodedColumn,
        _ entity: Catalog.StoredEntity, next: UInt32?, isHistory: Bool
    ) {
        let block = audit.blocks[index]
        for slot in 0..<block.rows {
            guard let number = UInt32(exactly: numbers.integer(at: slot)), number != 0,
                number <= FormatLimits.maximumNumber
            else {
                find("a row has an impossible number (F-407)", block)
                continue
            }
            if let next, number >= next {
                find("object \(number) has a number that was never given (F-622, DR1)", block)
            }
            let version = versions.integer(at: slot)
            if version < 1 || version > Int64(DirectoryCell.maximumVersion) {
                find("object \(number) has an impossible version (F-407)", block)
            }
            let known = directories[entity.tree][number]
            let exact = UInt32(clamping: min(max(version, 1), Int64(DirectoryCell.maximumVersion)))
            if isHistory, block.isMoved {
                let before = passing[UInt64(entity.tree) << 32 | UInt64(number)]
                if known.isEmpty && before == nil || exact != before ?? known.version {
                    find(
                        "object \(number) has moved and changed, which a move must not do (BL3)",
                        block)
                }
            }
            guard !dead[index].contains(slot) else {
                if isHistory { passing[UInt64(entity.tree) << 32 | UInt64(number)] = exact }
                continue
            }
            if !known.isEmpty, !dead[Int(known.handle.raw) - 1].contains(known.slot) {
                let other = audit.blocks[Int(known.handle.raw) - 1].place
                find(
                    "object \(number) lives in two places, here and in segment \(other.segment), offset \(other.byteOffset) (F-643, \(isHistory ? "BL1, BL2" : "BL1"))",
                    block)
            }
            directories[entity.tree].set(
                number,
                DirectoryCell(
                    handle: BlockHandle(raw: UInt32(index + 1)), slot: slot, version: exact),
                in: &pages)
        }
    }

    // MARK: Afterwards

    private mutating func readValues(_ position: Int) {
        let block = audit.blocks[position]
        do throws(StoreError) {
            let cached = try cached(block)
            guard let index = catalog.entityIndex(id: UInt32(block.entity)) else { return }
            let tree = catalog.trees[catalog.entities[index].tree].id
            let numbers = try cached.numbers()
            for entry in cached.head.columns {
                guard let cells = try? cached.column(propertyID: entry.propertyID) else { continue }
                for slot in 0..<block.rows
                where !dead[position].contains(slot) && !cells.isNil(at: slot)
                    && cells.isExternal(at: slot)
                {
                    do throws(StoreError) {
                        _ = try cached.large(
                            cells.bytes(at: slot),
                            owner: .init(
                                tree: tree, number: numbers.number(slot), property: entry.propertyID
                            ))
                    } catch {
                        if findings.count < 10_000 { findings.append(error) }
                    }
                }
            }
        } catch {
            if findings.count < 10_000 { findings.append(error) }
        }
    }

    /// Finds entities with too many small blocks. Merged blocks do not count: they are as full as they could
    /// be.
    private mutating func countSmallBlocks() {
        var counts: [Int: Int] = [:]
        var last: [Int: LogAudit.Block] = [:]
        for (index, block) in audit.blocks.enumerated() {
            let live =
                catalog.entityIndex(id: UInt32(block.entity)) == nil
                ? 0 : block.rows - dead[index].count
            if isReadable[index] { rows += live }
            guard live > 0, !block.isMoved, block.patched.isNone else { continue }
            let level = sizes.level(rows: block.rows, rawLength: block.rawLength)
            guard level != .full else { continue }
            let key = block.entity * 4 + Int(level.rawValue)
            counts[key, default: 0] += 1
            last[key] = block
        }
        for (key, count) in counts.inKeyOrder()
        where count >= sizes.mergedBlocks {
            guard let block = last[key] else { continue }
            let name =
                catalog.entityIndex(id: UInt32(block.entity)).map { catalog.entities[$0].name }
                ?? ""
            find("\(name) has \(count) small blocks that were never merged (BL5)", block)
        }
    }
}

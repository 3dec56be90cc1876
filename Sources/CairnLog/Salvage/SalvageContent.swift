// Decides which rows of a damaged store to keep.
//
//   content = rows of the blocks − deaths
//
//   1. Number and version of each row that is not certainly dead are read, and whether its values can be
//      read: a row that lacks a required value is lost.
//   2. The newest version of each number is kept. A row that may be dead counts only if there is no other.
//   3. Of rows with the same unique key the newest is kept: by commit, then by number. The key is the one
//      that the row will have without what is lost.
//
// Invariants: each number is kept at most once; no two rows that are kept have the same key.
// Threads: one in one thread.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

struct SalvageContent: ~Copyable {
    let inventory: SalvageInventory
    let catalog: Catalog
    let largeValues: LargeValueReader
    private(set) var report: SalvageReport
    /// By tree: the place of the row to keep. Handles are positions in `blocks`, from 1.
    private(set) var directories: [RowDirectory]
    /// In the order of the log.
    let blocks: [SalvagedBlock]
    /// The positions of blocks that have patches.
    private let patched: [Place: Int]
    private var doubtful: [RowDirectory]
    /// Rows that cannot be kept, unless an older version can.
    private var unusable:
        [(block: Int, entity: Int, number: UInt32, key: String?, reason: String)] =
            []
    private var dead: [Place: Dead] = [:]
    private var pages: PageTransaction
    private let cache = BlockCache(budget: 64 << 20)
    private let segments: [UInt32: SurveyedSegment]

    /// Which slots of a block are dead.
    private struct Dead {
        var sure = SlotSet()
        var maybe = SlotSet()
    }

    init(_ inventory: SalvageInventory, catalog: Catalog, report: SalvageReport) {
        self.inventory = inventory
        self.catalog = catalog
        self.report = report
        let store = inventory.folder.storeID ?? StoreID(low: 0, high: 0)
        largeValues = LargeValueReader(storeTag: inventory.folder.storeTag)
        for segment in inventory.folder.segments {
            largeValues.add(segment.segment(of: store))
        }
        segments = Dictionary(
            inventory.folder.segments.map { ($0.number, $0) },
            uniquingKeysWith: { first, _ in first })
        blocks = inventory.blocks.sorted { ($0.commit, $0.place) < ($1.commit, $1.place) }
        let bases = Set(blocks.map(\.patched).filter { !$0.isNone })
        var patched: [Place: Int] = [:]
        for (index, block) in blocks.enumerated() where bases.contains(block.place) {
            patched[block.place] = index
        }
        self.patched = patched
        directories = catalog.trees.map { _ in RowDirectory() }
        doubtful = directories
        pages = PageTransaction(epoch: 1, pool: PagePool())
        self.report.entities = catalog.entities.map { .init(name: $0.name, isHidden: $0.isHidden) }
    }

    /// Releases the memory. The content must not be used after that.
    consuming func finish() -> SalvageReport {
        let report = report
        pages.abandon()
        return report
    }

    /// Decides which rows to keep.
    mutating func decide(progress: (Int, Int) -> Void) throws(StoreError) {
        bury()
        for index in blocks.indices {
            if index & 63 == 0 { progress(index, blocks.count) }
            try take(index)
        }
        takeDoubtful()
        try findDuplicates()
        countResurrected()
    }

    // MARK: Deaths

    private mutating func bury() {
        let rows = Dictionary(
            blocks.map { ($0.place, $0.rows) }, uniquingKeysWith: { first, _ in first })
        for frame in inventory.deaths {
            guard let payload = try? DeathsPayload(decoding: frame.payload.bytes) else { continue }
            let isSure =
                !inventory.brokenParts.contains(frame.commit)
                && (frame.isSure || !inventory.damagedCommits.contains(frame.commit))
            for entry in payload.entries {
                guard let count = rows[entry.block] else { continue }
                var slots: [Int] = []
                guard (try? entry.forEachSlot(rows: count, { slots.append(Int($0)) })) != nil else {
                    continue
                }
                for slot in slots {
                    if isSure {
                        dead[entry.block, default: Dead()].sure.insert(slot)
                    } else {
                        dead[entry.block, default: Dead()].maybe.insert(slot)
                    }
                }
            }
        }
    }

    // MARK: Rows

    /// Returns a block as far as it can be read.
    func block(_ index: Int) throws(StoreError) -> CachedBlock {
        let salvaged = blocks[index]
        return try cache.block(salvaged.place) { () throws(StoreError) in
            try CachedBlock(
                StoredPayload(
                    payload: try payload(salvaged), isPatch: !salvaged.patched.isNone),
                place: salvaged.place, largeValues: largeValues
            ) { base throws(StoreError) in
                guard let index = patched[base], blocks[index].patched.isNone else {
                    throw .damaged(
                        "the block that a patch is of is missing (F-454)",
                        segment: salvaged.place.segment,
                        offset: UInt64(salvaged.place.byteOffset))
                }
                return try payload(blocks[index])
            }
        }
    }

    private func payload(_ salvaged: SalvagedBlock) throws(StoreError) -> RawBytes {
        guard let file = segments[salvaged.place.segment]?.file else {
            throw .damaged("a segment is missing", segment: salvaged.place.segment)
        }
        return try salvaged.payload(of: file)
    }

    private mutating func take(_ index: Int) throws(StoreError) {
        let salvaged = blocks[index]
        let dead = dead[salvaged.place] ?? Dead()
        guard dead.sure.count < salvaged.rows else { return }
        guard let entity = catalog.entityIndex(id: salvaged.entity) else {
            // Objects of an entity that was removed by a change of the model are no longer needed.
            if !catalog.mayHaveBlocks(ofEntity: salvaged.entity) { report.hasUnknownLosses = true }
            return
        }
        let cells: (numbers: DecodedColumn, versions: DecodedColumn?)
        do {
            let block = try block(index)
            cells = (try block.numbers(), try? block.versions())
        } catch {
            // It is unknown whose rows they are.
            let lost = (0..<salvaged.rows).count {
                !dead.sure.contains($0) && !dead.maybe.contains($0)
            }
            for _ in 0..<lost { lose(salvaged, entity, number: nil, key: nil, error.message) }
            return
        }
        let usable = try UsableRows(
            try block(index), entity: entity, catalog: catalog, except: dead.sure)
        for slot in 0..<salvaged.rows where !dead.sure.contains(slot) {
            guard let number = UInt32(exactly: cells.numbers.integer(at: slot)), number != 0,
                number <= FormatLimits.maximumNumber
            else { continue }
            if let reason = usable.reason(slot) {
                if !dead.maybe.contains(slot) {
                    unusable.append((index, entity, number, usable.key(slot), reason))
                }
                continue
            }
            let version = cells.versions.flatMap { UInt32(exactly: $0.integer(at: slot)) } ?? 1
            let cell = DirectoryCell(
                handle: BlockHandle(raw: UInt32(index + 1)), slot: slot,
                version: max(1, min(version, DirectoryCell.maximumVersion)))
            let isDoubtful = dead.maybe.contains(slot) || salvaged.isUnadopted
            place(number, cell, tree: catalog.entities[entity].tree, isDoubtful: isDoubtful)
        }
    }

    private mutating func place(
        _ number: UInt32, _ cell: DirectoryCell, tree: Int, isDoubtful: Bool
    ) {
        let known = isDoubtful ? doubtful[tree][number] : directories[tree][number]
        if !known.isEmpty {
            if !isDoubtful { report.superseded += 1 }
            guard Self.isNewer(cell.version, than: known.version) else { return }
        }
        if isDoubtful {
            doubtful[tree].set(number, cell, in: &pages)
        } else {
            directories[tree].set(number, cell, in: &pages)
        }
    }

    /// Versions wrap around. Of equal ones the later row is used: blocks come in the order of the log.
    private static func isNewer(_ version: UInt32, than other: UInt32) -> Bool {
        let distance = (version &- other) & DirectoryCell.maximumVersion
        return distance < DirectoryCell.maximumVersion / 2
    }

    private mutating func takeDoubtful() {
        for tree in doubtful.indices {
            var number: UInt32 = 1
            while let next = doubtful[tree].next(from: number) {
                number = next + 1
                guard directories[tree][next].isEmpty else { continue }
                let cell = doubtful[tree][next]
                directories[tree].set(next, cell, in: &pages)
                let entity = catalog.entityIndex(id: salvaged(cell).entity) ?? 0
                report.entities[entity].older += 1
            }
            doubtful[tree].cells.removeAll(in: &pages)
        }
        for row in unusable
        where directories[catalog.entities[row.entity].tree][row.number].isEmpty {
            lose(blocks[row.block], row.entity, number: row.number, key: row.key, row.reason)
        }
        unusable = []
    }

    func salvaged(_ cell: DirectoryCell) -> SalvagedBlock { blocks[Int(cell.handle.raw) - 1] }

    private mutating func lose(
        _ block: SalvagedBlock, _ entity: Int, number: UInt32?, key: String?, _ reason: String
    ) {
        report.entities[entity].lost += 1
        report.note(
            .init(
                kind: .row, entity: catalog.entities[entity].name, number: number, key: key,
                segment: block.place.segment, offset: UInt64(block.place.byteOffset),
                reason: reason))
    }

    /// Notes an item that is lost, with or without its row.
    mutating func note(
        _ kind: SalvageReport.Loss.Kind, _ block: SalvagedBlock, _ entity: Int, number: UInt32,
        key: String, _ reason: String
    ) {
        report.note(
            .init(
                kind: kind, entity: catalog.entities[entity].name, number: number, key: key,
                segment: block.place.segment, offset: UInt64(block.place.byteOffset),
                reason: reason))
    }

    mutating func noteKept(_ block: SalvagedBlock, _ entity: Int) {
        report.entities[entity].kept += 1
        if let index = report.segments.firstIndex(where: { $0.number == block.place.segment }) {
            report.segments[index].rowsKept += 1
        }
    }

    // MARK: Keys

    private mutating func findDuplicates() throws(StoreError) {
        // References to dropped rows become nil, which may be a key: then there may be more duplicates.
        var unread = UnreadValues()
        while try dropDuplicates(&unread), catalog.hasReferenceRules {}
    }

    /// Newest first, so that earlier rows are dropped. Returns whether there were any.
    private mutating func dropDuplicates(_ unread: inout UnreadValues) throws(StoreError) -> Bool {
        var hasDropped = false
        var indexes = catalog.uniques.map { _ in UniqueIndex() }
        var key = KeyBuffer()
        var other = KeyBuffer()
        for index in blocks.indices.reversed() {
            guard let entityIndex = catalog.entityIndex(id: blocks[index].entity) else { continue }
            let entity = catalog.entities[entityIndex]
            guard !entity.uniques.isEmpty, let block = try? block(index),
                let numbers = try? block.numbers()
            else { continue }
            rows: for slot in (0..<block.rows).reversed() {
                guard let number = UInt32(exactly: numbers.integer(at: slot)),
                    isKept(number, tree: entity.tree, index, slot)
                else { continue }
                var hashes: [(unique: Int, hash: UInt64)] = []
                for unique in entity.uniques {
                    let definition = catalog.uniques[unique]
                    guard (try? load(&key, index, slot, definition, &unread)) == true else {
                        continue
                    }
                    let hash = key.hash(seed: 0)
                    let newer = try indexes[unique].firstCandidate(hash: hash).first {
                        candidate throws(StoreError) in
                        let cell = directories[entity.tree][candidate]
                        guard !cell.isEmpty,
                            try load(
                                &other, Int(cell.handle.raw) - 1, cell.slot, definition, &unread)
                        else { return false }
                        return other.equals(key)
                    }
                    if let newer {
                        note(
                            .duplicate, blocks[index], entityIndex, number: number,
                            key: definition.names.joined(separator: ", "),
                            "object \(newer) is newer and has the same \(definition.words)")
                        report.entities[entityIndex].lost += 1
                        directories[entity.tree].set(number, .empty, in: &pages)
                        hasDropped = true
                        continue rows
                    }
                    hashes.append((unique, hash))
                }
                for entry in hashes {
                    indexes[entry.unique].insert(hash: entry.hash, number: number, in: &pages)
                }
            }
        }
        for index in indexes.indices { indexes[index].removeAll(in: &pages) }
        return hasDropped
    }

    /// The unreadable values of blocks whose rows were read for keys.
    private typealias UnreadValues = [Int: UsableRows]

    /// Loads the key that a row will have. If nil may be a key, that is not the previous one: unreadable
    /// values, and references to missing objects, become nil.
    private func load(
        _ key: inout KeyBuffer, _ index: Int, _ slot: Int,
        _ definition: Catalog.UniqueDefinition, _ unread: inout UnreadValues
    ) throws(StoreError) -> Bool {
        guard let entityIndex = catalog.entityIndex(id: blocks[index].entity) else { return false }
        let entity = catalog.entities[entityIndex]
        let block = try block(index)
        let form = definition.form
        guard form.rule != nil else {
            return try key.load(block, row: slot, entity: entity, form)
        }
        let usable: UsableRows
        if let known = unread[index] {
            usable = known
        } else {
            usable = try UsableRows(
                block, entity: entityIndex, catalog: catalog, except: SlotSet())
            unread[index] = usable
        }
        let description = catalog.description(of: entityIndex)
        var values = [Value](repeating: .null, count: entity.columns.count)
        for column in form.watched where !usable.isLost(column, slot) {
            let cells = try block.cells(entity.columns[column], at: column).pointee
            guard !cells.isNil(slot) else { continue }
            if case .attribute(let type) = description.columns[column].kind {
                values[column] = try Value.stored(cells, slot, type, block)
            } else if let target = self.target(
                UInt64(bitPattern: cells.integer(slot)), column, of: entity)
            {
                // The store makes no difference: a key contains the number.
                values[column] = .objectID(
                    ObjectID(store: Self.anyStore, hierarchy: 0, reference: UInt64(target)))
            }
        }
        return key.load(values, form, number: { $0.number })
    }

    private static let anyStore = UUID()

    /// Returns the object that a reference will point to; nil if the reference becomes nil.
    func target(_ word: UInt64, _ column: Int, of entity: Catalog.StoredEntity) -> UInt32? {
        guard let number = UInt32(exactly: word), number != 0,
            let reference = entity.references.first(where: {
                catalog.references[$0].column == column
            })
        else { return nil }
        let definition = catalog.references[reference]
        if !directories[definition.target][number].isEmpty { return number }
        // Its target may never have existed.
        return number < FormatLimits.maximumNumber && definition.rule == .noAction ? number : nil
    }

    /// Whether the row in a slot is the one that is kept for its number.
    func isKept(_ number: UInt32, tree: Int, _ index: Int, _ slot: Int) -> Bool {
        let cell = directories[tree][number]
        return !cell.isEmpty && cell.handle.raw == UInt32(index + 1) && cell.slot == slot
    }

    // MARK: Resurrection

    /// Counts rows that existed before deaths that may be lost.
    private mutating func countResurrected() {
        let last = inventory.lastDoubtfulDeaths
        guard last > 0 else { return }
        for tree in directories.indices where !catalog.entities[catalog.trees[tree].root].isHidden {
            var number: UInt32 = 1
            while let next = directories[tree].next(from: number) {
                if salvaged(directories[tree][next]).commit < last {
                    report.possiblyResurrected += 1
                }
                number = next + 1
            }
        }
    }
}

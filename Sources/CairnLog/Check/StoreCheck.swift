// Reads everything in a store and checks its consistency.
//
//   1. Every frame was read and its checksums compared when the store was opened; here, every column of every
//      block with a live row is decoded, and every large value is read.
//   2. DR2: a live row's number refers to its place.
//   3. IX1: each key of a live row is in its unique index, for that object alone; no index has more entries.
//      Each live row is in every fetch index over its entity, and no other row is.
//   4. RL2: inverse tables contain the references and nothing else, and these refer to objects that exist,
//      unless the model allows them to dangle.
//   5. Text is valid UTF-8.
//
// Threads: one check in one thread; the store may be used meanwhile.

import CairnFormat
import CairnModel
public import CairnStore

extension LogStore {
    /// Checks everything in the newest state.
    ///
    /// It does not recompute derived attributes, and does not check that the two sides of a one-to-one
    /// relationship match.
    ///
    /// - Parameter progress: called from time to time with the number of blocks done and the total number of
    ///   blocks.
    /// - Throws: `StoreError` if the store is closed. Damage is listed in the report.
    /// - Complexity: O(size of the store).
    public func check(progress: ((Int, Int) -> Void)? = nil) throws(StoreError) -> StoreCheckReport
    {
        let pin = engine.registry.pin()
        return withExtendedLifetime(pin) {
            var checker = StoreChecker(engine: engine, state: pin.state)
            var report = checker.run(progress: progress)
            engine.checkHistory(pin, &report)
            engine.checkRedirects(pin.state, &report)
            engine.checkPast(pin.state, &report)
            return report
        }
    }
}

/// Executes a check.
struct StoreChecker: ~Copyable {
    private let engine: Engine
    private let state: EngineState
    private var report = StoreCheckReport()
    private var key = KeyBuffer()
    private var other = KeyBuffer()
    private var keys: [Int]
    private var indexKey = IndexKey()
    /// By reference definition: target and source of each row that refers to an object.
    private var forward: [[UInt64]]
    /// Whether rows could not be read.
    private var isIncomplete = false

    init(engine: Engine, state: EngineState) {
        self.engine = engine
        self.state = state
        keys = Array(repeating: 0, count: state.uniques.count)
        forward = state.inverses.map { _ in [] }
    }

    mutating func run(progress: ((Int, Int) -> Void)?) -> StoreCheckReport {
        let total = state.blocks.count
        for entity in state.catalog.entities.indices {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                check(handle, entry, entity)
                report.blocks += 1
                if report.blocks & 63 == 0 { progress?(report.blocks, total) }
                handle = state.blocks.next(after: entry)
            }
        }
        for (index, unique) in state.uniques.enumerated() {
            report.indexEntries += unique.count
            if unique.count != keys[index] {
                find(
                    .damaged(
                        "the unique index on \(state.catalog.uniques[index].words) has \(unique.count) entries for \(keys[index]) keys (IX1, IX2)"
                    ))
            }
        }
        if !isIncomplete {
            checkFetchIndexes()
            checkDirectories()
            checkInverses()
        }
        progress?(total, total)
        return report
    }

    private mutating func find(_ error: StoreError) { report.find(error) }

    private mutating func check(_ handle: BlockHandle, _ entry: BlockEntry, _ entity: Int) {
        do throws(StoreError) {
            // Read from the file, not from the cache: what is checked is what is stored.
            let block = try CachedBlock.read(
                entry.place, storeTag: engine.storeID.tag, largeValues: engine.reader.largeValues
            ) { state.segment($0) }
            if block.base?.place ?? .none != entry.patched
                || block.base?.borrowedBytes ?? 0 != Int(entry.borrowedBytes)
            {
                find(damage(block, "the block table names another block that this is a patch of"))
            }
            let numbers = try block.numbers()
            let versions = try block.versions()
            for slot in 0..<block.rows where entry.isLive(slot) {
                report.rows += 1
                try checkRow(
                    block, slot, handle, entity, numbers.number(slot), versions.number(slot))
            }
        } catch {
            find(error)
            isIncomplete = true
        }
    }

    private mutating func checkRow(
        _ block: CachedBlock, _ slot: Int, _ handle: BlockHandle, _ entityIndex: Int,
        _ number: UInt32, _ version: UInt32
    ) throws(StoreError) {
        let entity = state.catalog.entities[entityIndex]
        let cell = state.directories[entity.tree][number]
        if cell != DirectoryCell(handle: handle, slot: slot, version: version) {
            find(damage(block, "object \(number) is not where the directory says (DR2)"))
        }
        try checkValues(block, slot, entityIndex, number)
        for unique in entity.uniques {
            guard
                try key.load(
                    block, row: slot, entity: entity,
                    state.catalog.uniques[unique].form)
            else { continue }
            keys[unique] += 1
            try checkKey(block, number, unique)
        }
        for index in state.catalog.fetchIndexesOfEntity[entityIndex] {
            try checkEntry(block, slot, entity, number, index)
        }
        for reference in entity.references {
            let definition = state.catalog.references[reference]
            guard let cells = try block.column(entity.columns[definition.column]),
                !cells.isNil(at: slot)
            else { continue }
            report.references += 1
            let target = cells.number(slot)
            forward[reference].append(UInt64(target) << 32 | UInt64(number))
            if definition.rule != .noAction,
                state.directories[definition.target][target].isEmpty
            {
                find(
                    damage(
                        block,
                        "\(entity.name).\(entity.columns[definition.column].name) of object \(number) refers to object \(target), which does not exist (RL2)"
                    ))
            }
        }
    }

    /// Checks that the directories have no more objects than there are rows, and that the counts are right.
    private mutating func checkDirectories() {
        var cells = 0
        for directory in state.directories {
            var number: UInt32 = 0
            while let next = directory.next(from: number) {
                cells += 1
                if next == .max { break }
                number = next + 1
            }
        }
        if cells != report.rows {
            find(.damaged("the directories have \(cells) objects for \(report.rows) rows (DR2)"))
        }
        let counted = state.counts.reduce(0, +)
        if counted != report.rows {
            find(.damaged("\(counted) objects are counted for \(report.rows) rows (DR2, IX2)"))
        }
    }

    /// Checks that both directions of every reference agree.
    private mutating func checkInverses() {
        for (index, inverse) in state.inverses.enumerated() {
            forward[index].sort()
            if CheckpointAudit.pairs(inverse) != forward[index] {
                let definition = state.catalog.references[index]
                let entity = state.catalog.entities[definition.entity]
                find(
                    .damaged(
                        "the inverse of \(entity.name).\(entity.columns[definition.column].name) does not match it (RL2)"
                    ))
            }
        }
    }

    /// Checks that a row is in a fetch index under its key.
    private mutating func checkEntry(
        _ block: CachedBlock, _ slot: Int, _ entity: Catalog.StoredEntity, _ number: UInt32,
        _ index: Int
    ) throws(StoreError) {
        let definition = state.catalog.fetchIndexes[index]
        var columns: [DecodedColumn?] = []
        for part in definition.parts {
            columns.append(try block.column(entity.columns[part.column]))
        }
        try indexKey.load(block, row: slot, definition.parts, columns)
        if state.fetchIndexes[index].has(
            indexKey, number: number, hasPostings: definition.hasPostings, seed: state.hashSeed)
        {
            return
        }
        find(
            damage(
                block,
                "object \(number) is not in the fetch index \(definition.name) under its key (IX1)")
        )
    }

    /// Checks that no fetch index has more entries than there are rows, and that its counts are right.
    private mutating func checkFetchIndexes() {
        for (definition, content) in zip(state.catalog.fetchIndexes, state.fetchIndexes) {
            let rows = definition.family.reduce(0) { $0 + state.counts[$1] }
            report.indexEntries += content.ordered.count
            let postings = definition.hasPostings ? content.postings.count : rows
            if content.ordered.count != rows || postings != rows {
                find(
                    .damaged(
                        "the fetch index \(definition.name) has \(content.ordered.count) entries for \(rows) rows (IX1, IX2)"
                    ))
            }
            for problem in content.ordered._checkInvariants() + content.postings._checkInvariants()
            {
                find(.damaged("the fetch index \(definition.name): \(problem) (IX1, IX2)"))
            }
        }
    }

    private mutating func checkKey(_ block: CachedBlock, _ number: UInt32, _ unique: Int)
        throws(StoreError)
    {
        var found = 0
        var cursor = state.uniques[unique].firstCandidate(hash: key.hash(seed: state.hashSeed))
        let tree = state.catalog.entities[state.catalog.uniques[unique].entity].tree
        while let candidate = cursor.next() {
            if candidate == number {
                found += 1
                continue
            }
            let cell = state.directories[tree][candidate]
            guard !cell.isEmpty else { continue }
            let entry = state.blocks.entry(cell.handle)
            let entity = state.catalog.entities[Int(entry.entity)]
            if try other.load(
                try engine.reader.block(entry, in: state), row: cell.slot, entity: entity,
                state.catalog.uniques[unique].form), other.equals(key)
            {
                let definition = state.catalog.uniques[unique]
                find(
                    damage(
                        block,
                        "objects \(number) and \(candidate) have the same key (\(definition.words)) (\(definition.isPlain ? "IX1" : "F-714"))"
                    ))
            }
        }
        if found != 1 {
            find(damage(block, "object \(number) has \(found) entries in a unique index (IX1)"))
        }
    }

    private mutating func checkValues(
        _ block: CachedBlock, _ slot: Int, _ entityIndex: Int, _ number: UInt32
    ) throws(StoreError) {
        let entity = state.catalog.entities[entityIndex]
        let description = state.catalog.description(of: entityIndex)
        for (position, column) in entity.columns.enumerated() {
            guard let cells = try block.column(column), !cells.isNil(at: slot) else { continue }
            let isText: Bool
            switch description.columns[position].kind {
            case .attribute(.string), .attribute(.uri): isText = true
            default: isText = false
            }
            if column.kind == .bytes {
                let isRight = try block.withBytes(cells, slot) { bytes in
                    !isText || String(validating: bytes, as: UTF8.self) != nil
                }
                if !isRight {
                    find(
                        damage(
                            block, "\(entity.name).\(column.name) of object \(number) is not UTF-8")
                    )
                }
            }
        }
    }

    private func damage(_ block: CachedBlock, _ message: String) -> StoreError {
        .damaged(
            message, segment: block.place.segment, offset: UInt64(block.place.byteOffset))
    }
}

// Builds a state from a log.
//
//   content = all rows of the blocks − deaths of those blocks
//
//   1. Blocks are entered in the order of the log, then all deaths.
//   2. For each live row: its place is entered for its number; BL1 says that none had one before.
//   3. Its keys and references are entered into the indexes; for fetch indexes see `FetchIndexBuilder`.
//
// With a base, the state of a checkpoint or one of readers, blocks and deaths are those after it. Rows of the
// base that died are first removed from directory and indexes; then it continues as above. The cost depends
// on the number of blocks and deaths, not on the size of the base.
//
// Threads: one builder in one thread; nobody sees the state before it is whole.

import CairnFormat
import CairnModel
import CairnStore

enum StateBuilder {
    /// Builds the state after the last commit of a log. It consumes its base, if there is one.
    static func build(
        _ log: OpenedLog, cache: BlockCache, largeValues: LargeValueReader, pool: PagePool,
        hashSeed: UInt64, sizes: StoreSizes, monitor: RecoveryMonitor? = nil
    ) throws(StoreError) -> EngineState {
        let next = try advance(
            log, cache: cache, largeValues: largeValues, pool: pool, hashSeed: hashSeed,
            sizes: sizes, monitor: monitor)
        pool.give(next.replaced.map(\.address))
        return next.state
    }

    /// The same concurrently with readers of the base: the pages that only they need are returned with it.
    static func advance(
        _ log: OpenedLog, cache: BlockCache, largeValues: LargeValueReader, pool: PagePool,
        hashSeed: UInt64, sizes: StoreSizes, monitor: RecoveryMonitor? = nil
    ) throws(StoreError) -> (state: EngineState, replaced: [Page]) {
        var state = log.base ?? EngineState(catalog: log.catalog, end: log.end)
        state.end = log.end
        state.commit = log.commit
        state.commitOffset = log.commitOffset
        state.commitEnd = log.commitEnd
        state.segments = log.segments
        state.hashSeed = hashSeed
        for (index, tree) in log.catalog.trees.enumerated() {
            state.nextNumbers[index] = log.counters[tree.id] ?? 1
        }
        state.reserved = state.nextNumbers
        try fillRedirects(&state, log)
        let isComplete = FetchIndexBuilder.isComplete(state, for: log.catalog)
        if log.base != nil, log.blocks.isEmpty, log.deaths.isEmpty, log.history.isEmpty, isComplete,
            log.catalog.metadata?.history == log.base?.catalog.metadata?.history
        {
            state.catalog = log.catalog
            return (state, [])
        }
        var pages = PageTransaction(epoch: log.commit, pool: pool)
        do {
            let indexes = FetchIndexBuilder(
                &state, log.catalog, hasBase: log.base != nil, seed: hashSeed, in: &pages)
            state.catalog = log.catalog
            try fill(&state, log, indexes.writer, cache, largeValues, sizes, monitor, &pages)
            try fillHistory(&state, log, &pages)
            try indexes.settle(&state, in: &pages)
            try indexes.buildMissing(&state, in: &pages) { place throws(StoreError) in
                try read(place, log.readable, largeValues)
            }
        } catch {
            pages.abandon()
            throw error
        }
        return (state, pages.commit())
    }

    /// Enters the places of the changes of commits, as far as they are retained.                          HY1
    private static func fillHistory(
        _ state: inout EngineState, _ log: OpenedLog, _ pages: inout PageTransaction
    ) throws(StoreError) {
        guard let settings = log.catalog.metadata?.history else {
            return state.history.removeAll(behind: 0, in: &pages)
        }
        if log.base == nil || state.history.count == 0 {
            state.history.removeAll(behind: settings.horizon, in: &pages)
        } else if settings.horizon != log.base?.catalog.metadata?.history?.horizon {
            _ = state.history.drop(through: settings.horizon, in: &pages)
        }
        let live = Set(log.segments.all.map(\.number))
        // The base's entries were in its segments: they are checked only if one of these is gone.
        var mayLack = log.base.map { !live.isSuperset(of: $0.segments.all.map(\.number)) } ?? false
        for changes in log.history where changes.commit > settings.horizon {
            if let known = state.history[changes.commit],
                known.place.segment > changes.place.segment
            {
                continue
            }
            if !live.contains(changes.place.segment) { mayLack = true }
            let frame = HistoryFrame(place: changes.place, length: changes.length)
            guard state.history.set(changes.commit, frame, in: &pages) else {
                throw .damaged(
                    "changes of a commit far beyond the horizon (F-778)",
                    segment: changes.place.segment, offset: UInt64(changes.place.byteOffset))
            }
        }
        guard mayLack else { return }
        var lost: HistoryFrame?
        state.history.forEach { _, frame in
            if !live.contains(frame.place.segment) { lost = frame }
            return lost == nil
        }
        if let lost {
            throw .damaged(
                "changes that are retained were in a segment that was retired (F-779)",
                segment: lost.place.segment, offset: UInt64(lost.place.byteOffset))
        }
    }

    /// Enters the redirects of objects that were merged into others.                                      RD3
    private static func fillRedirects(_ state: inout EngineState, _ log: OpenedLog)
        throws(StoreError)
    {
        state.redirects = RedirectTable.adding(log.redirects, to: state.redirects)
        guard let redirects = state.redirects else { return }
        let live = Set(log.segments.all.map(\.number))
        // The base's entries were in its segments: they are checked only if one of these is gone.
        let mayLack =
            log.base.map { !live.isSuperset(of: $0.segments.all.map(\.number)) } ?? false
        if !mayLack, log.redirects.values.allSatisfy({ live.contains($0.segment) }) { return }
        var lost: UInt32?
        redirects.forEach { _, entry in
            if !live.contains(entry.segment) { lost = entry.segment }
        }
        if let lost {
            throw .damaged(
                "redirects in force were in a segment that was retired (F-786)", segment: lost)
        }
    }

    private static func fill(
        _ state: inout EngineState, _ log: OpenedLog, _ fetchIndexes: FetchIndexWriter?,
        _ cache: BlockCache, _ largeValues: LargeValueReader, _ sizes: StoreSizes,
        _ monitor: RecoveryMonitor?, _ pages: inout PageTransaction
    ) throws(StoreError) {
        var handles: [Place: BlockHandle] = [:]
        handles.reserveCapacity(log.blocks.count)
        var gone: [Place: SlotSet] = [:]
        for block in log.blocks {
            guard let entity = log.catalog.entityIndex(id: block.entity) else {
                gone[block.place] = SlotSet()
                continue
            }
            let handle = state.blocks.insert(BlockEntry(entity: UInt16(entity)), in: &pages)
            state.blocks.fill(
                handle, place: block.place, rows: block.rows,
                level: block.patched.isNone
                    ? sizes.level(rows: block.rows, rawLength: block.rawLength) : .full,
                commit: block.commit, schemaVersion: block.schemaVersion, length: block.length,
                hasReferences: block.hasReferences, patched: block.patched,
                borrowedBytes: block.borrowedBytes, in: &pages)
            handles[block.place] = handle
        }
        // Which rows live on in patches is known once the deaths in those are.
        var carrying = CarryingPatches(log, handles)
        var base = BaseRows(fetchIndexes)
        var deathsInBase: [LoggedDeath] = []
        for death in log.deaths {
            if let handle = handles[death.place] {
                for slot in death.slots {
                    // False for a row that is dead already, which is ignored (F-615).
                    _ = state.blocks.kill(handle, slot: Int(slot), commit: log.commit, in: &pages)
                }
            } else if gone[death.place] != nil {
                for slot in death.slots { gone[death.place]?.insert(Int(slot)) }
            } else if log.base != nil {
                deathsInBase.append(death)
            } else {
                throw .damaged(
                    "a death in a block that does not exist", segment: death.place.segment)
            }
        }
        for death in deathsInBase {
            try base.kill(death.slots, at: death.place, &carrying, &state, &pages) {
                place throws(StoreError) in
                try block(place, log.readable, cache, largeValues)
            }
        }
        for block in log.blocks {
            guard let dead = gone[block.place], dead.count < block.rows,
                log.segments[block.place.segment] != nil || !log.lacksRetired
            else { continue }
            throw .damaged(
                "there are live rows of an entity that the schema no longer has (F-722)",
                segment: block.place.segment, offset: UInt64(block.place.byteOffset))
        }
        var rows = BlockRows(state: state, added: handles.values, fetchIndexes)
        var monitor = monitor
        try monitor?.begin { log.blocks.reduce(0) { $0 + UInt64($1.length) } }
        for block in log.blocks {
            try monitor?.advance(block.length)
            guard let handle = handles[block.place] else { continue }
            let entry = state.blocks.entry(handle)
            if entry.live == 0 {
                state.blocks.remove(handle, in: &pages)
                continue
            }
            guard log.segments[block.place.segment] != nil else {
                if log.lacksRetired {
                    // Its deaths may have been in a segment that was retired with it, and is gone.
                    state.blocks.remove(handle, in: &pages)
                    continue
                }
                throw .damaged(
                    "there are live rows in a segment that was retired (F-654)",
                    segment: block.place.segment,
                    offset: UInt64(block.place.byteOffset))
            }
            // The deaths of rows in a segment that stays exist, whatever is gone.
            guard block.patched.isNone || log.segments[block.patched.segment] != nil else {
                throw .damaged(
                    "there are live rows in a patch of a block whose segment was retired (F-457)",
                    segment: block.place.segment, offset: UInt64(block.place.byteOffset))
            }
            try rows.enter(
                try read(block, log.readable, cache, largeValues), entry, handle,
                carrying.patch(block, handle), &state, &pages)
        }
        rows.finish(&state, &pages)
    }

    /// Returns a block of the log; a small one at hand stays in memory if there is room, as its rows may die
    /// soon.
    private static func read(
        _ block: LoggedBlock, _ segments: [Segment], _ cache: BlockCache,
        _ largeValues: LargeValueReader
    ) throws(StoreError) -> CachedBlock {
        guard let stored = block.kept?.stored else {
            return try read(block.place, segments, largeValues)
        }
        return try cache.block(block.place, isScan: true) { () throws(StoreError) in
            try CachedBlock.read(
                block.place, stored, storeTag: tag(of: segments), largeValues: largeValues
            ) { number in segments.last { $0.number == number } }
        }
    }

    private static func tag(of segments: [Segment]) -> UInt32 {
        segments.last?.header.store.tag ?? 0
    }

    private static func block(
        _ place: Place, _ segments: [Segment], _ cache: BlockCache,
        _ largeValues: LargeValueReader
    ) throws(StoreError) -> CachedBlock {
        try cache.block(place) { () throws(StoreError) in
            try read(place, segments, largeValues)
        }
    }

    /// Returns a block that is needed once: a log is larger than what should be kept in memory of it.
    private static func read(_ place: Place, _ segments: [Segment], _ largeValues: LargeValueReader)
        throws(StoreError) -> CachedBlock
    {
        try CachedBlock.read(
            place, storeTag: tag(of: segments), largeValues: largeValues
        ) { number in segments.last { $0.number == number } }
    }
}

/// Removes rows from a base that died after it.
private struct BaseRows: ~Copyable {
    /// The blocks encountered that had live rows.
    private var handles: [Place: BlockHandle] = [:]
    private var key = KeyBuffer()
    /// The rows that have left a block, and those of them that live on in no patch.
    private var gone: [Int] = []
    private var ended: [Int] = []
    private let fetchIndexes: FetchIndexWriter?

    init(_ fetchIndexes: FetchIndexWriter?) { self.fetchIndexes = fetchIndexes }

    /// Returns the block of the base at a place. A row lives where the cell of its number points. So deaths
    /// in a block that no cell points to are ignored, and the others identify the block.
    private mutating func handle(
        _ place: Place, _ slots: [UInt16], _ numbers: DecodedColumn, _ directory: RowDirectory,
        _ blocks: BlockTable
    ) -> BlockHandle? {
        if let known = handles[place] { return known }
        for slot in slots {
            let cell = directory[numbers.number(Int(slot))]
            guard !cell.isEmpty, cell.slot == Int(slot),
                blocks.entry(cell.handle).place == place
            else { continue }
            handles[place] = cell.handle
            return cell.handle
        }
        return nil
    }

    /// Kills rows, as far as they are live.
    mutating func kill(
        _ slots: [UInt16], at place: Place, _ carrying: inout CarryingPatches,
        _ state: inout EngineState, _ pages: inout PageTransaction,
        read: (Place) throws(StoreError) -> CachedBlock
    ) throws(StoreError) {
        let block = try read(place)
        guard let index = state.catalog.entityIndex(id: block.head.entity) else {
            throw .damaged(
                "a block of an entity that the schema lacks", segment: place.segment,
                offset: UInt64(place.byteOffset))
        }
        let entity = state.catalog.entities[index]
        let numbers = try block.numbers()
        guard
            let handle = handle(
                place, slots, numbers, state.directories[entity.tree], state.blocks)
        else { return }
        let patch = carrying.patch(after: block)
        let living = patch.map { state.blocks.entry($0.handle) }
        gone.removeAll(keepingCapacity: true)
        ended.removeAll(keepingCapacity: true)
        var carried = SlotSet()
        for slot in slots.map(Int.init)
        where state.blocks.kill(handle, slot: slot, commit: state.commit, in: &pages) {
            let number = numbers.number(slot)
            let cell = state.directories[entity.tree][number]
            guard cell.handle == handle, cell.slot == slot else {
                throw .damaged(
                    "the checkpoint has object \(number) in another place", segment: place.segment)
            }
            state.directories[entity.tree].set(number, .empty, in: &pages)
            gone.append(slot)
            if living?.isLive(slot) ?? false {
                carried.insert(slot)
            } else {
                ended.append(slot)
            }
        }
        if carried.count > 0 { carrying.carry(carried, of: block) }
        state.counts[index] -= gone.count
        for unique in entity.uniques {
            let isTouched = patch?.touches(unique: unique, of: entity, state.catalog) ?? true
            try removeKeys(
                isTouched ? gone : ended, of: block, entity, numbers, unique, &state, &pages)
        }
        for reference in entity.references {
            let isTouched = patch?.touches(reference: reference, of: entity, state.catalog) ?? true
            let rows = isTouched ? gone : ended
            let column = entity.columns[state.catalog.references[reference].column]
            guard !rows.isEmpty, let cells = try block.column(column) else { continue }
            for slot in rows where !cells.isNil(at: slot) {
                guard
                    state.inverses[reference].remove(
                        source: numbers.number(slot), target: cells.number(slot), in: &pages)
                else {
                    throw .damaged("the checkpoint lacks a reference", segment: place.segment)
                }
            }
        }
        if let fetchIndexes {
            for changed in state.catalog.fetchIndexesOfEntity[index] {
                let isTouched =
                    patch?.touches(fetchIndex: changed, of: entity, state.catalog) ?? true
                try fetchIndexes.add(
                    block, isTouched ? gone : ended, entity: index, index: changed, isInsert: false)
            }
        }
        if state.blocks.entry(handle).live == 0 {
            state.blocks.remove(handle, in: &pages)
            handles[place] = nil
        }
    }

    /// Removes the keys of rows from a unique index.
    private mutating func removeKeys(
        _ slots: [Int], of block: CachedBlock, _ entity: Catalog.StoredEntity,
        _ numbers: DecodedColumn, _ unique: Int, _ state: inout EngineState,
        _ pages: inout PageTransaction
    ) throws(StoreError) {
        let form = state.catalog.uniques[unique].form
        for slot in slots where try key.load(block, row: slot, entity: entity, form) {
            guard
                state.uniques[unique].remove(
                    hash: key.hash(seed: state.hashSeed), number: numbers.number(slot), in: &pages)
            else {
                throw .damaged("the checkpoint lacks an index entry", segment: block.place.segment)
            }
        }
    }
}

/// Enters the live rows of blocks into directory and indexes, one column at a time.
private struct BlockRows: ~Copyable {
    private struct Rows {
        var slots: [Int] = []
        var numbers: [UInt32] = []

        mutating func removeAll() {
            slots.removeAll(keepingCapacity: true)
            numbers.removeAll(keepingCapacity: true)
        }

        mutating func append(_ slot: Int, _ number: UInt32) {
            slots.append(slot)
            numbers.append(number)
        }
    }

    private var key = KeyBuffer()
    /// The live rows of a block, and those of them that were not in the base before.
    private var living = Rows()
    private var new = Rows()
    private var keys: [(hash: UInt64, number: UInt32)] = []
    /// By entity: the live rows of all its blocks.
    private var live: [Int]
    /// By unique definition, once it has entries.
    private var fillers: [UniqueIndexFiller?]
    private let fetchIndexes: FetchIndexWriter?

    /// - Parameter added: the blocks whose rows will be entered.
    init(
        state: EngineState, added: some Sequence<BlockHandle>, _ fetchIndexes: FetchIndexWriter?
    ) {
        self.fetchIndexes = fetchIndexes
        fillers = state.uniques.map { _ in nil }
        live = state.counts
        for handle in added {
            let entry = state.blocks.entry(handle)
            live[Int(entry.entity)] += Int(entry.live)
        }
    }

    mutating func enter(
        _ block: CachedBlock, _ entry: BlockEntry, _ handle: BlockHandle,
        _ patch: CarryingPatches.Patch?, _ state: inout EngineState,
        _ pages: inout PageTransaction
    ) throws(StoreError) {
        let index = Int(entry.entity)
        let entity = state.catalog.entities[index]
        try place(block, entry, handle, patch, entity, &state, &pages)
        state.counts[index] += Int(entry.live)
        for unique in entity.uniques {
            let isTouched = patch?.touches(unique: unique, of: entity, state.catalog) ?? true
            try enterKeys(isTouched ? living : new, of: block, entity, unique, &state, &pages)
        }
        for reference in entity.references {
            let isTouched = patch?.touches(reference: reference, of: entity, state.catalog) ?? true
            let rows = isTouched ? living : new
            let column = entity.columns[state.catalog.references[reference].column]
            guard !rows.slots.isEmpty, let cells = try block.column(column) else { continue }
            for (slot, number) in zip(rows.slots, rows.numbers) where !cells.isNil(at: slot) {
                guard let target = UInt32(exactly: cells.integer(at: slot)), target != 0 else {
                    throw damage("a reference has an impossible number", block)
                }
                state.inverses[reference].insert(source: number, target: target, in: &pages)
            }
        }
        guard let fetchIndexes else { return }
        for changed in state.catalog.fetchIndexesOfEntity[index] {
            let isTouched = patch?.touches(fetchIndex: changed, of: entity, state.catalog) ?? true
            try fetchIndexes.add(
                block, (isTouched ? living : new).slots, entity: index, index: changed,
                isInsert: true)
        }
        if fetchIndexes.isLarge,
            let wrong = fetchIndexes.apply(to: &state.fetchIndexes, in: &pages)
        {
            throw .damaged("the fetch index \(wrong.name) does not match its rows (IX1)")
        }
    }

    private func damage(_ message: String, _ block: CachedBlock) -> StoreError {
        .damaged(message, segment: block.place.segment, offset: UInt64(block.place.byteOffset))
    }

    /// Enters the place of each live row.
    private mutating func place(
        _ block: CachedBlock, _ entry: BlockEntry, _ handle: BlockHandle,
        _ patch: CarryingPatches.Patch?, _ entity: Catalog.StoredEntity,
        _ state: inout EngineState, _ pages: inout PageTransaction
    ) throws(StoreError) {
        living.removeAll()
        new.removeAll()
        let numberCells = try block.numbers()
        let versionCells = try block.versions()
        let next = state.nextNumbers[entity.tree]
        for slot in 0..<block.rows where entry.isLive(slot) {
            guard let number = UInt32(exactly: numberCells.integer(at: slot)), number != 0,
                number < next
            else { throw damage("a row has a number that was never given (F-622)", block) }
            guard let version = UInt32(exactly: versionCells.integer(at: slot)), version != 0,
                version <= DirectoryCell.maximumVersion
            else { throw damage("a row has an impossible version", block) }
            guard state.directories[entity.tree][number].isEmpty else {
                throw damage("object \(number) lives in two places (F-643)", block)
            }
            state.directories[entity.tree].set(
                number, DirectoryCell(handle: handle, slot: slot, version: version), in: &pages)
            living.append(slot, number)
            if let patch, !patch.carried.contains(slot) { new.append(slot, number) }
        }
    }

    private mutating func enterKeys(
        _ rows: Rows, of block: CachedBlock, _ entity: Catalog.StoredEntity, _ unique: Int,
        _ state: inout EngineState, _ pages: inout PageTransaction
    ) throws(StoreError) {
        if rows.slots.isEmpty { return }
        keys.removeAll(keepingCapacity: true)
        let definition = state.catalog.uniques[unique]
        try gatherKeys(of: block, rows, entity, definition.form, seed: state.hashSeed)
        let filler: UniqueIndexFiller
        if let known = fillers[unique] {
            filler = known
        } else {
            // The share of the following rows that have a key is assumed to be the same as here.
            let family = state.catalog.family(of: definition.entity)
            let all = family.reduce(0) { $0 + live[$1] }
            let total = all * keys.count / rows.slots.count
            // A small increase is handled in small steps.
            let count = state.uniques[unique].count
            if total > count + count / 8 { state.uniques[unique].reserve(total, in: &pages) }
            filler = UniqueIndexFiller(for: state.uniques[unique])
            fillers[unique] = filler
        }
        for entry in keys {
            filler.add(
                hash: entry.hash, number: entry.number, to: &state.uniques[unique], in: &pages)
        }
    }

    /// Collects the hashes of the rows' keys.
    private mutating func gatherKeys(
        of block: CachedBlock, _ rows: Rows, _ entity: Catalog.StoredEntity, _ form: KeyForm,
        seed: UInt64
    ) throws(StoreError) {
        let columns = form.columns
        // A key of one string or binary value is hashed in place.
        if form.rule == nil, columns.count == 1, entity.columns[columns[0]].kind == .bytes {
            guard let cells = try block.column(entity.columns[columns[0]]) else { return }
            for (slot, number) in zip(rows.slots, rows.numbers) where !cells.isNil(at: slot) {
                if cells.isExternal(at: slot) {
                    let value = try block.large(cells.bytes(at: slot))
                    keys.append((value.withUnsafeBytes { StoredHash.of($0, seed: seed) }, number))
                } else {
                    keys.append((StoredHash.of(cells.bytes(at: slot), seed: seed), number))
                }
            }
            return
        }
        for (slot, number) in zip(rows.slots, rows.numbers)
        where try key.load(block, row: slot, entity: entity, form) {
            keys.append((key.hash(seed: seed), number))
        }
    }

    /// Enters what was collected; nothing may be entered after it.
    mutating func finish(_ state: inout EngineState, _ pages: inout PageTransaction) {
        for (unique, filler) in fillers.enumerated() {
            filler?.finish(&state.uniques[unique], in: &pages)
        }
        fillers = []
    }
}

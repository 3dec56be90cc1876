// A commit in progress: a copy of the newest state, the pages it can change, and its frames.
//
// Everything that changes a store goes through here: rows are born in blocks, die by place, and enter and
// leave the indexes. The caller decides what happens; this keeps state and log consistent.
//
// Invariants: BL1: a number lives in one place or in none. BL2: a birth of a number that lives elsewhere
// comes with the death of that place. DR2 and IX1 hold when the commit is finished.
// Threads: used by the holder of the turn alone.

import CairnFormat
import CairnModel
package import CairnStore

/// A commit in progress.
package struct CommitBuilder: ~Copyable {
    package let reader: StoreReader
    package let tools: CommitTools
    /// The identity by which the store names its objects, under the commit's catalog.
    package var identity: StoreIdentity
    package var state: EngineState
    package var pages: PageTransaction
    package var log: LogWriter
    /// Blocks of this commit, and of other unpublished ones, that were read back.
    private var youngBlocks: [Place: CachedBlock] = [:]
    /// Their places, the oldest first.
    private var youngPlaces: [Place] = []
    /// The approximate size of these in memory, in bytes.
    private(set) var youngBytes = 0
    static let mostYoungBytes = 64 << 20
    /// The rows that died.
    private(set) var deaths = DeathList()
    /// The pending changes of fetch indexes; nil until a row of theirs is born or dies.
    var fetchIndexWriter: FetchIndexWriter?
    /// The staged values of its rows; nil if there are none.
    var staged: StagedUse?
    /// The redirects that it adds.
    var redirected: [Redirection] = []
    /// Whether its births and deaths are those of rows that move.
    var movesRows = false
    /// The first entity that got a small block, and others that did; -1 = none.
    private var smallBlockEntity = -1
    private var otherSmallBlockEntities: [Int] = []
    package var insertedCount = 0
    var updatedCount = 0
    var deletedCount = 0
    /// Bytes of blocks of rows that were stored elsewhere.
    private(set) var mergedBytes = 0
    package var hasChanges = false
    /// Whether its changes have been added to the history.
    package var hasRecordedHistory = false
    /// A contradiction between the state and its rows: the commit fails.
    private(set) var contradiction: StoreError?
    /// The end of what is certainly written: blocks after it may only be in the commit queue.
    let writtenLSN: UInt64

    /// - Parameter held: where the state will be in the end, and whose memory it is made in.
    init(
        reader: StoreReader, tools: CommitTools, held: HeldState<EngineState>,
        pages: consuming PageTransaction, log: consuming LogWriter, writtenLSN: UInt64
    ) {
        let number = log.commit
        self.writtenLSN = writtenLSN
        self.reader = reader
        self.tools = tools
        identity = reader.identity
        state = EngineState(placeholderWith: held.state.catalog)
        self.pages = pages
        self.log = log
        held.exchange(&state, epoch: number)
    }

    package var catalog: Catalog { state.catalog }
    /// The number of the commit.
    package var number: UInt64 { log.commit }
    package var seed: UInt64 { state.hashSeed }

    // MARK: Reading

    /// Returns a block of the state. A passing block, which the commit needs only once, is not cached.
    package mutating func block(_ handle: BlockHandle, isPassing: Bool = false) throws(StoreError)
        -> CachedBlock
    {
        try block(of: state.blocks.entry(handle), isPassing: isPassing)
    }

    /// Returns the block of an entry, which may be one of the state before.
    package mutating func block(of entry: BlockEntry, isPassing: Bool = false) throws(StoreError)
        -> CachedBlock
    {
        let place = entry.place
        let lsn = log.segment.baseLSN + UInt64(place.byteOffset)
        guard place.segment == log.segment.number, lsn >= writtenLSN else {
            return isPassing
                ? try reader.passingBlock(entry, in: state) : try reader.block(entry, in: state)
        }
        if let known = youngBlocks[place] { return known }
        let block: CachedBlock
        if lsn >= log.firstLSN {
            if log.hasValues { try log.flush() }
            block = try CachedBlock(
                try log.rows(at: place), place: place, largeValues: reader.largeValues
            ) { base throws(StoreError) in
                base.segment == log.segment.number
                    && log.segment.baseLSN + UInt64(base.byteOffset) >= log.firstLSN
                    ? try log.rows(at: base).payload : try reader.basePayload(base, in: state)
            }
        } else {
            block = try reader.unwrittenBlock(place, in: state)
        }
        // They are in addition to the cache. At least one is kept.
        let most = min(reader.cache.budget / 2, Self.mostYoungBytes)
        youngBytes += block.decodedCost
        while youngBytes > most, let oldest = youngPlaces.first {
            youngBytes -= youngBlocks.removeValue(forKey: oldest)?.decodedCost ?? 0
            youngPlaces.removeFirst()
        }
        youngBlocks[place] = block
        youngPlaces.append(place)
        return block
    }

    /// Returns the concrete entity of a live row; nil if there is none of that number.
    package func entity(tree: Int, number: UInt32) -> Int? {
        let cell = state.directories[tree][number]
        if cell.isEmpty {
            tools.partial?.miss(tree: tree, number: number)
            return nil
        }
        return Int(state.blocks.entry(cell.handle).entity)
    }

    /// Returns a live row with its values; nil if there is none of that number.
    package mutating func storedRow(entity: Int, number: UInt32) throws(StoreError) -> StoredRow? {
        let cell = state.directories[catalog.entities[entity].tree][number]
        guard !cell.isEmpty else {
            tools.partial?.miss(tree: catalog.entities[entity].tree, number: number)
            return nil
        }
        let concrete = Int(state.blocks.entry(cell.handle).entity)
        let block = try block(cell.handle)
        let rowReader = RowReader(catalog: catalog, identity: identity, entity: concrete)
        return StoredRow(
            handle: cell.handle, slot: cell.slot, version: cell.version,
            values: try rowReader.values(block, cell.slot),
            keys: try rowReader.orderKeys(block, cell.slot))
    }

    /// Whether this commit has written a block: then its rows already have their new versions. Mutating,
    /// because a call that only reads would be given a copy.
    @inline(__always)
    mutating func isYoung(_ handle: BlockHandle) -> Bool {
        let place = state.blocks.entry(handle).place
        return place.segment == log.segment.number
            && log.segment.baseLSN + UInt64(place.byteOffset) >= log.firstLSN
    }

    /// The live row that has a key, if there is one.
    ///
    /// - Parameter number: a row to exclude; 0 excludes none.
    mutating func find(unique: Int, key: borrowing KeyBuffer, except number: UInt32 = 0)
        throws(StoreError) -> UInt32?
    {
        if let partial = tools.partial,
            catalog.uniques[unique].entity < catalog.schema.entities.count
        {
            partial.ask(unique: unique, key.bytes)
        }
        var other = KeyBuffer()
        return try state.uniques[unique].firstCandidate(hash: key.hash(seed: seed), forCommit: true)
            .first {
                candidate throws(StoreError) in
                guard candidate != number, try loadKey(of: candidate, unique: unique, into: &other)
                else { return false }
                return other.equals(key)
            }
    }

    /// Loads the key that a live row has in a unique index; false if it has none.
    mutating func loadKey(of number: UInt32, unique: Int, into key: inout KeyBuffer)
        throws(StoreError) -> Bool
    {
        let definition = catalog.uniques[unique]
        let tree = catalog.entities[definition.entity].tree
        let cell = state.directories[tree][number]
        guard !cell.isEmpty else {
            throw .damaged("a unique index names an object that does not exist")
        }
        let entity = catalog.entities[Int(state.blocks.entry(cell.handle).entity)]
        return try key.load(
            try block(cell.handle), row: cell.slot, entity: entity, definition.form)
    }

    /// Another live row with the key that a row has under a constraint; nil if the row has no key, or no
    /// other has it.
    mutating func rival(of number: UInt32, unique: Int) throws(StoreError) -> UInt32? {
        var key = KeyBuffer()
        guard try loadKey(of: number, unique: unique, into: &key) else { return nil }
        return try find(unique: unique, key: key, except: number)
    }

    /// The error for an index with more rows under one key than there is room for: the commit cannot be made.
    var crowding: StoreError? {
        guard let unique = state.uniques.firstIndex(where: \.isCrowded) else { return nil }
        let definition = catalog.uniques[unique]
        return StoreError(
            .constraintConflict, "far too many objects would have the same key",
            context: .init(
                entity: catalog.entities[definition.entity].name,
                key: definition.names.joined(separator: ", ")))
    }

    /// Adds the rows whose reference points to a target to a list.
    package func sources(reference: Int, target: UInt32, into sources: inout [UInt32]) {
        tools.partial?.ask(reference: reference, target: target)
        state.inverses[reference].sources(of: target, into: &sources)
    }

    /// The number of rows whose reference points to a target.
    func count(reference: Int, target: UInt32) -> Int {
        tools.partial?.ask(reference: reference, target: target)
        return state.inverses[reference].count(of: target)
    }

    // MARK: Numbers

    /// Issues a number that was never used before.
    package mutating func issueNumber(tree: Int) throws(StoreError) -> UInt32 {
        if let number = tools.partial?.takeNumber(tree: tree) {
            state.nextNumbers[tree] = max(state.nextNumbers[tree], number &+ 1)
            return number
        }
        let number = state.nextNumbers[tree]
        try expectNumbers(1, tree: tree)
        state.nextNumbers[tree] = number + 1
        return number
    }

    /// Throws if the hierarchy has fewer numbers left than this.
    package func expectNumbers(_ count: Int, tree: Int) throws(StoreError) {
        guard Int(state.nextNumbers[tree]) + count <= Int(FormatLimits.maximumNumber) else {
            throw StoreError(
                .invalidRequest, "the entity hierarchy has used up its four billion object numbers",
                context: .init(entity: catalog.entities[catalog.trees[tree].root].name))
        }
    }

    /// Issues a number for an id that is handed out before its object is saved. From time to time a range of
    /// them is written to the log, so that no crash lets one be issued again (DR1).
    mutating func handOutNumber(tree: Int) throws(StoreError) -> UInt32 {
        let number = try issueNumber(tree: tree)
        if number >= state.reserved[tree] {
            state.reserved[tree] = min(FormatLimits.maximumNumber, number &+ 1024)
            hasChanges = true
        }
        return number
    }

    /// Whether a number was issued and has no row.
    func isIssuedAndFree(tree: Int, number: UInt32) throws(StoreError) -> Bool {
        guard number != 0, number < state.nextNumbers[tree] || tools.partial != nil else {
            return false
        }
        return try !hasRow(tree: tree, number)
    }

    // MARK: Writing

    /// Ends the life of the row at a place. The caller updates directory and indexes.
    package mutating func kill(_ handle: BlockHandle, slot: Int) {
        guard state.blocks.kill(handle, slot: slot, commit: log.commit, in: &pages) else {
            return contradict("two objects are in one place (DR2)")
        }
        deaths.add(handle, slot: slot)
        state.counts[Int(state.blocks.entry(handle).entity)] -= 1
        hasChanges = true
    }

    /// Announces that up to this many rows will die.
    mutating func expectDeaths(_ rows: Int) { deaths.expect(rows) }

    /// Ends the life of rows of one block.
    mutating func kill(_ handle: BlockHandle, slots: [UInt16]) {
        guard state.blocks.kill(handle, slots: slots, commit: log.commit, in: &pages) else {
            return contradict("two objects are in one place (DR2)")
        }
        for slot in slots { deaths.add(handle, slot: Int(slot)) }
        state.counts[Int(state.blocks.entry(handle).entity)] -= slots.count
        hasChanges = true
    }

    /// Ends the life of a block's rows, and of the block. The caller updates directory and indexes.
    mutating func killWhole(_ handle: BlockHandle, _ entry: BlockEntry) {
        deaths.addWhole(entry)
        state.blocks.remove(handle, in: &pages)
        state.counts[Int(entry.entity)] -= Int(entry.live)
        hasChanges = true
    }

    /// Records that a row of a block that replaces another one had died there.
    mutating func bury(_ handle: BlockHandle, slot: Int) {
        guard state.blocks.kill(handle, slot: slot, commit: log.commit, in: &pages) else {
            return contradict("two objects are in one place (DR2)")
        }
        deaths.addStillborn(handle, slot: slot)
    }

    /// Removes a row from the directory, its place and all indexes.
    package mutating func delete(tree: Int, number: UInt32) throws(StoreError) {
        let cell = state.directories[tree][number]
        guard !cell.isEmpty else { return }
        let entityIndex = Int(state.blocks.entry(cell.handle).entity)
        let entity = catalog.entities[entityIndex]
        let block = try block(cell.handle)
        var key = KeyBuffer()
        for unique in entity.uniques {
            let form = catalog.uniques[unique].form
            if try key.load(block, row: cell.slot, entity: entity, form) {
                removeKey(key.hash(seed: seed), number: number, unique: unique)
            }
        }
        for reference in entity.references {
            let column = entity.columns[catalog.references[reference].column]
            if let cells = try block.column(column), !cells.isNil(at: cell.slot) {
                removeReference(reference, source: number, target: cells.number(cell.slot))
            }
        }
        kill(cell.handle, slot: cell.slot)
        state.directories[tree].set(number, .empty, in: &pages)
        deletedCount += 1
    }

    mutating func insertKey(_ hash: UInt64, number: UInt32, unique: Int) {
        state.uniques[unique].insert(hash: hash, number: number, in: &pages)
    }

    /// Announces this many additional keys.
    mutating func reserveKeys(_ more: Int, unique: Int) {
        state.uniques[unique].reserve(state.uniques[unique].count + more, in: &pages)
    }

    mutating func removeKey(_ hash: UInt64, number: UInt32, unique: Int) {
        if state.uniques[unique].remove(hash: hash, number: number, in: &pages) { return }
        contradict("a unique index has no entry for a key of object \(number) (IX1)")
    }

    mutating func removeReference(_ reference: Int, source: UInt32, target: UInt32) {
        if state.inverses[reference].remove(source: source, target: target, in: &pages) { return }
        contradict("object \(source) is not among those that refer to object \(target) (RL2)")
    }

    /// Records that the state contradicts its rows, as it may if it was opened from a checkpoint that is
    /// wrong despite valid checksums, or was read while parts of it were missing: no commit may be based on
    /// it.
    mutating func contradict(_ message: String) {
        if contradiction == nil { contradiction = .damaged(message) }
    }

    /// Opens a block whose rows are known before its bytes are: cells may refer to it at once.
    package mutating func openBlock(entity: Int) -> BlockHandle {
        state.blocks.insert(BlockEntry(entity: UInt16(entity)), in: &pages)
    }

    /// Writes rows of a batch as the block that was opened. Sets the cells of all rows, unless they are set.
    /// If requested, keeps the rows of blocks that are merged into a larger small one for the next merge.
    package mutating func closeBlock(
        _ handle: BlockHandle, entity: Int, batch: ColumnBatch, rows: RowList,
        isMoved: Bool = false, isFull: Bool = false, keepsRows: Bool = false,
        hasCells: Bool = false
    ) throws(StoreError) {
        let stored = catalog.entities[entity]
        if catalog.hasFetchIndexes, !isMoved, !catalog.fetchIndexesOfEntity[entity].isEmpty {
            try noteBirths(batch, rows, entity: entity)
        }
        let written = try tools.memory.encoder.pointee.write(
            batch, entity: stored, treeID: catalog.trees[stored.tree].id,
            schemaVersion: catalog.version, rows: rows, isMoved: isMoved, sizes: tools.sizes,
            to: &log)
        if isMoved { mergedBytes += written.length }
        let level =
            isFull
            ? .full : tools.sizes.level(rows: rows.count, rawLength: written.rawLength)
        state.blocks.fill(
            handle, place: written.place, rows: rows.count, level: level, commit: log.commit,
            schemaVersion: catalog.version, length: written.length,
            hasReferences: written.hasReferences, in: &pages)
        if level != .full { noteSmallBlock(of: entity) }
        if let fetchIndexWriter, fetchIndexWriter.isLarge { try settleFetchIndexes() }
        if isMoved ? level == .partial && keepsRows : level == .tiny {
            tools.memory.smallRows.pointee.add(
                handle, written, entity: entity, orders: stored.orders.count, level, of: batch,
                rows)
        }
        if !hasCells {
            for slot in rows.numbers.indices {
                state.directories[stored.tree].set(
                    rows.numbers[slot],
                    DirectoryCell(handle: handle, slot: slot, version: rows.versions[slot]),
                    in: &pages)
            }
        }
        state.counts[entity] += rows.count
        hasChanges = true
    }

    /// Records that an entity got a block that is not full.
    mutating func noteSmallBlock(of entity: Int) {
        if smallBlockEntity < 0 { smallBlockEntity = entity }
        if smallBlockEntity != entity, !otherSmallBlockEntities.contains(entity) {
            otherSmallBlockEntities.append(entity)
        }
    }

    /// Merges the small blocks of entities that have many of them, so that a million commits of one row do
    /// not create a million blocks. Each row is written at most three times.  (BL5)
    private mutating func mergeSmallBlocks() throws(StoreError) {
        if smallBlockEntity < 0 { return }
        try mergeSmallBlocks(of: smallBlockEntity)
        let others = otherSmallBlockEntities
        for entity in others { try mergeSmallBlocks(of: entity) }
    }

    // MARK: Finishing

    /// Appends deaths and the commit frame. A commit that has large values, or is partly written already, is
    /// written here; otherwise the queue writes it.
    mutating func seal(time: Double, author: String?, contextName: String?) throws(StoreError) {
        // Before rows move: a row that dies then lives on elsewhere.
        if catalog.hasFetchIndexes { try finishFetchIndexes() }
        try mergeSmallBlocks()
        try tellDeaths()
        var payload = CommitPayload(
            firstLSN: log.firstLSN, frameCount: UInt32(log.frameCount), time: time,
            inserted: UInt64(insertedCount), updated: UInt64(updatedCount),
            deleted: UInt64(deletedCount), author: author ?? "", context: contextName ?? "")
        swap(&payload.counters, &tools.memory.counters.pointee)
        payload.counters.removeAll(keepingCapacity: true)
        for index in catalog.treesInOrder {
            payload.counters.append(
                TreeCounter(
                    tree: catalog.trees[index].id,
                    next: max(state.nextNumbers[index], state.reserved[index])))
        }
        state.commitOffset = log.end.offset
        try log.append(.commit) { writer throws(StoreError) in payload.encode(to: &writer) }
        swap(&payload.counters, &tools.memory.counters.pointee)
        if log.hasWritten || log.hasValues { try log.flush() }
        state.commit = log.commit
        state.end = log.end
        state.commitEnd = log.end
    }

    /// Appends the deaths so far, and removes blocks without a live row: nothing reads them any longer, not
    /// even for their deaths, which the log has.
    private mutating func tellDeaths() throws(StoreError) {
        if deaths.isEmpty { return }
        let runs = deaths.runs(in: state.blocks)
        try appendDeaths(runs)
        for run in runs where run.entry.live == 0 && run.handle != .none {
            state.blocks.remove(run.handle, in: &pages)
        }
        deaths = DeathList()
    }

    /// Finishes all pending work for the rows so far, because the following ones are of another catalog.
    package mutating func settleForAnotherCatalog() throws(StoreError) {
        if catalog.hasFetchIndexes { try finishFetchIndexes() }
        fetchIndexWriter = nil
        try mergeSmallBlocks()
        smallBlockEntity = -1
        otherSmallBlockEntities = []
        try tellDeaths()
        tools.memory.smallRows.pointee.forget()
        tools.memory.fetchIndexWriter.pointee = nil
    }

    /// Ends the life of all rows of an entity that is removed, and of their blocks. The caller updates the
    /// indexes.
    package mutating func killAll(of entity: Int) throws(StoreError) {
        let tree = catalog.entities[entity].tree
        var handle = state.blocks.first(ofEntity: entity)
        while handle != .none {
            let entry = state.blocks.entry(handle)
            let next = state.blocks.next(after: entry)
            let numbers = try block(handle, isPassing: true).numbers()
            for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                state.directories[tree].set(numbers.number(slot), .empty, in: &pages)
            }
            killWhole(handle, entry)
            deletedCount += Int(entry.live)
            handle = next
        }
        try tellDeaths()
    }

    /// Puts the state of a sealed commit into its place, and returns its pages. The other memory is kept for
    /// the next commit.
    consuming func take(into held: HeldState<EngineState>) -> SealedPages {
        held.exchange(&state, epoch: log.commit)
        tools.memory.keep(log.takeBuffer())
        return pages.seal()
    }

    /// Lists the deaths, by place, in frames of at most about a megabyte.
    private mutating func appendDeaths(_ runs: [DeathList.Run]) throws(StoreError) {
        var slots: [UInt16] = []
        for part in stride(from: 0, to: runs.count, by: 4096) {
            let deaths = deaths
            try log.append(.deaths) { writer throws(StoreError) in
                var encoder = DeathsEncoder(to: &writer)
                for run in runs[part..<min(part + 4096, runs.count)] {
                    deaths.slots(of: run, into: &slots)
                    slots.withUnsafeBufferPointer {
                        encoder.add(
                            run.entry.place, slots: $0, rows: Int(run.entry.rows), to: &writer)
                    }
                }
                encoder.finish(&writer)
            }
        }
    }
}

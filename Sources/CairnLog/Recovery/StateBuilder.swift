// Builds a state from a log that was read.
//
//   content = all rows of the blocks − deaths of those blocks
//
//   1. Blocks are entered in the order of the log, then all deaths.
//   2. For each live row: its number gets its place; BL1 says that none had one before.
//   3. Its keys and references enter the indexes.
//
// Threads: one builder in one thread; nobody sees the state before it is whole.

import CairnFormat
import CairnModel
import CairnStore

enum StateBuilder {
    /// The state after the last commit of a log.
    static func build(
        _ log: OpenedLog, cache: BlockCache, largeValues: LargeValueReader, pool: PagePool,
        hashSeed: UInt64, sizes: StoreSizes
    ) throws(StoreError) -> EngineState {
        var state = EngineState(catalog: log.catalog, end: log.end)
        state.commit = log.commit
        state.segments = log.segments
        for (index, tree) in log.catalog.trees.enumerated() {
            state.nextNumbers[index] = log.counters[tree.id] ?? 1
        }
        state.reserved = state.nextNumbers
        var pages = PageTransaction(epoch: log.commit, pool: pool)
        do {
            try fill(&state, log, cache, largeValues, hashSeed, sizes, &pages)
        } catch {
            pages.abandon()
            throw error
        }
        _ = pages.commit()
        return state
    }

    private static func fill(
        _ state: inout EngineState, _ log: OpenedLog, _ cache: BlockCache,
        _ largeValues: LargeValueReader, _ hashSeed: UInt64, _ sizes: StoreSizes,
        _ pages: inout PageTransaction
    ) throws(StoreError) {
        var handles: [Place: BlockHandle] = [:]
        handles.reserveCapacity(log.blocks.count)
        for block in log.blocks {
            let handle = state.blocks.insert(BlockEntry(entity: UInt16(block.entity)), in: &pages)
            state.blocks.fill(
                handle, place: block.place, rows: block.rows,
                level: sizes.level(rows: block.rows, rawLength: block.rawLength),
                commit: block.commit, schemaVersion: block.schemaVersion, in: &pages)
            handles[block.place] = handle
        }
        for death in log.deaths {
            guard let handle = handles[death.place] else {
                throw .damaged("a death in a block that is not there", segment: death.place.segment)
            }
            for slot in death.slots {
                // False for a row that is dead already, which means nothing (F-615).
                _ = state.blocks.kill(handle, slot: Int(slot), commit: log.commit, in: &pages)
            }
        }
        var key = KeyBuffer()
        for block in log.blocks {
            guard let handle = handles[block.place] else { continue }
            let entry = state.blocks.entry(handle)
            if entry.live == 0 {
                state.blocks.remove(handle, in: &pages)
                continue
            }
            guard let segment = state.segment(block.place.segment) else {
                throw .damaged("a block's segment is missing", segment: block.place.segment)
            }
            let cached = try cache.block(block.place) { () throws(StoreError) in
                let payload = try segment.payload(
                    at: UInt64(block.place.byteOffset), kind: .block,
                    storeTag: segment.header.store.tag)
                return try CachedBlock(
                    payload: payload, place: block.place, largeValues: largeValues)
            }
            try enter(cached, entry, handle, &state, hashSeed, &key, &pages)
        }
    }

    private static func enter(
        _ block: CachedBlock, _ entry: BlockEntry, _ handle: BlockHandle,
        _ state: inout EngineState,
        _ hashSeed: UInt64, _ key: inout KeyBuffer, _ pages: inout PageTransaction
    ) throws(StoreError) {
        let index = Int(entry.entity)
        let entity = state.catalog.entities[index]
        let numbers = try block.numbers()
        let versions = try block.versions()
        func damage(_ message: String) -> StoreError {
            .damaged(
                message, segment: block.place.segment, offset: UInt64(block.place.byteOffset))
        }
        for slot in 0..<block.rows where entry.isLive(slot) {
            guard let number = UInt32(exactly: numbers.integer(at: slot)), number != 0,
                number < state.nextNumbers[entity.tree]
            else { throw damage("a row has a number that was never given") }
            guard let version = UInt32(exactly: versions.integer(at: slot)), version != 0,
                version <= DirectoryCell.maximumVersion
            else { throw damage("a row has an impossible version") }
            guard state.directories[entity.tree][number].isEmpty else {
                throw damage("object \(number) lives at two places")
            }
            state.directories[entity.tree].set(
                number, DirectoryCell(handle: handle, slot: slot, version: version), in: &pages)
            for unique in entity.uniques {
                if try key.load(
                    block, row: slot, entity: entity,
                    columns: state.catalog.uniques[unique].columns)
                {
                    state.uniques[unique].insert(
                        hash: key.hash(seed: hashSeed), number: number, in: &pages)
                }
            }
            for reference in entity.references {
                let column = entity.columns[state.catalog.references[reference].column]
                guard let cells = try block.column(column), !cells.isNil(at: slot) else { continue }
                guard let target = UInt32(exactly: cells.integer(at: slot)), target != 0 else {
                    throw damage("a reference leads to an impossible number")
                }
                state.inverses[reference].insert(source: number, target: target, in: &pages)
            }
        }
        state.counts[index] += Int(entry.live)
    }
}

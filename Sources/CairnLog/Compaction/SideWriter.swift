// Writes the rows that compaction moves into a side segment.
//
//   1. Rows of an entity are collected in a batch, up to a full block, and written with their numbers and
//      versions; the source of each is noted.
//   2. `finishPart` makes everything durable that was written since the last part: only then may a commit
//      adopt it.
//
// Invariants: frames follow what was adopted before; a part that was not adopted is ignored.
// Threads: one writer in one thread.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore

/// A block in a side segment, and the origin of its rows.
struct MovedBlock {
    let written: WrittenBlock
    let entity: Int
    let level: BlockLevel
    let numbers: [UInt32]
    let versions: [UInt32]
    let sources: [RowSource]
}

/// The place of a row.
struct RowSource: Equatable {
    let block: Place
    let slot: UInt16
}

/// A part of a side segment that is ready to be adopted.
struct MovedPart {
    let segment: Segment
    let part: AdoptPayload.Part
    let blocks: [MovedBlock]
    /// Where the schema was rewritten; nil if it was not.
    let schema: Place?
    /// The rewritten metadata with their new place; nil if they were not rewritten.
    let metadata: StoredMetadata?
    /// The changes for the history that were carried over.
    let history: [MovedChanges]
    /// The redirects that were carried over, now in this segment.
    let redirects: [RedirectTable.Key: RedirectTable.Entry]

    var bytes: UInt64 { part.end - part.start }
}

/// Changes for the history that were carried over, and their previous place.
struct MovedChanges {
    let commit: UInt64
    let source: Place
    let frame: HistoryFrame
}

struct SideWriter: ~Copyable {
    /// Rows of one entity that are still to be written.
    private struct Batch {
        let columns: ColumnBatch
        var moved = MovedRows()
        var sources: [RowSource] = []
    }

    /// Unowned, as the engine owns the run that owns this writer.
    private unowned let engine: Engine
    private let catalog: Catalog
    /// The segments whose large values are rewritten.
    private let victims: Set<UInt32>
    let segment: Segment
    private var encoder = RowBlockEncoder()
    private var log: LogWriter
    private var start: LogEnd
    private var batches: [Int: Batch] = [:]
    private var blocks: [MovedBlock] = []
    private var schema: Place?
    private var metadata: StoredMetadata?
    private var history: [MovedChanges] = []
    private var redirects: [RedirectTable.Key: RedirectTable.Entry] = [:]
    private var deaths = ByteWriter(capacity: 4096)
    private var deathCount: UInt32 = 0
    /// Bytes of deaths that concern other segments.
    private(set) var carriedBytes: UInt64 = 0

    init(_ engine: Engine, _ state: EngineState, victims: Set<UInt32>) throws(StoreError) {
        self.engine = engine
        self.victims = victims
        catalog = state.catalog
        (segment, start) = try engine.makeSideSegment(commit: state.commit)
        log = LogWriter(
            segment: segment, end: start, storeTag: engine.storeID.tag, commit: state.commit,
            mark: 0, limit: engine.sizes.writeBufferBytes)
    }

    /// Bytes that wait to be adopted.
    var waitingBytes: UInt64 { log.end.offset - start.offset }

    /// Blocks that wait to be adopted.
    var waitingBlocks: Int { blocks.count }

    /// The segment's number.
    var number: UInt32 { segment.number }

    // MARK: Rows

    /// Copies some rows of a block.
    mutating func move(_ block: CachedBlock, _ slots: [Int], entity: Int) throws(StoreError) {
        let stored = catalog.entities[entity]
        let numbers = try block.numbers()
        let versions = try block.versions()
        let rowLength = Double(block.head.rawLength) / Double(block.rows)
        var batch =
            batches.removeValue(forKey: entity)
            ?? Batch(columns: engine.reader.batches.takeWhole(entity, catalog))
        for slot in slots {
            let row = batch.columns.rows
            for (index, column) in stored.allColumns.enumerated() {
                try batch.columns.columns[index].copyCell(
                    from: block, column, slot, to: row,
                    isWhole: try isInVictim(block, column, slot))
            }
            batch.columns.rows += 1
            batch.moved.add(
                row, number: numbers.number(slot), version: versions.number(slot),
                length: rowLength)
            batch.sources.append(RowSource(block: block.place, slot: UInt16(slot)))
            if batch.moved.isEnough(engine.sizes)
                || batch.columns.byteCount > ColumnBatch.largeSize
            {
                try write(&batch, entity, isFull: true)
            }
        }
        batches[entity] = batch
    }

    private func isInVictim(_ block: CachedBlock, _ column: Catalog.StoredColumn, _ slot: Int)
        throws(StoreError) -> Bool
    {
        guard column.kind == .bytes, block.head.hasReferences, let cells = try block.column(column),
            !cells.isNil(at: slot), cells.isExternal(at: slot)
        else { return false }
        do {
            return victims.contains(
                try ValueReference(decoding: cells.bytes(at: slot)).place.segment)
        } catch {
            throw StoreError(error, at: block.place)
        }
    }

    private mutating func write(_ batch: inout Batch, _ entity: Int, isFull: Bool)
        throws(StoreError)
    {
        let rows = batch.moved.rows
        guard !rows.isEmpty else { return }
        let stored = catalog.entities[entity]
        let written = try encoder.write(
            batch.columns, entity: stored, treeID: catalog.trees[stored.tree].id,
            schemaVersion: catalog.version, rows: rows, isMoved: true, sizes: engine.sizes,
            to: &log)
        blocks.append(
            MovedBlock(
                written: written, entity: entity,
                level: isFull
                    ? .full : engine.sizes.level(rows: rows.count, rawLength: written.rawLength),
                numbers: rows.numbers, versions: rows.versions, sources: batch.sources))
        batch.columns.reset()
        batch = Batch(columns: batch.columns)
    }

    /// Writes the rows that do not fill a block.
    mutating func finishRows() throws(StoreError) {
        for (entity, var batch) in batches.inKeyOrder() {
            try write(&batch, entity, isFull: false)
            engine.reader.batches.give(batch.columns)
        }
        batches = [:]
    }

    // MARK: Other frames

    /// Carries over a death.
    mutating func carry(_ death: DeathsPayload.Entry) throws(StoreError) {
        if deathCount == 0 {
            deaths.reset()
            deaths.append(UInt64(0))
        }
        DeathsEncoder.append(death, to: &deaths)
        deathCount += 1
        if deathCount == 4096 { try finishDeaths() }
    }

    /// Writes the deaths that were carried over.
    mutating func finishDeaths() throws(StoreError) {
        guard deathCount > 0 else { return }
        deaths.store(deathCount, at: 0)
        try log.append(.deaths) { writer throws(StoreError) in writer.append(deaths.bytes) }
        carriedBytes += UInt64(deaths.count)
        deathCount = 0
    }

    /// Rewrites the schema.
    mutating func writeSchema() throws(StoreError) {
        let json = try CatalogDocument.encode(catalog)
        schema = try log.append(.schema) { writer throws(StoreError) in
            json.withUnsafeBytes { writer.append($0) }
        }
    }

    /// Rewrites metadata.
    mutating func write(_ stored: StoredMetadata) throws(StoreError) {
        metadata = stored.placed(at: try log.append(stored))
    }

    /// Carries over redirects.
    mutating func carry(_ found: [RedirectTable.Key: RedirectTable.Entry]) throws(StoreError) {
        for payload in found.payloads {
            try log.append(.redirects, flags: FrameHeader.skippable) {
                writer throws(StoreError) in payload.encode(to: &writer)
            }
            redirects.take(payload, in: segment.number)
        }
    }

    /// Carries over changes for the history: the frames of all their parts.
    mutating func carry(
        _ commit: UInt64, _ source: HistoryFrame, of segment: Segment
    ) throws(StoreError) {
        var place = Place.none
        let start = log.end.offset
        var offset = UInt64(source.place.byteOffset)
        let end = offset + source.length
        while offset < end {
            let (header, payload) = try segment.frame(
                at: offset, storeTag: engine.storeID.tag)
            guard header.kind == .changes else {
                throw .damaged(
                    "there is a frame of another kind here", segment: segment.number, offset: offset
                )
            }
            let written = try log.append(.changes, flags: FrameHeader.skippable) {
                writer throws(StoreError) in
                writer.append(payload.bytes)
            }
            if place.isNone { place = written }
            offset += UInt64(header.frameLength)
        }
        history.append(
            MovedChanges(
                commit: commit, source: source.place,
                frame: HistoryFrame(place: place, length: log.end.offset - start)))
    }

    // MARK: Parts

    /// Makes the written part durable; returns nil if nothing was written.
    mutating func finishPart() throws(StoreError) -> MovedPart? {
        try log.flush()
        guard log.end.offset > start.offset else { return nil }
        do {
            try segment.synchronize()
        } catch {
            throw StoreError(error)
        }
        let part = MovedPart(
            segment: segment,
            part: AdoptPayload.Part(
                segment: segment.number, start: start.offset, end: log.end.offset,
                startChain: start.chain, endChain: log.end.chain), blocks: blocks, schema: schema,
            metadata: metadata, history: history, redirects: redirects)
        start = log.end
        redirects = [:]
        history = []
        blocks = []
        schema = nil
        metadata = nil
        return part
    }
}

// Creates a new store: its first segment, and the commit with the schema.
//
//   1. The names of the folder and of its files are made durable, whichever process created them (FS1).
//   2. Header and start frame, synced; then the commit, synced; then the mark.
//   3. A creation that was interrupted after a whole start frame is continued in a successor.
//
// Invariants: a file that contains a frame after a start frame is never removed (FS4).
// Threads: one creator in one thread, which has the writer's lock.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials
import SystemPackage

struct StoreCreator {
    let files: StoreFiles
    let options: LogStoreOptions

    /// Creates a store.
    func create(_ schema: Schema) throws(StoreError) -> OpenedLog {
        let storeID = StoreID(options.storeIdentifier ?? UUID())
        do throws(FileSystemError) {
            try files.removeSegments { _ in true }
            if options.isUnfinished { try files.beginUnfinished(storeID) }
        } catch {
            throw StoreError(error)
        }
        return try begin(storeID, schema, after: nil, live: LiveSet())
    }

    /// Finishes an interrupted creation.
    func goOn(with unfinished: UnfinishedLog, _ schema: Schema) throws(StoreError) -> OpenedLog {
        let end = unfinished.end
        do {
            for segment in unfinished.segments {
                try files.rewrite(
                    segment, from: 0,
                    to: segment.number == end.segment ? end.offset : segment.knownEnd ?? 0)
            }
            try files.removeSegments { $0 > end.segment }
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("rewriting only throws file system and store errors: \(error)")
        }
        return try begin(
            unfinished.storeID, schema, after: end, live: LiveSet(mains: unfinished.segments))
    }

    private func begin(
        _ storeID: StoreID, _ schema: Schema, after end: LogEnd?, live: LiveSet
    ) throws(StoreError) -> OpenedLog {
        let encoded: EncodedCatalog
        if let given = options.newCatalog {
            encoded = given
        } else {
            encoded = try EncodedCatalog(
                Catalog(new: schema, keepsOrder: options.sizes.keepsOrder))
        }
        let (catalog, json) = (encoded.catalog, encoded.document)
        if let excess = catalog.excess { throw StoreError(.invalidRequest, excess) }
        do {
            try files.syncFolderName()
            try files.fileSystem.syncDirectory(files.folder)
            let made = try files.makeSegment(
                number: (end?.segment ?? 0) + 1, after: end, live: live, storeID: storeID,
                time: options.clock.now(),
                commit: 0, durable: end?.lsn ?? 0, counters: [], schema: .none, schemaVersion: 0,
                flags: catalog.flags(beside: FeatureFlags(), options.sizes))
            var log = LogWriter(
                segment: made.segment, end: made.end, storeTag: storeID.tag, commit: 1,
                mark: made.end.lsn, limit: options.sizes.writeBufferBytes)
            let place = try log.append(.schema) { writer throws(StoreError) in
                json.withUnsafeBytes { writer.append($0) }
            }
            let commitOffset = log.end.offset
            let record = CommitPayload(
                firstLSN: log.firstLSN, frameCount: 1, time: options.clock.now(),
                counters: catalog.treesInOrder.map {
                    TreeCounter(tree: catalog.trees[$0].id, next: 1)
                })
            try log.append(.commit) { writer throws(StoreError) in record.encode(to: &writer) }
            try log.flush()
            try made.segment.file.synchronizeData()
            files.writeMark(
                MarkRecord(
                    store: storeID, commit: 1, lsn: log.end.lsn, chain: log.end.chain,
                    segment: log.end.segment))
            var segments = live
            segments.begin(made.segment)
            var report = RecoveryReport()
            report.wasCreated = true
            return OpenedLog(
                files: files, storeID: storeID, segments: segments,
                lastSegment: made.segment.number,
                readable: segments.all,
                catalog: catalog.placed(at: place), end: log.end, durable: log.end.lsn, commit: 1,
                commitOffset: commitOffset, commitEnd: log.end, base: nil, hashSeed: nil,
                pool: PagePool(),
                counters: [:], blocks: [], deaths: [], report: report)
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("making a store only throws file system and store errors: \(error)")
        }
    }
}

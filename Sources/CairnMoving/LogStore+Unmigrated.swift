// A copy of a store as it was before it followed the last change of its model.                   ENGINE-NOTES 16
//
// A migration is one commit, and rewrites nothing: the log up to the commit before it is the store of the old model. Its
// segments are the backup that a migration leaves, until compaction retires one of them.
//
//   1. The schema frame in force says which commit made it. The log is read up to the one before.
//   2. A commit can change the schema and not the model: then the same again from the schema in force there.
//   3. The segments of that state are copied, like those of any.
//
// Threads: any; whoever writes goes on writing.

import CairnFileSystem
import CairnFormat
public import CairnLog
import CairnModel
public import CairnStore
import SystemPackage

extension LogStore {
    /// Copies the store as it was before its last migration into a folder: the backup that a migration leaves.
    ///
    /// A migration leaves the old rows where they are. Compaction, which begins only when the store has been opened with
    /// the new model, rewrites them; from then on this is refused. The copy opens with the old model, and has nothing of
    /// what was saved since the migration.
    ///
    /// ```swift
    /// let store = try LogStore.open(at: "shop.cairn")
    /// try store.backupBeforeMigration(to: "shop-old.cairn")
    /// ```
    ///
    /// - Parameter progress: told the bytes copied so far, and about how many there will be.
    /// - Throws: `StoreError`: `.pastStateUnavailable` if the store has had one model only, or if compaction has
    ///   removed what the old state needs; else what ``backup(to:progress:)`` throws.
    /// - Complexity: O(bytes of the log before the migration).
    @discardableResult
    public func backupBeforeMigration(
        to path: String, progress: ((UInt64, UInt64) -> Void)? = nil
    ) throws(StoreError) -> BackupResult {
        try checkOpen()
        return try backupBeforeMigration(to: path, on: backupDisk, progress)
    }

    /// The same on any disk.
    @discardableResult
    func backupBeforeMigration(
        to path: String, on fileSystem: any FileSystem,
        _ progress: ((UInt64, UInt64) -> Void)? = nil
    ) throws(StoreError) -> BackupResult {
        try withSyncedState { state throws(StoreError) in
            try StoreBackup(
                engine: engine, log: engine.unmigrated(state), folder: FilePath(path),
                fileSystem: fileSystem
            ).run(progress)
        }
    }
}

extension Engine {
    /// The log as it was before the model of a state came into force.
    fileprivate func unmigrated(_ state: EngineState) throws(StoreError) -> OpenedLog {
        // The one that the store was opened with may differ from it in what is not stored.
        let model = state.catalog.storedModel
        var catalog = state.catalog
        var segments = state.segments
        while catalog.version > 1 {
            let place = catalog.place
            guard let segment = segments[place.segment] else { throw Self.noUnmigrated }
            let (header, _) = try segment.frame(
                at: UInt64(place.byteOffset), storeTag: storeID.tag)
            guard header.kind == .schema, header.commit > 1 else { throw Self.noUnmigrated }
            let log: OpenedLog
            do throws(StoreError) {
                log = try LogReader.past(
                    files, after: header.commit - 1, from: nil, pool: nil)
            } catch {
                guard error.code == .damaged else { throw error }
                throw Self.noUnmigrated
            }
            guard log.storeID == storeID, log.catalog.version < catalog.version else {
                throw Self.noUnmigrated
            }
            if log.catalog.storedModel != model { return log }
            catalog = log.catalog
            segments = log.segments
        }
        throw StoreError(
            .pastStateUnavailable, "the store has never had another model",
            context: .init(path: "\(files.folder)"))
    }

    private static var noUnmigrated: StoreError {
        StoreError(
            .pastStateUnavailable,
            "the store as it was before its last migration is no longer available: compaction has removed what it needs"
        )
    }
}

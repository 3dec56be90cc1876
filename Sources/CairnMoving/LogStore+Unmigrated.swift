// A copy of a store in the state before its last migration.                                      ENGINE-NOTES 16
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
    /// Copies the state of the store before its last migration into a folder: the migration's backup.
    ///
    /// A migration does not overwrite the old rows. Compaction rewrites them, after the store was opened with the new
    /// model; from then on this fails. The copy can be opened with the old model, and contains nothing that was saved after
    /// the migration.
    ///
    /// ```swift
    /// let store = try LogStore.open(at: "shop.cairn")
    /// try store.backupBeforeMigration(to: "shop-old.cairn")
    /// ```
    ///
    /// - Parameter progress: called with the bytes copied so far, and their approximate total.
    /// - Throws: `StoreError`: `.pastStateUnavailable` if the store has only had one model, or if compaction has removed
    ///   parts of the old state; otherwise the errors of ``backup(to:progress:)``.
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

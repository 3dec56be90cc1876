// A copy of a store, taken while others write.

import CairnFileSystem
public import CairnLog
public import CairnStore
import SystemPackage

/// The result of a backup.
public struct BackupResult: Sendable, Equatable {
    /// The commit whose state the backup contains.
    public let commit: UInt64
    /// Whether this backup continues an earlier one.
    public let isIncremental: Bool
    /// The size of the backup's segments in bytes.
    public let bytes: UInt64
    /// The number of bytes copied, including a checkpoint.
    public let copiedBytes: UInt64
}

extension LogStore {
    /// Copies the newest state of the store into a folder, while others read and write. The copy is a regular store, and on
    /// disk when this returns, even if this store is in memory.
    ///
    /// The folder is created if it does not exist. If it contains an earlier backup of this store, only new data is copied;
    /// it can be opened as the earlier backup until the new one is complete, even if this is interrupted. Writing to a
    /// backup makes it a separate store, into which nothing can be copied any longer.
    ///
    /// ```swift
    /// let result = try store.backup(to: "/backups/shop.cairn")
    /// print(result.copiedBytes, "bytes copied")
    /// ```
    ///
    /// - Parameter progress: called with the bytes copied so far, and their approximate total.
    /// - Throws: `StoreError`: `.invalidRequest` if the folder is the store itself, or contains something other than an
    ///   earlier backup of it (with segment and byte at which the two diverged); `.damaged` with the location if the data
    ///   to copy is corrupt; `.storeInUse` if another process writes to the folder; `.noSpace`.
    /// - Complexity: O(bytes copied). An earlier backup is read completely if it was opened for writing since.
    public func backup(to path: String, progress: ((UInt64, UInt64) -> Void)? = nil)
        throws(StoreError) -> BackupResult
    {
        try checkOpen()
        return try backup(to: path, on: backupDisk, progress)
    }

    /// The same on any disk.
    func backup(
        to path: String, on fileSystem: any FileSystem,
        _ progress: ((UInt64, UInt64) -> Void)? = nil
    ) throws(StoreError) -> BackupResult {
        try withSyncedState { state throws(StoreError) in
            try StoreBackup(
                engine: engine, state: state, folder: FilePath(path), fileSystem: fileSystem
            ).run(progress)
        }
    }

    /// Calls the body with the newest state, on the disk as far as that works.
    func withSyncedState<Result>(_ body: (EngineState) throws(StoreError) -> Result)
        throws(StoreError) -> Result
    {
        // What is copied should be there after a power cut: else a later backup could not go on from it. If the
        // disk fails, what can be read is copied all the same.
        try? engine.synchronize()
        let snapshot = LogSnapshot(engine: engine, name: "backup")
        let pin = try snapshot.readable()
        defer { withExtendedLifetime((snapshot, pin)) {} }
        return try body(pin.state)
    }

    /// Where the copies of this store go: onto the disk, also if it is in memory.
    var backupDisk: any FileSystem {
        let own = engine.files.fileSystem
        return own is MemoryFileSystem ? POSIXFileSystem() : own
    }
}

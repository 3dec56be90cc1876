// A copy of a store, taken while others write.

import CairnFileSystem
public import CairnLog
public import CairnStore
import SystemPackage

/// What a backup did.
public struct BackupResult: Sendable, Equatable {
    /// The commit whose content the backup has.
    public let commit: UInt64
    /// Whether there was an earlier backup, which this one goes on from.
    public let isIncremental: Bool
    /// Bytes of the backup's segments.
    public let bytes: UInt64
    /// Bytes that were copied, a checkpoint included.
    public let copiedBytes: UInt64
}

extension LogStore {
    /// Copies the store into a folder: the newest state, while others read and write. The copy is a store like any
    /// other, on the disk when this returns, also if this one is in memory.
    ///
    /// A folder that is not there is made. One that holds an earlier backup of this store gets what is new since; it
    /// opens as the earlier backup until the new one is whole, whatever interrupts this. Whoever writes to a backup
    /// makes a store of its own of it, into which nothing is copied any more.
    ///
    /// ```swift
    /// let result = try store.backup(to: "/backups/shop.cairn")
    /// print(result.copiedBytes, "bytes copied")
    /// ```
    ///
    /// - Parameter progress: told the bytes copied so far, and about how many there will be.
    /// - Throws: `StoreError`: `.invalidRequest` if the folder is the store itself, or holds something else than an
    ///   earlier backup of it (with segment and byte where the two went different ways); `.damaged` with the place
    ///   if what is to be copied is not whole; `.storeInUse` if somebody else writes to the folder; `.noSpace`.
    /// - Complexity: O(bytes copied). The whole of an earlier backup is read if it was opened for writing since.
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

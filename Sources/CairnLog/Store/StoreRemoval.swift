// Empties the folder of a store, to remove it or to replace it by another one.            Format 20.6
//
//   1. Both bytes of the lock file are locked exclusively: the store is not open, and cannot be opened in the
//      meantime.
//   2. The lock file records durably that there is no store here: if the following steps are interrupted,
//      what is left cannot be opened, and repeating the removal completes it.    F-224
//   3. Checkpoints and segments are removed, and the folder is synced. If not even the first of them can be
//      removed, as in a read-only folder, the lock file is restored.
//   4. To remove the store, the lock file is removed, then the folder. A process that waited for that lock
//      file finds that it no longer belongs to the folder, and starts again (StoreOpener).
//
// Invariants: a file that is not the store's is never touched. After an interruption before step 2, the store
// is intact.
// Threads: one removal in one thread.

package import CairnFileSystem
package import CairnFormat
package import CairnStore
import FoundationEssentials
package import SystemPackage

package struct StoreRemoval {
    package let folder: FilePath
    package let fileSystem: any FileSystem
    /// Whether to remove the store even if it is open.
    private let force: Bool

    package init(folder: FilePath, fileSystem: any FileSystem, force: Bool) {
        self.folder = folder
        self.fileSystem = fileSystem
        self.force = force
    }

    /// Removes the store, and the folder with it. Does nothing if there is no store.
    package func remove() throws(StoreError) {
        try mapped {
            guard let files = try alone() else {
                // An interrupted removal may leave an empty folder.
                if try fileSystem.exists(folder) { try removeFolder() }
                return
            }
            defer { files.release() }
            let mark = try files.readMark()
            try empty(files, for: mark?.store ?? StoreID(UUID()))
            try fileSystem.unlink(folder.appending(SegmentName.lock))
            try fileSystem.syncDirectory(folder)
            try removeFolder()
        }
    }

    /// Removes the empty folder. A folder that cannot be removed stays: a mounted disk, a link, `.`, a folder
    /// in one that others own; or another process is already creating a store in it.
    private func removeFolder() throws {
        do {
            try fileSystem.removeDirectory(folder)
        } catch {
            let harmless: [Errno] = [
                .directoryNotEmpty, .fileExists, .notDirectory, .resourceBusy, .permissionDenied,
                .notPermitted, .readOnlyFileSystem, .noSuchFileOrDirectory, .invalidArgument,
            ]
            guard harmless.contains(error.code) else { throw error }
            return
        }
        let parent = folder.removingLastComponent()
        do {
            try fileSystem.syncDirectory(parent.isEmpty ? "." : parent)
        } catch  where error.code == .permissionDenied {
            return
        }
    }

    // MARK: Steps

    /// Locks and returns the store's files, so that no other process has it open or can open it; nil if there
    /// is nothing at the path, or an empty folder.
    package func alone() throws -> StoreFiles? {
        guard try holdsStore() else { return nil }
        return try EngineRegistry.shared.lockAlone(folder, fileSystem, force: force)
    }

    /// Whether there is a store, or the remains of one, and nothing else; false if there is nothing at the
    /// path, or an empty folder.
    package func holdsStore() throws -> Bool {
        guard try fileSystem.exists(folder) else { return false }
        let names = try fileSystem.list(folder)
        guard names.contains(SegmentName.lock) else {
            guard names.isEmpty else { throw refusal("the folder contains no store") }
            return false
        }
        if let other = names.first(where: { !StoreFiles.isOurs($0) && $0 != MigrationFolder.name })
        {
            throw refusal("the folder also contains \(other), which is not part of a store")
        }
        if !names.contains(where: { SegmentName.number(in: $0) != nil }) { try refuseForeignLock() }
        return true
    }

    /// Other programs use files named `lock` as well. The lock file of a store without segments is empty, or
    /// begins like a mark: after a power failure the mark may be zeros.
    private func refuseForeignLock() throws {
        let path = folder.appending(SegmentName.lock)
        guard let lock = try fileSystem.openIfPresent(path, .read) else { return }
        let start = RawBytes(count: 8)
        start.mutable.initializeMemory(as: UInt8.self, repeating: 0)
        _ = try lock.read(into: start.mutable, at: 0)
        let magic = UInt64(littleEndian: start.bytes.loadUnaligned(as: UInt64.self))
        let room = UInt64(HostRecord.offset + HostRecord.size)
        guard try lock.size() <= room, magic == 0 || magic == MarkRecord.magic
        else { throw refusal("the folder's file \(SegmentName.lock) is not a store's") }
    }

    /// Creates and locks a new folder. Files that were created there since it was empty are left alone.
    package func made() throws -> StoreFiles {
        if try !fileSystem.exists(folder) { try fileSystem.makeDirectory(folder) }
        guard try fileSystem.list(folder).isEmpty else { throw isMadeMeanwhile() }
        let lock: any File
        do throws(FileSystemError) {
            lock = try fileSystem.open(folder.appending(SegmentName.lock), .create)
        } catch {
            guard error.code == .fileExists else { throw error }
            throw isMadeMeanwhile()
        }
        let files = StoreFiles(folder: folder, fileSystem: fileSystem, lock: lock)
        guard try files.lockExclusively(), try files.isCurrent() else { throw files.isInUse() }
        return files
    }

    private func isMadeMeanwhile() -> StoreError {
        StoreError(
            .storeInUse, "something was created in the folder since it was found to be empty",
            context: .init(path: "\(folder)"))
    }

    /// Removes everything except the lock file, which then records that there is no store.
    package func empty(_ files: StoreFiles, for storeID: StoreID) throws {
        let before = RawBytes(count: MarkRecord.size)
        before.mutable.initializeMemory(as: UInt8.self, repeating: 0)
        _ = try files.lock.read(into: before.mutable, at: 0)
        var isBegun = false
        do {
            try files.beginUnfinished(storeID)
            MigrationFolder(of: folder, fileSystem).clear()
            for name in try fileSystem.list(folder) where name != SegmentName.lock {
                guard StoreFiles.isOurs(name) else { continue }
                try fileSystem.unlink(folder.appending(name))
                isBegun = true
            }
        } catch {
            if !isBegun {
                try? files.lock.write(before.bytes, at: 0)
                try? files.lock.synchronizeData()
            }
            throw error
        }
        try fileSystem.syncDirectory(folder)
    }

    package func refusal(_ message: String) -> StoreError {
        StoreError(.invalidRequest, message, context: .init(path: "\(folder)"))
    }

    package func mapped(_ body: () throws -> Void) throws(StoreError) {
        do {
            try body()
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("removing only throws file system and store errors: \(error)")
        }
    }
}

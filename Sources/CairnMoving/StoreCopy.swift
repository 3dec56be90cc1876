// Copies a state of a store into a new folder, with another identifier.                  Format 20.5, 75
//
//   1. What is to be copied is read and found whole.
//   2. The folder is made and locked; its mark says, durably, that there is no store here.                 F-220
//   3. The segments are copied, and synced.
//   4. The copy is opened behind that mark, and a commit with metadata gives it its identifier, unless it has that
//      already. The sync of that commit is the last thing before a mark says that there is a store: a crash leaves
//      nothing, or all of it.
//
// Invariants: nobody opens the copy under the identifier of the store it was made from, unless it is to have that.
// Threads: one copy in one thread; the state is pinned by the caller.

import CairnFileSystem
import CairnFormat
import CairnLog
import CairnStore
import FoundationEssentials
import SystemPackage

struct StoreCopy {
    let engine: Engine
    let state: EngineState
    let folder: FilePath
    let fileSystem: any FileSystem
    /// Nil: the store's own.
    let identifier: UUID?

    func run() throws(StoreError) {
        do {
            let backup = StoreBackup(
                engine: engine, state: state, folder: folder, fileSystem: fileSystem)
            try backup.refuseOwnFolder()
            if try fileSystem.exists(folder), try !fileSystem.list(folder).isEmpty {
                throw isNotEmpty
            }
            try backup.verifySource()
            let files = try made()
            do {
                _ = try backup.run(
                    BackupTarget(files: files, storeID: engine.storeID), isFinished: false)
                try name(files)
            } catch {
                files.release()
                throw error
            }
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("copying only throws file system and store errors: \(error)")
        }
    }

    private var isNotEmpty: StoreError {
        StoreError(
            .invalidRequest, "the folder is not empty: choose another one",
            context: .init(path: "\(folder)"))
    }

    /// The folder, made if it is missing, and locked.
    private func made() throws -> StoreFiles {
        if try !fileSystem.exists(folder) { try fileSystem.makeDirectory(folder) }
        let lock = try fileSystem.open(folder.appending(SegmentName.lock), .createOrOpen)
        let files = StoreFiles(folder: folder, fileSystem: fileSystem, lock: lock)
        guard try files.lockExclusively(), try files.isCurrent() else {
            files.release()
            throw files.isInUse()
        }
        // Somebody else may have made a store there before we had the lock.
        guard try fileSystem.list(folder).allSatisfy({ $0 == SegmentName.lock }) else {
            files.release()
            throw isNotEmpty
        }
        return files
    }

    /// Gives the copy its identifier, and says that it is there. Releases the locks.
    private func name(_ files: StoreFiles) throws {
        var reader = LogReader(files, mark: nil, pool: PagePool())
        guard case .log(var log) = try reader.read(), log.end == state.end else {
            throw .damaged("the copy differs from what was copied") as StoreError
        }
        let last = log.segments.current
        let file = try fileSystem.open(files.path(last.number), .readWrite)
        log.segments.replaceCurrent(with: Segment(header: last.header, file: file))
        // All of it was synced. So nothing is, and no mark is written, before the commit is.
        log.durable = log.end.lsn
        var options = LogStoreOptions()
        options.fileSystem = fileSystem
        options.clock = engine.clock
        options.makeScheduler = { IdleScheduler() }
        options.sizes = engine.sizes
        options.sizes.fillBytes = 0
        // It reads hardly anything, and its disk may be a shared one.
        options.mapsFiles = false
        let copy = try Engine(log, options: options)
        do {
            // The values are those of the state that is copied: later ones belong to later objects.
            let found = copy.currentMetadata()
            if let identifier, found.identifier != identifier {
                try copy.setMetadata(found.values, identifier: identifier)
                try copy.writeMetadata()
            }
            try copy.finishStore()
        } catch {
            copy.queue.poison(error)
            // Whoever is told that it failed is not to find a store.
            try? files.beginUnfinished(copy.storeID)
            try? copy.close()
            throw error
        }
        // What is missing then is the close frame.
        try? copy.close()
    }
}

/// A scheduler for a store that is open for a moment: it runs nothing.
private final class IdleScheduler: BackgroundScheduler {
    func schedule(after seconds: Double, _ work: @escaping @Sendable () -> Void) {}
    func stop() {}
}

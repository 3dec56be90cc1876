import CairnFileSystem
import CairnFormat
import CairnLog
import CairnStore
import SystemPackage

extension StoreRemoval {
    /// Replaces the contents of the folder by those of another store. The folder is created if it does not exist.
    func replace(with engine: Engine, _ state: EngineState) throws(StoreError) {
        try mapped {
            let lock = folder.appending(SegmentName.lock)
            let source = engine.files
            if try fileSystem.exists(lock),
                try fileSystem.identity(of: lock) == source.lock.identity
            {
                throw refusal("a store cannot be replaced by itself")
            }
            let backup = StoreBackup(
                engine: engine, state: state, folder: folder, fileSystem: fileSystem)
            try backup.refuseOwnFolder()
            // Nothing goes, is made, is closed or is locked before what comes is known to be whole.
            let isThere = try holdsStore()
            try backup.verifySource()
            // One that somebody has made since is not the one that was to be replaced.
            let found = isThere ? try alone() : nil
            let files = try found ?? made()
            defer { files.release() }
            try empty(files, for: engine.storeID)
            _ = try backup.run(BackupTarget(files: files, storeID: engine.storeID))
        }
    }
}

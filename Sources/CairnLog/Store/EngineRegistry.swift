// The engines that are open in this process, so that all users of a store share one.
//
// Two engines on one folder would each assume that they are the only writer: locks belong to open files, and
// this process would hold them twice. Therefore stores are identified by their lock file.
// Threads: any; one lock, held while a store is opened so that nobody opens it twice. Engines are closed without it: each has a
// lock of its own for that, which is taken first.

import CairnFileSystem
import CairnFormat
import CairnModel
package import CairnStore
import Synchronization
package import SystemPackage

package final class EngineRegistry: Sendable {
    package static let shared = EngineRegistry()

    private struct Key: Hashable {
        let identity: FileIdentity
        let isReadOnly: Bool
        /// Memory file systems use the same file numbers.
        let fileSystem: ObjectIdentifier?
        let process: Int

        init(_ lock: any File, _ fileSystem: any FileSystem, _ process: Int = 0, isReadOnly: Bool) {
            self.process = process
            identity = lock.identity
            self.isReadOnly = isReadOnly
            self.fileSystem = (fileSystem as? MemoryFileSystem).map(ObjectIdentifier.init)
        }
    }

    private struct Entry {
        let engine: Engine
        var users: Int
        /// Whether it is being closed. Callers that open the store wait for that, without the registry's
        /// lock.
        var isClosing = false
        /// Whether it is being migrated: no other caller gets it.
        var isMigrating = false
    }

    private let engines = LongLock<[Key: Entry]>([:])

    /// The result of looking up an engine.
    private enum Found {
        case engine(Engine)
        /// An engine that is being closed.
        case closing(Engine)
        /// A store that is being migrated.
        case migrating
        /// A lock file that was removed concurrently.
        case removed
    }

    /// Returns the engine of a store; opens it if necessary.
    ///
    /// - Parameter sharesWriter: for callers that only read: whether they can use the engine that writes, if
    ///   there is one.
    func open(
        _ folder: FilePath, schema: Schema?, options: LogStoreOptions, sharesWriter: Bool = false
    ) throws(StoreError) -> Engine {
        var attempts = 0
        var waits = 0.0
        while attempts < Self.attempts {
            switch try openOnce(folder, schema, options, sharesWriter) {
            case .migrating:
                guard waits < options.timeout else {
                    throw StoreError(
                        .storeInUse, "the store is being migrated",
                        context: .init(path: "\(folder)"))
                }
                Pause.milliseconds(5)
                waits += 0.005
            case .engine(let engine):
                // No lock is held here.
                engine.changes.deliver()
                if schema != nil { engine.keepBuiltIndexes() }
                return engine
            case .closing(let engine): try wait(for: engine)
            case .removed: attempts += 1
            }
        }
        throw Self.restless(folder)
    }

    /// The number of attempts when the lock file is removed concurrently.
    private static let attempts = 20

    private static func restless(_ folder: FilePath) -> StoreError {
        StoreError(
            .storeInUse, "the store is repeatedly being removed and created",
            context: .init(path: "\(folder)"))
    }

    private func openOnce(
        _ folder: FilePath, _ schema: Schema?, _ options: LogStoreOptions, _ sharesWriter: Bool
    ) throws(StoreError) -> Found {
        try engines.withLock { engines throws(StoreError) in
            let opener = StoreOpener(folder: folder, options: options)
            guard let lock = try opener.openLockFile() else { return .removed }
            var key = Key(lock, options.fileSystem, options.process, isReadOnly: options.isReadOnly)
            if sharesWriter {
                let writer = Key(lock, options.fileSystem, options.process, isReadOnly: false)
                if engines[writer] != nil { key = writer }
            }
            if let entry = engines[key] {
                if entry.isMigrating { return .migrating }
                if entry.isClosing { return .closing(entry.engine) }
                if let schema, !options.allow(schema, for: entry.engine.schema) {
                    throw StoreError(
                        .incompatibleModel,
                        "the store is open with another model: \(schema.difference(to: entry.engine.schema))",
                        context: .init(path: "\(folder)"))
                }
                // A caller that opens a store sees its current contents.
                _ = try entry.engine.refreshUntold()
                engines[key]?.users += 1
                return .engine(entry.engine)
            }
            guard let engine = try Self.open(opener, lock, schema) else { return .removed }
            engines[key] = Entry(engine: engine, users: 1)
            return .engine(engine)
        }
    }

    // MARK: Migration

    /// Opens a store that is not open elsewhere in this process, to change its model: callers that open it
    /// concurrently wait. `closeAfterMigration` must close it.
    package func openToMigrate(_ folder: FilePath, options: LogStoreOptions) throws(StoreError)
        -> Engine
    {
        var attempts = 0
        var waits = 0.0
        while attempts < Self.attempts {
            switch try openToMigrateOnce(folder, options) {
            case .engine(let engine):
                do throws(StoreError) {
                    // No other process can write before the end of the migration.
                    engine.lease.pin()
                    try engine.withLease { _ in }
                } catch {
                    try? closeAfterMigration(engine)
                    throw error
                }
                return engine
            case .closing(let engine): try wait(for: engine)
            case .migrating:
                guard waits < options.timeout else {
                    throw StoreError(
                        .storeInUse,
                        "the store is open in this process, and cannot be migrated: close it first",
                        context: .init(path: "\(folder)"))
                }
                Pause.milliseconds(5)
                waits += 0.005
            case .removed: attempts += 1
            }
        }
        throw Self.restless(folder)
    }

    private func openToMigrateOnce(_ folder: FilePath, _ options: LogStoreOptions)
        throws(StoreError) -> Found
    {
        try engines.withLock { engines throws(StoreError) in
            let opener = StoreOpener(folder: folder, options: options)
            guard let lock = try opener.openLockFile() else { return .removed }
            let key = Key(lock, options.fileSystem, options.process, isReadOnly: false)
            if let entry = engines[key] {
                return entry.isClosing ? .closing(entry.engine) : .migrating
            }
            guard let engine = try Self.open(opener, lock, nil) else { return .removed }
            engines[key] = Entry(engine: engine, users: 1, isMigrating: true)
            return .engine(engine)
        }
    }

    /// Closes an engine that was opened for migration.
    package func closeAfterMigration(_ engine: Engine) throws(StoreError) {
        defer {
            engines.withLock { engines in
                if let (key, _) = engines.first(where: { $0.value.engine === engine }) {
                    engines[key] = nil
                }
            }
        }
        try engine.close()
    }

    // MARK: Alone

    /// The result of locking a store.
    private enum Locked {
        case files(StoreFiles)
        /// The store does not exist.
        case missing
        case open(Engine)
        case closing(Engine)
        case removed
    }

    /// Locks a store that is not open, in this process or elsewhere, and that cannot be opened until its
    /// files are released; returns nil if it no longer exists.
    ///
    /// - Parameter force: closes it in this process, and ignores other processes.
    func lockAlone(_ folder: FilePath, _ fileSystem: any FileSystem, force: Bool) throws
        -> StoreFiles?
    {
        var attempts = 0
        while attempts < Self.attempts {
            switch try lockOnce(folder, fileSystem, force: force) {
            case .files(let files): return files
            case .missing: return nil
            case .closing(let engine): try wait(for: engine)
            case .removed: attempts += 1
            case .open(let engine):
                guard force else {
                    throw StoreError(
                        .storeInUse, "the store is open in this process: close it first",
                        context: .init(path: "\(folder)"))
                }
                // What it cannot write is no longer needed; but it must be closed.
                do throws(StoreError) {
                    try shut(engine, whateverItsUsers: true)
                } catch {
                    guard engine.isClosed.load(ordering: .acquiring) else { throw error }
                }
            }
        }
        throw Self.restless(folder)
    }

    private func lockOnce(_ folder: FilePath, _ fileSystem: any FileSystem, force: Bool) throws
        -> Locked
    {
        try engines.withLock { engines throws in
            let path = folder.appending(SegmentName.lock)
            guard let lock = try fileSystem.openIfPresent(path, .readWrite) else { return .missing }
            for isReadOnly in [false, true] {
                let key = Key(lock, fileSystem, isReadOnly: isReadOnly)
                guard let entry = engines[key] else { continue }
                if entry.isMigrating {
                    throw StoreError(
                        .storeInUse, "the store is being migrated",
                        context: .init(path: "\(folder)"))
                }
                return entry.isClosing ? .closing(entry.engine) : .open(entry.engine)
            }
            let files = StoreFiles(
                folder: folder, fileSystem: fileSystem, lock: lock,
                isShared: !force && fileSystem.sharedDisk(of: folder) != nil)
            let isAlone = try files.lockExclusively()
            guard try files.isCurrent() else {
                files.release()
                return .removed
            }
            guard isAlone || force else { throw files.isInUse() }
            try files.refuseOtherHosts()
            return .files(files)
        }
    }

    /// Opens a store that is not open yet. If a checkpoint contradicts the log although its checksums are
    /// valid, the checkpoint is treated as invalid, and the log is read without it.
    private static func open(_ opener: StoreOpener, _ lock: any File, _ schema: Schema?)
        throws(StoreError) -> Engine?
    {
        do {
            guard let log = try opener.open(lock: lock, schema: schema) else { return nil }
            return try Self.begin(log, opener)
        } catch {
            guard error.code == .damaged else { throw error }
            var again = opener
            again.usesCheckpoints = false
            guard let log = try again.open(lock: lock, schema: schema) else { return nil }
            return try Self.begin(log, again)
        }
    }

    /// Creates an engine for a log; closes it if it cannot be prepared.
    private static func begin(_ log: OpenedLog, _ opener: StoreOpener) throws(StoreError) -> Engine
    {
        let engine: Engine
        do throws(StoreError) {
            engine = try Engine(log, options: opener.options)
        } catch {
            log.files.release()
            throw error
        }
        do throws(StoreError) {
            try engine.makePlacesForOrder()
        } catch {
            try? engine.close()
            throw error
        }
        return engine
    }

    /// Removes one user; the last one closes the engine.
    func close(_ engine: Engine) throws(StoreError) {
        let isLast = engines.withLock { engines in
            guard let (key, entry) = engines.first(where: { $0.value.engine === engine }) else {
                return false
            }
            if entry.users == 1 { return true }
            engines[key]?.users -= 1
            return false
        }
        if isLast { try shut(engine) }
    }

    // MARK: Closing

    /// Closes an engine, for its last user or for another owner.
    ///
    /// Closing waits for the write lock, whose holder may run a batch insert's closure, which may open and
    /// close other stores: it is therefore done without the registry's lock. The engine stays listed in the
    /// meantime, so that its store is not opened a second time.
    private func shut(_ engine: Engine, whateverItsUsers: Bool = false) throws(StoreError) {
        try engine.checkReentry()
        try engine.closing.withLock { _ throws(StoreError) in
            let found: Key? = engines.withLock { engines in
                guard let (key, entry) = engines.first(where: { $0.value.engine === engine }) else {
                    return nil
                }
                if entry.users > 1, !whateverItsUsers {
                    // It was opened again since.
                    engines[key]?.users -= 1
                    return nil
                }
                engines[key]?.isClosing = true
                return key
            }
            guard let key = found else { return }
            defer {
                let isClosed = engine.isClosed.load(ordering: .acquiring)
                engines.withLock { engines in
                    if isClosed { engines[key] = nil } else { engines[key]?.isClosing = false }
                }
            }
            try engine.close()
        }
    }

    /// Waits until an engine that is being closed is closed.
    private func wait(for engine: Engine) throws(StoreError) {
        try engine.checkReentry()
        engine.closing.withLock { _ in }
    }
}

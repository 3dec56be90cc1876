// The engines that are open in this process, so that all who open a store share one.
//
// Two engines on one folder would each believe to be the only writer: locks belong to open files, and this
// process would hold them twice. So stores are told apart by the identity of their lock file.
// Threads: any; one lock, held while a store is opened so that nobody opens it twice.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import Synchronization
import SystemPackage

final class EngineRegistry: Sendable {
    static let shared = EngineRegistry()

    private struct Key: Hashable {
        let identity: FileIdentity
        let isReadOnly: Bool
        /// Memory file systems number their files alike.
        let fileSystem: ObjectIdentifier?

        init(_ lock: any File, _ fileSystem: any FileSystem, isReadOnly: Bool) {
            identity = lock.identity
            self.isReadOnly = isReadOnly
            self.fileSystem = (fileSystem as? MemoryFileSystem).map(ObjectIdentifier.init)
        }
    }

    private struct Entry {
        let engine: Engine
        var users: Int
    }

    private let engines = LongLock<[Key: Entry]>([:])

    /// The engine of a store, opened if nobody has it open.
    ///
    /// - Parameter sharesWriter: for somebody who only reads: the engine that writes will do, if there is one.
    func open(
        _ folder: FilePath, schema: Schema?, options: LogStoreOptions, sharesWriter: Bool = false
    ) throws(StoreError) -> Engine {
        for _ in 1...Self.attempts {
            if let engine = try openOnce(folder, schema, options, sharesWriter) { return engine }
        }
        throw StoreError(
            .storeInUse, "the store is removed and made all the time",
            context: .init(path: "\(folder)"))
    }

    /// How often something is tried again whose lock file was removed meanwhile.
    private static let attempts = 20

    /// Nil if the lock file was removed meanwhile.
    private func openOnce(
        _ folder: FilePath, _ schema: Schema?, _ options: LogStoreOptions, _ sharesWriter: Bool
    ) throws(StoreError) -> Engine? {
        try engines.withLock { engines throws(StoreError) in
            let opener = StoreOpener(folder: folder, options: options)
            guard let lock = try opener.openLockFile() else { return nil }
            var key = Key(lock, options.fileSystem, isReadOnly: options.isReadOnly)
            if sharesWriter {
                let writer = Key(lock, options.fileSystem, isReadOnly: false)
                if engines[writer] != nil { key = writer }
            }
            if let entry = engines[key] {
                if let schema, !schema.model.hasSameStorage(as: entry.engine.schema.model) {
                    throw StoreError(
                        .incompatibleModel,
                        "the store is open with another model: \(schema.model.difference(to: entry.engine.schema.model))",
                        context: .init(path: "\(folder)"))
                }
                // Whoever opens a store sees what is in it by now.
                _ = try entry.engine.refresh()
                engines[key]?.users += 1
                return entry.engine
            }
            guard let engine = try Self.open(opener, lock, schema) else { return nil }
            engines[key] = Entry(engine: engine, users: 1)
            return engine
        }
    }

    /// The files of a store that nobody has open, here or elsewhere, and that nobody can open until they are released;
    /// nil if the store is gone.
    ///
    /// - Parameter force: closes it here, and does not care for other processes.
    func lockAlone(_ folder: FilePath, _ fileSystem: any FileSystem, force: Bool) throws
        -> StoreFiles?
    {
        try engines.withLock { engines throws in
            for _ in 1...Self.attempts {
                let path = folder.appending(SegmentName.lock)
                guard let lock = try fileSystem.openIfPresent(path, .readWrite) else { return nil }
                for isReadOnly in [false, true] {
                    let key = Key(lock, fileSystem, isReadOnly: isReadOnly)
                    guard let entry = engines[key] else { continue }
                    guard force else {
                        throw StoreError(
                            .storeInUse, "the store is open in this process",
                            context: .init(path: "\(folder)"))
                    }
                    // What it cannot write is of no use to anybody; but it must be closed.
                    do throws(StoreError) {
                        try entry.engine.close()
                    } catch {
                        guard entry.engine.isClosed.load(ordering: .acquiring) else { throw error }
                    }
                    engines[key] = nil
                }
                let files = StoreFiles(folder: folder, fileSystem: fileSystem, lock: lock)
                let isAlone = try files.lockExclusively()
                guard try files.isCurrent() else {
                    files.release()
                    continue
                }
                guard isAlone || force else { throw files.isInUse() }
                return files
            }
            throw StoreError(
                .storeInUse, "the store is removed and made all the time",
                context: .init(path: "\(folder)"))
        }
    }

    /// Opens a store that nobody has open. A checkpoint whose numbers contradict the log, though its checksums
    /// are right, is held to be the wrong one of the two: the log is read without it.
    private static func open(_ opener: StoreOpener, _ lock: any File, _ schema: Schema?)
        throws(StoreError) -> Engine?
    {
        do {
            guard let log = try opener.open(lock: lock, schema: schema) else { return nil }
            let engine = try Engine(log, options: opener.options)
            try engine.makePlacesForOrder()
            return engine
        } catch {
            guard error.code == .damaged else { throw error }
            var again = opener
            again.usesCheckpoints = false
            guard let log = try again.open(lock: lock, schema: schema) else { return nil }
            let engine = try Engine(log, options: opener.options)
            try engine.makePlacesForOrder()
            return engine
        }
    }

    /// One user less; the last one closes the engine.
    func close(_ engine: Engine) throws(StoreError) {
        try engines.withLock { engines throws(StoreError) in
            guard let (key, entry) = engines.first(where: { $0.value.engine === engine }) else {
                return
            }
            if entry.users > 1 {
                engines[key]?.users -= 1
                return
            }
            engines[key] = nil
            try engine.close()
        }
    }
}

// The engines that are open in this process, so that all who open a store share one.
//
// Two engines on one folder would each believe to be the only writer: locks belong to open files, and this
// process would hold them twice. So stores are told apart by the identity of their lock file.
// Threads: any; one lock, held while a store is opened so that nobody opens it twice.

import CairnFileSystem
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
    }

    private struct Entry {
        let engine: Engine
        var users: Int
    }

    private let engines = LongLock<[Key: Entry]>([:])

    /// The engine of a store, opened if nobody has it open.
    func open(_ folder: FilePath, schema: Schema?, options: LogStoreOptions) throws(StoreError)
        -> Engine
    {
        try engines.withLock { engines throws(StoreError) in
            let opener = StoreOpener(folder: folder, options: options)
            let lock = try opener.openLockFile()
            let key = Self.key(lock, options)
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
            let engine = try Self.open(opener, lock, schema)
            engines[key] = Entry(engine: engine, users: 1)
            return engine
        }
    }

    /// Opens a store that nobody has open. A checkpoint whose numbers contradict the log, though its checksums
    /// are right, is held to be the wrong one of the two: the log is read without it.
    private static func open(_ opener: StoreOpener, _ lock: any File, _ schema: Schema?)
        throws(StoreError) -> Engine
    {
        do {
            return try Engine(
                try opener.open(lock: lock, schema: schema), options: opener.options)
        } catch {
            guard error.code == .damaged else { throw error }
            var again = opener
            again.usesCheckpoints = false
            return try Engine(try again.open(lock: lock, schema: schema), options: opener.options)
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

    private static func key(_ lock: any File, _ options: LogStoreOptions) -> Key {
        Key(
            identity: lock.identity, isReadOnly: options.isReadOnly,
            fileSystem: (options.fileSystem as? MemoryFileSystem).map(
                ObjectIdentifier.init))
    }
}

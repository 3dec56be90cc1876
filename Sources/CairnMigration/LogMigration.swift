// A migration of a store with a mapping model, run by the object layer.                               ENGINE-NOTES 16
//
//   1. The store is opened alone, as for any migration. What a migration that broke off has left is removed.
//   2. The new content is made in a store beside: a real one, in the folder `migration` of the store's.
//   3. When it is finished, one commit of the store takes all its rows, lets all old ones die and changes the schema: see
//      `SchemaChange` and `MappedContent`. Before that commit is whole the store is as it was.
//   4. The folder goes.
//
// Threads: one; cancelling and finishing exclude one another.

import CairnFileSystem
public import CairnLog
public import CairnModel
public import CairnStore
import Synchronization
import SystemPackage

/// A migration of a log store with a mapping model.
final class LogMigration: MappedMigration {
    private let engine: Engine
    private let reader: LogStore
    private let writer: LogStore
    private let folder: MigrationFolder
    private let schema: Schema
    private let options: LogStoreOptions
    private let isOver = Mutex(false)

    var source: any PersistentStore { reader }
    var destination: any PersistentStore { writer }

    init(at path: String, to schema: Schema, _ options: LogStoreOptions) throws(StoreError) {
        var options = options
        options.isReadOnly = false
        options.createsIfMissing = false
        self.options = options
        self.schema = schema
        let engine = try EngineRegistry.shared.openToMigrate(FilePath(path), options: options)
        self.engine = engine
        reader = LogStore(borrowing: engine)
        let folder = MigrationFolder(of: FilePath(path), options.fileSystem)
        self.folder = folder
        folder.clear()
        var inner = LogStoreOptions()
        inner.fileSystem = options.fileSystem
        inner.sizes = options.sizes
        inner.allowsSharedDisk = options.allowsSharedDisk
        inner.mapsFiles = options.mapsFiles
        // Nobody opens it again: what stops the migration stops it for good.
        inner.sizes.checkpointBytes = .max
        inner.durability = .relaxed
        do throws(StoreError) {
            if options.checksSpaceBeforeMigration {
                // Once beside, once in the log.
                let bytes = try engine.bytesInUse()
                try engine.requireSpace(bytes.addingSaturated(bytes))
            }
            writer = try LogStore.open(at: folder.path.string, schema: schema, options: inner)
        } catch {
            folder.clear()
            reader.giveBack()
            // What went wrong first is what counts.
            try? EngineRegistry.shared.closeAfterMigration(engine)
            throw error
        }
    }

    deinit { cancel() }

    func finish(_ successions: [ObjectSuccession]) throws(StoreError) {
        precondition(begin(), "a migration is finished or cancelled once")
        do throws(StoreError) {
            _ = try engine.migrate(
                ModelMigrationPlan(replacingObjectsOf: engine.schema, with: schema), prelude: [],
                content: MappedContent(engine: writer.engine, successions: successions),
                asksForSpace: options.checksSpaceBeforeMigration,
                MigrationMonitor(options.migrationProgress))
        } catch {
            try? end()
            throw error
        }
        try end()
    }

    func cancel() {
        // It has changed nothing: that closing fails means nothing.
        if begin() { try? end() }
    }

    /// Begins to end it; false if somebody has.
    private func begin() -> Bool {
        isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
    }

    /// Lets go of both stores.
    private func end() throws(StoreError) {
        try? writer.close()
        folder.clear()
        reader.giveBack()
        try EngineRegistry.shared.closeAfterMigration(engine)
    }
}

extension LogStore {
    /// Begins to migrate a closed store to another version of its model with a mapping model, for `MigrationManager`.
    ///
    /// The store cannot be opened for writing until the migration is finished or cancelled; other processes can read its
    /// old contents. In addition to the old contents, the migration temporarily needs twice the space of the new contents.
    ///
    /// Migrated objects keep their ids, if the hierarchy of their entity continues. Earlier changes in the history no
    /// longer refer to objects. Versions of this library that do not support migration can no longer open the store.
    ///
    /// - Throws: `StoreError`: `.storeInUse` if the store is open in this process or another one writes to it; `.noSpace`
    ///   if the disk has less space than estimated (``LogStoreOptions/checksSpaceBeforeMigration``); the errors of opening
    ///   the store.
    public static func beginMigration(
        at path: String, to schema: Schema, options: LogStoreOptions = LogStoreOptions()
    ) throws(StoreError) -> any MappedMigration {
        do throws(StoreError) {
            return try LogMigration(at: path, to: schema, options)
        } catch {
            var error = error
            if error.context.path == nil { error.context.path = path }
            throw error
        }
    }
}

// A store on the log-structured engine, opened by one coordinator.
//
// Threads: any.

package import CairnFileSystem
public import CairnModel
public import CairnStore
import Synchronization
import SystemPackage

/// A store in a folder, or in memory, that keeps its objects in a log.
///
/// All users of the same store in a process share one engine. Processes acquire the write lock for each
/// commit; others can read at the same time. A process that does not get the write lock in time receives an
/// error that names its holder.
///
/// ```swift
/// let store = try LogStore.open(at: "shop.cairn", schema: Schema(model))
/// defer { try? store.close() }
/// ```
public final class LogStore: PersistentStore {
    package let engine: Engine
    private let isOpen = Mutex(true)
    /// Whether it was opened with persistent history tracking.
    let asksForHistory: Bool

    private init(_ engine: Engine, asksForHistory: Bool = false) {
        self.engine = engine
        self.asksForHistory = asksForHistory
    }

    /// A store on an engine that its owner closes.
    package init(borrowing engine: Engine) {
        self.engine = engine
        asksForHistory = false
    }

    /// Ends the use of an engine that its owner closes.
    package func giveBack() { isOpen.withLock { $0 = false } }

    deinit {
        // If a store is released without `close`, there is no caller to report an error to.
        try? close()
    }

    /// Opens the store in a folder, or creates it.
    ///
    /// Without a schema the store must exist, and its own model is used. With a schema, that one determines
    /// everything that is not stored: validation, defaults and delete rules, transformers, requests, merge
    /// rules. If several users in a process have the store open, the model of the first is used.
    ///
    /// - Throws: `StoreError`: `.storeInUse` if another process is creating or migrating it, or another
    ///   machine has it open for writing; `.incompatibleModel` if the store has another version of the model
    ///   (see ``LogStoreOptions/ignoresModelVersion``); `.damaged` with the location; `.cancelled` if
    ///   `recoveryProgress` returned false; otherwise `.openFailed`.
    /// - Complexity: O(log after the newest checkpoint), whose parts are read when they are first accessed;
    ///   without a checkpoint O(size of the log). Memory for 8 bytes per object, in pages of 512 objects with
    ///   consecutive numbers. A store assigns numbers in that order. A log from another source, with sparse
    ///   numbers, takes a page of 4 KiB per object: open such logs in a process with limited memory.
    public static func open(
        at path: String, schema: Schema? = nil, options: LogStoreOptions = LogStoreOptions()
    ) throws(StoreError) -> LogStore {
        let engine = try openEngine(at: path, schema, options)
        if options.persistentHistoryTracking != nil || options.pastStates != nil {
            do throws(StoreError) {
                if let isWanted = options.persistentHistoryTracking {
                    try engine.setHistoryTracking(isWanted)
                }
                if let retention = options.pastStates { try engine.setPastStates(retention) }
            } catch {
                // No user is left.
                try? EngineRegistry.shared.close(engine)
                throw error
            }
        }
        return LogStore(engine, asksForHistory: options.persistentHistoryTracking == true)
    }

    private static func openEngine(
        at path: String, _ schema: Schema?, _ options: LogStoreOptions
    ) throws(StoreError) -> Engine {
        guard let schema, case .on(let migrate) = options.automaticMigration, !options.isReadOnly
        else {
            return try EngineRegistry.shared.open(FilePath(path), schema: schema, options: options)
        }
        do throws(StoreError) {
            return try EngineRegistry.shared.open(
                FilePath(path), schema: schema, options: options)
        } catch {
            guard error.code == .incompatibleModel else { throw error }
        }
        try migrate(path, schema, options)
        return try EngineRegistry.shared.open(FilePath(path), schema: schema, options: options)
    }

    /// Opens a store to read its current state: including everything written to it in this process, if it is
    /// open here.
    package static func openToCopy(at path: String, on fileSystem: any FileSystem)
        throws(StoreError)
        -> LogStore
    {
        var options = LogStoreOptions()
        options.isReadOnly = true
        options.fileSystem = fileSystem
        // It is only open for a moment, and not while another machine has it open for writing.
        options.allowsSharedDisk = true
        return LogStore(
            try EngineRegistry.shared.open(
                FilePath(path), schema: nil, options: options, sharesWriter: true))
    }

    /// Runs a closure while no other process can write to the store.
    package func whileAloneInWriting<R>(_ body: () throws -> R) throws -> R {
        try engine.keepingLease(body)
    }

    /// The number of the last published commit.
    package var lastCommit: UInt64 { engine.registry.read { $0.commit } }

    /// Creates a store in memory, which uses the same engine without a disk. Its contents are lost when it is
    /// closed.
    public static func inMemory(schema: Schema, options: LogStoreOptions = LogStoreOptions())
        throws(StoreError) -> LogStore
    {
        var options = options
        options.fileSystem = MemoryFileSystem()
        // Nothing in memory needs to be synced.
        options.durability = .relaxed
        options.sizes.fillBytes = 0
        options.sizes.checkpointBytes = .max
        options.sizes.closingCheckpointBytes = .max
        return try open(at: "/store", schema: schema, options: options)
    }

    /// The identity that the store uses in object ids.
    public var identity: StoreIdentity { engine.identity }

    /// The model with which the store was opened. Its entities are in the store's order.
    public var schema: Schema { engine.schema }

    /// Whether the store is read-only.
    public var isReadOnly: Bool { engine.isReadOnly }

    /// The path with which the store was opened; nil in memory.
    public var path: String? {
        engine.files.fileSystem is MemoryFileSystem ? nil : "\(engine.files.folder)"
    }

    /// Whether both use the same open store: changes of one are changes of the other.
    package func isOneStore(with other: LogStore) -> Bool { engine === other.engine }

    /// The durability of commits when they return.
    package var durability: LogStoreOptions.Durability { engine.durability }

    /// The outcome of recovery when the store was opened.
    public var recovery: RecoveryReport { engine.recovery }

    package func checkOpen() throws(StoreError) {
        guard isOpen.withLock({ $0 }), !engine.isClosed.load(ordering: .acquiring) else {
            throw StoreError(.unusable, "the store is closed")
        }
    }

    /// Returns a snapshot of the newest published state.
    public func snapshot() throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return LogSnapshot(engine: engine)
    }

    /// Returns a snapshot with a name, by which `statistics` identifies it if it retains an old state.
    public func snapshot(named name: String) throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return LogSnapshot(engine: engine, name: name)
    }

    /// Writes changes atomically.
    public func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        try checkOpen()
        return try engine.save(request)
    }

    /// Inserts and updates many rows atomically.
    public func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        try checkOpen()
        try identity.checkIsAsked(by: request.affectedStores, entity: request.entityName)
        return try engine.insert(request)
    }

    /// Updates many objects atomically.
    public func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        try checkOpen()
        try identity.checkIsAsked(by: request.affectedStores, entity: request.entityName)
        return try engine.update(request)
    }

    /// Deletes many objects atomically, with the delete rules of the model.
    public func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        try checkOpen()
        try request.checkAsks(identity)
        return try engine.delete(request)
    }

    /// Returns permanent ids for new objects of these entities, in the same order.
    public func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
        try checkOpen()
        return try engine.obtainPermanentIDs(entities)
    }

    /// Issues all numbers of an entity's hierarchy up to one, so that objects can be saved with them and
    /// others never get them: for objects from another source that keep their numbers.
    ///
    /// - Complexity: O(1).
    package func reserveNumbers(upTo number: UInt32, entity: Int) throws(StoreError) {
        try checkOpen()
        try engine.reserveNumbers(upTo: number, entity: entity)
    }

    /// Calls a closure for every commit from now on.
    public func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void)
        -> ChangeObservation
    {
        engine.changes.observe(receive)
    }

    /// Waits until every commit that has returned is on disk.
    ///
    /// - Throws: `StoreError` if the disk fails; nothing more is written after that.
    public func synchronize() throws(StoreError) {
        try checkOpen()
        try engine.synchronize()
    }

    /// Closes the store. Snapshots that still exist stay readable.
    ///
    /// - Throws: `StoreError` if commits that did not wait for the disk may not be durable. The store is
    ///   closed anyway.
    public func close() throws(StoreError) {
        // It cannot be closed from within a batch insert's closure, and stays open.
        try engine.checkReentry()
        guard
            isOpen.withLock({ isOpen in
                defer { isOpen = false }
                return isOpen
            })
        else { return }
        try EngineRegistry.shared.close(engine)
    }
}

extension LogStore: ColumnStore {
    /// Inserts new objects as columns.
    package func insert(
        _ rows: inout some NewRowSource, merging: NewRowMerging, author: String?,
        contextName: String?
    ) throws(StoreError) -> NewNumbers? {
        try checkOpen()
        return try engine.insert(
            &rows, merging: merging, author: author, contextName: contextName)
    }
}

// A store on the log-structured engine, as one coordinator has it open.
//
// Threads: any.

package import CairnFileSystem
public import CairnModel
public import CairnStore
import Synchronization
import SystemPackage

/// A store in a folder, or in memory, that keeps its objects in a log of its own.
///
/// Everybody in a process who opens the same store shares one engine. Processes write to it in turns, commit by commit, and
/// others read meanwhile; one whose turn does not come in time gets an error that names who keeps it.
///
/// ```swift
/// let store = try LogStore.open(at: "shop.cairn", schema: Schema(model))
/// defer { try? store.close() }
/// ```
public final class LogStore: PersistentStore {
    package let engine: Engine
    private let isOpen = Mutex(true)
    /// Whether whoever opened it wants a history.
    let asksForHistory: Bool

    private init(_ engine: Engine, asksForHistory: Bool = false) {
        self.engine = engine
        self.asksForHistory = asksForHistory
    }

    /// A store on an engine that somebody else closes.
    package init(borrowing engine: Engine) {
        self.engine = engine
        asksForHistory = false
    }

    /// Ends the use of an engine that somebody else closes.
    package func giveBack() { isOpen.withLock { $0 = false } }

    deinit {
        // An object that is let go without `close` has nobody left to tell of an error.
        try? close()
    }

    /// Opens the store in a folder, or makes it.
    ///
    /// Without a schema the store must exist, and the model it holds rules. With one, that one rules in what is not stored: what
    /// is valid, defaults and delete rules, transformers, requests, merge rules. Where several have a store open in a process, it is
    /// the model of the first.
    ///
    /// - Throws: `StoreError`: `.storeInUse` if another process makes or migrates it, or another machine has it open to write,
    ///   `.incompatibleModel` if the store is of another version of the model (see ``LogStoreOptions/ignoresModelVersion``),
    ///   `.damaged` with the place, `.cancelled` if `recoveryProgress` said so, `.openFailed` otherwise.
    /// - Complexity: O(log behind the newest checkpoint), whose parts are read when they are first touched; without a
    ///   checkpoint O(size of the log). Memory for 8 bytes an object, in pages of 512 objects with numbers that follow each other.
    ///   A store gives numbers in that order. A log made by somebody else, with numbers far apart, takes a page of 4 KiB for each
    ///   object: open such ones in a process whose memory is bounded.
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
                // Nobody is left to use it.
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

    /// A store to be read as it is now: with what was written to it in this process, if it is open here.
    package static func openToCopy(at path: String, on fileSystem: any FileSystem)
        throws(StoreError)
        -> LogStore
    {
        var options = LogStoreOptions()
        options.isReadOnly = true
        options.fileSystem = fileSystem
        // It is open for a moment, and not while another machine has it open to write.
        options.allowsSharedDisk = true
        return LogStore(
            try EngineRegistry.shared.open(
                FilePath(path), schema: nil, options: options, sharesWriter: true))
    }

    /// Runs a closure while no other process can write to the store.
    package func whileAloneInWriting<R>(_ body: () throws -> R) throws -> R {
        try engine.keepingLease(body)
    }

    /// The number of the last commit that is published.
    package var lastCommit: UInt64 { engine.registry.read { $0.commit } }

    /// A store in memory: the same engine on a disk that is none. It is gone when it is closed.
    public static func inMemory(schema: Schema, options: LogStoreOptions = LogStoreOptions())
        throws(StoreError) -> LogStore
    {
        var options = options
        options.fileSystem = MemoryFileSystem()
        // Memory has nothing to be synced.
        options.durability = .relaxed
        options.sizes.fillBytes = 0
        options.sizes.checkpointBytes = .max
        options.sizes.closingCheckpointBytes = .max
        return try open(at: "/store", schema: schema, options: options)
    }

    /// How the store names its objects.
    public var identity: StoreIdentity { engine.identity }

    /// The model that the store was opened with, its entities in the order in which the store has them.
    public var schema: Schema { engine.schema }

    /// Whether nothing can be written.
    public var isReadOnly: Bool { engine.isReadOnly }

    /// The folder, as it was named when the store was opened; nil in memory.
    public var path: String? {
        engine.files.fileSystem is MemoryFileSystem ? nil : "\(engine.files.folder)"
    }

    /// Whether both are one open store: changes of one are changes of the other.
    package func isOneStore(with other: LogStore) -> Bool { engine === other.engine }

    /// When commits of the store return.
    package var durability: LogStoreOptions.Durability { engine.durability }

    /// What opening the store found.
    public var recovery: RecoveryReport { engine.recovery }

    package func checkOpen() throws(StoreError) {
        guard isOpen.withLock({ $0 }), !engine.isClosed.load(ordering: .acquiring) else {
            throw StoreError(.unusable, "the store is closed")
        }
    }

    /// A fixed state: the newest one that is published.
    public func snapshot() throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return LogSnapshot(engine: engine)
    }

    /// The same under a name, by which `statistics` says who keeps old states.
    public func snapshot(named name: String) throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return LogSnapshot(engine: engine, name: name)
    }

    /// Writes changes, all or nothing.
    public func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        try checkOpen()
        return try engine.save(request)
    }

    /// Inserts and updates many rows as one unit.
    public func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        try checkOpen()
        try identity.checkIsAsked(by: request.affectedStores, entity: request.entityName)
        return try engine.insert(request)
    }

    /// Updates many objects as one unit.
    public func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        try checkOpen()
        try identity.checkIsAsked(by: request.affectedStores, entity: request.entityName)
        return try engine.update(request)
    }

    /// Deletes many objects as one unit, with the delete rules of the model.
    public func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        try checkOpen()
        try request.checkAsks(identity)
        return try engine.delete(request)
    }

    /// Permanent ids for new objects of these entities, in the same order.
    public func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
        try checkOpen()
        return try engine.obtainPermanentIDs(entities)
    }

    /// Hands out all numbers of an entity's hierarchy up to one, so that objects can be saved under them and others
    /// never get them: for objects that come from elsewhere with the numbers that they have there.
    ///
    /// - Complexity: O(1).
    package func reserveNumbers(upTo number: UInt32, entity: Int) throws(StoreError) {
        try checkOpen()
        try engine.reserveNumbers(upTo: number, entity: entity)
    }

    /// Has a closure told of every commit from now on.
    public func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void)
        -> ChangeObservation
    {
        engine.changes.observe(receive)
    }

    /// Returns when every commit that has returned is on the disk.
    ///
    /// - Throws: `StoreError` if the disk fails; nothing more is written after that.
    public func synchronize() throws(StoreError) {
        try checkOpen()
        try engine.synchronize()
    }

    /// Ends the use of the store. Snapshots that are still held stay readable.
    ///
    /// - Throws: `StoreError` if commits that did not wait for the disk may not be on it. The store is closed all
    ///   the same.
    public func close() throws(StoreError) {
        // From within a batch insert's closure it cannot be closed, and stays open.
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
    /// New objects as columns.
    package func insert(
        _ rows: inout some NewRowSource, merging: NewRowMerging, author: String?,
        contextName: String?
    ) throws(StoreError) -> NewNumbers? {
        try checkOpen()
        return try engine.insert(
            &rows, merging: merging, author: author, contextName: contextName)
    }
}

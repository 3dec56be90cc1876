// Counts what a store is asked.

import CairnModel
import CairnStore
import Synchronization

/// A store that counts the calls to its snapshots.
final class CountingStore: PersistentStore {
    private let base: any PersistentStore
    fileprivate let counter: Counter

    fileprivate final class Counter: Sendable {
        let reads = Atomic<Int>(0)
        let saves = Atomic<Int>(0)
        let snapshots = Atomic<Int>(0)
        let columnSaves = Atomic<Int>(0)
        let rows = Atomic<Int>(0)
        let lastSave = Mutex<SaveRequest?>(nil)
        /// Called with each question before it is answered.
        let onQuestion: (@Sendable (StoreFetch) -> Void)?
        /// Called before each batch insert.
        let onBatch: (@Sendable () -> Void)?

        init(
            _ onQuestion: (@Sendable (StoreFetch) -> Void)?, _ onBatch: (@Sendable () -> Void)?
        ) {
            self.onQuestion = onQuestion
            self.onBatch = onBatch
        }
    }

    init(
        _ base: any PersistentStore, onQuestion: (@Sendable (StoreFetch) -> Void)? = nil,
        onBatch: (@Sendable () -> Void)? = nil
    ) {
        self.base = base
        counter = Counter(onQuestion, onBatch)
    }

    /// How often rows, members, referrers or a fetch were asked for.
    var reads: Int { counter.reads.load(ordering: .relaxed) }
    /// How many rows, or ids of objects, were given.
    var rows: Int { counter.rows.load(ordering: .relaxed) }
    /// How often a state was asked for.
    var snapshots: Int { counter.snapshots.load(ordering: .relaxed) }
    /// How often something was saved.
    var saves: Int { counter.saves.load(ordering: .relaxed) }

    /// What was last saved, but for new objects alone that were taken as columns.
    var lastSave: SaveRequest? { counter.lastSave.withLock { $0 } }

    /// How often new objects were taken as columns.
    var columnSaves: Int { counter.columnSaves.load(ordering: .relaxed) }

    var identity: StoreIdentity { base.identity }
    var schema: Schema { base.schema }
    var isReadOnly: Bool { base.isReadOnly }
    var hasRedirects: Bool { base.hasRedirects }

    func snapshot() throws(StoreError) -> any StoreSnapshot {
        counter.snapshots.add(1, ordering: .relaxed)
        return CountingSnapshot(base: try base.snapshot(), counter: counter)
    }
    func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        counter.saves.add(1, ordering: .relaxed)
        counter.lastSave.withLock { $0 = request }
        return try base.save(request)
    }
    func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        counter.onBatch?()
        return try base.execute(request)
    }
    func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        try base.execute(request)
    }
    func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        try base.execute(request)
    }
    func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
        try base.obtainPermanentIDs(forEntities: entities)
    }
    func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation {
        base.observeChanges(receive)
    }
    func close() throws(StoreError) { try base.close() }
}

extension CountingStore: ColumnStore {
    func insert(
        _ rows: inout some NewRowSource, merging: NewRowMerging, author: String?,
        contextName: String?
    ) throws(StoreError) -> NewNumbers? {
        guard let base = base as? any ColumnStore else { return nil }
        let numbers = try base.insert(
            &rows, merging: merging, author: author, contextName: contextName)
        if numbers != nil { counter.columnSaves.add(1, ordering: .relaxed) }
        return numbers
    }
}

private final class CountingSnapshot: StoreSnapshot {
    let base: any StoreSnapshot
    let counter: CountingStore.Counter

    init(base: any StoreSnapshot, counter: CountingStore.Counter) {
        self.base = base
        self.counter = counter
    }

    private func count() { counter.reads.add(1, ordering: .relaxed) }
    private func count(rows: Int) { counter.rows.add(rows, ordering: .relaxed) }

    var commit: UInt64 { base.commit }
    var schema: Schema { base.schema }
    var identity: StoreIdentity { base.identity }

    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        count()
        counter.onQuestion?(request)
        let result = try base.fetch(request)
        count(rows: result.ids.count)
        return result
    }
    func table(_ request: StoreTableFetch) throws(StoreError) -> StoreTable {
        count()
        counter.onQuestion?(request.fetch)
        return try base.table(request)
    }
    func readBatches(_ request: StoreRead, _ body: (borrowing RowBatch) -> Bool)
        throws(StoreError)
    {
        count()
        try base.readBatches(request, body)
    }
    func lookUpBatches(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        count()
        try base.lookUpBatches(request, keys: keys, body)
    }
    func count(_ request: StoreFetch) throws(StoreError) -> Int {
        count()
        return try base.count(request)
    }
    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        count()
        count(rows: ids.count)
        return try base.rows(ids)
    }
    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        count()
        return try base.members(ofRelationship: relationship, entity: entity, owners: owners)
    }
    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    {
        count()
        return try base.referrers(toTarget: target, relationship: relationship, entity: entity)
    }
    func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        try base.redirectedObjectID(for: id)
    }
}

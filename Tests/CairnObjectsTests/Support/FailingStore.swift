// A store whose disk goes away for a while.

import CairnModel
import CairnStore
import Synchronization

/// A store that cannot be read while somebody says so.
final class FailingStore: PersistentStore {
    private let base: any PersistentStore
    private let flag = Atomic<Bool>(false)
    /// How many more snapshots there are before reading fails; negative = no end.
    private let rest = Atomic<Int>(-1)

    init(_ base: any PersistentStore) { self.base = base }

    /// Whether reading fails.
    var isFailing: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }

    /// After how many snapshots reading fails; nil = never.
    var failsAfter: Int? {
        get {
            let rest = rest.load(ordering: .relaxed)
            return rest < 0 ? nil : rest
        }
        set { rest.store(newValue ?? -1, ordering: .relaxed) }
    }

    var identity: StoreIdentity { base.identity }
    var schema: Schema { base.schema }
    var isReadOnly: Bool { base.isReadOnly }

    func snapshot() throws(StoreError) -> any StoreSnapshot {
        let isOver = rest.load(ordering: .relaxed) == 0
        if rest.load(ordering: .relaxed) > 0 { rest.wrappingSubtract(1, ordering: .relaxed) }
        if isFailing || isOver { throw StoreError(.damaged, "the disk is gone") }
        return try base.snapshot()
    }
    func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome { try base.save(request) }
    func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        try base.execute(request)
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

// A store that keeps what is to be saved instead of saving it: for requests whose changes somebody else saves.
//
// Threads: any.

import CairnModel
import CairnStore
import Synchronization

/// A store to read from, with the saves that were asked for.
final class RecordingStore: PersistentStore {
    private let store: any PersistentStore
    private let recorded = Mutex<[SaveRequest]>([])

    init(over store: any PersistentStore) { self.store = store }

    /// The saves, in their order.
    var requests: [SaveRequest] { recorded.withLock { $0 } }

    var identity: StoreIdentity { store.identity }
    var schema: Schema { store.schema }
    var isReadOnly: Bool { false }
    var hasRedirects: Bool { store.hasRedirects }

    func snapshot() throws(StoreError) -> any StoreSnapshot { try store.snapshot() }
    func newestState() throws(StoreError) -> any StoreSnapshot { try store.newestState() }

    func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        if !request.isEmpty { recorded.withLock { $0.append(request) } }
        return .saved(SaveResult())
    }

    private var refusal: StoreError {
        StoreError(
            .invalidRequest, "a batch request cannot be executed while changes are only recorded"
        )
    }

    func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        throw refusal
    }

    func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        throw refusal
    }

    func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        throw refusal
    }

    func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
        throw refusal
    }

    func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation {
        store.observeChanges(receive)
    }

    /// Whoever opened the store closes it.
    func close() {}
}

// A store that keeps everything in a dictionary: so simple that it is obviously right.
//
// It is the second backend of the tests, and what the real engine is compared with. Every save copies what
// there is, works on the copy and, if nothing stands against it, puts the copy in place.
//
// Threads: any; the state lies behind a lock, and saves run one after the other inside it.

package import CairnModel
package import CairnStore
package import FoundationEssentials
import Synchronization

/// A store in a dictionary.
package final class DictionaryStore: MetadataStore, HistoryStore {
    package let identity: StoreIdentity
    package let schema: Schema
    package let isReadOnly = false
    private let shared: Mutex<Shared>
    package let historyTracking: PersistentHistoryTracking
    private let changes = ChangeBoard()

    /// What the lock guards.
    private struct Shared {
        var state: DictionaryState
        /// The last number given out, by hierarchy.
        var numbers: [UInt32: UInt64] = [:]
        var isClosed = false
        /// What programs keep with the store, and what it is to be called by.
        var metadata: (values: [String: Value], identifier: UUID?) = ([:], nil)
        var history = DictionaryHistory()

        mutating func issue(_ identity: StoreIdentity, entity: Int) -> ObjectID {
            numbers[identity.hierarchies[entity], default: 0] += 1
            return identity.id(numbers[identity.hierarchies[entity], default: 0], entity: entity)
        }

        func check() throws(StoreError) {
            if isClosed { throw StoreError(.unusable, "the store was closed") }
        }
    }

    package init(_ schema: Schema, tracksHistory: Bool = false) {
        self.schema = schema
        historyTracking = tracksHistory ? .on : .off
        // Not the entity's index: nobody should rely on that.
        let identity = StoreIdentity(
            identifier: UUID(), hierarchies: schema.entities.map { UInt32(100 + $0.root) })
        self.identity = identity
        shared = Mutex(Shared(state: DictionaryState(schema, identity)))
    }

    package func snapshot() throws(StoreError) -> any StoreSnapshot {
        let state = try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return shared.state
        }
        return DictionarySnapshot(state: state, schema: schema)
    }

    package var hasRedirects: Bool { shared.withLock { !$0.state.redirects.isEmpty } }

    package func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
        try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return entities.map { shared.issue(identity, entity: $0) }
        }
    }

    package func close() throws(StoreError) {
        shared.withLock { $0.isClosed = true }
    }

    package func metadata() throws(StoreError) -> StoreMetadata {
        let metadata = try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return shared.metadata
        }
        return StoreMetadata(
            type: "Dictionary", identifier: metadata.identifier ?? identity.identifier,
            model: schema.model, values: metadata.values)
    }

    /// Nothing is written anywhere, so there is nothing to wait for.
    package func setMetadata(_ values: [String: Value], identifier: UUID?) throws(StoreError) {
        try shared.withLock { shared throws(StoreError) in
            try shared.check()
            if let key = values.first(where: {
                if case .objectID = $0.value { true } else { false }
            })?.key {
                throw StoreError(
                    .invalidRequest, "an object id cannot be a value of a store's metadata",
                    context: .init(key: key))
            }
            shared.metadata = (
                values.filter { !$0.value.isNull }, identifier ?? shared.metadata.identifier
            )
        }
    }

    /// They count at once.
    package var hasMetadataToWrite: Bool { false }

    package func writeMetadata() throws(StoreError) {
        try shared.withLock { shared throws(StoreError) in try shared.check() }
    }

    package func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void)
        -> ChangeObservation
    {
        changes.observe(receive)
    }

    /// Runs what changes the state, and tells of it if it did.
    private func changing<R>(
        _ author: String?, _ contextName: String?,
        _ body: (inout Shared) throws(StoreError) -> sending R
    ) throws(StoreError) -> sending R {
        defer { changes.deliver() }
        return try shared.withLock { shared throws(StoreError) -> sending R in
            try shared.check()
            let before = shared.state
            let result = try body(&shared)
            if shared.state.commit != before.commit {
                if historyTracking != .off {
                    try shared.history.record(
                        before, shared.state, schema, author: author, contextName: contextName)
                }
                changes.post(
                    ChangeSet(
                        identity: identity, commits: before.commit + 1...shared.state.commit,
                        author: author, contextName: contextName,
                        source: DictionaryDifference(before, shared.state, schema)))
            }
            return result
        }
    }

    package func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        try changing(request.author, request.contextName) { shared throws(StoreError) in
            var permanent: [ObjectID: ObjectID] = [:]
            for object in request.inserted where object.id.isTemporary {
                permanent[object.id] = shared.issue(identity, entity: object.entity)
            }
            var draft = DictionaryDraft(
                schema: schema, identity: identity, before: shared.state, request: request,
                permanentIDs: permanent)
            switch try draft.run() {
            case .conflicts(let conflicts): return .conflicts(conflicts)
            case .saved(let result):
                shared.state = draft.state
                return .saved(result)
            }
        }
    }

    package func historyBounds() throws(StoreError) -> PersistentHistoryBounds? {
        try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return historyTracking == .off
                ? nil
                : PersistentHistoryBounds(
                    horizon: shared.history.horizon, last: shared.state.commit)
        }
    }

    package func historyCursor(after number: UInt64) throws(StoreError)
        -> any PersistentHistoryCursor
    {
        let transactions = try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return shared.history.transactions
        }
        return DictionaryHistory.Cursor(transactions.filter { $0.transactionNumber > number })
    }

    package func historyMoment(through number: UInt64) throws(StoreError) -> (
        transaction: UInt64, time: Date
    )? {
        let newest = try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return shared.history.transactions.last { $0.transactionNumber <= number }
        }
        return newest.map { ($0.transactionNumber, $0.timestamp) }
    }

    package func historyTransaction(before date: Date) throws(StoreError) -> UInt64? {
        try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return shared.history.transactions.last { $0.timestamp < date }?.transactionNumber
        }
    }

    package func deleteHistory(through number: UInt64) throws(StoreError) -> Int {
        try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return shared.history.delete(through: min(number, shared.state.commit))
        }
    }

    package func historyConsumerNumbers() throws(StoreError) -> [String: UInt64] {
        try shared.withLock { shared throws(StoreError) in
            try shared.check()
            return shared.history.consumers
        }
    }

    package func setHistoryConsumer(_ name: String, seen number: UInt64?, mustExist: Bool)
        throws(StoreError)
    {
        try shared.withLock { shared throws(StoreError) in
            try shared.check()
            if historyTracking == .off { throw StoreError(.invalidRequest, "no history is kept") }
            let known = shared.history.consumers[name]
            if mustExist, known == nil { throw StoreError.noSuchConsumer }
            if let number, number > shared.state.commit { throw StoreError.unseenCommit }
            shared.history.consumers[name] = number.map { max($0, known ?? 0) }
        }
    }

    package func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        try identity.checkIsAsked(by: request.affectedStores, entity: request.entityName)
        var reader = DictionaryRowReader(schema: schema)
        let rows = try reader.rows(of: request)
        let links = reader.links
        return try changing(request.author, request.contextName) { shared throws(StoreError) in
            var copy = shared
            var batch = DictionaryBatch(
                schema: schema, request: request, state: copy.state, links: links)
            let result = try batch.run(rows) { copy.issue(identity, entity: $0) }
            copy.state = batch.state
            shared = copy
            return result
        }
    }

    package func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        try identity.checkIsAsked(by: request.affectedStores, entity: request.entityName)
        return try changing(request.author, request.contextName) { shared throws(StoreError) in
            var update = DictionaryUpdate(schema: schema, state: shared.state)
            let result = try update.run(request)
            shared.state = update.state
            return result
        }
    }

    package func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        try request.checkAsks(identity)
        return try changing(request.author, request.contextName) { shared throws(StoreError) in
            var deletion = DictionaryDeletion(schema: schema, state: shared.state)
            let result = try deletion.run(request)
            shared.state = deletion.state
            return result
        }
    }
}

/// A copy of the state.
final class DictionarySnapshot: StoreSnapshot {
    private let state: DictionaryState
    let schema: Schema

    init(state: DictionaryState, schema: Schema) {
        self.state = state
        self.schema = schema
    }

    var commit: UInt64 { state.commit }
    var identity: StoreIdentity { state.identity }

    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        try state.fetch(request, in: schema)
    }

    func count(_ request: StoreFetch) throws(StoreError) -> Int {
        try state.fetch(request, in: schema).ids.count
    }

    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] { ids.map(state.row) }

    func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        state.redirected(id)
    }

    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        owners.map {
            state.members(ofRelationship: relationship, entity: entity, owner: $0, in: schema)
        }
    }

    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    {
        state.referrers(toTarget: target, relationship: relationship, entity: entity, in: schema)
    }
}

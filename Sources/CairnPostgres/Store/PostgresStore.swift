// A store in a database.
//
// Threads: any.

import CairnLog
public import CairnModel
public import CairnStore
import Foundation
import Synchronization

/// A store in a PostgreSQL database, or in a compatible one.
public final class PostgresStore: PersistentStore {
    let core: StoreCore
    private let blocks = NumberBlocks()
    let changes: CommitNews
    private let isClosed = Atomic(false)
    let waitingMetadata = Mutex<WaitingMetadata?>(nil)

    /// Whether opening it made it.
    package let wasMade: Bool

    init(_ core: StoreCore, wasMade: Bool = false) {
        self.core = core
        self.wasMade = wasMade
        changes = CommitNews(core)
    }

    deinit { end() }

    /// How the store names its objects.
    public var identity: StoreIdentity { core.identity }
    /// The store's model.
    public var schema: Schema { core.schema }
    /// Whether ids of deleted objects can be redirected to others.
    public var hasRedirects: Bool { core.hasRedirects.load(ordering: .relaxed) }
    /// Whether the store is read-only.
    public var isReadOnly: Bool { core.options.isReadOnly }

    /// What carries requests out.
    func run(_ author: String?, _ contextName: String?) -> SaveRun {
        let origin = SaveRun.Origin(author: author, contextName: contextName)
        return SaveRun(core: core, blocks: blocks, origin: origin) { [self] changes, commit in
            if !changes.redirects.isEmpty { core.hasRedirects.store(true, ordering: .relaxed) }
            self.changes.note(
                ChangeSet(
                    identity: identity, commits: commit...commit, author: author,
                    contextName: contextName, source: CommittedChanges(changes.told)))
        }
    }

    func checkOpen() throws(StoreError) {
        if isClosed.load(ordering: .acquiring) {
            throw StoreError(.unusable, "the store was closed")
        }
    }

    func checkWritable() throws(StoreError) {
        try checkOpen()
        if isReadOnly { throw StoreError(.readOnly, "the store is open for reading only") }
    }

    /// A snapshot of the newest committed state.
    public func snapshot() throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return PostgresSnapshot(core, try ReadTransaction(core, begins: true))
    }

    /// A snapshot of the newest state, for a caller that queries it immediately.
    public func newestState() throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return PostgresSnapshot(core, try ReadTransaction(core, begins: false))
    }

    /// Writes changes atomically.
    public func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        try checkWritable()
        let metadata = waitingMetadata.withLock { $0 }
        let identity = core.identity
        let written = try run(request.author, request.contextName).run(
            with: metadata?.statements(core.layout) ?? []
        ) {
            catalog, _ throws(StoreError) in
            var plan = SaveRun.Plan(needs: PartialKnowledge.Needs(request, catalog, identity)) {
                store throws(StoreError) in try store.save(request)
            }
            plan.seen = SeenRows.rows(of: request, plan.needs, catalog.schema, identity)
            plan.isDone = { if case .saved = $0 { true } else { false } }
            return plan
        }
        guard case .saved(var result) = written.result else { return written.result }
        result.commit = written.commit
        forget(metadata)
        changes.deliver()
        return .saved(result)
    }

    /// Permanent ids for new objects of these entities, in the same order.
    public func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
        try checkWritable()
        var counts: [UInt32: Int] = [:]
        for entity in entities { counts[identity.hierarchies[entity], default: 0] += 1 }
        let connection = try core.borrow()
        defer { core.pool.giveBack(connection) }
        var numbers = try blocks.take(counts, connection, core)
        return entities.map { entity in
            guard let number = numbers[identity.hierarchies[entity]]?.removeFirst() else {
                preconditionFailure("each entity has got a number")
            }
            return identity.id(UInt64(number), entity: entity)
        }
    }

    // MARK: Changes

    /// Calls a closure for every commit from now on.
    public func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void)
        -> ChangeObservation
    {
        changes.observe(receive)
    }

    /// Closes the store. Snapshots that still exist stay readable.
    public func close() throws(StoreError) { end { blocks.handBack(core) } }

    /// - Parameter last: what is said to the server.
    private func end(_ last: () -> Void = {}) {
        if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
        changes.close()
        last()
        core.pool.close()
    }
}

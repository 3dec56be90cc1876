// A store in a database.
//
// Threads: any.

import CairnLog
public import CairnModel
public import CairnStore
import Foundation
import Synchronization

/// A store that lies in a PostgreSQL database, or one that understands the same.
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
    /// The model the store holds.
    public var schema: Schema { core.schema }
    /// Whether the id of some object that is gone may lead to another one.
    public var hasRedirects: Bool { core.hasRedirects.load(ordering: .relaxed) }
    /// Whether nothing can be written.
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
        if isReadOnly { throw StoreError(.readOnly, "the store was opened for reading only") }
    }

    /// A fixed state: the newest one that is committed.
    public func snapshot() throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return PostgresSnapshot(core, try ReadTransaction(core, begins: true))
    }

    /// The newest state, for whoever asks at once.
    public func newestState() throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return PostgresSnapshot(core, try ReadTransaction(core, begins: false))
    }

    /// Writes changes, all or nothing.
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
                preconditionFailure("as many numbers were taken as there are entities")
            }
            return identity.id(UInt64(number), entity: entity)
        }
    }

    // MARK: Changes

    /// Has a closure told of every commit from now on.
    public func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void)
        -> ChangeObservation
    {
        changes.observe(receive)
    }

    /// Ends the use of the store. Snapshots that are still held stay readable.
    public func close() throws(StoreError) { end { blocks.handBack(core) } }

    /// - Parameter last: what is said to the server.
    private func end(_ last: () -> Void = {}) {
        if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
        changes.close()
        last()
        core.pool.close()
    }
}

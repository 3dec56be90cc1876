// What a commit changed: told to whoever observes a store, put together when somebody asks.
//
// A set keeps what it needs to say what has changed. Once it has said so, it keeps the answer alone.
//
// Threads: any. Two that ask at once may both put the answer together, which is the same.

public import CairnModel
import Synchronization

/// What a commit changed in the objects of one entity.
public struct EntityChanges: Sendable, Hashable {
    /// The entity, as an index of the schema: that of the objects itself, no ancestor.
    public let entity: Int
    /// New objects.
    public var inserted = ObjectNumbers()
    /// Objects with another row than before, and those that a relationship kept as pairs leads to or from since, or no more.
    public var updated = ObjectNumbers()
    /// Objects that are no more.
    public var deleted = ObjectNumbers()

    /// No changes.
    public init(entity: Int) { self.entity = entity }

    /// Whether nothing changed.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// What one commit changed, or several of another process that were read at once.
///
/// ```swift
/// let observation = store.observeChanges { changes in
///     guard let ids = try? changes.insertedObjectIDs() else { return }
///     print(changes.author ?? "somebody", "made", ids.count, "objects")
/// }
/// ```
///
/// What has changed is found when it is asked for, and kept. Until then the set keeps the states before and behind the
/// commit readable, which costs memory: ask where you are told, or let go of the set.
public final class ChangeSet: Sendable {
    /// How the store names its objects.
    public let identity: StoreIdentity
    /// The numbers of the commits: one, unless another process made them.
    public let commits: ClosedRange<UInt64>
    /// Who wrote, if that was said; nil for several commits.
    public let author: String?
    /// The name of the context that wrote, if it has one and is one of this process.
    public let contextName: String?
    /// Whether another process wrote.
    public let isFromAnotherProcess: Bool
    private let content: Mutex<Content>

    private enum Content: Sendable {
        case source(any ChangeSource)
        case known(StoreChanges)
    }

    /// A set whose content is found when it is asked for.
    package init(
        identity: StoreIdentity, commits: ClosedRange<UInt64>, author: String?,
        contextName: String?, isFromAnotherProcess: Bool = false, source: any ChangeSource
    ) {
        self.identity = identity
        self.commits = commits
        self.author = author
        self.contextName = contextName
        self.isFromAnotherProcess = isFromAnotherProcess
        content = Mutex(.source(source))
    }

    /// The number of the last commit: snapshots of it and later ones show what has changed.
    public var commit: UInt64 { commits.upperBound }

    /// What changed, by entity; none if a commit changed no object. Objects that were made and deleted between two
    /// states are in none of the lists.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
    /// - Complexity: O(what changed), the first time; for commits of another process that has compacted the store meanwhile,
    ///   O(objects of the store).
    public func entities() throws(StoreError) -> [EntityChanges] { try all().entities }

    /// What differs in the rows; nil if that is not known.
    package func rows() throws(StoreError) -> RowChanges? { try all().rows }

    private func all() throws(StoreError) -> StoreChanges {
        let content = content.withLock { $0 }
        switch content {
        case .known(let changes): return changes
        case .source(let source):
            let changes = try source.changes()
            // What ends with the source must not end under the lock.
            self.content.withLock { $0 = .known(changes) }
            return changes
        }
    }

    /// The ids of new objects, by entity, each rising.
    ///
    /// - Throws: As ``entities()``.
    public func insertedObjectIDs() throws(StoreError) -> [ObjectID] { try ids(\.inserted) }

    /// The ids of changed objects, by entity, each rising; see ``EntityChanges/updated``.
    ///
    /// - Throws: As ``entities()``.
    public func updatedObjectIDs() throws(StoreError) -> [ObjectID] { try ids(\.updated) }

    /// The ids of objects that are no more, by entity, each rising.
    ///
    /// - Throws: As ``entities()``.
    public func deletedObjectIDs() throws(StoreError) -> [ObjectID] { try ids(\.deleted) }

    private func ids(_ list: KeyPath<EntityChanges, ObjectNumbers>) throws(StoreError)
        -> [ObjectID]
    {
        try entities().flatMap { changes in
            changes[keyPath: list].map { identity.id($0, entity: changes.entity) }
        }
    }
}

/// All that a set says.
package struct StoreChanges: Sendable {
    /// What changed, by entity; none of them is empty.
    package let entities: [EntityChanges]
    /// What differs in the rows; nil if that is not known, as of very many.
    package let rows: RowChanges?

    package init(entities: [EntityChanges], rows: RowChanges?) {
        self.entities = entities
        self.rows = rows
    }
}

/// What a set finds its content with.
package protocol ChangeSource: AnyObject, Sendable {
    func changes() throws(StoreError) -> StoreChanges
}

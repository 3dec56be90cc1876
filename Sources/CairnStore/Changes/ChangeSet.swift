// The changes of a commit: passed to the observers of a store, computed on access.
//
// A set keeps what it needs to say what has changed. Once it has said so, it keeps the answer alone.
//
// Threads: any. Two that ask at once may both put the answer together, which is the same.

public import CairnModel
import Synchronization

/// The changes of a commit to the objects of one entity.
public struct EntityChanges: Sendable, Hashable {
    /// The entity, as an index of the schema: the objects' own entity, not an ancestor.
    public let entity: Int
    /// New objects.
    public var inserted = ObjectNumbers()
    /// Objects with a changed row, and those with added or removed pairs in a relationship that is stored as pairs.
    public var updated = ObjectNumbers()
    /// Deleted objects.
    public var deleted = ObjectNumbers()

    /// Creates a set without changes.
    public init(entity: Int) { self.entity = entity }

    /// Whether there are no changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// The changes of one commit, or of several commits by another process that were read together.
///
/// ```swift
/// let observation = store.observeChanges { changes in
///     guard let ids = try? changes.insertedObjectIDs() else { return }
///     print(changes.author ?? "somebody", "made", ids.count, "objects")
/// }
/// ```
///
/// Changes are computed on first access, and cached. Until then, the set keeps the states before and after the commit
/// readable, which costs memory: read it when you are notified, or release it.
public final class ChangeSet: Sendable {
    /// How the store names its objects.
    public let identity: StoreIdentity
    /// The numbers of the commits: one, unless they were made by another process.
    public let commits: ClosedRange<UInt64>
    /// The author, if one was set; nil for several commits.
    public let author: String?
    /// The name of the context that wrote, if it has one and belongs to this process.
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

    /// The number of the last commit. Snapshots of this commit and later ones include the changes.
    public var commit: UInt64 { commits.upperBound }

    /// The changes, by entity; empty if a commit changed no object. Objects that were both inserted and deleted between the
    /// two states are in none of the lists.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
    /// - Complexity: O(changes), the first time; O(objects of the store) for commits of another process if that has
    ///   compacted the store since.
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

    /// The ids of new objects, by entity, each in ascending order.
    ///
    /// - Throws: As ``entities()``.
    public func insertedObjectIDs() throws(StoreError) -> [ObjectID] { try ids(\.inserted) }

    /// The ids of changed objects, by entity, each in ascending order; see ``EntityChanges/updated``.
    ///
    /// - Throws: As ``entities()``.
    public func updatedObjectIDs() throws(StoreError) -> [ObjectID] { try ids(\.updated) }

    /// The ids of deleted objects, by entity, each in ascending order.
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

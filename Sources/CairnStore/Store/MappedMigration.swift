// What a store provides for a migration that processes each object.
//
//   1. It begins one: what is stored can be read, and there is a place of the new model to write to, which is empty.
//   2. The object layer brings over what is to be brought over, in as many saves as it likes.
//   3. It is finished, which puts all that was written in the place of what was there, in one step; or it is cancelled.
//
// Threads: one migration in one thread; cancelling may come from any.

/// A migration in progress: the current store, and its future contents.
///
/// The caller ends it by calling either ``finish(_:)`` or ``cancel()`` once.
public protocol MappedMigration: AnyObject, Sendable {
    /// The current store, with the old model. Nobody writes to it.
    var source: any PersistentStore { get }
    /// An empty store with the new model. Nobody else reads it.
    var destination: any PersistentStore { get }

    /// Atomically replaces the contents of the source by those of the destination: whoever opens the store finds either the
    /// one or the other, even after a crash. Both are closed.
    ///
    /// - Parameter successions: which new objects were created from which old ones. The first new object for an old one
    ///   keeps its id, if its hierarchy continues; all others get ids that no object ever had.
    /// - Throws: `StoreError`: the store has not changed.
    func finish(_ successions: [ObjectSuccession]) throws(StoreError)

    /// Discards the contents of the destination. Both are closed, and the store has not changed.
    func cancel()
}

/// Which objects of a new entity were created from which objects of an old one, by the numbers in their ids, in the order
/// of creation.
public struct ObjectSuccession: Sendable, Hashable {
    /// The old entity, as an index of the source's schema. The objects can also belong to other entities of its hierarchy.
    public let sourceEntity: Int
    /// The new entity, as an index of the destination's schema. The objects can also belong to other entities of its
    /// hierarchy.
    public let destinationEntity: Int
    /// The old objects.
    public let sources: [UInt32]
    /// For each old object the new one. An object can occur several times on either side.
    public let destinations: [UInt32]

    /// Records which objects were created from which.
    public init(
        sourceEntity: Int, destinationEntity: Int, sources: [UInt32], destinations: [UInt32]
    ) {
        self.sourceEntity = sourceEntity
        self.destinationEntity = destinationEntity
        self.sources = sources
        self.destinations = destinations
    }
}

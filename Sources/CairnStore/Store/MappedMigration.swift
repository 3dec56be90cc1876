// What a store gives to a migration that goes over its objects.
//
//   1. It begins one: what is stored can be read, and there is a place of the new model to write to, which is empty.
//   2. The object layer brings over what is to be brought over, in as many saves as it likes.
//   3. It is finished, which puts all that was written in the place of what was there, in one step; or it is cancelled.
//
// Threads: one migration in one thread; cancelling may come from any.

/// A migration that is under way: the store as it is, and its contents to be.
///
/// The caller ends it by ``finish(_:)`` or ``cancel()``, once.
public protocol MappedMigration: AnyObject, Sendable {
    /// The store as it is, of the old model. Nobody writes to it.
    var source: any PersistentStore { get }
    /// An empty store of the new model. Nobody else reads it.
    var destination: any PersistentStore { get }

    /// Puts what the destination has in the place of what the source has, as one step: whoever opens the store finds the one or
    /// the other, whatever happens meanwhile. Both are closed.
    ///
    /// - Parameter successions: which new objects became of which old ones. Those that come first keep the ids of the old ones,
    ///   where a hierarchy goes on; all others have ids that no object ever had.
    /// - Throws: `StoreError`: the store is as it was.
    func finish(_ successions: [ObjectSuccession]) throws(StoreError)

    /// Drops what the destination has. Both are closed, and the store is as it was.
    func cancel()
}

/// Which objects of a new entity became of which of an old one, by the numbers in their ids: in the order in which they did.
public struct ObjectSuccession: Sendable, Hashable {
    /// The old entity, as an index of the source's schema. Objects of other entities of its hierarchy may be among them.
    public let sourceEntity: Int
    /// The new entity, as an index of the destination's schema. Objects of other entities of its hierarchy may be among them.
    public let destinationEntity: Int
    /// The old objects.
    public let sources: [UInt32]
    /// For each old object the new one. An object may be there several times on either side.
    public let destinations: [UInt32]

    /// Says what became of what.
    public init(
        sourceEntity: Int, destinationEntity: Int, sources: [UInt32], destinations: [UInt32]
    ) {
        self.sourceEntity = sourceEntity
        self.destinationEntity = destinationEntity
        self.sources = sources
        self.destinations = destinations
    }
}

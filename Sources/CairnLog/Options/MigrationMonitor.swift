// Tells whoever migrates a store how far it is, and hears whether it is still wanted.

package import CairnStore

/// How far the migration of a store is.
public struct MigrationProgress: Sendable, Hashable {
    /// What is being done.
    public enum Stage: String, Sendable, CaseIterable {
        /// Objects of entities that the new model lacks go.
        case removing
        /// Relationships that were kept otherwise get their new place.
        case relationships
        /// The keys of a constraint are read.
        case keys
        /// Attributes are computed.
        case deriving
        /// Objects are made as a mapping says.
        case mapping
        /// All of it is written, and becomes the store's content at once. It cannot be cancelled any more.
        case finishing
    }

    /// What is being done.
    public var stage: Stage
    /// How many objects have been looked at in this stage.
    public var done: Int
    /// How many there are.
    public var total: Int

    /// Progress of a stage.
    public init(stage: Stage, done: Int, total: Int) {
        self.stage = stage
        self.done = done
        self.total = total
    }
}

/// Counts what a migration has done.
package struct MigrationMonitor {
    private let tell: (@Sendable (MigrationProgress) -> Bool)?
    private var progress = MigrationProgress(stage: .removing, done: 0, total: 0)
    private var told = 0
    private static let step = 16_384

    package init(_ tell: (@Sendable (MigrationProgress) -> Bool)?) { self.tell = tell }

    package mutating func begin(_ stage: MigrationProgress.Stage, total: Int) throws(StoreError) {
        progress = MigrationProgress(stage: stage, done: 0, total: total)
        told = 0
        try report()
    }

    package mutating func advance(_ count: Int) throws(StoreError) {
        progress.done += count
        if progress.done - told >= Self.step { try report() }
    }

    private mutating func report() throws(StoreError) {
        told = progress.done
        guard let tell, !tell(progress), progress.stage != .finishing else { return }
        throw StoreError(
            .migrationCancelled, "the migration was cancelled; the store is unchanged")
    }
}

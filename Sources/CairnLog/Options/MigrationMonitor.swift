// Reports the progress of a store's migration, and allows it to be cancelled.

package import CairnStore

/// The progress of a store's migration.
public struct MigrationProgress: Sendable, Hashable {
    /// The stage of a migration.
    public enum Stage: String, Sendable, CaseIterable {
        /// Deleting objects of entities that the new model lacks.
        case removing
        /// Moving relationships that were stored differently.
        case relationships
        /// Reading the keys of a constraint.
        case keys
        /// Computing derived attributes.
        case deriving
        /// Creating objects with a mapping.
        case mapping
        /// Writing everything, and publishing it atomically. The migration cannot be cancelled any longer.
        case finishing
    }

    /// The current stage.
    public var stage: Stage
    /// The number of objects processed in this stage.
    public var done: Int
    /// The total number of objects in this stage.
    public var total: Int

    /// Creates the progress of a stage.
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

// One stage on the way of a store through the versions of its model, with Core Data's names.
//
// Threads: that of whoever fills it.

public import Foundation

/// A stage of a migration: ``NSLightweightMigrationStage`` or ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject, @unchecked Sendable {
    // It is filled before the migration begins, and only read then.

    /// The stage's name, for people.
    open var label: String!

    override init() {}
}

/// Versions that are migrated from one to the next by what can be inferred.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
    // It does not change.

    /// The checksums of the versions, in order. Their models are those of the other stages, and those of the main bundle.
    public let versionChecksums: [String]

    /// A stage through versions that are known by their checksums.
    public init(_ checksums: [String]) {
        versionChecksums = checksums
        super.init()
        label = "lightweight"
    }
}

/// Two versions, with code that runs before and after the store is migrated from one to the other.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
    // It is filled before the migration begins, and only read then.

    /// The model before.
    public let currentModel: NSManagedObjectModelReference
    /// The model after.
    public let nextModel: NSManagedObjectModelReference
    /// Runs before, while the manager's container has the store with the model before. Save what it changes.
    open var willMigrateHandler:
        ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    /// Runs afterwards, while the manager's container has the store with the model after. Save what it changes. If the process
    /// ends before it has returned, it runs again when the migration goes on.
    open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// A stage from one model to another.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference,
        to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
        label = "custom"
    }
}

// One stage on the way of a store through the versions of its model.
//
// Threads: values; the code of stages runs in the thread that migrates.

public import CairnModel

/// A stage of a migration, of either kind.
public enum MigrationStage: Sendable {
    /// Versions that are migrated from one to the next by what can be inferred.
    case lightweight(LightweightMigrationStage)
    /// Two versions, with code before and after.
    case custom(CustomMigrationStage)

    /// The stage's name, for people.
    public var label: String {
        switch self {
        case .lightweight(let stage): stage.label
        case .custom(let stage): stage.label
        }
    }
}

/// A stage, or one kind of it.
public protocol MigrationStageConvertible: Sendable {
    /// The stage.
    var migrationStage: MigrationStage { get }
}

extension MigrationStage: MigrationStageConvertible {
    /// Itself.
    public var migrationStage: MigrationStage { self }
}

/// Versions that are migrated from one to the next by what can be inferred.
///
/// ```swift
/// LightweightMigrationStage([ModelReference(v1), ModelReference(v2), ModelReference(v3)])
/// ```
public struct LightweightMigrationStage: MigrationStageConvertible {
    /// The version checksums, in order.
    public let versionChecksums: [String]
    /// The stage's name, for people.
    public var label: String
    /// The models, as far as it knows them.
    let models: [ModelReference]

    /// A stage through versions that are identified by their checksums. The manager that runs it must know their models.
    public init(_ versionChecksums: [String], label: String = "lightweight") {
        self.versionChecksums = versionChecksums
        self.label = label
        models = []
    }

    /// A stage through some models.
    public init(_ models: [ModelReference], label: String = "lightweight") {
        versionChecksums = models.map(\.versionChecksum)
        self.label = label
        self.models = models
    }

    /// The stage.
    public var migrationStage: MigrationStage { .lightweight(self) }
}

/// Two versions, with code that runs before and after the store is migrated from one to the other.
///
/// ```swift
/// var stage = CustomMigrationStage(currentModel: ModelReference(v2), nextModel: ModelReference(v3))
/// stage.didMigrateHandler = { context in
///     for user in try context.fetch(FetchRequest(entityName: "User")) {
///         guard let name = user["petName"] as? String else { continue }
///         let pet = context.insert("Pet")
///         pet["name"] = name
///         pet["owner"] = user
///     }
///     try context.save()
/// }
/// ```
///
/// In between, the store is migrated automatically, or by ``mapping``.
public struct CustomMigrationStage: MigrationStageConvertible {
    /// Code of a stage. It has to save the context itself: unsaved changes are lost.
    public typealias Handler = @Sendable (ManagedObjectContext) throws -> Void

    /// The model before.
    public let currentModel: ModelReference
    /// The model after.
    public let nextModel: ModelReference
    /// The mapping model; nil for an inferred migration.
    public var mapping: MappingModel?
    /// The stage's name, for people.
    public var label: String
    /// Runs before, with objects of the current model. If the process ends before the store is of the next model, it runs again.
    public var willMigrateHandler: Handler?
    /// Runs afterwards, with objects of the next model. If the process ends before it has returned, it runs again when
    /// the migration continues, so it must tolerate its own earlier changes.
    public var didMigrateHandler: Handler?

    /// A stage from one model to another.
    public init(
        currentModel: ModelReference, nextModel: ModelReference, mapping: MappingModel? = nil,
        label: String = "custom", willMigrate: Handler? = nil, didMigrate: Handler? = nil
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        self.mapping = mapping
        self.label = label
        willMigrateHandler = willMigrate
        didMigrateHandler = didMigrate
    }

    /// The stage.
    public var migrationStage: MigrationStage { .custom(self) }
}

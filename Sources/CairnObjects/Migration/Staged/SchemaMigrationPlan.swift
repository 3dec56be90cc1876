// Versions of typed classes, and the stages between them, written as SwiftData has them.

public import CairnModel

/// A version of the classes of a store.
///
/// ```swift
/// enum ShopV1: VersionedSchema {
///     static let versionIdentifier = Schema.Version(1, 0, 0)
///     static var models: [any PersistentEntity.Type] { [Product.self] }
///     @Entity final class Product: ManagedObject { var name: String = "" }
/// }
/// ```
public protocol VersionedSchema: SendableMetatype {
    /// The classes. Those that they inherit from, and that their relationships lead to, are found; subclasses have to be named.
    static var models: [any PersistentEntity.Type] { get }
    /// What people call the version.
    static var versionIdentifier: Schema.Version { get }
}

extension VersionedSchema {
    /// The model that the classes describe, with the version's name among its identifiers.
    public static var managedObjectModel: ManagedObjectModel {
        var model = ManagedObjectModel(for: models)
        model.versionIdentifiers = ["\(versionIdentifier)"]
        return model
    }

    /// The model and its classes, for stages.
    public static var modelReference: ModelReference {
        ModelReference(managedObjectModel, classes: ObjectClasses(for: models))
    }
}

/// The versions of the classes of a store, oldest first, and the stages that migrate from each to the next.
///
/// ```swift
/// enum ShopPlan: SchemaMigrationPlan {
///     static var schemas: [any VersionedSchema.Type] { [ShopV1.self, ShopV2.self, ShopV3.self] }
///     static var stages: [MigrationStage] {
///         [
///             .lightweight(fromVersion: ShopV1.self, toVersion: ShopV2.self),
///             .custom(fromVersion: ShopV2.self, toVersion: ShopV3.self, willMigrate: nil) { context in … },
///         ]
///     }
/// }
/// let container = try PersistentContainer(at: "shop.cairn", migrationPlan: ShopPlan.self)
/// ```
public protocol SchemaMigrationPlan: SendableMetatype {
    /// The versions, oldest first: the last one is the one that is opened.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The stages, in their order. Between two versions without one, the store is migrated by what can be inferred.
    static var stages: [MigrationStage] { get }
}

extension MigrationStage {
    /// Migrates one version to another automatically.
    public static func lightweight(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type
    ) -> MigrationStage {
        .lightweight(
            LightweightMigrationStage(
                [fromVersion.modelReference, toVersion.modelReference],
                label: "\(fromVersion.versionIdentifier) to \(toVersion.versionIdentifier)"))
    }

    /// Migrates one version to another with code before and after: the first sees objects of the classes of the version before, the
    /// second those of the version after.
    public static func custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: CustomMigrationStage.Handler?, didMigrate: CustomMigrationStage.Handler?
    ) -> MigrationStage {
        .custom(
            CustomMigrationStage(
                currentModel: fromVersion.modelReference, nextModel: toVersion.modelReference,
                label: "\(fromVersion.versionIdentifier) to \(toVersion.versionIdentifier)",
                willMigrate: willMigrate, didMigrate: didMigrate))
    }
}

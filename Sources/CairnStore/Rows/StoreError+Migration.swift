// Errors of migrations with a mapping model, with Core Data's codes.

extension StoreError.Code {
    /// There is no mapping model between two models, or it does not fit them.
    public static let missingMappingModel = Self(rawValue: 134_140)
    /// The policy of an entity mapping threw an error; see `StoreError.cause`. The store has not changed.
    public static let migrationPolicy = Self(rawValue: 134_170)
    /// A model that a migration stage refers to cannot be found, or is another version.
    public static let modelReferenceNotFound = Self(rawValue: 134_504)
    /// The version of the store is not the source of any stage of the migration.
    public static let stagedMigrationUnknownVersion = Self(rawValue: 134_505)
    /// The version of the store is later than that of the model to which it is to be migrated.
    public static let stagedMigrationBackwards = Self(rawValue: 134_506)
}

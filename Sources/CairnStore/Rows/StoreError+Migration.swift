// What can go wrong when a mapping migrates a store to another model, with Core Data's numbers.

extension StoreError.Code {
    /// There is no mapping model between two models, or it does not fit them.
    public static let missingMappingModel = Self(rawValue: 134_140)
    /// The policy of an entity mapping threw an error; see `StoreError.cause`. The store is as it was.
    public static let migrationPolicy = Self(rawValue: 134_170)
    /// A model that a stage of a migration names is not where it says, or is of another version.
    public static let modelReferenceNotFound = Self(rawValue: 134_504)
    /// The store is of a version that none of a migration's stages begins with.
    public static let stagedMigrationUnknownVersion = Self(rawValue: 134_505)
    /// The store is of a later version than the model that it is to be migrated to.
    public static let stagedMigrationBackwards = Self(rawValue: 134_506)
}

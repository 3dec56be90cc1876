// What can go wrong when a mapping leads a store to another model, with Core Data's numbers.

extension StoreError.Code {
    /// There is no mapping model between two models, or it does not fit them.
    public static let missingMappingModel = Self(rawValue: 134_140)
    /// The policy of an entity mapping threw an error; see `StoreError.cause`. The store is as it was.
    public static let migrationPolicy = Self(rawValue: 134_170)
}

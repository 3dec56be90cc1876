// What tells the version of a store's model apart.

public import CairnModel
public import FoundationEssentials

extension StoreMetadata {
    /// What tells versions of the entities in the store apart, by name; see
    /// ``CairnModel/ManagedObjectModel/entityVersionHashesByName``. It is that of the model that the store holds, so nobody
    /// can set it.
    ///
    /// - Complexity: O(size of the model).
    public var modelVersionHashes: [String: Data] { model.entityVersionHashesByName }
}

extension ManagedObjectModel {
    /// Whether a store can be opened with this model as it is: whether its entities store the same as those of the model.
    ///
    /// ```swift
    /// let metadata = try PersistentContainer.metadata(forPersistentStoreAt: "shop.cairn")
    /// if !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { … }
    /// ```
    ///
    /// - Parameter name: the configuration whose entities are looked for in the store; nil: the store must have those of the
    ///   model, and no other.
    /// - Returns: false also if the model has no such configuration.
    /// - Complexity: O(size of both models).
    public func isConfiguration(
        withName name: String?, compatibleWithStoreMetadata metadata: StoreMetadata
    ) -> Bool {
        let (own, stored) = (entityVersionHashesByName, metadata.modelVersionHashes)
        guard let name else { return own == stored }
        return configurations[name]?.allSatisfy { own[$0] != nil && own[$0] == stored[$0] } ?? false
    }
}

// The version hashes of a store's model, and whether another model has the same version.

public import CairnModel
public import FoundationEssentials

extension StoreMetadata {
    /// The version hashes of the entities in the store, by name; see ``ManagedObjectModel/entityVersionHashesByName``. They
    /// belong to the store's model and cannot be set.
    ///
    /// - Complexity: O(size of the model).
    public var modelVersionHashes: [String: Data] { model.entityVersionHashesByName }
}

extension ManagedObjectModel {
    /// Whether a store can be opened with this model without a migration: whether the entities of the model and the store
    /// have the same version hashes.
    ///
    /// ```swift
    /// let metadata = try PersistentContainer.metadata(forPersistentStoreAt: "shop.cairn")
    /// if !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { … }
    /// ```
    ///
    /// - Parameter name: a configuration whose entities must be in the store; nil: the store must have exactly the entities
    ///   of the model.
    /// - Returns: false also if the model has no such configuration.
    /// - Complexity: O(size of both models).
    public func isConfiguration(
        withName name: String?, compatibleWithStoreMetadata metadata: StoreMetadata
    ) -> Bool {
        let (own, stored) = (entityVersionHashesByName, metadata.modelVersionHashes)
        guard let name else { return own == stored }
        return configurations[name]?.allSatisfy { own[$0] != nil && own[$0] == stored[$0] } ?? false
    }

    /// Checks that a store can be opened with this model without a migration.
    ///
    /// ```swift
    /// do { try model.checkConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) } catch {
    ///     print(error)    // the store has another version of the model: Product.price: attribute added: decimal (134100)
    ///     (error.cause as? ModelMismatch)?.plan?.changes.forEach { print($0) }
    /// }
    /// ```
    ///
    /// - Parameter name: as for ``isConfiguration(withName:compatibleWithStoreMetadata:)``.
    /// - Throws: `StoreError`: `.incompatibleModel` with a ``ModelMismatch`` as its cause; `.invalidRequest` if the model has no
    ///   such configuration.
    public func checkConfiguration(
        withName name: String?, compatibleWithStoreMetadata metadata: StoreMetadata
    ) throws(StoreError) {
        if isConfiguration(withName: name, compatibleWithStoreMetadata: metadata) { return }
        var entities: [String]?
        if let name {
            guard let members = configurations[name] else {
                let names = configurations.keys.sorted()
                let known = names.isEmpty ? "none" : names.joined(separator: ", ")
                throw StoreError(
                    .invalidRequest, "the model has no configuration \(name). It has: \(known)")
            }
            entities = members
        }
        let mismatch = ModelMismatch(store: metadata.model, model: self, entities: entities)
        throw StoreError(
            .incompatibleModel, "the store has another version of the model: \(mismatch)",
            cause: mismatch)
    }

    /// Composes the model of a store, taking each entity from the first model that has it in that version. Nil if they do
    /// not have all of the entities.
    ///
    /// A store contains its model, in ``StoreMetadata/model``; this returns one that also has classes and fetch requests.
    public init?(
        merging models: [ManagedObjectModel], forStoreMetadata metadata: StoreMetadata
    ) {
        self.init(merging: models, forEntityVersionHashes: metadata.modelVersionHashes)
    }
}

extension ModelVersions {
    /// Reads the version of the model with which a store was created.
    ///
    /// ```swift
    /// let versions = try ModelVersions(contentsOfFile: "Shop.xcdatamodeld")
    /// let old = try versions.readVersion(forStoreMetadata: metadata).model
    /// let plan = try ModelMigrationPlan(from: old, to: try versions.readCurrent().model)
    /// ```
    ///
    /// - Throws: `StoreError`: `.missingSourceModel` if no version matches, with a `ModelError` as its cause if one of them
    ///   cannot be read.
    public func readVersion(forStoreMetadata metadata: StoreMetadata) throws(StoreError)
        -> ModelFile
    {
        let message = "no version of the model matches the store"
        let found: ModelFile?
        do throws(ModelError) {
            found = try readVersion(withEntityVersionHashes: metadata.modelVersionHashes)
        } catch {
            throw StoreError(
                .missingSourceModel, message + ", and one cannot be read",
                context: .init(path: path), cause: error)
        }
        guard let found else {
            throw StoreError(
                .missingSourceModel,
                "\(message); the versions are: \(names.joined(separator: ", "))",
                context: .init(path: path))
        }
        return found
    }
}

// Opens the engine's stores for the object layer.

public import CairnLog
public import CairnModel
public import CairnObjects
import CairnStore

extension PersistentContainer {
    /// Creates a container for the store in a folder. The store is created if it does not exist.
    ///
    /// ```swift
    /// let container = try PersistentContainer(
    ///     at: "shop.cairn", model: ManagedObjectModel(contentsOfFile: "Shop.xcdatamodeld"))
    /// ```
    ///
    /// A store with another version of the model is migrated to this one, if that can be inferred:
    /// ``LogStoreOptions/shouldMigrateStoreAutomatically``.
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be opened.
    public convenience init(
        at path: String, model: ManagedObjectModel, classes: ObjectClasses = ObjectClasses(),
        options: LogStoreOptions = LogStoreOptions(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        let store = try LogStore.open(
            at: path, schema: try Schema(model), options: options.forContainers)
        self.init(store: store, classes: classes, mergePolicy: mergePolicy())
    }

    /// A container over a store in memory.
    ///
    /// - Throws: `ModelError` if the model is invalid.
    public convenience init(
        inMemory model: ManagedObjectModel, classes: ObjectClasses = ObjectClasses(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        self.init(
            store: try LogStore.inMemory(schema: try Schema(model)), classes: classes,
            mergePolicy: mergePolicy())
    }
}

extension PersistentContainer {
    /// Opens the store of typed classes in a folder, creating it if it does not exist.
    ///
    /// Superclasses and the destinations of relationships are found automatically; subclasses have to be listed.
    ///
    /// ```swift
    /// let container = try PersistentContainer(at: "shop.cairn", for: Product.self, Tag.self)
    /// ```
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be opened.
    public convenience init(
        at path: String, for types: any PersistentEntity.Type...,
        options: LogStoreOptions = LogStoreOptions(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        try self.init(
            at: path, model: ManagedObjectModel(for: types), classes: ObjectClasses(for: types),
            options: options, mergePolicy: mergePolicy())
    }

    /// A container over a store of typed classes in memory.
    ///
    /// - Throws: `ModelError` if the model is invalid.
    public convenience init(
        inMemoryFor types: any PersistentEntity.Type...,
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        try self.init(
            inMemory: ManagedObjectModel(for: types), classes: ObjectClasses(for: types),
            mergePolicy: mergePolicy())
    }
}

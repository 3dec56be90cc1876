// Containers over stores of any kind.

public import CairnModel
public import CairnObjects
public import CairnStore

extension PersistentContainer {
    /// Creates a container for the store at a location. The store is created if it does not exist.
    ///
    /// ```swift
    /// import CairnPostgres
    ///
    /// let container = try PersistentContainer(at: .postgres("postgresql://db1,db2/shop"), model: model)
    /// ```
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be opened.
    public convenience init(
        at location: some StoreLocation, model: ManagedObjectModel,
        classes: ObjectClasses = ObjectClasses(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        self.init(
            store: try location.openStore(try Schema(model)), classes: classes,
            mergePolicy: mergePolicy())
    }

    /// Creates a container of typed classes for the store at a location. The store is created if it does not exist.
    ///
    /// ```swift
    /// let container = try PersistentContainer(
    ///     at: .postgres("postgresql://db1,db2/shop"), for: Product.self, Tag.self)
    /// ```
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be opened.
    public convenience init(
        at location: some StoreLocation, for types: any PersistentEntity.Type...,
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        try self.init(
            at: location, model: ManagedObjectModel(for: types), classes: ObjectClasses(for: types),
            mergePolicy: mergePolicy())
    }
}

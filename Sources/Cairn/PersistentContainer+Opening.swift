// Opens the engine's stores for the object layer.

public import CairnLog
public import CairnModel
public import CairnObjects
import CairnStore

extension PersistentContainer {
    /// A container over the store in a folder, which is made if it is missing.
    ///
    /// ```swift
    /// let container = try PersistentContainer(
    ///     at: "shop.cairn", model: ManagedObjectModel(contentsOfFile: "Shop.xcdatamodeld"))
    /// ```
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be opened.
    public convenience init(
        at path: String, model: ManagedObjectModel, classes: ObjectClasses = ObjectClasses(),
        options: LogStoreOptions = LogStoreOptions()
    ) throws {
        let store = try LogStore.open(at: path, schema: try Schema(model), options: options)
        self.init(store: store, classes: classes)
    }

    /// A container over a store in memory.
    ///
    /// - Throws: `ModelError` if the model is invalid.
    public convenience init(
        inMemory model: ManagedObjectModel, classes: ObjectClasses = ObjectClasses()
    ) throws {
        self.init(store: try LogStore.inMemory(schema: try Schema(model)), classes: classes)
    }
}

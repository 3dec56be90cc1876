// Opens several stores for one container.

public import CairnLog
import CairnMigration
public import CairnModel
public import CairnObjects
public import CairnStore

/// A store to open for a coordinator.
public struct PersistentStoreDescription: Sendable {
    /// The folder; nil: in memory.
    public var path: String?
    /// The configuration of the model whose entities the store is for; nil: all entities.
    public var configuration: String?
    /// The options for opening it. Most of them do not apply in memory.
    public var options: LogStoreOptions

    /// Whether nothing can be written.
    public var isReadOnly: Bool {
        get { options.isReadOnly }
        set { options.isReadOnly = newValue }
    }

    /// Whether the store keeps a history of its commits; nil: as before. See `LogStoreOptions.persistentHistoryTracking`.
    public var persistentHistoryTracking: Bool? {
        get { options.persistentHistoryTracking }
        set { options.persistentHistoryTracking = newValue }
    }

    /// Whether a store of another version of the model is migrated to the coordinator's. True by default. See
    /// `LogStoreOptions.shouldMigrateStoreAutomatically`.
    public var shouldMigrateStoreAutomatically: Bool {
        get { options.shouldMigrateStoreAutomatically ?? true }
        set { options.shouldMigrateStoreAutomatically = newValue }
    }

    /// Whether a store with another version of the model is opened without migration if both are stored alike. See
    /// `LogStoreOptions.ignoresModelVersion`.
    public var ignoresModelVersion: Bool {
        get { options.ignoresModelVersion }
        set { options.ignoresModelVersion = newValue }
    }

    /// The store in a folder, which is created if it does not exist.
    public init(
        at path: String, configuration: String? = nil, options: LogStoreOptions = LogStoreOptions()
    ) {
        self.path = path
        self.configuration = configuration
        self.options = options
    }

    /// A store in memory, whose contents are lost when it is closed.
    public init(inMemoryFor configuration: String? = nil) {
        path = nil
        self.configuration = configuration
        options = LogStoreOptions()
    }
}

extension PersistentStoreCoordinator {
    /// Opens a store and adds it. The coordinator closes it when it is removed.
    ///
    /// ```swift
    /// let archive = try coordinator.addPersistentStore(.init(at: "archive.cairn", configuration: "Archive"))
    /// ```
    ///
    /// - Throws: `StoreError` if the store cannot be opened, and as ``add(_:configuration:)``.
    @discardableResult
    public func addPersistentStore(_ description: PersistentStoreDescription) throws(StoreError)
        -> LogStore
    {
        let store: LogStore
        if let path = description.path {
            store = try openStore(at: path, description.options.forContainers)
        } else {
            store = try LogStore.inMemory(schema: schema, options: description.options)
        }
        do throws(StoreError) {
            try add(store, configuration: description.configuration)
        } catch {
            // Nothing was written to it.
            try? store.close()
            throw error
        }
        return store
    }

    /// A store of the coordinator's model. One that has the entities in another order than the coordinator is migrated to its order,
    /// if it may be migrated at all; where versions are ignored it keeps its own.
    package func openStore(at path: String, _ options: LogStoreOptions) throws(StoreError)
        -> LogStore
    {
        let store = try LogStore.open(at: path, schema: schema, options: options)
        let isInOrder = zip(store.schema.entities, schema.entities).allSatisfy {
            $0.layout == $1.layout
        }
        guard !isInOrder, !options.isReadOnly, options.shouldMigrateStoreAutomatically == true
        else { return store }
        var target = schema
        if options.ignoresModelVersion {
            let own: ManagedObjectModel
            do throws(StoreError) {
                own = try store.metadata().model
            } catch {
                try? store.close()
                throw error
            }
            // The entities are the same, or it would not be open.
            target = own.ordered(like: schema.model).flatMap { try? Schema($0) } ?? schema
        }
        try store.close()
        try LogStore.migrate(at: path, to: target, options: options)
        return try LogStore.open(at: path, schema: schema, options: options)
    }
}

extension PersistentContainer {
    /// A container over several stores, in this order: new objects go to the first that can be written and is for their
    /// entity.
    ///
    /// ```swift
    /// let container = try PersistentContainer(
    ///     model: model,
    ///     stores: [
    ///         PersistentStoreDescription(at: "user.cairn", configuration: "User"),
    ///         PersistentStoreDescription(at: "catalogue.cairn", configuration: "Catalogue"),
    ///     ])
    /// ```
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if a store cannot be opened; none is open then.
    public convenience init(
        model: ManagedObjectModel, stores: [PersistentStoreDescription],
        classes: ObjectClasses = ObjectClasses(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        let coordinator = try PersistentStoreCoordinator(model)
        do {
            for store in stores { try coordinator.addPersistentStore(store) }
        } catch {
            // What went wrong first is what counts.
            try? coordinator.close()
            throw error
        }
        self.init(store: coordinator, classes: classes, mergePolicy: mergePolicy())
    }

    /// The coordinator of the container's stores; nil if it has one store alone, without a coordinator.
    public var persistentStoreCoordinator: PersistentStoreCoordinator? {
        store as? PersistentStoreCoordinator
    }
}

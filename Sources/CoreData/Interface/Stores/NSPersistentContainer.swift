// A model, its stores and the contexts on them.
//
// Threads: any; the view context belongs to the main queue.

public import Foundation

/// A model with its stores, and the contexts that work on them.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Notes")
/// container.loadPersistentStores { _, error in
///     if let error { fatalError("\(error)") }
/// }
/// let context = container.viewContext
/// ```
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // What it consists of does not change; descriptions are filled before stores are loaded.

    /// The name of the container, and of its store.
    public let name: String
    /// The stores.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The context of the main queue.
    public let viewContext: NSManagedObjectContext
    /// The stores that ``loadPersistentStores(completionHandler:)`` opens. The default is one in ``defaultDirectoryURL()``.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription]

    /// The model.
    open var managedObjectModel: NSManagedObjectModel {
        persistentStoreCoordinator.managedObjectModel
    }

    /// A container over a model. From now on the model cannot be changed.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        persistentStoreDescriptions = []
        super.init()
        let directory = Self.defaultDirectoryURL()
        persistentStoreDescriptions = [
            NSPersistentStoreDescription(
                url: directory.appendingPathComponent(name).appendingPathExtension("sqlite"))
        ]
    }

    /// A container over the model of that name: an `.xcdatamodeld` or `.xcdatamodel` among the resources of the program.
    ///
    /// A model that is not there, or not valid, ends the program with a sentence.
    ///
    /// - Parameter fileID: leave it out. It says which module's resources come first.
    public convenience init(name: String, _ fileID: StaticString = #fileID) {
        self.init(name: name, managedObjectModel: ModelSearch(fileID).existingModel(named: name))
    }

    /// Where stores are that are given no URL: a folder of the program's name among the user's data.
    open class func defaultDirectoryURL() -> URL {
        let data =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(".local/share")
        return data.appendingPathComponent(ProcessInfo.processInfo.processName)
    }

    /// Opens the stores that are described and not open yet. The closure is called for each, when it is open or has failed.
    ///
    /// When this returns they are open, but for those that are added asynchronously.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions where !isOpen(description) {
            // A coordinator of one's own may have an older version of the model, as while a store is migrated.
            do {
                if !managedObjectModel.isFormerVersion {
                    try withCoreDataErrors {
                        try ManagedPropertyCheck.check(
                            persistentStoreCoordinator.resolution, description.options)
                    }
                }
            } catch {
                block(description, error)
                continue
            }
            if case .folder(let path)? = try? StorePlace(
                type: description.type, url: description.url)
            {
                // Why there is no folder says the error of the store.
                try? FileManager.default.createDirectory(
                    at: URL(fileURLWithPath: path).deletingLastPathComponent(),
                    withIntermediateDirectories: true)
            }
            persistentStoreCoordinator.addPersistentStore(
                with: description, completionHandler: block)
        }
    }

    private func isOpen(_ description: NSPersistentStoreDescription) -> Bool {
        persistentStoreCoordinator.persistentStores.contains {
            $0.url == description.url && $0.type == description.type
                && $0.configurationName
                    == description.configuration ?? NSPersistentStore.defaultConfiguration
        }
    }

    /// A new context with a queue of its own, which merges what others save.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        context.automaticallyMergesChangesFromParent = true
        return context
    }

    /// Runs a closure on the queue of a new context, later.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a closure on the queue of a new context, and gives its result.
    ///
    /// - Throws: What the closure throws.
    public nonisolated(nonsending) func performBackgroundTask<T, E: Error>(
        _ block: @escaping (NSManagedObjectContext) throws(E) -> T
    ) async throws(E) -> T {
        let context = newBackgroundContext()
        return try await context.perform { () throws(E) in try block(context) }
    }
}

/// Not here: there is no CloudKit on Linux.
@available(*, unavailable, message: "there is no CloudKit on Linux: use NSPersistentContainer")
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {
    // It cannot be used.
}

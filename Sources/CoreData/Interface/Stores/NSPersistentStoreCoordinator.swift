// The stores of a model, with Core Data's names.
//
//   +Adding        stores come and go
//   +Moving        stores as a whole: destroyed, replaced, moved
//   +Metadata      what stores say of themselves
//   +Deprecated    the same by names that Core Data has given up
//   StorePlace, StoreOptions    where a store is, and how it is opened
//
// Threads: any.

import CairnModel
package import CairnObjects
import CairnStore
public import Foundation
import Synchronization

/// The stores of one model, on which contexts work.
open class NSPersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
    // The model is resolved and does not change any more; the stores are behind a lock.

    /// The model of all its stores.
    public let managedObjectModel: NSManagedObjectModel
    /// The coordinator behind.
    package let core: PersistentStoreCoordinator
    let resolution: ModelResolution
    let stores = Mutex<[NSPersistentStore]>([])
    private let recursiveLock = NSRecursiveLock()
    /// A name for people.
    open var name: String?

    /// A coordinator without stores. From now on the model cannot be changed.
    ///
    /// A model that is not valid ends the program with a sentence that names the entity and the property.
    public required init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        do {
            resolution = try model.resolved()
        } catch {
            preconditionFailure("\(error)")
        }
        core = PersistentStoreCoordinator(resolution.schema)
    }

    /// A coordinator whose model has no entities: Core Data's inherits this initializer.
    public convenience override init() {
        self.init(managedObjectModel: NSManagedObjectModel())
    }

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { stores.withLock { $0 } }

    /// A new context behind, whose objects are of the model's classes.
    package func newContext() -> ManagedObjectContext {
        ManagedObjectContext(store: core, classes: resolution.classes)
    }

    /// The store that stands for one behind.
    func persistentStore(over core: any PersistentStore) -> NSPersistentStore? {
        persistentStores.first { $0.core === core }
    }

    // MARK: Adding and removing

    /// Opens a store and adds it.
    ///
    /// - Parameters:
    ///   - storeType: the kind, such as ``NSSQLiteStoreType``: all but ``NSInMemoryStoreType`` are stores of Cairn at the URL.
    ///   - configuration: the configuration of the model whose entities the store is for; nil: all entities.
    ///   - options: how it is opened; without ``NSMigratePersistentStoresAutomaticallyOption`` it is not migrated.
    /// - Throws: An error if it cannot be opened.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try withCoreDataErrors { try add(storeType, configuration, storeURL, options) }
    }

    /// Opens a store and adds it, and says how that has ended: at once, unless the description wants it to be done elsewhere.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let add = { [self] in
            var failure: (any Error)?
            do {
                try addPersistentStore(
                    ofType: storeDescription.type,
                    configurationName: storeDescription.configuration, at: storeDescription.url,
                    options: storeDescription.options)
            } catch {
                failure = error
            }
            block(storeDescription, failure)
        }
        guard storeDescription.shouldAddStoreAsynchronously else { return add() }
        let handed = Handed(add)
        DispatchQueue.global().async { handed.value() }
    }

    /// Removes a store and closes it. For the contexts its objects are deleted then.
    ///
    /// - Throws: An error if the store is none of the coordinator's.
    open func remove(_ store: NSPersistentStore) throws {
        try withCoreDataErrors { try takeOut(store) }
    }

    // MARK: Requests

    /// Carries a request out in the stores, for a context of the coordinator, on whose queue the caller is.
    ///
    /// - Returns: what a fetch request has found, as an array; of other requests their result.
    /// - Throws: An error of the stores.
    open func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext
    ) throws -> Any {
        if let request = request as? any RequestOfObjects {
            return try context.fetch(request.erased)
        }
        return try context.execute(request)
    }

    // MARK: Objects

    /// The store that an object is in.
    func persistentStore(of id: ObjectID) -> NSPersistentStore? {
        core.persistentStore(for: id).flatMap(persistentStore(over:))
    }

    /// The root of an id's hierarchy of entities.
    func rootEntity(of id: ObjectID) -> SchemaEntity? { core.rootEntity(of: id) }

    /// The id for a URI; nil if it is not one of one of the stores.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        core.managedObjectID(forURIRepresentation: url).map {
            NSManagedObjectID($0, entity: nil, in: self)
        }
    }

    /// The id for the text of a URI; nil if it is not one of one of the stores.
    open func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap(managedObjectID(forURIRepresentation:))
    }

    // MARK: Work

    /// Runs a closure with the coordinator, which any thread may use at any time.
    open func perform(_ block: @escaping () -> Void) {
        let block = Handed(block)
        DispatchQueue.global().async { block.value() }
    }

    /// Runs a closure with the coordinator, which any thread may use at any time.
    public nonisolated(nonsending) func perform<T, E: Error>(
        _ block: @escaping () throws(E) -> T
    ) async throws(E) -> T {
        try block()
    }

    /// Runs a closure with the coordinator, which any thread may use at any time.
    public func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        try block()
    }

    /// Has others who lock the coordinator wait. Nobody has to: any thread may use it at any time.
    open func lock() { recursiveLock.lock() }

    /// Ends ``lock()``.
    open func unlock() { recursiveLock.unlock() }

    /// Locks if nobody has locked.
    open func tryLock() -> Bool { recursiveLock.try() }
}

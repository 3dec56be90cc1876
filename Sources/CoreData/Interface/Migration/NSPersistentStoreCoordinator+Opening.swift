// Opens the store behind, and leads one of another version of the model to the coordinator's.
//
//   1. A staged migration, if the options have one, leads it through its stages.
//   2. Otherwise, if it may be migrated, a mapping model among the program's resources is looked for that is between its model and the
//      coordinator's, as Core Data does; without one it follows what can be inferred, if the options say so. If only numbers change
//      their type, what can be inferred is a mapping.
//
// Threads: any.

import Cairn
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import Foundation
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Opens a store.
    ///
    /// - Throws: `StoreError`.
    func open(_ place: StorePlace, _ options: StoreOptions) throws -> LogStore {
        switch place {
        case .memory(nil):
            return try LogStore.inMemory(schema: core.schema, options: options.logOptions)
        case .memory(let name?):
            return try SharedMemoryStores.store(name, core.schema, options.logOptions)
        case .folder(let path):
            try StorePlace.refuseFile(at: path)
            if options.isReadOnly {
                // It stays what it is.
            } else if let stages = options.stagedMigration {
                try stages.migrateStore(
                    at: path, to: resolution.model, options.logOptions)
            } else if options.migrates {
                try migrateByMapping(path, options)
                do {
                    return try core.openStore(at: path, options.logOptions)
                } catch let error where error.code == .cannotInferMapping {
                    try migrateByInferredMapping(path, options, otherwise: error)
                }
            }
            return try core.openStore(at: path, options.logOptions)
        }
    }

    /// Migrates a store for whose changes a mapping can be inferred, or throws why it could not be migrated without one.
    private func migrateByInferredMapping(
        _ path: String, _ options: StoreOptions, otherwise error: StoreError
    ) throws {
        let source = NSManagedObjectModel(try LogStore.metadata(forStoreAt: path).model)
        guard
            let mapping = try? NSMappingModel.inferredMappingModel(
                forSourceModel: source, destinationModel: managedObjectModel)
        else { throw error }
        try NSMigrationManager(sourceModel: source, destinationModel: managedObjectModel)
            .migrate(at: path, by: mapping, options.logOptions)
    }

    /// Migrates a store of another version by a mapping model of the program, if there is one.
    private func migrateByMapping(_ path: String, _ options: StoreOptions) throws {
        let mayHaveMapping =
            !ModelSearch(nil).files(withExtension: MappingModelSearch.ending).isEmpty
        // What is no store, or cannot be read, opening it tells.
        guard mayHaveMapping || !options.infers,
            let stored = try? LogStore.metadata(forStoreAt: path).model,
            !stored.hasSameVersion(as: resolution.model)
        else { return }
        let source = NSManagedObjectModel(stored)
        if let mapping = NSMappingModel(
            from: nil, forSourceModel: source, destinationModel: managedObjectModel)
        {
            try NSMigrationManager(sourceModel: source, destinationModel: managedObjectModel)
                .migrate(at: path, by: mapping, options.logOptions)
        } else if !options.infers {
            throw StoreError(
                .missingMappingModel,
                "the store is of another version of the model: there is no mapping model from it among the resources, and NSInferMappingModelAutomaticallyOption is off",
                context: .init(path: path))
        }
    }

    /// Adds a store that somebody else has opened and closes.
    func lend(_ opened: any PersistentStore) throws -> NSPersistentStore {
        let store = NSPersistentStore(
            opened, type: NSSQLiteStoreType, configuration: nil,
            url: (opened as? LogStore)?.path.map { URL(fileURLWithPath: $0, isDirectory: true) },
            options: nil, closes: false, in: self)
        try core.add(opened)
        stores.withLock { $0.append(store) }
        return store
    }
}

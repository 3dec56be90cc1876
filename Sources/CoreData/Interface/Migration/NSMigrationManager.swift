// Carries a mapping model out, with Core Data's names.
//
// Core Data makes a new store beside the old one. Cairn migrates a store in its place: so the old one is copied first, under its own
// identifier, and the copy is migrated.
//
// Threads: that of the migration; any may ask how far it is, and cancel.

import CairnLog
import CairnMigration
import CairnModel
import CairnMoving
import CairnObjects
import CairnStore
public import Foundation
import Synchronization

/// Migrates the objects of a store to a store of another model, by a mapping model.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    // What other threads may ask is behind locks.

    /// The old model.
    public let sourceModel: NSManagedObjectModel
    /// The new model.
    public let destinationModel: NSManagedObjectModel
    /// Whether a mapping model that says what can be inferred, and nothing else, is carried out without going over the objects.
    open var usesStoreSpecificMigrationManager = true
    /// Values that policies share with one another.
    open var userInfo: [AnyHashable: Any]?
    private var mapping: NSMappingModel?
    private var current: MigrationRun?
    private let state = Mutex(State())

    private struct State {
        var progress = MappingProgress()
        var cancellation: (any Error)?
    }

    /// Prepares a migration. From now on the models cannot be changed.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
    }

    // MARK: Carrying out

    /// Migrates a closed store to a URL where there is none. The store itself stays as it is, unless both URLs are the same.
    ///
    /// - Parameters:
    ///   - sourceURL: where the store is.
    ///   - mapping: the mapping model.
    ///   - destinationURL: where the new store is to be.
    /// - Throws: An error: the store is not of the old model, the mapping does not fit, what policies throw, or the store cannot
    ///   be read or written. There is no new store then.
    open func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil, mapping: NSMappingModel,
        to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try withCoreDataErrors {
            let source = try StorePlace(type: sourceType.rawValue, url: sourceURL)
                .path(toDo: "migrated")
            let destination = try StorePlace(type: destinationType.rawValue, url: destinationURL)
                .path(toDo: "migrated to")
            try StorePlace.refuseFile(at: source)
            try StorePlace.refuseFile(at: destination)
            try checkModel(ofStoreAt: source)
            let options = StoreOptions(destinationOptions).logOptions
            if source == destination {
                return try migrate(at: destination, by: mapping, options)
            }
            try copy(source, to: destination)
            do {
                try migrate(at: destination, by: mapping, options)
            } catch {
                // Nobody knows of the copy.
                try? LogStore.destroy(at: destination)
                throw error
            }
        }
    }

    /// Migrates a closed store to a URL where there is none; see
    /// ``migrateStore(from:type:options:mapping:to:type:options:)``. Without a mapping model it follows what can be inferred.
    ///
    /// - Throws: An error, as there.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String,
        options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL,
        destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        let inferred: () throws -> NSMappingModel = {
            try NSMappingModel.inferredMappingModel(
                forSourceModel: self.sourceModel, destinationModel: self.destinationModel)
        }
        try migrateStore(
            from: sourceURL, type: .init(rawValue: sStoreType), options: sOptions,
            mapping: try mappings ?? inferred(), to: dURL, type: .init(rawValue: dStoreType),
            options: dOptions)
    }

    private func checkModel(ofStoreAt path: String) throws {
        let metadata = try LogStore.metadata(forStoreAt: path)
        do {
            try sourceModel.resolved().model.checkConfiguration(
                withName: nil, compatibleWithStoreMetadata: metadata)
        } catch let error as StoreError {
            throw StoreError(
                .missingSourceModel,
                "the store is not of the migration's source model: \(error.message)",
                context: .init(path: path), cause: error)
        }
    }

    private func copy(_ source: String, to destination: String) throws {
        let files = try? FileManager.default.contentsOfDirectory(atPath: destination)
        if files?.isEmpty == false {
            throw StoreError(
                .invalidRequest,
                "there is something where the migrated store is to be: a migration makes a store, and adds to none. Put all entity mappings into one mapping model",
                context: .init(path: destination))
        }
        var options = LogStoreOptions()
        options.isReadOnly = true
        let store = try LogStore.open(at: source, options: options)
        defer { try? store.close() }
        try store.copy(to: destination, keeping: nil)
    }

    /// Migrates a store in its place.
    func migrate(at path: String, by mapping: NSMappingModel, _ options: LogStoreOptions) throws {
        self.mapping = mapping
        let progress = MappingProgress()
        let isCancelled = state.withLock { state in
            state.progress = progress
            return state.cancellation != nil
        }
        if isCancelled { progress.cancel() }
        defer { state.withLock { $0.cancellation = nil } }
        do {
            let schema = try destinationModel.resolved().schema
            if mapping.isInferred, usesStoreSpecificMigrationManager, !isCancelled {
                try LogStore.migrate(at: path, to: schema, options: options)
                return
            }
            let resolved = try mapping.resolved()
            let manager = try MigrationManager(
                try LogStore.beginMigration(at: path, to: schema, options: options),
                mapping: resolved, policies: [:], progress: progress,
                plainClass: NSManagedObject.self)
            manager.facade = self
            current = MigrationRun(manager, mapping)
            defer { current = nil }
            try manager.migrate()
        } catch let error as StoreError where error.code == .migrationCancelled {
            throw state.withLock { $0.cancellation } ?? error
        }
    }

    /// Cancels the migration as soon as the current step returns: it throws the error, and the store is as it was.
    open func cancelMigrationWithError(_ error: any Error) {
        let progress = state.withLock { state in
            state.cancellation = state.cancellation ?? error
            return state.progress
        }
        progress.cancel()
    }

    /// Forgets what became of what.
    open func reset() { current?.manager.reset() }

    // MARK: What it is about

    /// What is under way. There is something only while a store is migrated.
    var run: MigrationRun {
        guard let current else {
            preconditionFailure("nothing is migrated: policies are asked while a store is")
        }
        return current
    }

    /// The mapping model that is carried out, or was last.
    open var mappingModel: NSMappingModel {
        guard let mapping else { preconditionFailure("nothing has been migrated yet") }
        return mapping
    }

    /// Reads the old store. What policies change or delete here is migrated so; nothing is ever written.
    open var sourceContext: NSManagedObjectContext { run.source }

    /// Makes the new store.
    open var destinationContext: NSManagedObjectContext { run.destination }

    /// How much is done, from 0 to 1.
    open var migrationProgress: Float {
        Float(state.withLock { $0.progress }.fractionCompleted)
    }

    /// The mapping whose turn it is.
    open var currentEntityMapping: NSEntityMapping {
        guard let mapping = run.manager.currentEntityMapping else {
            preconditionFailure("no entity mapping is being carried out")
        }
        return run.facade(mapping)
    }

    /// The old entity of a mapping.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The new entity of a mapping.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    // MARK: What became of what

    /// Notes that a new object became of an old one, by a mapping.
    open func associate(
        sourceInstance: NSManagedObject,
        withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        run.manager.associate(
            sourceInstance: sourceInstance, withDestinationInstance: destinationInstance,
            for: run.core(entityMapping))
    }

    /// The new objects that became of old ones by a mapping; without old ones: all that it has made.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        let manager = run.manager
        let found =
            sourceInstances.map {
                manager.destinationInstances(
                    forEntityMappingName: mappingName, sourceInstances: $0)
            } ?? manager.allDestinationInstances(ofMapping: mappingName)
        return found.map(NSManagedObjectContext.object)
    }

    /// The old objects that became new ones by a mapping; without new ones: all of which it has made some.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        let manager = run.manager
        let found =
            destinationInstances.map {
                manager.sourceInstances(
                    forEntityMappingName: mappingName, destinationInstances: $0)
            } ?? manager.allSourceInstances(ofMapping: mappingName)
        return found.map(NSManagedObjectContext.object)
    }
}

// Migrates a store through the versions of its model, with Core Data's names.
//
// It is the option of a store: when that is opened, Cairn's manager does the work, and this one hands the code of stages a container
// that has the store.
//
// Threads: that which opens the store.

import Cairn
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
public import Foundation

/// Migrates a store through the versions of its model, in stages.
///
/// ```swift
/// let manager = NSStagedMigrationManager([first, second])
/// description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    // Its stages do not change; the container is for the code of stages alone, which runs where the store is opened.

    /// The stages, in their order.
    public let stages: [NSMigrationStage]
    /// What has the store while the code of a stage runs; nil otherwise.
    open private(set) var container: NSPersistentContainer?

    /// A migration in stages.
    public init(_ stages: [NSMigrationStage]) { self.stages = stages }

    /// Leads a closed store to a model, if there is a store, and it is of an earlier version.
    ///
    /// - Throws: `StoreError` as Cairn's manager.
    func migrateStore(at path: String, to model: ManagedObjectModel, _ options: LogStoreOptions)
        throws(StoreError)
    {
        let manager = StagedMigrationManager(stages.map(resolved), models: modelsOfBundle)
        try manager.migrateStore(at: path, to: model, options: options)
    }

    private func resolved(_ stage: NSMigrationStage) -> any MigrationStageConvertible {
        switch stage {
        case let stage as NSCustomMigrationStage:
            return CustomMigrationStage(
                currentModel: Self.reference(stage.currentModel),
                nextModel: Self.reference(stage.nextModel), label: stage.label ?? "custom",
                willMigrate: handler(stage, stage.willMigrateHandler),
                didMigrate: handler(stage, stage.didMigrateHandler))
        case let stage as NSLightweightMigrationStage:
            return LightweightMigrationStage(
                stage.versionChecksums, label: stage.label ?? "lightweight")
        default:
            preconditionFailure(
                "a stage is an NSLightweightMigrationStage or an NSCustomMigrationStage, not \(type(of: stage))"
            )
        }
    }

    private static func reference(_ reference: NSManagedObjectModelReference) -> ModelReference {
        ModelReference(
            reference.resolvedModel.described, versionChecksum: reference.versionChecksum)
    }

    /// The code of a stage, as Cairn calls it.
    private func handler(
        _ stage: NSCustomMigrationStage,
        _ code: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    ) -> CustomMigrationStage.Handler? {
        guard let code else { return nil }
        let handed = Handed(code)
        return { [self] context in
            let container = NSPersistentContainer(
                name: stage.label ?? "stage",
                managedObjectModel: NSManagedObjectModel(context.store.schema))
            let store = try container.persistentStoreCoordinator.lend(context.store)
            self.container = container
            defer {
                self.container = nil
                // Whoever has lent it closes it.
                try? container.persistentStoreCoordinator.remove(store)
            }
            try handed.value(self, stage)
        }
    }

    /// The versions in the main bundle that stages name by their checksums alone.
    private var modelsOfBundle: [ModelReference] {
        var wanted: Set<String> = []
        for case let stage as NSLightweightMigrationStage in stages {
            wanted.formUnion(stage.versionChecksums)
        }
        for case let stage as NSCustomMigrationStage in stages {
            wanted.remove(stage.currentModel.versionChecksum)
            wanted.remove(stage.nextModel.versionChecksum)
        }
        if wanted.isEmpty { return [] }
        return ModelSearch.models(in: nil).flatMap { url in
            ((try? ModelSource(url).versions()) ?? [:]).values
                .filter { wanted.contains($0.versionChecksum) }.map { ModelReference($0) }
        }
    }
}

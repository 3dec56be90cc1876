// A migration that is under way, as Core Data's policies see it: contexts and mappings that stand for Cairn's.
//
// Threads: that of the migration.

import CairnModel
import CairnObjects
import CairnStore

/// A migration that is under way.
final class MigrationRun {
    let manager: MigrationManager
    /// Stands for the context of the old store.
    let source: NSManagedObjectContext
    /// Stands for the context of the new store.
    let destination: NSManagedObjectContext
    private let facades: [String: NSEntityMapping]

    init(_ manager: MigrationManager, _ mapping: NSMappingModel) {
        self.manager = manager
        source = NSManagedObjectContext(over: manager.sourceContext)
        destination = NSManagedObjectContext(over: manager.destinationContext)
        facades = mapping.entityMappingsByName
    }

    /// The mapping that stands for one of Cairn's.
    func facade(_ mapping: EntityMapping) -> NSEntityMapping {
        guard let facade = facades[mapping.name] else {
            preconditionFailure("there is no entity mapping named \(mapping.name)")
        }
        return facade
    }

    /// The mapping of Cairn's that one stands for.
    func core(_ mapping: NSEntityMapping) -> EntityMapping {
        guard let core = manager.mappingModel[mapping.name ?? ""] else {
            preconditionFailure(
                "the migration has no entity mapping named \(mapping.name ?? "nil")")
        }
        return core
    }
}

extension NSManagedObjectContext {
    /// A context that stands for one which is there already, and works where that does.
    convenience init(over core: ManagedObjectContext) {
        self.init(concurrencyType: .confinementConcurrencyType)
        let model = NSManagedObjectModel(core.store.schema)
        settings.coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        stand(for: core)
    }
}

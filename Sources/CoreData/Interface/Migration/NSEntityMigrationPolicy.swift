// What a program says of how objects of one entity mapping are migrated, with Core Data's names.
//
// A policy is one of Cairn's: the steps that Cairn calls are passed on to those that Core Data's users override, with the objects that
// stand for Cairn's.
//
// Threads: that of the migration.

public import CairnModel
public import CairnObjects
import CairnStore
import Foundation

/// How the objects of an entity mapping are migrated, if its value expressions are not enough. Subclasses override the steps that
/// differ, and call super in the others.
///
/// ```swift
/// final class NotePolicy: NSEntityMigrationPolicy {
///     override func createDestinationInstances(
///         forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
///     ) throws {
///         if sInstance.value(forKey: "title") == nil { return }
///         try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
///     }
/// }
/// ```
///
/// Value expressions call functions of policies by their selectors: `FUNCTION($entityPolicy, "fullNameOf:", $source.name)`. Methods
/// cannot be found by selector on Linux: override `functions`, which has them by these names.
open class NSEntityMigrationPolicy: EntityMigrationPolicy {
    /// Makes a policy for one entity mapping of one migration.
    public required init() { super.init() }

    // MARK: What programs override

    /// Called at the start of the mapping.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes the new objects of an old one. The default makes one, gives it the values of the mapping's attributes, and
    /// associates it with the old one.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        let run = manager.run
        try super.createDestinationInstances(
            forSource: sInstance, in: run.core(mapping), manager: run.manager)
    }

    /// All new objects of the mapping are made.
    open func endInstanceCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}

    /// Sets the relationships of a new object. The default sets those of the mapping. The objects of all mappings are there.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        let run = manager.run
        try super.createRelationships(
            forDestination: dInstance, in: run.core(mapping), manager: run.manager)
    }

    /// The relationships of all new objects of the mapping are set.
    open func endRelationshipCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}

    /// Called after the relationships of all mappings are set. The model's validation of all objects follows.
    open func performCustomValidation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}

    /// The mapping's turn is over.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    // MARK: What Cairn calls

    /// Passed on to ``begin(_:with:)-(NSEntityMapping,_)``.
    public final override func begin(_ mapping: EntityMapping, with manager: MigrationManager)
        throws
    {
        let facade = Self.facade(of: manager)
        try begin(facade.run.facade(mapping), with: facade)
    }

    /// Passed on to the step with Core Data's types.
    public final override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let facade = Self.facade(of: manager)
        try createDestinationInstances(
            forSource: NSManagedObjectContext.object(sInstance), in: facade.run.facade(mapping),
            manager: facade)
    }

    /// Passed on to the step with Core Data's types.
    public final override func endInstanceCreation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let facade = Self.facade(of: manager)
        try endInstanceCreation(forMapping: facade.run.facade(mapping), manager: facade)
    }

    /// Passed on to the step with Core Data's types.
    public final override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping,
        manager: MigrationManager
    ) throws {
        let facade = Self.facade(of: manager)
        try createRelationships(
            forDestination: NSManagedObjectContext.object(dInstance),
            in: facade.run.facade(mapping), manager: facade)
    }

    /// Passed on to the step with Core Data's types.
    public final override func endRelationshipCreation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let facade = Self.facade(of: manager)
        try endRelationshipCreation(forMapping: facade.run.facade(mapping), manager: facade)
    }

    /// Passed on to the step with Core Data's types.
    public final override func performCustomValidation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let facade = Self.facade(of: manager)
        try performCustomValidation(forMapping: facade.run.facade(mapping), manager: facade)
    }

    /// Passed on to the step with Core Data's types.
    public final override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
        let facade = Self.facade(of: manager)
        try end(facade.run.facade(mapping), manager: facade)
    }

    private static func facade(of manager: MigrationManager) -> NSMigrationManager {
        guard let facade = manager.facade as? NSMigrationManager else {
            preconditionFailure(
                "\(self) is a policy for an NSMigrationManager: with Cairn's manager use a subclass of EntityMigrationPolicy"
            )
        }
        return facade
    }

    /// The class of a policy by the name that a mapping has for it.
    ///
    /// - Throws: `StoreError` that names it if the program has none.
    static func policy(_ className: String, of mapping: String) throws(StoreError)
        -> NSEntityMigrationPolicy.Type
    {
        let plain = className.split(separator: ".").last.map(String.init) ?? className
        let found = ClassSearch.classes(named: [plain])[plain] ?? []
        let all = found.filter { $0.type is NSEntityMigrationPolicy.Type }
        let exact = all.filter { $0.name == className }
        // A module that a mapping model names may be called otherwise here.
        let types = (exact.isEmpty ? all : exact).compactMap {
            $0.type as? NSEntityMigrationPolicy.Type
        }
        if types.count == 1, let type = types.first { return type }
        throw StoreError(
            .missingMappingModel,
            types.isEmpty
                ? "the policy of the entity mapping \(mapping) is to be \(className), but the program has no subclass of NSEntityMigrationPolicy of that name"
                : "the policy of the entity mapping \(mapping) is to be \(className), but there are several: \(types.map { String(reflecting: $0) }.sorted().joined(separator: ", "))"
        )
    }
}

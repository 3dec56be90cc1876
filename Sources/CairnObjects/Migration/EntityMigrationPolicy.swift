// What a program says of how objects of one entity mapping are migrated.
//
// Threads: that of the migration.

public import CairnModel
import CairnStore

/// How the objects of an entity mapping are migrated, if its value expressions are not enough. Subclasses override the
/// steps that differ, and call super in the others.
///
/// ```swift
/// final class RemoveDuplicates: EntityMigrationPolicy {
///     override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
///         var known: Set<String> = []
///         for user in try manager.sourceContext.fetch(FetchRequest(entityName: "User")) {
///             guard let id = user["uniqueId"] as? String else { continue }
///             if !known.insert(id).inserted { manager.sourceContext.delete(user) }
///         }
///         try super.begin(mapping, with: manager)
///     }
/// }
///
/// mapping["UserToUser"]?.entityMigrationPolicy = RemoveDuplicates.self
/// ```
///
/// The steps are called in the order of the methods here. ``createDestinationInstances(forSource:in:manager:)`` is
/// called for each object of the old entity, and ``createRelationships(forDestination:in:manager:)`` for each new
/// object that was associated with an old one. All mappings create their objects before any relationship is set, and
/// all relationships are set before anything is validated. Each mapping has one policy object, which sees all its
/// steps.
///
/// An error thrown by a step ends the migration, and the store is unchanged: the error is the cause of a `StoreError`
/// with `.migrationPolicy`.
open class EntityMigrationPolicy {
    /// A function that value expressions can call.
    public typealias Function = ([Any?]) throws -> Any?

    /// Makes a policy for one entity mapping of one migration.
    public required init() {}

    /// The functions that value expressions of the mapping can call, by name. They are read once, before anything is
    /// migrated.
    ///
    /// ```swift
    /// override var functions: [String: Function] {
    ///     ["fullName": { [$0[0] as? String, $0[1] as? String].compactMap(\.self).joined(separator: " ") }]
    /// }
    /// // FUNCTION($entityPolicy, 'fullName', $source.firstName, $source.lastName)
    /// ```
    ///
    /// Arguments are values as in `ManagedObject.value(forKey:)`; objects are passed as `ManagedObject`, collections as
    /// arrays.
    open var functions: [String: Function] { [:] }

    /// Called at the start of the mapping. Objects deleted from the manager's ``MigrationManager/sourceContext`` are
    /// not migrated by this mapping and later ones.
    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Creates the new objects for an old one. The default creates one, gives it the values of the mapping's attributes,
    /// and associates it with the old one.
    open func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.bringOver(sInstance, mapping)
    }

    /// Called after all new objects of the mapping were created.
    open func endInstanceCreation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {}

    /// Sets the relationships of a new object. The default sets those of the mapping. The objects of all mappings exist.
    open func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping,
        manager: MigrationManager
    ) throws {
        try manager.connect(dInstance, mapping)
    }

    /// The relationships of all new objects of the mapping are set.
    open func endRelationshipCreation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {}

    /// Called after the relationships of all mappings are set. The model's validation of all objects follows, whatever
    /// this does.
    open func performCustomValidation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {}

    /// The mapping's turn is over.
    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}

extension EntityMapping {
    /// The policy that executes the mapping; nil for none. Setting it makes the mapping a custom one.
    ///
    /// Alternatively, set its name, ``entityMigrationPolicyClassName``, and pass the class to the migration.
    public var entityMigrationPolicy: EntityMigrationPolicy.Type? {
        get { (policyCode as? PolicyClass)?.type }
        set {
            setPolicy(
                newValue.map(PolicyClass.init), named: newValue.map { String(reflecting: $0) })
        }
    }
}

/// A policy's class, as a mapping keeps it.
struct PolicyClass: MappingCode {
    let type: EntityMigrationPolicy.Type
}

extension PropertyMapping {
    /// A property with a value computed by code: for an attribute, a value for `ManagedObject.setValue(_:forKey:)`; for
    /// a relationship, an object, or a set or array of objects, of the manager's
    /// ``MigrationManager/destinationContext``.
    ///
    /// ```swift
    /// PropertyMapping("fullName") { person, _ in
    ///     [person["firstName"], person["lastName"]].compactMap { $0 as? String }.joined(separator: " ")
    /// }
    /// ```
    ///
    /// - Parameter value: called with the old object and the manager. An error ends the migration.
    public init(
        _ name: String,
        value:
            @escaping @Sendable (_ source: ManagedObject, _ manager: MigrationManager) throws
            -> Any?
    ) {
        self.init(name)
        valueCode = ValueClosure(value: value)
    }
}

/// A closure that gives a property's value, as a mapping keeps it.
struct ValueClosure: MappingCode {
    let value: @Sendable (ManagedObject, MigrationManager) throws -> Any?
}

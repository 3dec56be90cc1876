// What a program says of how objects of one entity mapping are migrated.
//
// Threads: that of the migration.

public import CairnModel
import CairnStore

/// How the objects of an entity mapping are migrated, where its value expressions do not say enough. Subclasses override the
/// steps that they do otherwise, and call super in the others.
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
/// The steps come in the order of the methods here. ``createDestinationInstances(forSource:in:manager:)`` is called for each object
/// of the old entity, and ``createRelationships(forDestination:in:manager:)`` for each new object that was associated with an old
/// one. All mappings have made their objects before any relationship is set, and all relationships are set before anything is
/// validated. A mapping has one policy object, which sees all its steps.
///
/// What a step throws ends the migration, and the store stays as it was: it comes as the cause of a `StoreError` with
/// `.migrationPolicy`.
open class EntityMigrationPolicy {
    /// A function that value expressions can call.
    public typealias Function = ([Any?]) throws -> Any?

    /// Makes a policy for one entity mapping of one migration.
    public required init() {}

    /// Functions that value expressions of the mapping can call, by their names. They are asked for once, before anything is
    /// migrated.
    ///
    /// ```swift
    /// override var functions: [String: Function] {
    ///     ["fullName": { [$0[0] as? String, $0[1] as? String].compactMap(\.self).joined(separator: " ") }]
    /// }
    /// // FUNCTION($entityPolicy, 'fullName', $source.firstName, $source.lastName)
    /// ```
    ///
    /// Arguments are values as of `ManagedObject.value(forKey:)`; objects come as `ManagedObject`, collections as arrays.
    open var functions: [String: Function] { [:] }

    /// The mapping's turn begins. What is deleted in the manager's ``MigrationManager/sourceContext`` is not migrated by this
    /// mapping and those behind it.
    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Makes the new objects of an old one. The default makes one, gives it the values of the mapping's attributes, and
    /// associates it with the old one.
    open func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.bringOver(sInstance, mapping)
    }

    /// All new objects of the mapping are made.
    open func endInstanceCreation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {}

    /// Sets the relationships of a new object. The default sets those of the mapping. The objects of all mappings are there.
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

    /// The relationships of all mappings are set. What the model asks of all objects is asked afterwards, whatever this does.
    open func performCustomValidation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {}

    /// The mapping's turn is over.
    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}

extension EntityMapping {
    /// The policy that carries the mapping out; nil: the mapping says all. Setting it makes the mapping a custom one.
    ///
    /// Instead its name can be set, ``entityMigrationPolicyClassName``, if the migration is given the class.
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
    /// A property whose value code gives, for an attribute as of `ManagedObject.setValue(_:forKey:)`, for a relationship an
    /// object, or a set or array of objects, of the manager's ``MigrationManager/destinationContext``.
    ///
    /// ```swift
    /// PropertyMapping("fullName") { person, _ in
    ///     [person["firstName"], person["lastName"]].compactMap { $0 as? String }.joined(separator: " ")
    /// }
    /// ```
    ///
    /// - Parameter value: called with the old object and the manager. What it throws ends the migration.
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

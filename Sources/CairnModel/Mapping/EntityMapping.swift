// How the objects of one entity are migrated.
//
// Threads: values.

public import FoundationEssentials

/// How the objects of one entity are migrated, or which objects an entity's new objects are created from.
///
/// ```swift
/// var cars = EntityMapping("CarToCar", from: "Car", to: "Car")
/// cars.attributeMappings = [PropertyMapping("name", copying: "name")]
/// cars.relationshipMappings = [PropertyMapping("maker", relationship: "maker")]
/// cars.sourcePredicate = try PredicateNode(format: "scrapped == NO")
/// ```
///
/// It applies to objects of exactly the source entity, not of entities that inherit from it: each has a mapping of its own.
public struct EntityMapping: Sendable {
    /// What a mapping does, with the raw values of Core Data.
    public enum MappingType: Int, Sendable, Hashable, CaseIterable, Codable {
        /// Not specified: the mapping cannot run.
        case undefined = 0
        /// A policy decides.
        case custom = 1
        /// The entity is new: the mapping itself creates no objects.
        case add = 2
        /// The entity was removed, and its objects are deleted.
        case remove = 3
        /// Objects do not change.
        case copy = 4
        /// Objects are migrated to other properties.
        case transform = 5
    }

    /// The mapping's name, unique in its mapping model; by convention like `CarToCar`.
    public var name: String
    /// What it does.
    public var mappingType: MappingType
    /// The entity in the old model; nil if objects are created from nothing.
    public var sourceEntityName: String?
    /// The version hash of the source entity for which the mapping was created; nil: it is not compared.
    public var sourceEntityVersionHash: Data?
    /// The entity in the new model; nil if the objects are deleted.
    public var destinationEntityName: String?
    /// The version hash of the destination entity for which the mapping was created; nil: it is not compared.
    public var destinationEntityVersionHash: Data?
    /// The sources of attribute values, by the names of attributes of the new entity or of elements of composite
    /// attributes.
    public var attributeMappings: [PropertyMapping] = []
    /// The sources of relationship members, by the names of relationships of the new entity. They are set after all
    /// mappings have created their objects. One mapping is enough for a relationship and its inverse.
    public var relationshipMappings: [PropertyMapping] = []
    /// Which objects of the source entity are migrated, with keys of that entity; nil: all.
    public var sourcePredicate: PredicateNode?
    /// The class of the migration policy, with its module, such as `Shop.UserPolicy`; nil: the mapping needs no policy.
    /// Setting it makes the mapping a custom one.
    public var entityMigrationPolicyClassName: String? {
        didSet {
            if entityMigrationPolicyClassName != policyCodeName { policyCode = nil }
            if entityMigrationPolicyClassName != nil { mappingType = .custom }
        }
    }
    /// Free text for the migration policy.
    public var userInfo: [String: String] = [:]
    /// The policy's class itself.
    package private(set) var policyCode: (any MappingCode)?
    private var policyCodeName: String?

    /// Maps an entity to another one. The mapping type follows from which of them are given.
    ///
    /// - Parameters:
    ///   - name: the mapping's name.
    ///   - source: the entity in the old model; nil: a policy creates objects from nothing.
    ///   - destination: the entity in the new model; nil: the objects are deleted.
    public init(_ name: String, from source: String? = nil, to destination: String? = nil) {
        self.name = name
        sourceEntityName = source
        destinationEntityName = destination
        mappingType =
            switch (source, destination) {
            case (nil, nil): .undefined
            case (nil, _): .add
            case (_, nil): .remove
            default: .transform
            }
    }

    /// The mapping of an attribute or relationship, by name. It can be changed, or removed by setting nil. To add a mapping
    /// use ``attributeMappings`` or ``relationshipMappings``.
    public subscript(_ property: String) -> PropertyMapping? {
        get {
            attributeMappings.first { $0.name == property }
                ?? relationshipMappings.first { $0.name == property }
        }
        set {
            if let place = attributeMappings.firstIndex(where: { $0.name == property }) {
                attributeMappings.replace(at: place, with: newValue)
            } else if let place = relationshipMappings.firstIndex(where: { $0.name == property }) {
                relationshipMappings.replace(at: place, with: newValue)
            } else {
                precondition(
                    newValue == nil,
                    "\(name) does not map the property \(property): add it to attributeMappings or relationshipMappings"
                )
            }
        }
    }

    /// Gives it a policy by its class.
    package mutating func setPolicy(_ code: (any MappingCode)?, named name: String?) {
        policyCodeName = name
        entityMigrationPolicyClassName = name
        policyCode = code
    }

    /// Whether the objects are migrated, made or dropped by a policy.
    package var hasPolicy: Bool { entityMigrationPolicyClassName != nil }
}

extension [PropertyMapping] {
    fileprivate mutating func replace(at place: Int, with mapping: PropertyMapping?) {
        if let mapping { self[place] = mapping } else { remove(at: place) }
    }
}

/// Code of the object layer that takes part in a mapping: a policy's class, or a closure that gives a value.
package protocol MappingCode: Sendable {}

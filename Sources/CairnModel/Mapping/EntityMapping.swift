// What becomes of the objects of one entity.
//
// Threads: values.

public import FoundationEssentials

/// What becomes of the objects of one entity, or from what objects of one are made.
///
/// ```swift
/// var cars = EntityMapping("CarToCar", from: "Car", to: "Car")
/// cars.attributeMappings = [PropertyMapping("name", copying: "name")]
/// cars.relationshipMappings = [PropertyMapping("maker", relationship: "maker")]
/// cars.sourcePredicate = try PredicateNode(format: "scrapped == NO")
/// ```
///
/// It is about objects of exactly the source entity, not of those that inherit from it: each has a mapping of its own.
public struct EntityMapping: Sendable {
    /// What a mapping does, with the numbers that Core Data has for it.
    public enum MappingType: Int, Sendable, Hashable, CaseIterable, Codable {
        /// Nothing has been said: it cannot be carried out.
        case undefined = 0
        /// A policy says it.
        case custom = 1
        /// The entity is new: the mapping itself makes no objects.
        case add = 2
        /// The entity is gone, and its objects with it.
        case remove = 3
        /// Objects stay as they are.
        case copy = 4
        /// Objects are migrated, with other properties.
        case transform = 5
    }

    /// The mapping's name, unique in its model; by convention like `CarToCar`.
    public var name: String
    /// What it does.
    public var mappingType: MappingType
    /// The entity in the old model; nil if objects are made from nothing.
    public var sourceEntityName: String?
    /// What tells the version of the source entity apart for which the mapping was made; nil: it is not compared.
    public var sourceEntityVersionHash: Data?
    /// The entity in the new model; nil if objects are dropped.
    public var destinationEntityName: String?
    /// What tells the version of the destination entity apart for which the mapping was made; nil: it is not compared.
    public var destinationEntityVersionHash: Data?
    /// Where the values of attributes come from, by the names of attributes of the new entity, or of parts of composite ones.
    public var attributeMappings: [PropertyMapping] = []
    /// Where the members of relationships come from, by the names of relationships of the new entity. They are set when the
    /// objects of all mappings are there. Of a relationship and its inverse one is enough.
    public var relationshipMappings: [PropertyMapping] = []
    /// Which objects of the source entity it is about, with keys of that entity; nil: all.
    public var sourcePredicate: PredicateNode?
    /// The class of the policy that carries it out, with its module, as `Shop.UserPolicy`; nil: the mapping says all. Setting it
    /// makes the mapping a custom one.
    public var entityMigrationPolicyClassName: String? {
        didSet {
            if entityMigrationPolicyClassName != policyCodeName { policyCode = nil }
            if entityMigrationPolicyClassName != nil { mappingType = .custom }
        }
    }
    /// Free text for the code that carries it out.
    public var userInfo: [String: String] = [:]
    /// The policy's class itself.
    package private(set) var policyCode: (any MappingCode)?
    private var policyCodeName: String?

    /// Maps an entity to another one; what it does follows from which of them there is.
    ///
    /// - Parameters:
    ///   - name: the mapping's name.
    ///   - source: the entity in the old model; nil: objects are made from nothing, by a policy.
    ///   - destination: the entity in the new model; nil: the objects are dropped.
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

    /// The mapping of a property by its name, be it an attribute or a relationship. It can be changed, and with nil taken away;
    /// one that is not there must be added to ``attributeMappings`` or ``relationshipMappings``, which says what it is.
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
                    "\(name) maps no property \(property) yet: add it to attributeMappings or relationshipMappings"
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

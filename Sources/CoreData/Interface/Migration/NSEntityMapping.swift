// What becomes of the objects of one entity, with Core Data's names.
//
// In Core Data an expression fetches the old objects. There is one form of it: what Xcode writes, with a predicate as text. It is
// made of the filter predicate that Cairn's mapping has, and read into one.
//
// Threads: that of whoever fills it.

import CairnModel
import CairnObjects
import CairnStore
public import Foundation

/// What becomes of the objects of one entity, or from what objects of one are made.
open class NSEntityMapping: NSObject {
    /// The mapping's name, which no other mapping of its model has.
    open var name: String!
    /// What it does.
    open var mappingType = NSEntityMappingType.undefinedEntityMappingType
    /// The entity in the old model; nil if objects are made from nothing.
    open var sourceEntityName: String?
    /// What tells the version of the old entity apart; nil: it is not compared.
    open var sourceEntityVersionHash: Data?
    /// The entity in the new model; nil if objects are dropped.
    open var destinationEntityName: String?
    /// What tells the version of the new entity apart; nil: it is not compared.
    open var destinationEntityVersionHash: Data?
    /// Where the values of attributes come from.
    open var attributeMappings: [NSPropertyMapping]?
    /// Where the members of relationships come from. They are set when the objects of all mappings are there.
    open var relationshipMappings: [NSPropertyMapping]?
    /// What fetches the old objects, in the form that Xcode writes: `FETCH(FUNCTION($manager,
    /// "fetchRequestForSourceEntityNamed:predicateString:", "Note", "archived == NO"), $manager.sourceContext, NO)`; nil: all.
    open var sourceExpression: NSExpression?
    /// Values for the policy that carries it out.
    open var userInfo: [AnyHashable: Any]?
    /// The class of the policy that carries it out, with or without its module; nil: the mapping says all.
    open var entityMigrationPolicyClassName: String?

    /// A mapping that says nothing yet.
    public override init() {}

    convenience init(_ core: EntityMapping) {
        self.init()
        name = core.name
        mappingType = NSEntityMappingType(rawValue: UInt(core.mappingType.rawValue))!
        sourceEntityName = core.sourceEntityName
        sourceEntityVersionHash = core.sourceEntityVersionHash
        destinationEntityName = core.destinationEntityName
        destinationEntityVersionHash = core.destinationEntityVersionHash
        attributeMappings = core.attributeMappings.map(NSPropertyMapping.init)
        relationshipMappings = core.relationshipMappings.map(NSPropertyMapping.init)
        if let source = core.sourceEntityName {
            sourceExpression = NSExpression(
                .fetch(
                    of: source, where: core.sourcePredicate?.predicateFormat ?? "TRUEPREDICATE"))
        }
        if !core.userInfo.isEmpty { userInfo = core.userInfo }
        entityMigrationPolicyClassName = core.entityMigrationPolicyClassName
    }

    /// The mapping as Cairn carries it out.
    ///
    /// - Throws: `StoreError` that names the mapping and what of it cannot be carried out.
    func resolved() throws -> EntityMapping {
        var mapping = EntityMapping(
            name ?? "", from: sourceEntityName, to: destinationEntityName)
        mapping.sourceEntityVersionHash = sourceEntityVersionHash
        mapping.destinationEntityVersionHash = destinationEntityVersionHash
        mapping.attributeMappings = try (attributeMappings ?? []).map { try $0.resolved() }
        mapping.relationshipMappings = try (relationshipMappings ?? []).map { try $0.resolved() }
        do {
            mapping.sourcePredicate = try sourceExpression?.node.fetchedPredicate
        } catch {
            throw StoreError(
                .missingMappingModel,
                "the source expression of the entity mapping \(mapping.name) cannot be carried out: \(error)",
                context: .init(entity: sourceEntityName), cause: error)
        }
        // One that says it is custom and has no policy is carried out as it says.
        if mappingType != .undefinedEntityMappingType, mappingType != .customEntityMappingType,
            let type = EntityMapping.MappingType(rawValue: Int(mappingType.rawValue))
        {
            mapping.mappingType = type
        }
        if let className = entityMigrationPolicyClassName {
            mapping.entityMigrationPolicy = try NSEntityMigrationPolicy.policy(
                className, of: mapping.name)
        }
        return mapping
    }

    /// Whether both say the same.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSEntityMapping else { return false }
        return name == other.name && mappingType == other.mappingType
            && sourceEntityName == other.sourceEntityName
            && sourceEntityVersionHash == other.sourceEntityVersionHash
            && destinationEntityName == other.destinationEntityName
            && destinationEntityVersionHash == other.destinationEntityVersionHash
            && attributeMappings ?? [] == other.attributeMappings ?? []
            && relationshipMappings ?? [] == other.relationshipMappings ?? []
            && sourceExpression == other.sourceExpression
            && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
            && NSDictionary(dictionary: userInfo ?? [:]).isEqual(to: other.userInfo ?? [:])
    }

    /// Equal for equal mappings.
    open override var hash: Int { name?.hashValue ?? 0 }
}

/// What an entity mapping does.
public enum NSEntityMappingType: UInt, Sendable {
    /// Nothing has been said: it follows from the entities that there are.
    case undefinedEntityMappingType = 0
    /// A policy says it.
    case customEntityMappingType = 1
    /// The entity is new: the mapping itself makes no objects.
    case addEntityMappingType = 2
    /// The entity is gone, and its objects with it.
    case removeEntityMappingType = 3
    /// Objects stay as they are.
    case copyEntityMappingType = 4
    /// Objects are migrated, with other properties.
    case transformEntityMappingType = 5
}

extension ExpressionNode {
    private static let fetchFunction = "fetchRequestForSourceEntityNamed:predicateString:"

    /// What fetches the old objects of a mapping.
    fileprivate static func fetch(of entity: String, where format: String) -> ExpressionNode {
        let manager = ExpressionNode.variable(MappingTerms.manager)
        return .fetch(
            request: .call(
                of: manager, selector: fetchFunction,
                [.constant(.string(entity)), .constant(.string(format))]),
            context: .path(of: manager, "sourceContext"), countsOnly: false)
    }

    /// The condition on the old objects that it fetches; nil: all.
    fileprivate var fetchedPredicate: PredicateNode? {
        get throws {
            guard case .fetch(let request, _, false) = self,
                case .call(.variable(MappingTerms.manager), Self.fetchFunction, let arguments) =
                    request, arguments.count == 2,
                case .constant(.string(let format)) = arguments[1]
            else {
                throw StoreError(
                    .missingMappingModel,
                    "it must be FETCH(FUNCTION($manager, \"\(Self.fetchFunction)\", entity, predicate), $manager.sourceContext, NO), with texts for both"
                )
            }
            let predicate = try PredicateNode(format: format)
            return predicate == .constant(true) ? nil : predicate
        }
    }
}

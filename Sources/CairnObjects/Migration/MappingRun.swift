// One entity mapping while it is carried out: its entities, its policy, its properties, and what became of what.
//
// Threads: that of the migration.

import CairnModel
import CairnStore

/// An entity mapping that is carried out.
final class MappingRun {
    let mapping: EntityMapping
    let source: SchemaEntity?
    let destination: SchemaEntity?
    let policy: EntityMigrationPolicy
    /// Whether it has no policy of its own.
    let isPlain: Bool
    let functions: [String: EntityMigrationPolicy.Function]
    let attributes: [PropertyPlan]
    let relationships: [PropertyPlan]
    var associations = InstanceAssociations()
    /// Whether a new object is of another entity than the mapping says.
    var hasOtherEntities = false

    /// - Parameter policies: the classes of policies that mappings name.
    /// - Throws: `StoreError` naming the mapping whose policy is not there, or lacks a function.
    init(
        _ mapping: EntityMapping, from old: Schema, to new: Schema,
        _ policies: [String: EntityMigrationPolicy.Type]
    ) throws(StoreError) {
        self.mapping = mapping
        source = mapping.sourceEntityName.flatMap { old.entity(named: $0) }
        destination = mapping.destinationEntityName.flatMap { new.entity(named: $0) }
        isPlain = !mapping.hasPolicy
        func misfit(_ message: String, key: String? = nil) -> StoreError {
            StoreError(
                .missingMappingModel,
                "the mapping model does not fit: the entity mapping \(mapping.name): \(message)",
                context: .init(
                    entity: mapping.destinationEntityName ?? mapping.sourceEntityName, key: key))
        }
        if let name = mapping.entityMigrationPolicyClassName {
            guard let type = mapping.entityMigrationPolicy ?? policies.policy(named: name)
            else {
                throw misfit("no class was passed for its policy \(name): pass it in policies")
            }
            policy = type.init()
        } else {
            policy = EntityMigrationPolicy()
        }
        let functions = policy.functions
        self.functions = functions
        for property in mapping.attributeMappings + mapping.relationshipMappings {
            var missing: String?
            property.valueExpression?.forEachNode { node in
                if case .call(.variable(MappingTerms.entityPolicy), let name, _) = node,
                    functions[name] == nil
                {
                    missing = missing ?? name
                }
            }
            if let missing {
                throw misfit("its policy has no function \(missing)", key: property.name)
            }
        }
        var plans: [[PropertyPlan]] = []
        for properties in [mapping.attributeMappings, mapping.relationshipMappings] {
            var ready: [PropertyPlan] = []
            for property in properties {
                guard let destination else { break }
                do throws(PredicateFormatError) {
                    ready += try PropertyPlan.plans(of: property, from: source, to: destination)
                } catch {
                    throw misfit("\(error)", key: property.name)
                }
            }
            plans.append(ready)
        }
        (attributes, relationships) = (plans[0], plans[1])
    }

    /// Whether it goes over the objects of its old entity.
    var goesOverObjects: Bool { source != nil && (!isPlain || destination != nil) }

    /// Whether it goes over the new objects again to connect them.
    var connects: Bool { !isPlain || !relationships.isEmpty }
}

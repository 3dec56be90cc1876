// Whether a model that was given is the one that a store has in it, as far as that says what is stored.
//
// Core Data's hashes cannot be computed by anybody else: a store that has its model is asked that, others are asked
// whether they have the entities, tables and columns (`SourceLayout`).

import CairnModel

enum ModelComparison {
    /// The most differences that are told.
    private static let most = 5

    /// In what a given model differs from the store's own; empty if in nothing that is stored.
    static func differences(_ given: Schema, from own: ManagedObjectModel) -> [String] {
        var differences: [String] = []
        for entity in own.entities {
            guard let other = given.entity(named: entity.name)?.description else {
                differences.append("the model has no entity \(entity.name)")
                continue
            }
            if entity.superentityName != other.superentityName {
                differences.append(
                    "\(entity.name) inherits from \(entity.superentityName ?? "nothing") in the store and from \(other.superentityName ?? "nothing") in the model"
                )
            }
            compare(
                entity.name,
                entity.attributes.filter { !$0.isTransient }.map { ($0.name, $0.type.rawValue) },
                other.attributes.filter { !$0.isTransient }.map { ($0.name, $0.type.rawValue) },
                &differences)
            compare(
                entity.name, entity.relationships.filter { !$0.isTransient }.map(outline),
                other.relationships.filter { !$0.isTransient }.map(outline), &differences)
        }
        guard differences.count > most else { return differences }
        return Array(differences.prefix(most)) + ["and \(differences.count - most) more"]
    }

    private static func outline(_ relationship: RelationshipDescription) -> (String, String) {
        let count = relationship.isToMany ? "to-many" : "to-one"
        let order = relationship.isOrdered ? ", ordered" : ""
        return (
            relationship.name, "\(count)\(order), to \(relationship.destinationEntityName)"
        )
    }

    private static func compare(
        _ entity: String, _ own: [(String, String)], _ given: [(String, String)],
        _ differences: inout [String]
    ) {
        let others = Dictionary(given) { first, _ in first }
        let names = Set(own.map(\.0))
        for (name, what) in own {
            guard let other = others[name] else {
                differences.append("the model has no \(entity).\(name)")
                continue
            }
            if what != other {
                differences.append(
                    "\(entity).\(name) is \(what) in the store and \(other) in the model")
            }
        }
        for (name, _) in given where !names.contains(name) {
            differences.append("the store has no \(entity).\(name)")
        }
    }
}

// The catalog of a migrated store, derived from the previous catalog and a migration plan.                        Format 70
//
//   1. Entities, trees and properties that the plan finds again keep their numbers, whatever they are called and wherever they
//      stand in the hierarchy; what is new gets numbers that nothing ever had.
//   2. For each column it is noted what stands for what older blocks do not have of it (`ColumnPast`).
//   3. What of the old state serves the new one as it is: trees, inverse tables, unique indexes, pairs. All else that the new
//      catalog has is built by whoever carries out the plan.
//
// A part of a hierarchy that becomes one of its own gets a new tree, in which properties keep their numbers.
//
// It changes nothing and writes nothing.
//
// Threads: a value.

package import CairnModel

/// A catalog derived from the previous one, and what they have in common.
package struct CatalogSuccessor: Sendable {
    /// The new catalog, of the version behind that of the old one. It has no place in the log yet.
    package let catalog: Catalog
    /// By tree: the old tree with the same objects; nil if it is new, or its objects come from a part of one.
    package let trees: [Int?]
    /// By entity, hidden ones too: the old entity with the same rows; nil if it is new, or its rows have to be built.
    package let entities: [Int?]
    /// By reference column: the old one whose inverse table serves; nil if it has to be built.
    package let references: [Int?]
    /// By unique index: the old one that serves; nil if it has to be built.
    package let uniques: [Int?]
    /// The old entities, hidden ones too, whose rows go.
    package let droppedEntities: [Int]

    /// Makes the catalog that follows one.
    ///
    /// - Parameter plan: one from the catalog's schema, or one that names the same things in the same order.
    package init(of old: Catalog, _ plan: ModelMigrationPlan) {
        precondition(
            plan.oldSchema.entities.map(\.name) == old.schema.entities.map(\.name),
            "the plan starts from the catalog's schema")
        let numbers = KeptNumbers(old, plan)
        let catalog = Catalog(
            plan.newSchema, version: old.version + 1, numbers, metadata: old.metadata)
        self.catalog = catalog
        let entities = catalog.entities.indices.map { numbers.source(of: $0) }
        self.entities = entities
        trees = catalog.trees.map { tree in
            numbers.isSplitOff(root: tree.root) ? nil : old.treeIndex(id: tree.id)
        }
        droppedEntities = old.entities.indices.filter { !entities.contains($0) }
        references = catalog.references.map { Self.source(of: $0, catalog, old, numbers) }
        uniques = catalog.uniques.map { Self.source(of: $0, catalog, old, plan, numbers) }
    }

    /// The old reference with an inverse table that serves a new one: of the same column in all who have it, and of no other
    /// entity's rows.
    private static func source(
        of reference: Catalog.ReferenceDefinition, _ catalog: Catalog, _ old: Catalog,
        _ numbers: KeptNumbers
    ) -> Int? {
        guard old.treeIndex(id: catalog.trees[reference.target].id) != nil else { return nil }
        var found: Int?
        var members: Set<Int> = []
        for member in catalog.family(of: reference.entity) {
            guard let source = numbers.source(of: member) else { continue }
            guard let column = numbers.column(reference.column, of: member) else {
                // Who has no reference yet is not in the table either.
                if numbers.isBuilt(reference.column, of: member) { return nil }
                continue
            }
            let before = old.entities[source].references.first {
                old.references[$0].column == column
            }
            guard let before, found == nil || found == before else { return nil }
            found = before
            members.insert(source)
        }
        guard let found else { return nil }
        // Rows of others, which have lost the reference, must not be found by it.
        let users = old.family(of: old.references[found].entity)
        let hasOthers = users.contains {
            !members.contains($0) && !old.description(of: $0).isAbstract
        }
        return hasOthers ? nil : found
    }

    private static func source(
        of unique: Catalog.UniqueDefinition, _ catalog: Catalog, _ old: Catalog,
        _ plan: ModelMigrationPlan, _ numbers: KeptNumbers
    ) -> Int? {
        // Keys are noted by the plan without the hidden entities, which have one index each.
        guard unique.entity < catalog.schema.entities.count else {
            let pairs = plan.pairs[unique.entity - catalog.schema.entities.count]
            guard !pairs.isTurned, let source = numbers.source(of: unique.entity) else {
                return nil
            }
            return old.uniques.firstIndex { $0.entity == source }
        }
        let entity = catalog.schema.entities[unique.entity]
        let planned = plan.constraints.first { constraint in
            constraint.entity == unique.entity
                && entity.constraints[constraint.constraint].columns == unique.columns
                && entity.constraints[constraint.constraint].rule === unique.form.rule
        }
        guard let source = planned?.source else { return nil }
        let constraint = old.schema.entities[source.entity].constraints[source.constraint]
        // The rows of an entity that goes are in the index still: it serves only without them.
        let rest = old.schema.entities[constraint.declaringEntity].family
        guard rest.allSatisfy({ plan.newSource(isOf: $0) || old.schema.entities[$0].isAbstract })
        else { return nil }
        return old.uniques.firstIndex { candidate in
            candidate.entity == constraint.declaringEntity
                && candidate.columns == constraint.columns
                && candidate.form.rule?.rule == constraint.options
        }
    }
}

extension ModelMigrationPlan {
    /// Whether some entity of the new model comes from an old one.
    fileprivate func newSource(isOf entity: Int) -> Bool {
        entities.contains { $0.sourceIndex == entity }
    }
}

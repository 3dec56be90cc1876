// The catalog of a migrated store, derived from the previous catalog and a migration plan.          Format 70
//
//   1. Entities, trees and properties that the plan finds in the old model keep their numbers, whatever their
//      names and their positions in the hierarchy; new ones get numbers that were never used.
//   2. For each column it is recorded what replaces cells that older blocks lack (`ColumnPast`).
//   3. It is determined which parts of the old state serve the new one unchanged: trees, inverse tables,
//      unique indexes, pairs. The caller that executes the plan builds everything else in the new catalog.
//
// A part of a hierarchy that becomes a separate hierarchy gets a new tree, in which properties keep their
// numbers.
//
// It changes nothing and writes nothing.
//
// Threads: a value.

package import CairnModel

/// A catalog derived from the previous one, and what they have in common.
package struct CatalogSuccessor: Sendable {
    /// The new catalog, one version after the old one. It has no place in the log yet.
    package let catalog: Catalog
    /// By tree: the old tree with the same objects; nil if it is new, or its objects come from a part of one.
    package let trees: [Int?]
    /// By entity, including hidden ones: the old entity with the same rows; nil if it is new, or its rows
    /// must be built.
    package let entities: [Int?]
    /// By reference column: the old one whose inverse table serves; nil if it must be built.
    package let references: [Int?]
    /// By unique index: the old one that serves; nil if it must be built.
    package let uniques: [Int?]
    /// The old entities, including hidden ones, whose rows are deleted.
    package let droppedEntities: [Int]

    /// Creates the catalog that follows another one.
    ///
    /// - Parameter plan: a plan from the catalog's schema, or from one that names the same things in the same
    ///   order.
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

    /// The old reference whose inverse table serves a new one: it is the same column in all entities that
    /// have it, and has no rows of another entity.
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
                // Rows without the reference are not in the table either.
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
        // Rows of other entities, which have lost the reference, must not be found through it.
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
        // The plan lists keys without the hidden entities, which have one index each.
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
        // The rows of a removed entity are still in the index, which serves only without them.
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
    /// Whether an entity of the new model comes from an old one.
    fileprivate func newSource(isOf entity: Int) -> Bool {
        entities.contains { $0.sourceIndex == entity }
    }
}

// The numbers that a migration plan takes from an old catalog.                                    Format 70.5
//
// Threads: a value.

import CairnFormat
import CairnModel

/// The numbers that a migration plan takes from an old catalog.
struct KeptNumbers: KnownNumbers {
    let old: Catalog
    let plan: ModelMigrationPlan

    init(_ old: Catalog, _ plan: ModelMigrationPlan) {
        self.old = old
        self.plan = plan
    }

    private var count: Int { plan.newSchema.entities.count }

    var next: CatalogNumbers {
        var next = old.next
        // If both store the same, returning to the old version loses nothing.
        let keepsTheSame = plan.newSchema.ordered(like: plan.oldSchema)?
            .hasSameForm(as: plan.oldSchema)
        if keepsTheSame != true {
            next.leave(
                old.storedModel.versionChecksum, for: plan.newSchema.model.versionChecksum)
        }
        return next
    }

    // MARK: Entities

    /// The old entity of a new one, hidden ones included.
    ///
    /// An entity that would move into the number space of another hierarchy has no numbers there: that
    /// requires a mapping.
    func source(of entity: Int) -> Int? {
        guard entity >= count else {
            guard let source = plan.entities[entity].sourceIndex,
                tree(ofRoot: plan.newSchema.entities[entity].root) == old.entities[source].tree
            else { return nil }
            return source
        }
        return plan.pairs[entity - count].kept.map { old.entityIndex(ofPairs: $0) }
    }

    func entityID(_ entity: Int) -> UInt32? { source(of: entity).map { old.entities[$0].id } }

    /// Whether a hierarchy comes from a part of an old one.
    func isSplitOff(root: Int) -> Bool {
        plan.hierarchies.contains { $0.root == root && $0.isSplitOff }
    }

    /// The old tree that provides the properties of a new one with this root.
    func tree(ofRoot root: Int) -> Int? {
        if root >= count { return source(of: root).map { old.entities[$0].tree } }
        let hierarchy = plan.hierarchies.first { $0.root == root }
        return hierarchy?.source.map { old.entities[$0].tree }
    }

    func treeID(ofRoot root: Int) -> UInt32? {
        isSplitOff(root: root) ? nil : tree(ofRoot: root).map { old.trees[$0].id }
    }

    /// Properties in a part that left a hierarchy keep their numbers too.
    func nextProperty(ofRoot root: Int) -> UInt32? {
        tree(ofRoot: root).map { old.next.properties[$0] }
    }

    // MARK: Columns

    /// The old column of a new one.
    func column(_ column: Int, of entity: Int) -> Int? {
        guard entity >= count else { return plan.entities[entity].columns[column].sourceIndex }
        let pairs = plan.pairs[entity - count]
        guard pairs.kept != nil else { return nil }
        return pairs.isTurned ? 1 - column : column
    }

    /// Whether the references of a column were stored differently before.
    func isBuilt(_ column: Int, of entity: Int) -> Bool {
        entity >= count || plan.entities[entity].columns[column].origin == .links
    }

    /// A new entity has the id of the entity from which it inherits. An existing entity that did not have the
    /// column gets a new one: its blocks may hold earlier values under the old id.
    func propertyID(_ column: Int, of entity: Int) -> UInt32? {
        if entity < count, plan.entities[entity].source == nil {
            let declaring = plan.newSchema.entities[entity].columns[column].declaringEntity
            return declaring == entity ? nil : propertyID(column, of: declaring)
        }
        guard let source = source(of: entity), let index = self.column(column, of: entity) else {
            return nil
        }
        return old.entities[source].columns[index].propertyID
    }

    func orderID(besides column: Int, of entity: Int) -> UInt32? {
        if entity < count, plan.entities[entity].source == nil {
            let declaring = plan.newSchema.entities[entity].columns[column].declaringEntity
            return declaring == entity ? nil : orderID(besides: column, of: declaring)
        }
        guard let source = source(of: entity), let index = self.column(column, of: entity) else {
            return nil
        }
        return old.entities[source].orders.first { $0.reference == index }?.column.propertyID
    }

    func past(of column: Int, _ entity: Int) -> ColumnPast? {
        guard entity < count else { return nil }
        let version = old.version + 1
        let planned = plan.entities[entity].columns[column]
        guard let source = source(of: entity), let index = planned.sourceIndex else {
            let past = ColumnPast(
                since: version,
                initialValue: plan.entities[entity].source == nil
                    ? .null : PastCell(planned.initialValue))
            return past.isPlain ? nil : past
        }
        var past = old.entities[source].columns[index].past ?? ColumnPast()
        if let conversion = planned.conversion { past.convert(conversion) }
        if !planned.nilValue.isNull { past.require(since: version, PastCell(planned.nilValue)) }
        return past.isPlain ? nil : past
    }
}

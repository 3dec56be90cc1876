// Gives numbers to what a schema names.
//
// Ids of entities and trees count from 1 over the store, ids of properties from 1 over each tree.

import CairnModel
import CairnStore

extension Catalog {
    /// A catalog for a new store, or one whose schema was written in an earlier version.
    ///
    /// - Parameter keepsOrder: false for one that was written before there were order keys.
    convenience init(new schema: Schema, version: UInt32 = 1, keepsOrder: Bool = true) {
        var builder = CatalogBuilder(schema, keepsOrder: keepsOrder)
        builder.build()
        self.init(
            schema: schema, version: version, trees: builder.trees, entities: builder.entities,
            uniques: builder.uniques, references: builder.references,
            fetchIndexes: Catalog.fetchIndexes(of: schema.model, in: schema))
    }
}

extension Catalog {
    /// What of it is more than a store can hold; nil if nothing is.                                  Format 10.5
    var excess: String? {
        Self.excess(entities: entities.count, columns: entities.map(\.allColumns.count).max() ?? 0)
    }

    /// Positions of entities and counts of columns have 16 bits; a block has two columns of its own.
    static func excess(entities: Int, columns: Int) -> String? {
        if entities > 1 << 16 {
            return "the model has \(entities) entities, and a store can have 65536"
        }
        if columns > Int(UInt16.max) - 2 {
            return "an entity of the model has \(columns) columns, and can have 65533"
        }
        return nil
    }
}

private struct CatalogBuilder {
    let schema: Schema
    let keepsOrder: Bool
    var trees: [Catalog.Tree] = []
    var entities: [Catalog.StoredEntity] = []
    var uniques: [Catalog.UniqueDefinition] = []
    var references: [Catalog.ReferenceDefinition] = []
    /// By entity of the schema: the tree that it is the root of.
    private var treeOfRoot: [Int?]
    private var nextProperty: [UInt32] = []
    /// Property ids by declaring entity and column name, so that descendants share them.
    private var propertyIDs: [String: UInt32] = [:]

    init(_ schema: Schema, keepsOrder: Bool) {
        self.schema = schema
        self.keepsOrder = keepsOrder
        treeOfRoot = Array(repeating: nil, count: schema.entities.count)
    }

    mutating func build() {
        for entity in schema.entities where entity.parent == nil {
            treeOfRoot[entity.index] = trees.count
            addTree(root: entity.index)
        }
        for index in schema.pairs.indices { addTree(root: schema.entities.count + index) }
        // Indexes first: entities list those they take part in.
        for entity in schema.entities {
            for constraint in entity.constraints where constraint.declaringEntity == entity.index {
                uniques.append(
                    Catalog.UniqueDefinition(
                        entity: entity.index, columns: constraint.columns, names: constraint.names,
                        rule: constraint.rule, in: entity))
            }
            for (column, description) in entity.columns.enumerated()
            where description.declaringEntity == entity.index {
                guard case .reference(let root) = description.kind,
                    let relationship = description.relationship
                else { continue }
                references.append(
                    Catalog.ReferenceDefinition(
                        entity: entity.index, column: column, target: tree(ofRoot: root),
                        rule: rule(of: entity.relationships[relationship]),
                        order: keepsOrder
                            ? schema.orderedReferences[entity.index].firstIndex(of: column) : nil))
            }
        }
        let ordinary = references.count
        for (index, pairs) in schema.pairs.enumerated() { addPairIndexes(index, pairs) }
        // Order keys are numbered behind all else, so that a store gets them without a change of other numbers.
        for entity in schema.entities {
            for column in entity.columns { _ = propertyID(of: column, in: entity) }
        }
        for entity in schema.entities { addEntity(entity, references: references[..<ordinary]) }
        for (index, pairs) in schema.pairs.enumerated() { addPairEntity(index, pairs) }
    }

    /// What happens to the row when the target goes: the rule of the way back, or nullify without one.
    private func rule(of relationship: SchemaRelationship) -> DeleteRule {
        guard let inverse = relationship.inverse else { return .nullify }
        return schema.entities[relationship.destination].relationships[inverse].description
            .deleteRule
    }

    private mutating func addTree(root: Int) {
        trees.append(Catalog.Tree(id: UInt32(trees.count + 1), root: root))
        nextProperty.append(1)
    }

    private func tree(ofRoot root: Int) -> Int {
        guard let tree = treeOfRoot[root] else { preconditionFailure("a root entity has a tree") }
        return tree
    }

    private mutating func propertyID(tree: Int, key: String) -> UInt32 {
        if let known = propertyIDs[key] { return known }
        let id = nextProperty[tree]
        nextProperty[tree] += 1
        propertyIDs[key] = id
        return id
    }

    private mutating func propertyID(of column: SchemaColumn, in entity: SchemaEntity) -> UInt32 {
        propertyID(
            tree: tree(ofRoot: entity.root), key: "\(column.declaringEntity).\(column.name)")
    }

    /// The order key beside a reference.
    private mutating func order(
        of reference: Int, tree: Int, key: String, beside columns: [Catalog.StoredColumn]
    ) -> Catalog.StoredOrder {
        var name = columns[reference].name + ".order"
        // Names of attributes may have dots.
        while columns.contains(where: { $0.name == name }) { name += "_" }
        return Catalog.StoredOrder(
            column: Catalog.StoredColumn(
                propertyID: propertyID(tree: tree, key: key + "#order"), name: name, kind: .integer,
                target: nil), reference: reference)
    }

    private mutating func addEntity(
        _ entity: SchemaEntity, references: ArraySlice<Catalog.ReferenceDefinition>
    ) {
        let tree = tree(ofRoot: entity.root)
        var columns: [Catalog.StoredColumn] = []
        for column in entity.columns {
            var target: Int?
            if case .reference(let root) = column.kind { target = self.tree(ofRoot: root) }
            columns.append(
                Catalog.StoredColumn(
                    propertyID: propertyID(of: column, in: entity),
                    name: column.name, kind: ColumnBuffer.Kind(column), target: target))
        }
        let orders = (keepsOrder ? schema.orderedReferences[entity.index] : []).map { reference in
            let column = entity.columns[reference]
            return order(
                of: reference, tree: tree, key: "\(column.declaringEntity).\(column.name)",
                beside: columns)
        }
        entities.append(
            Catalog.StoredEntity(
                id: UInt32(entities.count + 1), name: entity.name, tree: tree, isHidden: false,
                columns: columns, orders: orders,
                uniques: uniques.indices.filter { index in
                    uniques[index].entity < schema.entities.count
                        && schema.entities[uniques[index].entity].family.contains(entity.index)
                },
                references: references.indices.filter { index in
                    schema.entities[references[index].entity].family.contains(entity.index)
                }))
    }

    private mutating func addPairIndexes(_ index: Int, _ pairs: SchemaPairs) {
        let entity = schema.entities.count + index
        uniques.append(
            Catalog.UniqueDefinition(
                entity: entity, columns: [0, 1], names: ["source", "destination"]))
        for (column, side) in [pairs.source, pairs.destination].enumerated() {
            references.append(
                Catalog.ReferenceDefinition(
                    entity: entity, column: column,
                    target: tree(ofRoot: schema.entities[side].root),
                    rule: .cascade,
                    order: keepsOrder
                        ? schema.orderedEnds(of: pairs).firstIndex(of: column) : nil))
        }
    }

    private mutating func addPairEntity(_ index: Int, _ pairs: SchemaPairs) {
        let entity = entities.count
        guard let tree = trees.firstIndex(where: { $0.root == entity }) else {
            preconditionFailure("the hidden entity of pairs has a tree")
        }
        let sides = [("source", pairs.source), ("destination", pairs.destination)]
        let columns = sides.map { name, side in
            Catalog.StoredColumn(
                propertyID: propertyID(tree: tree, key: "\(entity).\(name)"), name: name,
                kind: .integer, target: self.tree(ofRoot: schema.entities[side].root))
        }
        let orders = (keepsOrder ? schema.orderedEnds(of: pairs) : []).map { end in
            order(
                of: end, tree: tree, key: "\(entity).\(columns[end].name)", beside: columns)
        }
        entities.append(
            Catalog.StoredEntity(
                id: UInt32(entity + 1), name: pairs.name, tree: tree, isHidden: true,
                columns: columns, orders: orders,
                uniques: uniques.indices.filter { uniques[$0].entity == entity },
                references: references.indices.filter { references[$0].entity == entity }))
    }
}

// Assigns numbers to the elements of a schema.
//
// Ids of entities and trees count from 1 over the store, ids of properties from 1 over each tree.

package import CairnModel
import CairnStore

extension Catalog {
    /// Creates a catalog for a new store, or for a schema that was written in an earlier version.
    ///
    /// - Parameter keepsOrder: false for a catalog from before order keys existed.
    package convenience init(new schema: Schema, version: UInt32 = 1, keepsOrder: Bool = true) {
        var builder = CatalogBuilder(schema, keepsOrder: keepsOrder)
        builder.build()
        self.init(
            schema: schema, version: version, trees: builder.trees, entities: builder.entities,
            uniques: builder.uniques, references: builder.references,
            fetchIndexes: Catalog.fetchIndexes(of: schema.model, in: schema))
    }

    /// A catalog some of whose numbers are known: one that follows another, or one that was read.
    convenience init(
        _ schema: Schema, version: UInt32, _ known: any KnownNumbers,
        metadata: StoredMetadata? = nil
    ) {
        var builder = CatalogBuilder(schema, keepsOrder: true, known: known)
        builder.build()
        self.init(
            schema: schema, version: version, trees: builder.trees, entities: builder.entities,
            uniques: builder.uniques, references: builder.references,
            fetchIndexes: Catalog.fetchIndexes(of: schema.model, in: schema),
            metadata: metadata, next: builder.next, isMigrated: true)
    }
}

extension Catalog {
    /// The limit of a store that the catalog exceeds, in words; nil if there is none.  Format 10.5
    package var excess: String? {
        Self.excess(entities: entities.count, columns: entities.map(\.allColumns.count).max() ?? 0)
    }

    /// Positions of entities and counts of columns have 16 bits; a block has two columns of its own.
    static func excess(entities: Int, columns: Int) -> String? {
        if entities > 1 << 16 {
            return "the model has \(entities) entities, but a store can have 65536"
        }
        if columns > Int(UInt16.max) - 2 {
            return "an entity of the model has \(columns) columns, but can have 65533"
        }
        return nil
    }
}

private struct CatalogBuilder {
    let schema: Schema
    let keepsOrder: Bool
    /// The known numbers; nil if there are none.
    let known: (any KnownNumbers)?
    private(set) var next: CatalogNumbers
    var trees: [Catalog.Tree] = []
    var entities: [Catalog.StoredEntity] = []
    var uniques: [Catalog.UniqueDefinition] = []
    var references: [Catalog.ReferenceDefinition] = []
    /// By entity of the schema: the tree that it is the root of.
    private var treeOfRoot: [Int?]
    /// Property ids by declaring entity and column name, so that descendants share them.
    private var propertyIDs: [String: UInt32] = [:]

    init(_ schema: Schema, keepsOrder: Bool, known: (any KnownNumbers)? = nil) {
        self.schema = schema
        self.keepsOrder = keepsOrder
        self.known = known
        next = known?.next ?? CatalogNumbers()
        next.properties = []
        treeOfRoot = Array(repeating: nil, count: schema.entities.count)
    }

    mutating func build() {
        for entity in schema.entities where entity.parent == nil {
            treeOfRoot[entity.index] = trees.count
            addTree(root: entity.index)
        }
        for index in schema.pairs.indices { addTree(root: schema.entities.count + index) }
        // Indexes first, because entities list those that they take part in.
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
        // Order keys are numbered after everything else, so that a store gets them without changing other
        // numbers.
        for entity in schema.entities {
            for column in entity.columns.indices { _ = propertyID(column, of: entity) }
        }
        for entity in schema.entities { addEntity(entity, references: references[..<ordinary]) }
        for (index, pairs) in schema.pairs.enumerated() { addPairEntity(index, pairs) }
    }

    /// What happens to the row when its target is deleted: the rule of the inverse, or nullify without one.
    private func rule(of relationship: SchemaRelationship) -> DeleteRule {
        guard let inverse = relationship.inverse else { return .nullify }
        return schema.entities[relationship.destination].relationships[inverse].description
            .deleteRule
    }

    private mutating func addTree(root: Int) {
        let id = known?.treeID(ofRoot: root)
        trees.append(Catalog.Tree(id: id ?? next.tree, root: root))
        if id == nil { next.tree += 1 }
        next.properties.append(known?.nextProperty(ofRoot: root) ?? 1)
    }

    /// The id of a known entity, or the next one.
    private mutating func entityID(_ entity: Int) -> UInt32 {
        if let id = known?.entityID(entity) { return id }
        defer { next.entity += 1 }
        return next.entity
    }

    private func tree(ofRoot root: Int) -> Int {
        guard let tree = treeOfRoot[root] else { preconditionFailure("a root entity has a tree") }
        return tree
    }

    private mutating func propertyID(tree: Int, key: String) -> UInt32 {
        if let known = propertyIDs[key] { return known }
        let id = next.properties[tree]
        next.properties[tree] += 1
        propertyIDs[key] = id
        return id
    }

    private mutating func propertyID(_ index: Int, of entity: SchemaEntity) -> UInt32 {
        if let id = known?.propertyID(index, of: entity.index) { return id }
        let column = entity.columns[index]
        return propertyID(
            tree: tree(ofRoot: entity.root), key: "\(column.declaringEntity).\(column.name)")
    }

    /// The order key next to a reference.
    private mutating func order(
        of reference: Int, _ entity: Int, tree: Int, key: String,
        beside columns: [Catalog.StoredColumn]
    ) -> Catalog.StoredOrder {
        var name = columns[reference].name + ".order"
        // Names of attributes may contain dots.
        while columns.contains(where: { $0.name == name }) { name += "_" }
        return Catalog.StoredOrder(
            column: Catalog.StoredColumn(
                propertyID: known?.orderID(besides: reference, of: entity)
                    ?? propertyID(tree: tree, key: key + "#order"), name: name, kind: .integer,
                target: nil), reference: reference)
    }

    private mutating func addEntity(
        _ entity: SchemaEntity, references: ArraySlice<Catalog.ReferenceDefinition>
    ) {
        let tree = tree(ofRoot: entity.root)
        var columns: [Catalog.StoredColumn] = []
        for (index, column) in entity.columns.enumerated() {
            var target: Int?
            if case .reference(let root) = column.kind { target = self.tree(ofRoot: root) }
            columns.append(
                Catalog.StoredColumn(
                    propertyID: propertyID(index, of: entity),
                    name: column.name, kind: ColumnBuffer.Kind(column), target: target,
                    past: known?.past(of: index, entity.index)))
        }
        let orders = (keepsOrder ? schema.orderedReferences[entity.index] : []).map { reference in
            let column = entity.columns[reference]
            return order(
                of: reference, entity.index, tree: tree,
                key: "\(column.declaringEntity).\(column.name)",
                beside: columns)
        }
        entities.append(
            Catalog.StoredEntity(
                id: entityID(entity.index), name: entity.name, tree: tree, isHidden: false,
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
        let columns = sides.enumerated().map { index, end in
            let (name, side) = end
            return Catalog.StoredColumn(
                propertyID: known?.propertyID(index, of: entity)
                    ?? propertyID(tree: tree, key: "\(entity).\(name)"), name: name,
                kind: .integer, target: self.tree(ofRoot: schema.entities[side].root))
        }
        let orders = (keepsOrder ? schema.orderedEnds(of: pairs) : []).map { end in
            order(
                of: end, entity, tree: tree, key: "\(entity).\(columns[end].name)", beside: columns)
        }
        entities.append(
            Catalog.StoredEntity(
                id: entityID(entity), name: pairs.name, tree: tree, isHidden: true,
                columns: columns, orders: orders,
                uniques: uniques.indices.filter { uniques[$0].entity == entity },
                references: references.indices.filter { references[$0].entity == entity }))
    }
}

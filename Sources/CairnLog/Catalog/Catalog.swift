// The physical layout of a schema, with permanent numbers for what a store contains.
//
// A schema's indexes change with the model; the numbers here are written into blocks and ids, and are never
// changed or reused. A *tree* is an entity hierarchy, or the hidden entity of a relationship that is stored
// as pairs; it has one number space. An *entity* here is one of the schema, or such a hidden one. Hidden
// entities come after those of the schema, so that the first `schema.entities.count` entries have the same
// index in both.
//
// Invariants: a catalog never changes; `entities[i]` is the schema's entity i for i < schema.entities.count;
// the column order of an entity is the schema's.
// Threads: immutable, so any.

package import CairnFormat
package import CairnModel
package import CairnStore

/// The physical layout of a schema.
package final class Catalog: Sendable {
    /// The schema: that of the model with which the store was opened, if it stores the same as the store's
    /// own.
    package let schema: Schema
    /// The model in the schema frame. It agrees with the schema about what is stored.
    package let storedModel: ManagedObjectModel
    /// The version, which increases by one with each schema frame.
    package let version: UInt32
    /// The place of its schema frame; `none` before that is written.
    package let place: Place
    /// The trees. The engine uses indexes into this; the ids are what is written.
    package let trees: [Tree]
    /// The trees by ascending ids, the order in which counters are written.
    let treesInOrder: [Int]
    /// The entities of the schema, then the hidden ones.
    package let entities: [StoredEntity]
    /// The unique indexes.
    package let uniques: [UniqueDefinition]
    /// The reference columns, each with an inverse table.
    package let references: [ReferenceDefinition]

    /// The fetch indexes.
    package let fetchIndexes: [FetchIndexDefinition]
    /// By entity: the fetch indexes that contain its rows, as indexes of `fetchIndexes`.
    package let fetchIndexesOfEntity: [[Int]]
    /// Whether there are fetch indexes.
    package let hasFetchIndexes: Bool
    /// Whether a constraint has options.
    package let hasKeyRules: Bool
    /// Whether clearing a reference may give its row a key.
    let hasReferenceRules: Bool
    /// Whether it has order keys for every ordered relationship. A catalog that was written before order keys
    /// existed has none: then objects are ordered by their numbers.
    package let keepsOrder: Bool
    /// The current metadata; nil if there never were any. They are part of the catalog because they change as
    /// rarely.
    package let metadata: StoredMetadata?
    /// Whether commits are recorded for the history.
    package let tracksHistory: Bool
    /// By entity of the schema: the columns whose values are kept when an object is deleted.
    let preserved: [[Int]]
    /// The numbers for new elements.
    package let next: CatalogNumbers
    /// Whether the store's model has been migrated: then numbers no longer follow from the model, and blocks
    /// of earlier versions may belong to removed entities.
    package let isMigrated: Bool
    /// The identity of its entities, columns and indexes: catalogs that differ only in their metadata share
    /// it.
    let layout: CatalogLayout

    private let entityIndexes: [UInt32: Int]
    private let treeIndexes: [UInt32: Int]

    /// A number space.
    package struct Tree: Sendable {
        /// The id that is written for it.
        package let id: UInt32
        /// Its root entity, as an index of `entities`.
        package let root: Int
    }

    /// An entity that has rows. A class, because every block of it refers to it.
    package final class StoredEntity: Sendable {
        /// The id that is written for it.
        package let id: UInt32
        package let name: String
        /// The tree it belongs to, as an index of `trees`.
        package let tree: Int
        /// Whether it is the hidden entity of a relationship that is stored as pairs.
        package let isHidden: Bool
        package let columns: [StoredColumn]
        /// The order keys of its rows; those of a parent come first, so that each has the same position in
        /// all descendants.
        package let orders: [StoredOrder]
        /// The columns, then the order keys: everything that a row has.
        package let allColumns: [StoredColumn]
        /// Whether these are in the order of their property ids, as blocks have them. After a migration they
        /// may not be.
        let isInOrder: Bool
        /// The unique indexes that contain its rows, as indexes of `uniques`.
        package let uniques: [Int]
        /// Its reference columns, as indexes of `references`.
        package let references: [Int]

        init(
            id: UInt32, name: String, tree: Int, isHidden: Bool, columns: [StoredColumn],
            orders: [StoredOrder], uniques: [Int], references: [Int]
        ) {
            self.id = id
            self.name = name
            self.tree = tree
            self.isHidden = isHidden
            self.columns = columns
            self.orders = orders
            let allColumns = orders.isEmpty ? columns : columns + orders.map(\.column)
            self.allColumns = allColumns
            isInOrder = zip(allColumns, allColumns.dropFirst()).allSatisfy {
                $0.propertyID < $1.propertyID
            }
            self.uniques = uniques
            self.references = references
        }
    }

    /// The order of a list: a number next to the reference to the list's owner.
    package struct StoredOrder: Sendable {
        /// The column of the key.
        package let column: StoredColumn
        /// The reference, as a column of the entity.
        package let reference: Int
    }

    /// A column as it is stored.
    package struct StoredColumn: Sendable {
        package let propertyID: UInt32
        package let name: String
        package let kind: ColumnBuffer.Kind
        /// For references: the tree of the targets, as an index of `trees`.
        package let target: Int?
        /// What replaces cells that older blocks lack; nil if every cell of every block is read as it is.
        package var past: ColumnPast?
    }

    /// The index of a uniqueness constraint.
    package struct UniqueDefinition: Sendable {
        /// The entity that declares it, as an index of `entities`.
        package let entity: Int
        /// The form of its keys.
        package let form: KeyForm
        package let names: [String]
        /// The constraint in words: its names and its options.
        let words: String
        /// The index in a query plan.
        let plan: String

        /// Its columns, by index in that entity and all its descendants.
        package var columns: [Int] { form.columns }

        /// Whether it has no options: every row without a nil part has an entry, with its values as they are.
        package var isPlain: Bool { form.rule == nil }

        init(
            entity: Int, columns: [Int], names: [String], rule: KeyRule? = nil,
            in description: SchemaEntity? = nil
        ) {
            self.entity = entity
            self.names = names
            form = KeyForm(columns, rule, description)
            let remarks = rule.map { ": " + $0.rule.remarks.joined(separator: ", ") } ?? ""
            words = names.joined(separator: ", ") + remarks
            plan = "unique index (\(words))"
        }

        /// A key in words: `code = "LHR", terminal = 4`.
        ///
        /// - Parameter value: returns the value of a column.
        func text(_ value: (Int) -> Value) -> String {
            zip(names, columns).map { "\($0) = \(value($1))" }.joined(separator: ", ")
        }
    }

    /// A to-one column's inverse table.
    package struct ReferenceDefinition: Sendable {
        /// The entity that declares it, as an index of `entities`.
        package let entity: Int
        /// The column, by index in that entity and all its descendants.
        package let column: Int
        /// The tree of the targets, as an index of `trees`.
        package let target: Int
        /// What happens to the row when its target is deleted.
        package let rule: DeleteRule
        /// The position of the order key among those of the row, if the targets keep their sources in order.
        package let order: Int?
    }

    init(
        schema: Schema, storedModel: ManagedObjectModel? = nil, version: UInt32,
        place: Place = .none, trees: [Tree],
        entities: [StoredEntity],
        uniques: [UniqueDefinition], references: [ReferenceDefinition],
        fetchIndexes: [FetchIndexDefinition] = [], metadata: StoredMetadata? = nil,
        next: CatalogNumbers? = nil, isMigrated: Bool = false,
        layout: CatalogLayout = CatalogLayout()
    ) {
        self.schema = schema
        self.storedModel = storedModel ?? schema.model
        self.version = version
        self.place = place
        self.trees = trees
        treesInOrder = trees.indices.sorted { trees[$0].id < trees[$1].id }
        self.entities = entities
        self.uniques = uniques
        self.references = references
        self.fetchIndexes = fetchIndexes
        self.metadata = metadata
        self.layout = layout
        self.next = next ?? CatalogNumbers(behind: entities, trees)
        self.isMigrated = isMigrated
        tracksHistory = metadata?.history?.isTracked ?? false
        preserved = Self.preservedColumns(schema)
        hasFetchIndexes = !fetchIndexes.isEmpty
        hasKeyRules = uniques.contains { !$0.isPlain }
        hasReferenceRules = uniques.contains { $0.form.watchesReferences }
        keepsOrder = !schema.hasOrder || entities.contains { !$0.orders.isEmpty }
        fetchIndexesOfEntity = entities.indices.map { entity in
            fetchIndexes.indices.filter { fetchIndexes[$0].family.contains(entity) }
        }
        entityIndexes = Dictionary(
            uniqueKeysWithValues: entities.enumerated().map { ($1.id, $0) })
        treeIndexes = Dictionary(uniqueKeysWithValues: trees.enumerated().map { ($1.id, $0) })
    }

    /// Returns the same catalog with the place of its schema frame.
    package func placed(at place: Place) -> Catalog {
        Catalog(
            schema: schema, storedModel: storedModel, version: version, place: place, trees: trees,
            entities: entities, uniques: uniques, references: references,
            fetchIndexes: fetchIndexes, metadata: metadata, next: next, isMigrated: isMigrated)
    }

    /// The same catalog with other metadata.
    ///
    /// - Parameter place: the place of its schema frame; nil: no change.
    func with(_ metadata: StoredMetadata?, at place: Place? = nil) -> Catalog {
        Catalog(
            schema: schema, storedModel: storedModel, version: version,
            place: place ?? self.place, trees: trees, entities: entities, uniques: uniques,
            references: references, fetchIndexes: fetchIndexes, metadata: metadata, next: next,
            isMigrated: isMigrated, layout: layout)
    }

    /// The same catalog for another store that is created with it, without the metadata and the place of this
    /// one. It has order keys.
    package var ofAnotherStore: Catalog {
        let catalog = keepsOrder ? self : withOrder
        return Catalog(
            schema: catalog.schema, storedModel: catalog.storedModel, version: catalog.version,
            trees: catalog.trees, entities: catalog.entities, uniques: catalog.uniques,
            references: catalog.references, fetchIndexes: catalog.fetchIndexes, next: catalog.next,
            isMigrated: catalog.isMigrated)
    }

    /// The next version of a catalog without order keys, in which these are numbered after everything else.
    var withOrder: Catalog {
        with(Catalog(new: schema), version: version == .max ? version : version + 1)
            .indexed(by: fetchIndexes)
    }

    /// Whether both describe the same entities, columns and indexes, whatever the metadata are.
    func describesSame(as other: Catalog) -> Bool { layout === other.layout }

    /// Returns the same catalog with other fetch indexes.
    package func indexed(by fetchIndexes: [FetchIndexDefinition]) -> Catalog {
        Catalog(
            schema: schema, storedModel: storedModel, version: version, place: place, trees: trees,
            entities: entities, uniques: uniques, references: references,
            fetchIndexes: fetchIndexes, metadata: metadata, next: next, isMigrated: isMigrated)
    }

    /// The catalog of the same frame, or of its next version, with the schema and the numbers of another one.
    func with(_ other: Catalog, version: UInt32? = nil) -> Catalog {
        Catalog(
            schema: other.schema, storedModel: storedModel, version: version ?? self.version,
            place: place, trees: other.trees, entities: other.entities, uniques: other.uniques,
            references: other.references, fetchIndexes: other.fetchIndexes, metadata: metadata,
            next: other.next, isMigrated: isMigrated)
    }

    /// The feature flags of a segment that is added. Bits that may be ignored are kept.  F-206
    func flags(beside others: FeatureFlags, _ sizes: StoreSizes) -> FeatureFlags {
        var flags = others
        flags.readOnlyCompatible &= ~FeatureFlags.constraintRules.readOnlyCompatible
        if isMigrated { flags = flags.union(.migrated) }
        if sizes.packsColumns { flags = flags.union(.packedColumns) }
        return hasKeyRules ? flags.union(.constraintRules) : flags
    }

    /// Returns the index of the entity with a stored id; nil if there is none.
    package func entityIndex(id: UInt32) -> Int? { entityIndexes[id] }

    /// Whether the store may have blocks of an entity with a stored id: one it has, or a removed one.  F-415
    func mayHaveBlocks(ofEntity id: UInt32) -> Bool {
        entityIndexes[id] != nil || isMigrated && id > 0 && id < next.entity
    }

    /// Returns the index of the tree with a stored id; nil if there is none.
    package func treeIndex(id: UInt32) -> Int? { treeIndexes[id] }

    /// Returns the index of the hidden entity of the schema's pairs.
    package func entityIndex(ofPairs pairs: Int) -> Int { schema.entities.count + pairs }

    /// Returns the schema entity that names a stored entity's hierarchy; for hidden entities, the source of
    /// the pairs.
    package func schemaEntity(_ entity: Int) -> Int {
        entity < schema.entities.count
            ? entity : schema.pairs[entity - schema.entities.count].source
    }

    /// Returns the description of an entity's columns, also for hidden entities.
    package func description(of entity: Int) -> SchemaEntity {
        entity < schema.entities.count
            ? schema.entities[entity] : schema.pairs[entity - schema.entities.count].entity
    }

    /// Returns an entity and all its descendants.
    package func family(of entity: Int) -> [Int] {
        entity < schema.entities.count ? schema.entities[entity].family : [entity]
    }

    /// The only entity of the objects of a tree; nil if they can have several.
    func soleEntity(ofTree tree: Int) -> Int? {
        let concrete = family(of: trees[tree].root).filter { !description(of: $0).isAbstract }
        return concrete.count == 1 ? concrete[0] : nil
    }
}

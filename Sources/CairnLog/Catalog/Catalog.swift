// The physical layout of a schema, with permanent numbers for what a store contains.
//
// A schema's indexes change with the model; the numbers here are written into blocks and ids and never
// change or come back. A *tree* is an entity hierarchy, or the hidden entity of a relationship that is kept
// as pairs; it owns one number space. An *entity* here is one of the schema, or such a hidden one. Hidden
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
    /// The schema: of the model that the store was opened with, if it stores the same as the store's own.
    package let schema: Schema
    /// The model as the schema frame has it. What it says of stored objects is what the schema says.
    package let storedModel: ManagedObjectModel
    /// Rises by one with each schema frame.
    package let version: UInt32
    /// Where its schema frame is; none before that is written.
    package let place: Place
    /// The trees; an index into this is what the engine uses, the id is what is written.
    package let trees: [Tree]
    /// The trees by rising ids, as counters are written.
    let treesInOrder: [Int]
    /// The entities of the schema, then the hidden ones.
    package let entities: [StoredEntity]
    /// The unique indexes.
    package let uniques: [UniqueDefinition]
    /// The reference columns, each with an inverse table.
    package let references: [ReferenceDefinition]

    /// The fetch indexes.
    package let fetchIndexes: [FetchIndexDefinition]
    /// By entity: the fetch indexes its rows are in, as indexes of `fetchIndexes`.
    package let fetchIndexesOfEntity: [[Int]]
    /// Whether there is any.
    package let hasFetchIndexes: Bool
    /// Whether a constraint has options.
    package let hasKeyRules: Bool
    /// Whether a reference that is cleared may give its row a key.
    let hasReferenceRules: Bool
    /// Whether it has a place for the order of every ordered relationship. One that was written before there were such
    /// places has none: then the order is that of the numbers.
    package let keepsOrder: Bool
    /// The metadata in force; nil if there never were any. They are here since they change as seldom.
    package let metadata: StoredMetadata?
    /// Whether commits are recorded for the history.
    package let tracksHistory: Bool
    /// By entity of the schema: the columns whose values are kept when an object is deleted.
    let preserved: [[Int]]
    /// The numbers that what comes new may have.
    package let next: CatalogNumbers
    /// Whether the store has followed a change of its model: numbers do not follow from the model any more, and blocks of
    /// earlier versions may be of what is gone.
    package let isMigrated: Bool
    /// What it describes, whatever its metadata are: catalogs that differ in these alone share it.
    let layout: CatalogLayout

    private let entityIndexes: [UInt32: Int]
    private let treeIndexes: [UInt32: Int]

    /// A number space.
    package struct Tree: Sendable {
        /// What is written for it.
        package let id: UInt32
        /// The entity at its top, as an index of `entities`.
        package let root: Int
    }

    /// An entity that has rows. An object, since every block of it asks for it.
    package final class StoredEntity: Sendable {
        /// What is written for it.
        package let id: UInt32
        package let name: String
        /// The tree it belongs to, as an index of `trees`.
        package let tree: Int
        /// Whether it is the hidden entity of a relationship kept as pairs.
        package let isHidden: Bool
        package let columns: [StoredColumn]
        /// The order keys of its rows; those of a parent first, so that each has the same place in all descendants.
        package let orders: [StoredOrder]
        /// The columns, then the order keys: everything that a row has.
        package let allColumns: [StoredColumn]
        /// Whether these stand in the order of their property ids, as blocks have them. After a change of the model they may not.
        let isInOrder: Bool
        /// The unique indexes its rows are in, as indexes of `uniques`.
        package let uniques: [Int]
        /// The reference columns it has, as indexes of `references`.
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

    /// Where the order of a list is kept: a number beside the reference that says who has the list.
    package struct StoredOrder: Sendable {
        /// The key, as it is stored.
        package let column: StoredColumn
        /// The reference, as a column of the entity.
        package let reference: Int
    }

    /// A column as it is stored.
    package struct StoredColumn: Sendable {
        package let propertyID: UInt32
        package let name: String
        package let kind: ColumnBuffer.Kind
        /// For references: the tree they lead to, as an index of `trees`.
        package let target: Int?
        /// What stands for what older blocks do not have of it; nil if every cell of every block means what it says.
        package var past: ColumnPast?
    }

    /// A uniqueness constraint's index.
    package struct UniqueDefinition: Sendable {
        /// The entity that declares it, as an index of `entities`.
        package let entity: Int
        /// What keys are made of.
        package let form: KeyForm
        package let names: [String]
        /// What is said of it: its names, and its options.
        let words: String
        /// What is said of a fetch that it answers.
        let plan: String

        /// Its columns, by index in that entity and all its descendants.
        package var columns: [Int] { form.columns }

        /// Whether it has no options: every row without a nil part has an entry, under its values as they are.
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

        /// A key as people say it: `code = "LHR", terminal = 4`.
        ///
        /// - Parameter value: gives the value of a column.
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
        /// The tree the targets are in, as an index of `trees`.
        package let target: Int
        /// What is done to the row when its target is deleted.
        package let rule: DeleteRule
        /// The place of the order key among those of the row, if the targets keep their referrers in order.
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

    /// The same catalog, with the place of its schema frame.
    package func placed(at place: Place) -> Catalog {
        Catalog(
            schema: schema, storedModel: storedModel, version: version, place: place, trees: trees,
            entities: entities, uniques: uniques, references: references,
            fetchIndexes: fetchIndexes, metadata: metadata, next: next, isMigrated: isMigrated)
    }

    /// The same catalog with other metadata.
    ///
    /// - Parameter place: where its schema frame is; nil: where it was.
    func with(_ metadata: StoredMetadata?, at place: Place? = nil) -> Catalog {
        Catalog(
            schema: schema, storedModel: storedModel, version: version,
            place: place ?? self.place, trees: trees, entities: entities, uniques: uniques,
            references: references, fetchIndexes: fetchIndexes, metadata: metadata, next: next,
            isMigrated: isMigrated, layout: layout)
    }

    /// The same catalog for another store, which is made with it: its metadata and its place are of this one. There are places
    /// for the order of lists.
    package var ofAnotherStore: Catalog {
        let catalog = keepsOrder ? self : withOrder
        return Catalog(
            schema: catalog.schema, storedModel: catalog.storedModel, version: catalog.version,
            trees: catalog.trees, entities: catalog.entities, uniques: catalog.uniques,
            references: catalog.references, fetchIndexes: catalog.fetchIndexes, next: catalog.next,
            isMigrated: catalog.isMigrated)
    }

    /// The next version of a catalog that has no places for the order of lists, with these behind all else.
    var withOrder: Catalog {
        with(Catalog(new: schema), version: version == .max ? version : version + 1)
            .indexed(by: fetchIndexes)
    }

    /// Whether both describe the same entities, columns and indexes, whatever the metadata are.
    func describesSame(as other: Catalog) -> Bool { layout === other.layout }

    /// The same catalog with other fetch indexes.
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

    /// What a segment that is added says of the features that are used. Bits that may be ignored are kept.      F-206
    func flags(beside others: FeatureFlags, _ sizes: StoreSizes) -> FeatureFlags {
        var flags = others
        flags.readOnlyCompatible &= ~FeatureFlags.constraintRules.readOnlyCompatible
        if isMigrated { flags = flags.union(.migrated) }
        if sizes.packsColumns { flags = flags.union(.packedColumns) }
        return hasKeyRules ? flags.union(.constraintRules) : flags
    }

    /// The index of the entity that is written as `id`, or nil.
    package func entityIndex(id: UInt32) -> Int? { entityIndexes[id] }

    /// Whether blocks of an entity that is written as `id` may be in the store: of one that it has, or that has gone.   F-415
    func mayHaveBlocks(ofEntity id: UInt32) -> Bool {
        entityIndexes[id] != nil || isMigrated && id > 0 && id < next.entity
    }

    /// The index of the tree that is written as `id`, or nil.
    package func treeIndex(id: UInt32) -> Int? { treeIndexes[id] }

    /// The index of the hidden entity of the schema's pairs.
    package func entityIndex(ofPairs pairs: Int) -> Int { schema.entities.count + pairs }

    /// The schema entity that names a stored one's hierarchy; for hidden entities the pairs' source.
    package func schemaEntity(_ entity: Int) -> Int {
        entity < schema.entities.count
            ? entity : schema.pairs[entity - schema.entities.count].source
    }

    /// The description of an entity's columns, hidden ones included.
    package func description(of entity: Int) -> SchemaEntity {
        entity < schema.entities.count
            ? schema.entities[entity] : schema.pairs[entity - schema.entities.count].entity
    }

    /// Every entity of the tree that is `entity` or a descendant.
    package func family(of entity: Int) -> [Int] {
        entity < schema.entities.count ? schema.entities[entity].family : [entity]
    }

    /// The entity of which all objects of a tree are; nil if they can be of several.
    func soleEntity(ofTree tree: Int) -> Int? {
        let concrete = family(of: trees[tree].root).filter { !description(of: $0).isAbstract }
        return concrete.count == 1 ? concrete[0] : nil
    }
}

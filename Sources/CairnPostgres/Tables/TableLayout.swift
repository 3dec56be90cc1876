// How the objects of a model are stored in the database.
//
//   for each hierarchy of entities      a table of its root's name: _id, _entity, _version, a column for each column of the
//                                       entities, and one for each place in an ordered list that a reference leads into
//   for each relationship kept as pairs a table of its name: _id, _version, source, destination, and their places in ordered
//                                       lists
//
// Columns have the names of the model. Where two properties of a hierarchy have one name, being of entities that do not inherit
// it from each other, the second is called "Entity.property".
//
// Invariants: the same model gives the same layout. Names are not quoted here; whoever writes SQL quotes them.
// Threads: a plain value.

import CairnLog
import CairnModel
import CairnStore

/// The tables and columns of a store.
struct TableLayout: Sendable {
    /// What the rows of every table of objects have first.
    enum Fixed {
        static let id = "_id"
        static let entity = "_entity"
        static let version = "_version"
        static let source = "source"
        static let destination = "destination"
    }

    struct Column: Sendable, Hashable {
        var name: String
        let type: ColumnType
        /// For references: the table they lead to, as an index of `tables`.
        var target: Int?
        /// Whether they may lead to nothing, as nobody clears them when what they lead to goes.
        var mayDangle = false
        /// Whether it is the place of a row in an ordered list.
        var isPlace = false
        /// Whether there is an index that has the beginnings of its values; see `LongValue`.
        var hasBeginnings = false
    }

    /// The rows of a hierarchy of entities.
    struct Table: Sendable {
        let name: String
        /// The entity at the top of the hierarchy.
        let root: Int
        /// All of them but the fixed ones.
        let columns: [Column]
    }

    /// The rows of a relationship that is kept as pairs.
    struct PairTable: Sendable {
        let name: String
        /// What the numbers of its rows are given by.
        let hierarchy: UInt32
        /// The tables of both ends, as indexes of `tables`.
        let source: Int
        let destination: Int
        /// The places of the pair in ordered lists: of the source's, then of the destination's, as far as they are ordered.
        let places: [Column]
    }

    let schema: Schema
    /// The schema of the database that all tables are in.
    let space: String
    let tables: [Table]
    /// By relationship kept as pairs, as in the schema.
    let pairs: [PairTable]
    /// By entity: what stands for it in rows; and the other way round. It stays whatever the entity is called later.
    private let codes: [Int16]
    private let entityOfCode: [Int16: Int]
    /// By entity: its table.
    private let tableOfEntity: [Int]
    /// By entity and column: the column of the table.
    private let columnsOfEntity: [[Int]]
    /// By entity: the columns of the places, in the order of the schema's ordered references.
    private let placesOfEntity: [[Int]]

    /// The layout of a new store.
    init(_ schema: Schema, in space: String) { self.init(Catalog(new: schema), in: space) }

    init(_ catalog: Catalog, in space: String) {
        let schema = catalog.schema
        self.schema = schema
        codes = schema.entities.indices.map { Int16(truncatingIfNeeded: catalog.entities[$0].id) }
        entityOfCode = Dictionary(
            codes.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        self.space = space
        var names = SQLNames(reserved: SystemTable.allCases.map(\.rawValue))
        let roots = schema.entities.filter { $0.root == $0.index }
        let tableOfRoot = Dictionary(
            uniqueKeysWithValues: roots.enumerated().map { ($1.index, $0) })
        func table(_ entity: Int) -> Int {
            guard let table = tableOfRoot[schema.entities[entity].root] else {
                preconditionFailure("each entity has a root")
            }
            return table
        }
        let indexed = schema.indexedAttributes
        var columnsOfEntity = [[Int]](repeating: [], count: schema.entities.count)
        var placesOfEntity = columnsOfEntity
        tables = roots.map { root in
            var plan = ColumnPlan()
            for index in root.family.sorted() {
                let entity = schema.entities[index]
                columnsOfEntity[index] = entity.columns.map { column in
                    var planned: Column
                    switch column.kind {
                    case .attribute(let type):
                        planned = Column(name: column.name, type: ColumnType(type))
                        planned.hasBeginnings =
                            planned.type == .text
                            && indexed.contains(
                                .init(entity: column.declaringEntity, name: column.name))
                    case .reference(let root):
                        planned = Column(name: column.name, type: .bigint, target: table(root))
                        planned.mayDangle = schema.mayDangle(column, of: entity)
                    }
                    return plan.add(planned, of: schema.entities[column.declaringEntity])
                }
                placesOfEntity[index] = schema.orderedReferences[index].map { column in
                    plan.add(
                        Column(
                            name: entity.columns[column].name + ".place", type: .bigint,
                            isPlace: true),
                        of: schema.entities[entity.columns[column].declaringEntity])
                }
            }
            return Table(name: names.give(root.name), root: root.index, columns: plan.columns)
        }
        pairs = schema.pairs.enumerated().map { index, pairs in
            PairTable(
                name: names.give(pairs.name),
                hierarchy: catalog.trees[
                    catalog.entities[catalog.entityIndex(ofPairs: index)].tree
                ].id, source: table(pairs.source),
                destination: table(pairs.destination),
                places: schema.orderedEnds(of: pairs).map { end in
                    Column(
                        name: (end == 0 ? Fixed.source : Fixed.destination) + ".place",
                        type: .bigint, isPlace: true)
                })
        }
        tableOfEntity = schema.entities.map { table($0.index) }
        self.columnsOfEntity = columnsOfEntity
        self.placesOfEntity = placesOfEntity
    }

    /// The table of an entity's objects, as an index of `tables`.
    func table(of entity: Int) -> Int { tableOfEntity[entity] }

    /// The columns of an entity's table that its columns are in, in their order, as indexes of the table's columns.
    func columns(of entity: Int) -> [Int] { columnsOfEntity[entity] }

    /// The columns of an entity's table with the places of its rows, in the order of the schema's ordered references.
    func places(of entity: Int) -> [Int] { placesOfEntity[entity] }

    /// A column of an entity as it is in the entity's table.
    func column(_ column: Int, of entity: Int) -> Column {
        tables[tableOfEntity[entity]].columns[columnsOfEntity[entity][column]]
    }

    /// What stands for an entity in the rows of its table.
    func code(of entity: Int) -> Int16 { codes[entity] }

    /// The entity that a code stands for; nil if it is none.
    func entity(ofCode code: Int16) -> Int? { entityOfCode[code] }

    /// Refuses what does not fit into tables.
    static func check(_ catalog: Catalog) throws(StoreError) {
        guard catalog.entities.allSatisfy({ $0.id <= UInt32(Int16.max) }) else {
            throw StoreError(
                .invalidRequest,
                "the models of the store have had more than \(Int16.max) entities, which exceeds the range of their codes"
            )
        }
    }

    /// The name of a table of the store with the name of its schema, quoted.
    func sql(_ table: String) -> String { space.quoted + "." + table.quoted }
    func sql(_ table: SystemTable) -> String { sql(table.rawValue) }
}

/// A property of the entity that declares it.
private struct Property: Hashable {
    let entity: Int
    let name: String
}

/// The columns of one table, while they are given their names.
private struct ColumnPlan {
    private(set) var columns: [TableLayout.Column] = []
    private var known: [Property: Int] = [:]
    private var names = SQLNames(reserved: [
        TableLayout.Fixed.id, TableLayout.Fixed.entity, TableLayout.Fixed.version,
    ])
    private var plain: Set<String> = []

    /// The place of a column of a property that an entity declares.
    mutating func add(_ column: TableLayout.Column, of entity: SchemaEntity) -> Int {
        let property = Property(entity: entity.index, name: column.name)
        if let index = known[property] { return index }
        let isFirst = plain.insert(column.name).inserted
        var column = column
        column.name = names.give(isFirst ? column.name : entity.name + "." + column.name)
        columns.append(column)
        known[property] = columns.count - 1
        return columns.count - 1
    }
}

extension Schema {
    /// The attributes that stand in fetch indexes or plain uniqueness constraints.
    fileprivate var indexedAttributes: Set<Property> {
        var found: Set<Property> = []
        func add(_ columns: some Sequence<Int>, _ entity: SchemaEntity) {
            for index in columns {
                let column = entity.columns[index]
                found.insert(Property(entity: column.declaringEntity, name: column.name))
            }
        }
        for index in Catalog.fetchIndexes(of: model, in: self) {
            add(index.parts.map(\.column), entities[index.entity])
        }
        for entity in entities where entity.root == entity.index {
            for constraint in entity.constraints where constraint.options == nil {
                add(constraint.columns, entity)
            }
        }
        return found
    }

    /// Whether a reference stays where it is when its target goes.
    fileprivate func mayDangle(_ column: SchemaColumn, of entity: SchemaEntity) -> Bool {
        guard let relationship = column.relationship.map({ entity.relationships[$0] }),
            let inverse = relationship.inverse
        else { return false }
        return entities[relationship.destination].relationships[inverse].description.deleteRule
            == .noAction
    }
}

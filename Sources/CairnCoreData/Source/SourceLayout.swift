// Where a store keeps what its model names: tables and columns.
//
//   1. The objects of a hierarchy are in one table, named after its top: `Z` and the name in capitals.
//   2. A property is a column named alike. Where entities that inherit from one have properties of one name, or
//      names differ only in case, the columns are numbered in the order of the entities' numbers: ZTITLE, ZTITLE1,
//      ZTITLE2.
//   3. A to-one relationship is a column with the key of the object it leads to.
//   4. The order of an ordered relationship whose inverse is to-one lies beside that: Z_FOK_ and the column's name.
//   5. Many-to-many relationships have tables of their own; see `JoinTable`.
//
// What the model says and the store does not have is a problem: then it is likely to be the wrong model. All problems are collected,
// so that an error can say in what the two differ; whoever asks for it has them left out.
//
// Threads: immutable, so any.

import CairnModel
import FoundationEssentials

/// The table of a hierarchy.
struct SourceTable {
    /// A column, for an entity.
    struct Slot {
        /// What the column holds.
        enum Kind {
            case attribute(AttributeType, isExternal: Bool)
            /// The key of an object in another table.
            case link(relationship: Int, table: Int)
        }
        /// The column of the entity in the schema.
        let column: Int
        /// The place among the columns that are read.
        let place: Int
        let kind: Kind
        /// Whether an object without a value cannot be stored.
        let isMandatory: Bool
    }

    let name: String
    /// The top of the hierarchy.
    let root: Int
    /// What is read: Z_PK, Z_ENT, and the columns of properties.
    fileprivate(set) var columns = ["Z_PK", "Z_ENT"]
    /// By entity of the schema: mandatory attributes that have no column, and their defaults.
    fileprivate(set) var defaults: [Int: [(column: Int, value: Value)]] = [:]
    /// By entity of the schema: a mandatory relationship whose objects the store has no table for.
    fileprivate(set) var unreachable: [Int: String] = [:]
    /// By entity of the schema.
    fileprivate(set) var slots: [Int: [Slot]] = [:]

    /// The question for all rows, or for one.
    func question(forOne: Bool) -> String {
        let names = columns.map(SQLiteFile.quoted).joined(separator: ", ")
        return "SELECT \(names) FROM \(SQLiteFile.quoted(name))"
            + (forOne ? " WHERE Z_PK = ?" : " ORDER BY Z_PK")
    }

    /// The relationships that lead from the hierarchy's objects, as columns of entities.
    var links: [(entity: Int, slot: Slot)] {
        slots.inKeyOrder().flatMap { entity, slots in
            slots.filter { if case .link = $0.kind { true } else { false } }.map { (entity, $0) }
        }
    }
}

/// The order of the members of a to-many relationship whose inverse is to-one.
struct SourceList {
    /// The entity that declares the relationship, and its place there.
    let entity: Int
    let relationship: Int
    /// The table of the members, and their column that leads to the owner.
    let table: Int
    let column: String
    /// The column with the order; nil if the store has none.
    let orderColumn: String?
}

/// Something that a model says and a store does not have.
struct LayoutProblem {
    /// What of the model it is, as `Person.name`.
    let place: String
    /// The table or column in the store; nil for all of it.
    let table: String?
    let message: String
    /// Whether everything else can be read without it.
    let canBeSkipped: Bool
}

/// The tables and columns of a store, by what its model names.
struct SourceLayout {
    /// The most problems that one error tells.
    private static let mostTold = 8

    let schema: Schema
    let numbers: EntityNumbers
    private(set) var tables: [SourceTable] = []
    private(set) var joins: [JoinTable] = []
    private(set) var lists: [SourceList] = []
    /// Columns that no property of the model has.
    private(set) var unclaimed: [(table: String, column: String)] = []
    /// Tables of pairs that no relationship of the model has.
    private(set) var unclaimedTables: [String] = []
    /// What the model says and the store does not have: left out.
    private(set) var problems: [LayoutProblem] = []
    /// Columns of such a problem.
    private var misfits: Set<String> = []
    /// Entities of the model that the store does not have.
    private(set) var absent: [String] = []
    /// What is odd, and loses nothing.
    private(set) var remarks: [String] = []
    /// Tables, by the top of the hierarchy.
    private(set) var tableOfRoot: [Int: Int] = [:]
    /// The columns of properties, by entity that declares them.
    private var names: [Int: [String: String]] = [:]
    private let source: CoreDataSource

    /// - Parameter skips: whether what the store does not have is left out.
    init(_ schema: Schema, of source: CoreDataSource, skips: Bool) throws(CoreDataImportError) {
        self.schema = schema
        self.source = source
        try Self.checkNames(schema, source)
        numbers = try EntityNumbers(schema, in: source)
        for entity in schema.entities where entity.parent == nil { try addTable(of: entity) }
        for index in tables.indices { try addSlots(to: index) }
        addLists()
        let search = try JoinTableSearch(schema, numbers, source, tables, tableOfRoot)
        joins = search.found
        for (pairs, reason) in search.missing {
            problems.append(
                LayoutProblem(
                    place: schema.pairs[pairs].name, table: nil,
                    message: "the many-to-many relationship \(schema.pairs[pairs].name): \(reason)",
                    canBeSkipped: true))
        }
        collectUnclaimed()
        if let error = refusal(skips: skips) { throw error }
    }

    /// Whether an entity of the model has no table.
    private var lacksTable: Bool {
        problems.contains { $0.table == nil && !$0.place.contains(".") }
    }

    /// The error that the problems are, if they cannot be left out or are not to be.
    private func refusal(skips: Bool) -> CoreDataImportError? {
        let refused = skips ? problems.filter { !$0.canBeSkipped } : problems
        guard let first = refused.first else { return nil }
        let advice =
            refused.allSatisfy(\.canBeSkipped) ? "; --skip leaves it out and imports the rest" : ""
        // What the store has and the model has not says as much about which model it is.
        var more: [String] = []
        // What leads to objects of an entity without a table is not claimed by anything either.
        if !lacksTable {
            more =
                unclaimed.map { "the model has no property for \($0.table).\($0.column)" }
                + unclaimedTables.map { "the model has no relationship for the table \($0)" }
        }
        if refused.count == 1, more.isEmpty {
            let place = first.table.map { "\(source.path), \($0)" } ?? source.path
            return CoreDataImportError(.wrongModel, first.message + advice, at: place)
        }
        let all = refused.map { problem in
            problem.table.map { "\($0): \(problem.message)" } ?? problem.message
        }
        let told = (all + more).prefix(Self.mostTold).map { "\n  \($0)" }.joined()
        let left = all.count + more.count - Self.mostTold
        return CoreDataImportError(
            .wrongModel,
            "the model does not match the store: it has another version, or is a different model\(advice):"
                + told + (left > 0 ? "\n  and \(left) more" : ""), at: source.path)
    }

    /// The names of entities are those that the store's hashes are about.
    private static func checkNames(_ schema: Schema, _ source: CoreDataSource)
        throws(CoreDataImportError)
    {
        guard let names = source.metadata.entityNames else { return }
        let missing = names.filter { schema.entity(named: $0) == nil }.sorted()
        guard missing.isEmpty else {
            throw CoreDataImportError(
                .wrongModel,
                "the store was written with a model that has the entities \(missing.joined(separator: ", ")), which this model does not have",
                at: "\(source.path), Z_METADATA")
        }
    }

    // MARK: Tables

    private mutating func addTable(of root: SchemaEntity) throws(CoreDataImportError) {
        let family = root.family.map { schema.entities[$0] }
        guard family.contains(where: { numbers.numbers[$0.index] != nil }) else {
            // Another configuration's, or newer than the store.
            absent += family.map(\.name)
            return
        }
        let wanted = "Z" + root.name.uppercased()
        // A renamed entity whose table was not.
        let old = root.description.renamingIdentifier.map { "Z" + $0.uppercased() }
        guard
            let name = [wanted, old].compactMap({ $0 }).compactMap({ name in
                source.tables.keys.first { $0.uppercased() == name }
            }).first
        else {
            problems.append(
                LayoutProblem(
                    place: root.name, table: nil,
                    message: "the store has no table \(wanted) for the entity \(root.name)",
                    canBeSkipped: true))
            return
        }
        guard let columns = source.tables[name], columns.contains("Z_PK") else {
            throw CoreDataImportError(
                .damaged, "the table has no column Z_PK", at: "\(source.path), \(name)")
        }
        var used: Set<String> = []
        for index in numbers.ordered(root.family) {
            guard numbers.numbers[index] != nil else {
                absent.append(schema.entities[index].name)
                continue
            }
            try nameColumns(of: schema.entities[index], in: name, columns, &used)
        }
        tableOfRoot[root.index] = tables.count
        var table = SourceTable(name: name, root: root.index)
        if !columns.contains("Z_ENT") { table.columns[1] = "Z_PK" }
        tables.append(table)
    }

    /// Finds the columns of the properties that an entity declares.
    private mutating func nameColumns(
        of entity: SchemaEntity, in table: String, _ columns: [String], _ used: inout Set<String>
    ) throws(CoreDataImportError) {
        let own = entity.columns.filter { $0.declaringEntity == entity.index }
        for column in own.sorted(by: { $0.name < $1.name }) {
            let candidates = Self.columnNames(of: column.name)
            guard let base = candidates.first(where: { columns.contains($0) }) else {
                lack(candidates[0], of: column, entity, in: table)
                continue
            }
            var found = base
            var number = 0
            while used.contains(found) {
                number += 1
                found = "\(base)\(number)"
            }
            guard columns.contains(found) else {
                lack(found, of: column, entity, in: table)
                continue
            }
            used.insert(found)
            guard fits(found, in: table, column, of: entity) else { continue }
            names[entity.index, default: [:]][column.name] = found
        }
    }

    /// Notes that a property has no column.
    private mutating func lack(
        _ name: String, of column: SchemaColumn, _ entity: SchemaEntity, in table: String
    ) {
        note(
            "the table has no column \(name) for \(entity.name).\(column.name)", column, of: entity,
            at: table)
    }

    private mutating func note(
        _ message: String, _ column: SchemaColumn, of entity: SchemaEntity, at place: String
    ) {
        // An object without something mandatory could not be stored.
        problems.append(
            LayoutProblem(
                place: "\(entity.name).\(column.name)", table: place, message: message,
                canBeSkipped: column.isOptional || !column.defaultValue.isNull
                    || column.attribute?.derivationExpression != nil))
    }

    /// Whether a column may hold the values of a property: one of texts holds no numbers. If not, the model is another one.
    private mutating func fits(
        _ column: String, in table: String, _ property: SchemaColumn, of entity: SchemaEntity
    ) -> Bool {
        let numbers = ["INTEGER", "FLOAT", "DECIMAL", "TIMESTAMP"]
        let fitting: [String]
        switch property.kind {
        case .reference: fitting = ["INTEGER"]
        case .attribute(let type):
            switch type {
            case .string, .uri: fitting = ["VARCHAR"]
            case .binary, .transformable: fitting = ["BLOB"]
            case .uuid: fitting = ["BLOB", "VARCHAR"]
            default: fitting = numbers
            }
        }
        guard let declared = source.types[table]?[column],
            (numbers + ["VARCHAR", "BLOB"]).contains(declared), !fitting.contains(declared)
        else { return true }
        var what = "a relationship"
        if case .attribute(let type) = property.kind { what = "of type \(type.rawValue)" }
        misfits.insert("\(table).\(column)")
        note(
            "the column is declared as \(declared), but the model's \(entity.name).\(property.name) is \(what)",
            property, of: entity, at: "\(table).\(column)")
        return false
    }

    /// What the column of a property may be called. How leaves of composites are is not written down anywhere.
    private static func columnNames(of property: String) -> [String] {
        let capitals = property.uppercased()
        guard capitals.contains(".") else { return ["Z" + capitals] }
        let steps = capitals.split(separator: ".")
        return [
            "Z" + steps.joined(separator: "_"), "Z" + steps.joined(), "Z" + steps[steps.count - 1],
        ]
    }

    private mutating func addSlots(to table: Int) throws(CoreDataImportError) {
        let root = schema.entities[tables[table].root]
        for index in root.family where numbers.numbers[index] != nil {
            let entity = schema.entities[index]
            var slots: [SourceTable.Slot] = []
            for (position, column) in entity.columns.enumerated() {
                guard let name = names[column.declaringEntity]?[column.name] else {
                    if !column.isOptional, !column.defaultValue.isNull {
                        tables[table].defaults[index, default: []].append(
                            (position, column.defaultValue))
                    }
                    continue
                }
                let kind: SourceTable.Slot.Kind
                switch column.kind {
                case .attribute(let type):
                    kind = .attribute(
                        type,
                        isExternal: column.attribute?.allowsExternalBinaryDataStorage == true)
                case .reference(let target):
                    guard let relationship = column.relationship else { continue }
                    guard let other = tableOfRoot[target] else {
                        if !column.isOptional { tables[table].unreachable[index] = column.name }
                        continue
                    }
                    kind = .link(relationship: relationship, table: other)
                }
                slots.append(
                    SourceTable.Slot(
                        column: position, place: place(of: name, in: table), kind: kind,
                        isMandatory: !column.isOptional
                            && column.attribute?.derivationExpression == nil))
            }
            tables[table].slots[index] = slots
        }
    }

    private mutating func place(of column: String, in table: Int) -> Int {
        if let known = tables[table].columns.firstIndex(of: column) { return known }
        tables[table].columns.append(column)
        return tables[table].columns.count - 1
    }

    // MARK: Relationships

    private mutating func addLists() {
        for entity in schema.entities where numbers.numbers[entity.index] != nil {
            for (position, relationship) in entity.relationships.enumerated()
            where relationship.declaringEntity == entity.index
                && relationship.description.isOrdered
            {
                guard case .inverseColumn(let other, let column) = relationship.storage else {
                    continue
                }
                let member = schema.entities[other].columns[column]
                guard let name = names[member.declaringEntity]?[member.name],
                    let table = tableOfRoot[schema.entities[other].root]
                else { continue }
                let order = "Z_FOK_" + name.dropFirst()
                let hasOrder = source.tables[tables[table].name]?.contains(order) == true
                if !hasOrder {
                    remarks.append(
                        "the store does not keep the order of \(entity.name).\(relationship.description.name): members are sorted by key"
                    )
                }
                lists.append(
                    SourceList(
                        entity: entity.index, relationship: position, table: table, column: name,
                        orderColumn: hasOrder ? order : nil))
            }
        }
    }

    /// Columns with values that nobody asks for, apart from those that Core Data keeps for itself.
    private mutating func collectUnclaimed() {
        for table in tables {
            var claimed = Set(table.columns)
            for join in joins where join.table == table.name {
                claimed.formUnion([join.sourceColumn, join.destinationColumn])
            }
            for column in source.tables[table.name] ?? []
            where !claimed.contains(column) && !column.hasPrefix("Z_") {
                // The entity of the object that a relationship leads to: its own row says it too.
                if let (_, rest) = Self.numbered(column),
                    claimed.contains("Z" + rest) || misfits.contains("\(table.name).Z\(rest)")
                {
                    continue
                }
                if misfits.contains("\(table.name).\(column)") { continue }
                unclaimed.append((table.name, column))
            }
        }
        // Those of an entity without a table have been left out with it.
        if lacksTable { return }
        let claimed = Set(joins.map(\.table))
        unclaimedTables = source.tables.keys.filter { name in
            !claimed.contains(name) && Self.isNumbered(name)
                && source.tables[name]?.contains("Z_PK") == false
        }.sorted()
    }

    /// Whether a table is named as one of pairs is.
    private static func isNumbered(_ table: String) -> Bool {
        table.hasPrefix("Z_") && table.dropFirst(2).first.map { $0.isASCII && $0.isNumber } == true
    }

    /// The number and the rest of a name as Z1_BOOK.
    private static func numbered(_ column: String) -> (Int, Substring)? {
        guard column.hasPrefix("Z"), let mark = column.firstIndex(of: "_"),
            let number = Int(column[column.index(after: column.startIndex)..<mark])
        else { return nil }
        return (number, column[column.index(after: mark)...])
    }
}

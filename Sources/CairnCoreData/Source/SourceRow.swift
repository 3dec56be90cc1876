// The rows of a store of Core Data, as values of a schema.

import CairnModel
import FoundationEssentials

/// An object: which table, and which key in it.
struct ObjectKey: Hashable {
    let table: Int
    let number: Int64
}

/// An object as the store has it.
struct SourceRow {
    /// Where a to-one relationship leads.
    struct Link {
        /// The column of the entity.
        let column: Int
        let relationship: Int
        let target: ObjectKey
        let isMandatory: Bool
    }

    let key: ObjectKey
    /// The entity, as an index of the schema.
    let entity: Int
    /// By column of the entity; references are nil.
    var values: [Value]
    var links: [Link] = []
    var byteCount = 0
    /// Why it cannot be brought over, if that is known already.
    var problem: String?
}

/// Reads rows, and collects what is not as it should be.
///
/// Threads: one.
final class SourceRows {
    /// What a number of an object of a store may be.
    static let numbers: ClosedRange<Int64> = 1...0xffff_fffd

    private let source: CoreDataSource
    private let layout: SourceLayout
    private var single: [Int: SQLiteStatement] = [:]
    private var kinds: [Int: SQLiteStatement] = [:]
    /// What could not be read.
    private(set) var losses = LossList()
    /// Values that were in files of their own.
    private(set) var externalValues = 0
    /// Objects whose losses were collected: an object may be read more than once.
    private var isQuiet = false

    init(_ source: CoreDataSource, _ layout: SourceLayout) {
        self.source = source
        self.layout = layout
    }

    /// The URI of an object, as Core Data has it.
    func uri(_ key: ObjectKey, entity: Int? = nil) -> String {
        let entity = entity ?? layout.tables[key.table].root
        return
            "x-coredata://\(source.metadata.identifier.uuidString)/\(layout.schema.entities[entity].name)/p\(key.number)"
    }

    /// Notes something that could not be brought over.
    func lose(
        _ kind: CoreDataImportReport.Loss.Kind, _ place: String, _ message: String,
        _ example: @autoclosure () -> String? = nil
    ) {
        if !isQuiet { losses.add(kind, place, message, example()) }
    }

    /// Any question.
    func question(_ sql: String, at place: String) throws(CoreDataImportError) -> SQLiteStatement {
        try source.file.prepare(sql, at: place)
    }

    /// All rows of a table, in the order of their keys.
    func all(of table: Int) throws(CoreDataImportError) -> SQLiteStatement {
        let description = layout.tables[table]
        return try source.file.prepare(
            description.question(forOne: false), at: description.name)
    }

    /// The row of a key; nil if there is none that can be read.
    func row(_ key: ObjectKey) throws(CoreDataImportError) -> SourceRow? {
        let statement: SQLiteStatement
        if let known = single[key.table] {
            statement = known
        } else {
            let description = layout.tables[key.table]
            statement = try source.file.prepare(
                description.question(forOne: true), at: description.name)
            single[key.table] = statement
        }
        defer { statement.reset() }
        guard try statement.ask(key.number) else { return nil }
        return read(statement, of: key.table)
    }

    /// The entity of the object with a key; nil if there is none, or it is none of an object.
    func entity(of key: ObjectKey) throws(CoreDataImportError) -> Int? {
        guard Self.numbers.contains(key.number) else { return nil }
        let statement: SQLiteStatement
        if let known = kinds[key.table] {
            statement = known
        } else {
            let table = layout.tables[key.table]
            statement = try source.file.prepare(
                "SELECT \(SQLiteFile.quoted(table.columns[1])) FROM \(SQLiteFile.quoted(table.name)) WHERE Z_PK = ?",
                at: table.name)
            kinds[key.table] = statement
        }
        defer { statement.reset() }
        guard try statement.ask(key.number) else { return nil }
        let entity = entity(statement.integer(0), of: key.table)
        return entity.flatMap { layout.schema.entities[$0].isAbstract ? nil : $0 }
    }

    /// The entity that a number stands for, in a table.
    private func entity(_ number: Int64?, of table: Int) -> Int? {
        let description = layout.tables[table]
        // Stores of one entity may do without.
        if description.columns[1] == "Z_PK" { return description.root }
        guard let number, let known = Int(exactly: number),
            let entity = layout.numbers.entities[known],
            layout.schema.entities[entity].root == description.root
        else { return nil }
        return entity
    }

    /// Reads without collecting what is not as it should be: for what was read before.
    func quietly<Result>(
        _ body: () throws(CoreDataImportError) -> Result
    ) throws(CoreDataImportError) -> Result {
        isQuiet = true
        defer { isQuiet = false }
        return try body()
    }

    /// The row that a question has come to; nil if it is none of an object.
    func read(_ statement: SQLiteStatement, of table: Int, linksOnly: Bool = false) -> SourceRow? {
        let description = layout.tables[table]
        guard let number = statement.integer(0), Self.numbers.contains(number) else {
            lose(
                .object, description.name, "its key is not the number of an object",
                "Z_PK \(statement[0].outline)")
            return nil
        }
        let key = ObjectKey(table: table, number: number)
        guard let index = entity(statement.integer(1), of: table) else {
            lose(
                .object, description.name, "its Z_ENT does not name an entity of the table",
                "Z_PK \(number), Z_ENT \(statement[1].outline)")
            return nil
        }
        let entity = layout.schema.entities[index]
        guard !entity.isAbstract else {
            lose(.object, entity.name, "the entity is abstract", uri(key, entity: index))
            return nil
        }
        var row = SourceRow(
            key: key, entity: index,
            values: linksOnly ? [] : [Value](repeating: .null, count: entity.columns.count))
        if !linksOnly {
            for (column, value) in description.defaults[index] ?? [] { row.values[column] = value }
        }
        if let name = description.unreachable[index] {
            row.problem = "\(name) is required, but the store has no table for its destination"
        }
        for slot in description.slots[index] ?? [] {
            switch slot.kind {
            case .link(let relationship, let target):
                addLink(
                    statement, slot, relationship: relationship, target: target, entity, &row)
            case .attribute(let type, let isExternal):
                if linksOnly { continue }
                addValue(statement, slot, type, isExternal: isExternal, entity, &row)
            }
        }
        return row
    }

    private func addLink(
        _ statement: SQLiteStatement, _ slot: SourceTable.Slot, relationship: Int, target: Int,
        _ entity: SchemaEntity, _ row: inout SourceRow
    ) {
        if let number = statement.integer(slot.place) {
            row.links.append(
                .init(
                    column: slot.column, relationship: relationship,
                    target: ObjectKey(table: target, number: number),
                    isMandatory: slot.isMandatory))
            return
        }
        let name = entity.columns[slot.column].name
        if !statement.isNull(slot.place) {
            lose(
                .reference, "\(entity.name).\(name)", "it is not the key of an object",
                uri(row.key, entity: row.entity))
        }
        if slot.isMandatory { row.problem = "\(name) is required, but its target does not exist" }
    }

    private func addValue(
        _ statement: SQLiteStatement, _ slot: SourceTable.Slot, _ type: AttributeType,
        isExternal: Bool, _ entity: SchemaEntity, _ row: inout SourceRow
    ) {
        let cell = statement[slot.place]
        let column = entity.columns[slot.column]
        let place = "\(entity.name).\(column.name)"
        let key = row.key
        row.byteCount += cell.byteCount
        switch CellReading(cell, as: type, isExternal: isExternal) {
        case .value(let value): row.values[slot.column] = value
        case .external(let name):
            if let bytes = source.externalValue(name) {
                row.values[slot.column] = .binary(Data(bytes))
                row.byteCount += bytes.count
                if !isQuiet { externalValues += 1 }
            } else {
                lose(
                    .externalValue, place, "its file is missing",
                    "\(uri(key, entity: entity.index)) (\(name.prefix(64)))")
            }
        case .misfit(let reason):
            lose(
                .value, place, "it does not fit the type \(type.rawValue): \(reason)",
                "\(uri(key, entity: entity.index)) (\(cell.outline))")
        }
        guard slot.isMandatory, row.values[slot.column].isNull else { return }
        if column.defaultValue.isNull {
            row.problem = "\(column.name) is required, but nil"
        } else {
            row.values[slot.column] = column.defaultValue
            lose(
                .defaulted, place, "it is required, but nil: it got the default",
                uri(key, entity: entity.index))
        }
    }
}

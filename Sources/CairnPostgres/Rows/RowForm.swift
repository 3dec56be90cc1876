// Whole rows to be written to one table: their columns, and the values of each.
//
// Threads: plain values.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// How rows of one table are written.
struct RowForm {
    let layout: TableLayout
    /// As an index of the layout's tables.
    let table: Int
    /// The constraints that have a column of their own.
    private let keys: [KeyLayout.Key]
    let names: [String]
    let types: [ColumnType]
    /// The columns that lead to other rows.
    private let references: [Int]

    init(_ layout: TableLayout, _ keys: KeyLayout, table: Int) {
        self.layout = layout
        self.table = table
        let columns = layout.tables[table].columns
        let withColumns = keys.keysWithColumns(of: layout.tables[table].root)
        self.keys = withColumns.map(\.key)
        names =
            [TableLayout.Fixed.id, TableLayout.Fixed.entity, TableLayout.Fixed.version]
            + columns.map(\.name) + withColumns.map(\.column)
        types =
            [.bigint, .smallint, .integer] + columns.map(\.type) + withColumns.map { _ in .bytea }
        references = columns.indices.filter { columns[$0].target != nil }
    }

    /// The columns that say something else of rows than before, beside the number that says which rows they are.
    ///
    /// - Parameters:
    ///   - cells: by column of the table: whether a row differs in it.
    ///   - others: the names of columns that are written in any case.
    func columns(differing cells: [Bool], and others: Set<String>) -> [Int] {
        // The number and the version.
        var columns: Set<Int> = [0, 2]
        columns.formUnion(cells.indices.filter { cells[$0] }.map { 3 + $0 })
        columns.formUnion(names.indices.filter { others.contains(names[$0]) })
        for (index, key) in keys.enumerated() {
            let parts = layout.columns(of: key.entity)
            // Who takes part in a constraint with options may depend on other columns.
            let differs =
                key.constraint.options == nil
                ? key.constraint.columns.contains { cells[parts[$0]] } : cells.contains(true)
            if differs { columns.insert(3 + cells.count + index) }
        }
        return columns.sorted()
    }

    /// The names of the columns as they are listed in a statement.
    var list: String { names.map(\.quoted).joined(separator: ", ") }

    /// Calls a closure with each column of a row and its value.
    ///
    /// - Parameter isLoose: whether the row leads nowhere yet.
    /// - Throws: `StoreError` that names the property whose value the database cannot keep.
    func write(
        _ row: PartialStore.PlacedRow, isLoose: Bool = false,
        _ append: (Int, Value) throws(SQLFailure) -> Void
    ) throws(StoreError) {
        var column = 0
        do throws(SQLFailure) {
            try append(0, .integer(Int64(row.number)))
            try append(1, .integer(Int64(layout.code(of: row.entity))))
            try append(2, .integer(Int64(row.version)))
            for cell in cells(row, isLoose: isLoose) {
                column += 1
                try append(2 + column, cell)
            }
            for key in keys {
                column += 1
                try append(2 + column, bytes(key, row))
            }
        } catch {
            var error = StoreError(error)
            error.context.entity = layout.schema.entities[row.entity].name
            error.context.key = names[2 + column]
            throw error
        }
    }

    /// By column of the table: the value of a row, nil where its entity has no such column.
    private func cells(_ row: PartialStore.PlacedRow, isLoose: Bool) -> [Value] {
        let columns = layout.columns(of: row.entity)
        let places = layout.places(of: row.entity)
        let count = layout.tables[table].columns.count
        var cells: [Value]
        if places.isEmpty, columns.count == count, columns.elementsEqual(0..<count) {
            cells = row.values
        } else {
            cells = [Value](repeating: .null, count: count)
            for (value, column) in zip(row.values, columns) { cells[column] = value }
            for (place, column) in zip(row.places, places) {
                cells[column] = place.map { .integer($0) } ?? .null
            }
        }
        if isLoose {
            for column in references { cells[column] = .null }
        }
        return cells
    }

    /// The bytes of a key that has a column.
    private func bytes(_ key: KeyLayout.Key, _ row: PartialStore.PlacedRow) -> Value {
        guard layout.schema.entities[key.entity].family.contains(row.entity) else { return .null }
        return key.bytes.bytes(row.values).map { .binary(Data($0)) } ?? .null
    }
}

// Whole rows of one table as arrays, one for each column.
//
// Threads: one; a value.

import CairnLog
import CairnStore

/// Rows on their way into a table.
struct RowArrays {
    private let form: RowForm
    private var arrays: [ColumnArray]

    init(_ form: RowForm) {
        self.form = form
        arrays = form.types.map { ColumnArray($0) }
    }

    /// Appends a row.
    ///
    /// - Parameter isLoose: whether the row leads nowhere yet.
    /// - Throws: `StoreError` that names the property whose value the database cannot keep.
    mutating func append(_ row: PartialStore.PlacedRow, isLoose: Bool = false) throws(StoreError) {
        let form = form
        try form.write(row, isLoose: isLoose) { (column, value) throws(SQLFailure) in
            try arrays[column].append(value)
        }
    }

    var parameters: [SQLParameter] { arrays.map(\.parameter) }
    var names: String { form.list }

    /// What stands for the rows in a statement.
    var lists: String {
        form.types.enumerated().map { ColumnArray.sql($0 + 1, $1) }.joined(separator: ", ")
    }

    /// Sets all columns but the number to those of a source.
    func assignments(from source: String) -> String {
        form.names.dropFirst().map { "\($0.quoted) = \(source).\($0.quoted)" }
            .joined(separator: ", ")
    }
}

// Whole rows of one table as arrays, one for each column.
//
// Threads: one; a value.

import CairnLog
import CairnStore

/// Rows to write into a table.
struct RowArrays {
    private let form: RowForm
    /// Which columns of the form.
    private let columns: [Int]
    /// By column of the form; nil: it is left out.
    private var arrays: [ColumnArray?]

    /// - Parameter columns: the columns of the form that are written; nil: all.
    init(_ form: RowForm, only columns: [Int]? = nil) {
        self.form = form
        self.columns = columns ?? Array(form.types.indices)
        arrays = form.types.map { _ in nil }
        for column in self.columns { arrays[column] = ColumnArray(form.types[column]) }
    }

    /// Appends a row.
    ///
    /// - Parameter isLoose: whether the row leads nowhere yet.
    /// - Throws: `StoreError` that names the property whose value the database cannot keep.
    mutating func append(_ row: PartialStore.PlacedRow, isLoose: Bool = false) throws(StoreError) {
        let form = form
        try form.write(row, isLoose: isLoose) { (column, value) throws(SQLFailure) in
            try arrays[column]?.append(value)
        }
    }

    var parameters: [SQLParameter] { arrays.compactMap { $0?.parameter } }
    var names: String { columns.map { form.names[$0].quoted }.joined(separator: ", ") }

    /// What stands for the rows in a statement.
    var lists: String {
        columns.enumerated().map { ColumnArray.sql($0 + 1, form.types[$1]) }
            .joined(separator: ", ")
    }

    /// Sets all columns but the number to those of a source.
    func assignments(from source: String) -> String {
        columns.dropFirst().map { "\(form.names[$0].quoted) = \(source).\(form.names[$0].quoted)" }
            .joined(separator: ", ")
    }
}

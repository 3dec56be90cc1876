// Reads rows of one table, one after the other: their cells are copied, without creating values.
//
// Threads: one.

import CairnModel
import CairnStore

/// Converts results to rows for readers.
struct RowReader: ~Copyable {
    private let selection: RowSelection
    /// The entity of the last row: most rows are of one.
    private var entity = -1
    private var forms: [(form: CellForm, place: Int)] = []
    private var cells = RowCellsBuilder(columns: 0)

    init(_ selection: RowSelection) { self.selection = selection }

    /// A row of an answer.
    mutating func row(_ result: PostgresResult, _ row: Int) throws(SQLFailure) -> Row {
        let (number, entity, version) = try selection.head(result, row)
        if entity != self.entity { begin(entity) }
        for column in forms.indices {
            let (form, place) = forms[column]
            try form.carry(result, row, place, to: &cells, column)
        }
        return Row(
            id: selection.identity.id(UInt64(number), entity: entity), entity: entity,
            version: version, cells: cells.finish())
    }

    private mutating func begin(_ entity: Int) {
        self.entity = entity
        forms = selection.forms(of: entity)
        cells = RowCellsBuilder(columns: forms.count)
    }
}

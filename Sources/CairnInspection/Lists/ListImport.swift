// Fills the rows of a batch insert from a list.
//
//   1. Each record's cells are converted and go into their columns.
//   2. At the first thing that is wrong, filling ends but reading goes on, so that one error can name every
//      unknown field and every field whose values do not fit. Broken bytes end everything at once.
//
// Invariants: after the first problem no row is given any more: the batch fails as a whole.
// Threads: one at a time; the batch calls it while the caller waits.

package import CairnModel
package import CairnStore

/// An import of a list into an entity.
package final class ListImport: @unchecked Sendable {
    // The batch calls `fill` from one thread at a time, while whoever made this waits for it.

    /// A value that does not fit its attribute, and how many more of the field do not.
    package struct Misfit: Sendable, Equatable {
        package let field: String
        package let attribute: String
        package let type: AttributeType
        /// The first such value, shortened.
        package let text: String
        package let reason: String
        package let record: Int
        package let line: Int
        /// Records whose value of this field does not fit, this one included.
        package fileprivate(set) var count = 1
    }

    /// How many records were read.
    package private(set) var recordCount = 0
    /// Called now and then with the records and bytes that were read.
    package var onProgress: ((_ records: Int, _ bytes: Int) -> Void)?

    private let entity: SchemaEntity
    private let source: ListSource
    private let mapping: FieldMapping
    private let binder: FieldBinder
    private let reader: any ListReader
    private var record = ListRecord()
    private var misfits: [Misfit] = []
    private var misfitIndexes: [Int: Int] = [:]

    /// Begins to read a list for an entity.
    package init(
        _ source: ListSource, form: ListForm, entity: SchemaEntity, mapping: FieldMapping
    ) throws(ListError) {
        self.source = source
        self.entity = entity
        self.mapping = try mapping.resolved(for: form)
        binder = FieldBinder(entity, mapping: self.mapping)
        do throws(ListError) {
            reader = try source.makeReader(form, plan: binder)
        } catch {
            throw error.naming(source)
        }
    }

    /// The batch insert of the list; everything but its rows is to be set.
    package func makeRequest() -> BatchInsertRequest {
        BatchInsertRequest(entity: entity) { [self] row in try fill(row) }
    }

    /// The fields that are mapped but that no record has.
    package var unusedMappings: [String] { mapping.names.filter { !binder.mapped.contains($0) } }

    /// Fills a row; true if there was no record left.
    ///
    /// - Throws: `ListError` if the list is broken, `ListProblems` if it does not fit the entity.
    package func fill(_ row: borrowing RowWriter) throws -> Bool {
        let isAtEnd: Bool
        do throws(ListError) {
            isAtEnd = try !reader.next(&record)
        } catch {
            throw error.naming(source)
        }
        if isAtEnd {
            onProgress?(recordCount, source.byteCount)
            // The header of a list without rows names fields too.
            guard binder.unknown.isEmpty else { throw problems }
            return true
        }
        recordCount += 1
        if recordCount & 4095 == 0 { onProgress?(recordCount, reader.byteCount) }
        for cell in record.cells { set(cell, in: row) }
        guard binder.unknown.isEmpty, misfits.isEmpty else { throw try survey() }
        return false
    }

    private func set(_ cell: ListRecord.Cell, in row: borrowing RowWriter) {
        switch binder.targets[cell.field] {
        case .none: return
        case .composite(let columns):
            guard cell.kind == .null else {
                note(
                    cell, attribute: reader.fields.fields[cell.field].name, .composite,
                    "a composite attribute takes an object")
                return
            }
            for column in columns { _ = row.set(column, .null) }
        case .column(let column, let type, let keepsNested):
            switch record.value(of: cell, as: type, keepsNested: keepsNested) {
            case .value(let value):
                precondition(row.set(column, value), "a converted value is of the column's type")
            case .failure(let reason):
                note(cell, attribute: entity.columns[column].name, type, reason)
            }
        }
    }

    // MARK: Problems

    /// Reads the rest of the list for what else is wrong.
    private func survey() throws(ListError) -> ListProblems {
        do throws(ListError) {
            while try reader.next(&record) {
                recordCount += 1
                for cell in record.cells { check(cell) }
            }
        } catch {
            throw error.naming(source)
        }
        return problems
    }

    private func check(_ cell: ListRecord.Cell) {
        switch binder.targets[cell.field] {
        case .none: return
        case .composite:
            guard cell.kind != .null else { return }
            note(
                cell, attribute: reader.fields.fields[cell.field].name, .composite,
                "a composite attribute takes an object")
        case .column(let column, let type, let keepsNested):
            guard
                case .failure(let reason) = record.value(
                    of: cell, as: type, keepsNested: keepsNested)
            else { return }
            note(cell, attribute: entity.columns[column].name, type, reason)
        }
    }

    private func note(
        _ cell: ListRecord.Cell, attribute: String, _ type: AttributeType, _ reason: String
    ) {
        if let index = misfitIndexes[cell.field] {
            misfits[index].count += 1
            return
        }
        misfitIndexes[cell.field] = misfits.count
        let text = PlainText.visible(record.text(cell))
        misfits.append(
            Misfit(
                field: reader.fields.fields[cell.field].name, attribute: attribute, type: type,
                text: text.count > 60 ? text.prefix(57) + "…" : text, reason: reason,
                record: record.number, line: cell.line))
    }

    private var problems: ListProblems {
        ListProblems(
            source: source.name, entity: entity.name, unknown: binder.unknown, misfits: misfits)
    }
}

// Fills the rows of a batch insert from a list.
//
//   1. Each record's cells are converted and stored in their columns. Cells for the same relationship's
//      target are combined.
//   2. At the first problem, filling ends but reading continues, so that one error can name every unknown
//      field and every field whose values do not fit. Broken bytes end everything immediately.
//
// Invariants: after the first problem no row is filled: the batch fails as a whole.
// Threads: one at a time; the batch calls it while the caller waits.

package import CairnModel
package import CairnStore

/// An import of a list into an entity.
package final class ListImport: @unchecked Sendable {
    // The batch calls `fill` from one thread at a time, while the caller waits for it.

    /// A value that does not fit its attribute, and the number of such values in the field.
    package struct Misfit: Sendable, Equatable {
        package let field: String
        package let attribute: String
        package let type: AttributeType
        /// The first such value, shortened.
        package let text: String
        package let reason: String
        package let record: Int
        package let line: Int
        /// The number of records whose value of this field does not fit, including this one.
        package fileprivate(set) var count = 1
    }

    /// The number of records read so far.
    package private(set) var recordCount = 0
    /// Called periodically with the number of records and bytes read.
    package var onProgress: ((_ records: Int, _ bytes: Int) -> Void)?

    /// The separator of the keys of relationships' targets in a cell.
    package var separator: String {
        get { targetReader.separator }
        set { targetReader.separator = newValue }
    }
    /// Returns the object for an id in its printed form.
    package var identify: ((_ text: String, _ entity: SchemaEntity) throws -> ObjectID?)? {
        get { targetReader.identify }
        set { targetReader.identify = newValue }
    }

    private struct Part {
        let index: Int
        var values: [String: Value] = [:]
        var cell: ListRecord.Cell
    }

    private let schema: Schema
    private let entity: SchemaEntity
    private var targetReader = TargetReader()
    /// The parts of targets in the current record: the relationship, its values, and the last cell.
    private var parts: [Part] = []
    private let source: ListSource
    private let mapping: FieldMapping
    private let form: ListForm
    private var binder: FieldBinder
    /// By column: whether it is part of a key; key values must not be rounded.
    private let isKey: [Bool]
    private var reader: any ListReader
    /// Whether a request has started to read.
    private var isUsed = false
    private var record = ListRecord()
    private var misfits: [Misfit] = []
    private var misfitIndexes: [Int: Int] = [:]

    /// Creates an import of a list into an entity.
    package init(
        _ source: ListSource, form: ListForm, entity: SchemaEntity, in schema: Schema,
        mapping: FieldMapping
    ) throws(ListError) {
        self.source = source
        self.schema = schema
        self.form = form
        self.entity = entity
        self.mapping = try mapping.resolved(for: form)
        binder = FieldBinder(entity, in: schema, mapping: self.mapping)
        var isKey = [Bool](repeating: false, count: entity.columns.count)
        for constraint in entity.constraints {
            for column in constraint.columns { isKey[column] = true }
        }
        self.isKey = isKey
        do throws(ListError) {
            reader = try source.makeReader(form, plan: binder)
        } catch {
            throw error.naming(source)
        }
    }

    /// Returns the batch insert for the list; the caller configures everything except its rows and whether
    /// targets are created.
    package func makeRequest(createsTargets: Bool = false) -> BatchInsertRequest {
        targetReader.makesTargets = createsTargets
        var request = BatchInsertRequest(entityName: entity.name, canRepeat: true) {
            [self] stored throws(StoreError) in
            guard stored.layout == entity.layout else {
                throw StoreError(
                    .incompatibleModel,
                    "the list is read for an entity whose columns differ from the store's",
                    context: .init(entity: entity.name))
            }
            do throws(ListError) {
                try begin()
            } catch {
                throw StoreError(
                    .rowsFailed, "the list cannot be read", context: .init(entity: entity.name),
                    cause: error)
            }
            return { [self] row in try fill(row) }
        }
        request.createsTargets = createsTargets
        return request
    }

    /// Restarts at the beginning of the list, if it was read before.
    private func begin() throws(ListError) {
        defer { isUsed = true }
        guard isUsed else { return }
        binder = FieldBinder(entity, in: schema, mapping: mapping)
        do throws(ListError) {
            reader = try source.makeReader(form, plan: binder)
        } catch {
            throw error.naming(source)
        }
        record = ListRecord()
        recordCount = 0
        misfits = []
        misfitIndexes = [:]
        parts = []
    }

    /// The mapped fields that no record has.
    package var unusedMappings: [String] { mapping.names.filter { !binder.mapped.contains($0) } }

    /// Fills a row; returns true if no record was left.
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
        if !parts.isEmpty { setTargets(in: row) }
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
            switch record.value(
                of: cell, as: type, keepsNested: keepsNested, isKey: isKey[column])
            {
            case .value(let value):
                precondition(row.set(column, value), "a converted value is of the column's type")
            case .failure(let reason):
                note(cell, attribute: entity.columns[column].name, type, reason)
            }
        case .related(let index):
            let field = binder.related[index]
            switch targetReader.targets(cell, of: record, field, binder) {
            case .targets(let targets):
                if let column = field.column {
                    row._setTarget(column, targets.first)
                } else {
                    row._setMembers(field.index, .replacing(targets))
                }
            case .failure(let reason): note(cell, attribute: field.name, field.type, reason)
            }
        case .part(let index, let part): take(cell, index, part)
        }
    }

    /// Reads the whole list without storing anything.
    ///
    /// - Throws: `ListError` if the list is broken, `ListProblems` if it does not fit the entity.
    package func check() throws {
        let problems = try survey()
        guard problems.unknown.isEmpty, problems.misfits.isEmpty else { throw problems }
    }

    // MARK: Targets

    /// Records a cell's value for the target of a relationship.
    private func take(_ cell: ListRecord.Cell, _ index: Int, _ part: RelatedField.Part) {
        switch record.value(of: cell, as: part) {
        case .value(let value):
            let place = parts.lastIndex { $0.index == index } ?? parts.count
            if place == parts.count { parts.append(Part(index: index, cell: cell)) }
            parts[place].cell = cell
            if !value.isNull { parts[place].values[part.name] = value }
        case .failure(let reason):
            note(
                cell, attribute: "\(binder.related[index].name).\(part.name)", part.type, reason)
        }
    }

    /// Sets the targets that were specified in parts; if all parts are nil, there is no target.
    private func setTargets(in row: borrowing RowWriter) {
        for part in parts {
            guard let column = binder.related[part.index].column else { continue }
            if let target = self.target(part) { row._setTarget(column, target) }
        }
        parts.removeAll(keepingCapacity: true)
    }

    /// Returns the target that was specified in parts, or none; nil if it cannot be identified.
    private func target(_ part: Part) -> RowTarget?? {
        let field = binder.related[part.index]
        if part.values.isEmpty { return .some(nil) }
        if let target = field.target(part.values, isMade: targetReader.makesTargets) {
            return target
        }
        note(
            part.cell, attribute: field.name, field.type,
            "the key of \(field.destination.name), \(field.keys), is missing")
        return nil
    }

    // MARK: Problems

    /// Reads the rest of the list for more problems.
    private func survey() throws(ListError) -> ListProblems {
        do throws(ListError) {
            while try reader.next(&record) {
                recordCount += 1
                for cell in record.cells { check(cell) }
                for part in parts { _ = target(part) }
                parts.removeAll(keepingCapacity: true)
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
                    of: cell, as: type, keepsNested: keepsNested, isKey: isKey[column])
            else { return }
            note(cell, attribute: entity.columns[column].name, type, reason)
        case .related(let index):
            let field = binder.related[index]
            if case .failure(let reason) = targetReader.targets(cell, of: record, field, binder) {
                note(cell, attribute: field.name, field.type, reason)
            }
        case .part(let index, let part): take(cell, index, part)
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
        misfits.append(
            Misfit(
                field: reader.fields.fields[cell.field].name, attribute: attribute, type: type,
                text: PlainText.short(record.text(cell)), reason: reason,
                record: record.number, line: cell.line))
    }

    private var problems: ListProblems {
        ListProblems(
            source: source.name, entity: entity.name, unknown: binder.unknown, misfits: misfits)
    }
}

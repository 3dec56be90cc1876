// The checks of a complete batch, and the values that are filled in.

package import CairnModel
import FoundationEssentials

extension ColumnBatch {
    /// The maximum number of errors that one batch reports.
    private static let errorLimit = 100

    /// Checks the rows against the schema and gives untouched cells their default value. Their state stays
    /// untouched, so that a request that changes only what it names can tell.
    ///
    /// - Parameters:
    ///   - firstRow: the number in the request of the batch's first row, for errors.
    ///   - setOnly: whether a row may leave out a mandatory attribute, because it may be an update. Rows that
    ///     turn out to be new must then be asked by `missingColumn(row:)`.
    ///   - validates: whether the model's limits, lengths, patterns and validation predicates hold.
    /// - Throws: `StoreError`: `.missingMandatory` for a mandatory attribute that is nil,
    ///   `.invalidRequest` for an integer out of range, 1650 for a decimal number that is NaN; if there are
    ///   several, `.multiple` with the first hundred of them, in the order of the rows.
    package func seal(firstRow: Int, setOnly: Bool = false, validates: Bool = true)
        throws(StoreError)
    {
        var errors: [StoreError] = []
        for (index, rule) in rules.enumerated() {
            if columns[index].oversizedRow >= 0 {
                errors.append(oversizedError(column: index, firstRow: firstRow))
            }
            if columns[index].noNumberRow >= 0,
                let error = noNumberError(column: index, firstRow: firstRow)
            {
                errors.append(error)
            }
            if let limits = rule.limits {
                checkRange(index, limits, firstRow: firstRow, errors: &errors)
            }
            if rule.isMandatory {
                checkMandatory(
                    index, mayBeUntouched: setOnly || rule.hasDefault, firstRow: firstRow,
                    errors: &errors)
            }
            if rule.isRuled, validates {
                checkRules(index, firstRow: firstRow, errors: &errors)
            }
        }
        if errors.isEmpty {
            for index in rules.indices where rules[index].hasDefault {
                columns[index].hasDefault = true
                guard let first = columns[index].firstUntouched(rows: rows) else { continue }
                columns[index].fill(
                    entity.columns[index].defaultValue, from: first, rows: rows)
            }
            return
        }
        if errors.count == 1 { throw errors[0] }
        errors.sort { ($0.context.row ?? 0) < ($1.context.row ?? 0) }
        throw StoreError(
            .multiple, "several rows of the batch were rejected",
            context: .init(entity: entity.name), details: Array(errors.prefix(Self.errorLimit)))
    }

    /// The first mandatory attribute that a row leaves out and that has no default value; nil if it lacks
    /// nothing.
    package func missingColumn(row: Int) -> Int? {
        entity.columns.indices.first { index in
            columns[index].states[row] == ColumnBuffer.State.untouched
                && entity.columns[index].mustBeGiven
                && entity.columns[index].defaultValue.isNull
        }
    }

    /// The error for a row that lacks a mandatory attribute.
    @inline(never)
    package func missingError(column: Int, row: Int, firstRow: Int) -> StoreError {
        StoreError(
            .missingMandatory, "a required attribute is nil",
            context: .init(
                entity: entity.name, key: entity.columns[column].name, row: firstRow + row))
    }

    // Errors are made apart: what makes them is larger than what finds nothing wrong, and would keep that from being part of
    // the loop.

    @inline(never)
    private func oversizedError(column: Int, firstRow: Int) -> StoreError {
        StoreError(
            .invalidRequest, "the value is too large: a column of a batch can hold 4 GiB",
            context: .init(
                entity: entity.name, key: entity.columns[column].name,
                row: firstRow + columns[column].oversizedRow))
    }

    /// The error for a decimal number that is NaN, if a row still has it; its cell is nil.
    @inline(never)
    private func noNumberError(column: Int, firstRow: Int) -> StoreError? {
        let row = columns[column].noNumberRow
        guard columns[column].states[row] == ColumnBuffer.State.null else { return nil }
        return StoreError(
            StoreError.Code(rawValue: ValidationFailure.Code.invalidDate.rawValue),
            "the decimal number is not a number (NaN)",
            context: .init(
                entity: entity.name, key: entity.columns[column].name, row: firstRow + row,
                value: .decimal(.nan)))
    }

    private func checkRange(
        _ index: Int, _ limits: ClosedRange<Int64>, firstRow: Int, errors: inout [StoreError]
    ) {
        let (least, greatest) = (limits.lowerBound, limits.upperBound)
        let (states, values) = (columns[index].states, columns[index].values)
        var failures = 0
        for row in 0..<rows {
            let value = values.load(fromByteOffset: row &* 8, as: Int64.self)
            let isOutside = (value < least) != (value > greatest)
            failures &+= isOutside && states[row] == ColumnBuffer.State.set ? 1 : 0
        }
        if failures == 0 { return }
        noteOutside(index, limits, failures, firstRow: firstRow, errors: &errors)
    }

    @inline(never)
    private func noteOutside(
        _ index: Int, _ limits: ClosedRange<Int64>, _ failures: Int, firstRow: Int,
        errors: inout [StoreError]
    ) {
        let (states, values) = (columns[index].states, columns[index].values)
        let column = entity.columns[index]
        var left = min(failures, Self.errorLimit)
        for row in 0..<rows where left > 0 && states[row] == ColumnBuffer.State.set {
            let value = values.load(fromByteOffset: row &* 8, as: Int64.self)
            guard !limits.contains(value) else { continue }
            left -= 1
            errors.append(
                StoreError(
                    .invalidRequest,
                    "a number is outside the range of \(column.typeName)",
                    context: .init(
                        entity: entity.name, key: column.name, row: firstRow + row,
                        value: .integer(value),
                        detail: "\(value) is outside the range of \(column.typeName)")))
        }
    }

    @inline(never)
    private func checkRules(
        _ index: Int, firstRow: Int, errors: inout [StoreError]
    ) {
        let conditions = conditions[index] ?? []
        let states = columns[index].states
        let column = entity.columns[index]
        var left = Self.errorLimit
        for row in 0..<rows where left > 0 && states[row] == ColumnBuffer.State.set {
            guard
                let failure = column.validate(value(index, row: row), conditions: conditions)
            else { continue }
            left -= 1
            errors.append(StoreError(failure, entity: entity.name, row: firstRow + row))
        }
    }

    private func checkMandatory(
        _ index: Int, mayBeUntouched: Bool, firstRow: Int, errors: inout [StoreError]
    ) {
        let states = columns[index].states
        var left = Self.errorLimit
        for row in 0..<rows where states[row] != ColumnBuffer.State.set {
            if states[row] == ColumnBuffer.State.untouched && mayBeUntouched { continue }
            // Why it is nil has been said.
            if row == columns[index].noNumberRow && states[row] == ColumnBuffer.State.null {
                continue
            }
            errors.append(missingError(column: index, row: row, firstRow: firstRow))
            left -= 1
            if left == 0 { return }
        }
    }
}

extension ColumnBuffer {
    /// The first row whose cell is untouched.
    fileprivate func firstUntouched(rows: Int) -> Int? {
        for row in 0..<rows where states[row] == State.untouched { return row }
        return nil
    }

    /// Gives untouched cells a value, without their state: bytes are kept once for all of them.
    fileprivate mutating func fill(_ value: Value, from first: Int, rows: Int) {
        guard store(value, row: first) else {
            preconditionFailure(
                "a default value has the type of its attribute")
        }
        states[first] = State.untouched
        let width = kind.width
        for row in (first + 1)..<max(rows, first + 1) where states[row] == State.untouched {
            (values + row * width).copyMemory(from: values + first * width, byteCount: width)
            if kind == .bytes { lengths[row] = lengths[first] }
        }
    }
}

/// What is checked in a column. It is gathered once: a column of the schema has many parts, and a batch of one row
/// would pay for copies of each of them.
struct ColumnRule {
    /// The range of its integers; nil if they are of 64 bits or none.
    let limits: ClosedRange<Int64>?
    let isMandatory: Bool
    let hasDefault: Bool
    /// Whether the model has more to say of its values.
    let isRuled: Bool

    init(_ column: SchemaColumn) {
        isRuled = column.hasRules && !column.isDerived
        limits = column.integerLimits
        isMandatory = column.mustBeGiven
        hasDefault = !column.defaultValue.isNull
    }
}

extension SchemaColumn {
    /// The range of the column's integers; nil if they are of 64 bits or none.
    var integerLimits: ClosedRange<Int64>? {
        switch kind {
        case .attribute(.integer16): Int64(Int16.min)...Int64(Int16.max)
        case .attribute(.integer32): Int64(Int32.min)...Int64(Int32.max)
        default: nil
        }
    }

    /// Whether the store computes the column's values.
    package var isDerived: Bool { attribute?.derivationExpression != nil }

    /// Whether a row of a batch must have a value here. Relationships are not set by a batch, and derived
    /// values are exempt.
    package var mustBeGiven: Bool { !isOptional && attribute != nil && !isDerived }

    /// The name of the column's type, for errors.
    var typeName: String {
        switch kind {
        case .attribute(let type): type.rawValue
        case .reference: "reference"
        }
    }
}

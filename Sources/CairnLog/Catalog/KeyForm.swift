// What the keys of a uniqueness constraint are made of.
//
// Plain keys are the bytes of the values: see `KeyBuffer`. A constraint with options has keys of another form, which no
// plain constraint can have: every part has its length before it, also if there is one alone; a nil part is a length of all
// ones; and texts are folded if the constraint says so. A row that the constraint's predicate leaves out has no key.
//
// Threads: immutable, so any.

import CairnFormat
import CairnModel
import CairnStore

/// The columns of a constraint, and its options. An object, so that whoever loads keys counts one reference.
final class KeyForm: Sendable {
    /// The columns of the key, by index in the entity and its descendants.
    let columns: [Int]
    /// The columns that a row's key, and whether it has one, depend on.
    let watched: [Int]
    /// The options; nil if there are none.
    let rule: KeyRule?
    /// The types of the columns that the condition asks; nil for one of which only counts whether it is nil.
    fileprivate let asked: [AttributeType?]
    /// Whether the key, or whether there is one, depends on a reference where nil counts: one that is cleared may make a key.
    let watchesReferences: Bool

    init(_ columns: [Int], _ rule: KeyRule?, _ entity: SchemaEntity?) {
        self.columns = columns
        self.rule = rule
        let asked = rule?.conditionColumns ?? []
        watched = columns + asked.filter { !columns.contains($0) }
        self.asked = asked.map { column in
            guard rule?.valueColumns.contains(column) == true,
                case .attribute(let type)? = entity?.columns[column].kind
            else { return nil }
            return type
        }
        watchesReferences =
            rule != nil && watched.contains { entity?.columns[$0].attribute == nil }
    }

    /// Whether a row takes part whatever its values are, as long as none of the key is nil.
    var isWhole: Bool { rule?.condition == nil }

    /// Whether a row's key, or whether it has one, depends on the bytes of a column, and not on its being nil alone.
    func comparesBytes(of column: Int) -> Bool {
        columns.contains(column) || rule?.valueColumns.contains(column) == true
    }
}

extension KeyBuffer {
    // MARK: Keys of either form

    /// Loads the key of a row of a batch; false if it has none.
    @inline(__always)
    mutating func load(_ batch: ColumnBatch, row: Int, _ form: KeyForm) -> Bool {
        if let rule = form.rule { return load(batch, row: row, form, rule) }
        return load(batch, row: row, columns: form.columns)
    }

    /// Loads the key of a row given as values; false if it has none.
    @inline(__always)
    mutating func load(_ values: [Value], _ form: KeyForm, number: (ObjectID) -> UInt32?) -> Bool {
        if let rule = form.rule {
            guard rule.holds(rule.conditionColumns.map { KeyRule.asked(values[$0]) }) else {
                return false
            }
            return load(values, form, rule, number: number)
        }
        return load(values, columns: form.columns, number: number)
    }

    /// Loads the key of a stored row; false if it has none.
    @inline(__always)
    mutating func load(
        _ block: CachedBlock, row: Int, entity: Catalog.StoredEntity, _ form: KeyForm
    ) throws(StoreError) -> Bool {
        if let rule = form.rule { return try load(block, row: row, entity: entity, form, rule) }
        return try load(block, row: row, entity: entity, columns: form.columns)
    }

    // MARK: Keys with options

    private mutating func appendNil() { append(length: -1) }

    private mutating func append(folding text: String, _ rule: KeyRule) {
        var folded = rule.folded(text)
        folded.withUTF8 {
            append(length: $0.count)
            append(UnsafeRawBufferPointer($0))
        }
    }

    private mutating func append(folding bytes: UnsafeRawBufferPointer, _ rule: KeyRule) {
        append(folding: String(decoding: bytes, as: UTF8.self), rule)
    }

    @inline(never)
    private mutating func load(_ batch: ColumnBatch, row: Int, _ form: KeyForm, _ rule: KeyRule)
        -> Bool
    {
        let asked = zip(rule.conditionColumns, form.asked).map { column, type -> Value in
            guard type == nil else { return batch.value(column, row: row) }
            return batch.columns[column].isNil(row: row) ? .null : .integer(1)
        }
        guard rule.holds(asked) else { return false }
        clear()
        for (place, column) in form.columns.enumerated() {
            let cells = batch.columns[column]
            if cells.isNil(row: row) {
                guard rule.rule.nilsAreEqual else { return false }
                appendNil()
            } else if rule.folds[place] {
                append(folding: cells.bytes(row: row), rule)
            } else {
                guard append(cells, row: row, compound: true) else { return false }
            }
        }
        return true
    }

    /// Loads the key that a row of these values has if it takes part; false if a part is nil and nil is no value.
    mutating func load(
        _ values: [Value], _ form: KeyForm, _ rule: KeyRule, number: (ObjectID) -> UInt32?
    ) -> Bool {
        clear()
        for (place, column) in form.columns.enumerated() {
            switch values[column] {
            case .null:
                guard rule.rule.nilsAreEqual else { return false }
                appendNil()
            case .string(let text) where rule.folds[place]: append(folding: text, rule)
            case let value:
                guard append(value, compound: true, number: number) else { return false }
            }
        }
        return true
    }

    @inline(never)
    private mutating func load(
        _ block: CachedBlock, row: Int, entity: Catalog.StoredEntity, _ form: KeyForm,
        _ rule: KeyRule
    ) throws(StoreError) -> Bool {
        if !rule.conditionColumns.isEmpty {
            var asked: [Value] = []
            for (column, type) in zip(rule.conditionColumns, form.asked) {
                let cells = try block.cells(entity.columns[column], at: column).pointee
                if cells.isNil(row) {
                    asked.append(.null)
                } else if let type {
                    asked.append(try StoredObjects.value(cells, row, type, block))
                } else {
                    asked.append(.integer(1))
                }
            }
            guard rule.holds(asked) else { return false }
        }
        clear()
        for (place, column) in form.columns.enumerated() {
            let cells = try block.column(entity.columns[column])
            guard let cells, !cells.isNil(at: row) else {
                guard rule.rule.nilsAreEqual else { return false }
                appendNil()
                continue
            }
            if rule.folds[place] {
                if cells.isExternal(at: row) {
                    let value = try block.large(cells.bytes(at: row))
                    value.withUnsafeBytes { append(folding: $0, rule) }
                } else {
                    append(folding: cells.bytes(at: row), rule)
                }
            } else {
                guard try append(cells, row: row, block, compound: true) else { return false }
            }
        }
        return true
    }
}

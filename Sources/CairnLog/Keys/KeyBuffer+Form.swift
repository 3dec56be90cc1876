import CairnFormat
package import CairnModel
package import CairnStore

extension KeyBuffer {
    // MARK: Keys of either form

    /// Loads the key of a batch's row; returns false if it has none.
    @inline(__always)
    mutating func load(_ batch: ColumnBatch, row: Int, _ form: KeyForm) -> Bool {
        if let rule = form.rule { return load(batch, row: row, form, rule) }
        return load(batch, row: row, columns: form.columns)
    }

    /// Loads the key of a row given as values; returns false if it has none.
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

    /// Loads the key of a stored row; returns false if it has none.
    @inline(__always)
    package mutating func load(
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

    /// Loads the key of a row with these values that takes part; returns false if a part is nil and nils are
    /// not equal.
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
                    asked.append(try Value.stored(cells, row, type, block))
                } else {
                    asked.append(.integer(1))
                }
            }
            guard rule.holds(asked) else { return false }
        }
        clear()
        for (place, column) in form.columns.enumerated() {
            let cells = try block.reader(entity.columns[column], at: column)
            if cells.isNil(row) {
                guard rule.rule.nilsAreEqual else { return false }
                appendNil()
                continue
            }
            if rule.folds[place] {
                append(folding: try block.text(cells, row), rule)
            } else {
                guard try append(cells, row: row, block, compound: true) else { return false }
            }
        }
        return true
    }
}

extension KeyForm {
    /// Returns the bytes of the key of a row given as values; nil if it has none.
    package func bytes(_ values: [Value]) -> [UInt8]? {
        var key = KeyBuffer()
        return key.load(values, self, number: { $0.number }) ? Array(key.bytes) : nil
    }
}

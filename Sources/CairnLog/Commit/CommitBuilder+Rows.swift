// Rows that are written value by value: saves, cleared references, pairs.

import CairnFormat
package import CairnModel
package import CairnStore

/// Rows to be written as blocks, by entity.
package struct PendingRows {
    package struct Row {
        let number: UInt32
        let version: UInt32
        let values: [Value]
        /// The order keys; empty if there are none.
        var keys: [Int64?] = []
        /// The columns to be copied from the row's old place, and that place.
        let kept: (handle: BlockHandle, slot: Int, columns: ColumnSet)?
    }
    var byEntity: [Int: [Row]] = [:]
}

extension CommitBuilder {
    /// Whether a number has a row.
    func hasRow(tree: Int, _ number: UInt32) throws(StoreError) -> Bool {
        if !state.directories[tree][number].isEmpty { return true }
        tools.partial?.miss(tree: tree, number: number)
        return false
    }

    /// Removes a row from its place and enters its new values into the indexes; the caller writes the row.
    /// Whether another one has its new keys is for the caller to check, when all are written.
    package mutating func replace(entity: Int, number: UInt32, old: StoredRow, values: [Value])
        -> PendingRows.Row
    {
        var key = KeyBuffer()
        for unique in catalog.entities[entity].uniques {
            let form = catalog.uniques[unique].form
            guard form.watched.contains(where: { values[$0] != old.values[$0] }) else { continue }
            if key.load(old.values, form, number: { $0.number }) {
                removeKey(key.hash(seed: seed), number: number, unique: unique)
            }
            if key.load(values, form, number: { $0.number }) {
                insertKey(key.hash(seed: seed), number: number, unique: unique)
            }
        }
        moveReferences(entity: entity, number: number, from: old.values, to: values)
        // A commit creates one version, however often it writes the row.
        let isYoung = isYoung(old.handle)
        kill(old.handle, slot: old.slot)
        if !isYoung { updatedCount += 1 }
        return PendingRows.Row(
            number: number, version: isYoung ? old.version : DirectoryCell.next(old.version),
            values: values, keys: keys(of: old, values, entity: entity),
            kept: kept(entity: entity, old, values))
    }

    /// Returns the constraints under which another row has a key that a row is about to get.
    mutating func taken(entity: Int, number: UInt32, old: StoredRow, values: [Value])
        throws(StoreError) -> [(unique: Int, hash: UInt64)]
    {
        var taken: [(unique: Int, hash: UInt64)] = []
        var key = KeyBuffer()
        for unique in catalog.entities[entity].uniques {
            let form = catalog.uniques[unique].form
            guard form.watched.contains(where: { values[$0] != old.values[$0] }),
                key.load(values, form, number: { $0.number }),
                try find(unique: unique, key: key, except: number) != nil
            else { continue }
            taken.append((unique, key.hash(seed: seed)))
        }
        return taken
    }

    /// The variable columns of a row that keep their bytes: large values are not rewritten.
    func kept(entity: Int, _ old: StoredRow, _ values: [Value]) -> (
        handle: BlockHandle, slot: Int, columns: ColumnSet
    ) {
        var columns = ColumnSet()
        for (index, column) in catalog.entities[entity].columns.enumerated()
        where column.kind == .bytes && values[index] == old.values[index] {
            columns.insert(index)
        }
        return (old.handle, old.slot, columns)
    }

    /// Moves a new or rewritten row from the inverses of its old targets to those of the new ones.
    mutating func moveReferences(entity: Int, number: UInt32, from old: [Value]?, to new: [Value]?)
    {
        for reference in catalog.entities[entity].references {
            let column = catalog.references[reference].column
            let before = old.flatMap { Self.number(of: $0[column]) }
            let after = new.flatMap { Self.number(of: $0[column]) }
            if before == after { continue }
            if let before {
                removeReference(reference, source: number, target: before)
            }
            if let after {
                state.inverses[reference].insert(source: number, target: after, in: &pages)
            }
        }
    }

    /// Writes rows of one entity as blocks. The caller updates the indexes.
    package mutating func write(_ rows: [PendingRows.Row], entity: Int) throws(StoreError) {
        guard !rows.isEmpty else { return }
        var filler = BlockFiller(entity, catalog, reader.batches)
        let batch = filler.batch
        // A pair has only references.
        let columns =
            entity < catalog.schema.entities.count ? catalog.description(of: entity).columns : []
        for row in rows {
            for (column, value) in row.values.enumerated() {
                if let kept = row.kept, kept.columns.contains(column) {
                    try batch.columns[column].copyCell(
                        from: try block(kept.handle), catalog.entities[entity].columns[column],
                        kept.slot, to: batch.rows)
                } else if let staged, let value = StagedValue.find(value) {
                    let place = try reference(
                        value, staged, entity: entity, column: column, number: row.number)
                    batch.columns[column].setReference(place, row: batch.rows)
                } else {
                    guard columns.isEmpty || value.fits(columns[column]),
                        batch.columns[column].store(value, row: batch.rows)
                    else {
                        throw misfit(value, column: column, entity: entity)
                    }
                }
            }
            for (place, key) in row.keys.enumerated() {
                guard let key else { continue }
                batch.columns[row.values.count + place].setInteger(key, row: batch.rows)
            }
            try add(row.number, version: row.version, to: &filler)
        }
        try finish(&filler)
    }

    @inline(never)
    private func misfit(_ value: Value, column: Int, entity: Int) -> StoreError {
        StoreError(
            .invalidRequest, "the \(value.kindName) is not a value of the property's type",
            context: .init(
                entity: catalog.entities[entity].name,
                key: catalog.entities[entity].columns[column].name, value: value,
                detail: "the \(value.kindName) \(value) is not a value of the property's type"))
    }

    // MARK: Pairs

    /// The pair of two objects, if it is stored.
    mutating func findPair(entity: Int, source: UInt32, destination: UInt32) throws(StoreError)
        -> UInt32?
    {
        guard let unique = catalog.entities[entity].uniques.first else { return nil }
        if let partial = tools.partial {
            // A list at the other end gets the new member after all others.
            for reference in catalog.entities[entity].references {
                let definition = catalog.references[reference]
                guard definition.column == 0 || definition.order != nil else { continue }
                partial.ask(
                    reference: reference, target: definition.column == 0 ? source : destination)
            }
        }
        var key = KeyBuffer()
        key.loadPair(source, destination)
        return try find(unique: unique, key: key)
    }

    /// The two ends of a pair.
    mutating func pair(entity: Int, number: UInt32) throws(StoreError) -> (UInt32, UInt32) {
        guard let row = try storedRow(entity: entity, number: number),
            let source = Self.number(of: row.values[0]),
            let destination = Self.number(of: row.values[1])
        else { throw .damaged("an inverse table names a pair that does not exist") }
        return (source, destination)
    }

    /// Writes new pairs.
    ///
    /// - Parameter keys: order keys, by position among the pairs.
    mutating func addPairs(
        _ pairs: [(entity: Int, source: UInt32, destination: UInt32)], keys: [Int: [Int64?]]
    ) throws(StoreError) {
        var pending = PendingRows()
        var key = KeyBuffer()
        for (place, pair) in pairs.enumerated() {
            let entity = catalog.entities[pair.entity]
            let number = try issueNumber(tree: entity.tree)
            key.loadPair(pair.source, pair.destination)
            for unique in entity.uniques {
                insertKey(key.hash(seed: seed), number: number, unique: unique)
            }
            let values = [pair.source, pair.destination].enumerated().map { column, end -> Value in
                guard let tree = entity.columns[column].target else {
                    preconditionFailure("the columns of a pair are references")
                }
                let root = catalog.schemaEntity(catalog.trees[tree].root)
                return .objectID(identity.id(UInt64(end), entity: root))
            }
            moveReferences(entity: pair.entity, number: number, from: nil, to: values)
            pending.byEntity[pair.entity, default: []].append(
                PendingRows.Row(
                    number: number, version: 1, values: values, keys: keys[place] ?? [], kept: nil))
        }
        for (entity, rows) in pending.byEntity.inKeyOrder() {
            try write(rows, entity: entity)
        }
    }

    // MARK: Numbers of values

    /// The number of a reference; nil for no reference.
    static func number(of value: Value) -> UInt32? {
        if case .objectID(let id) = value { UInt32(exactly: id.reference) } else { nil }
    }

    /// The key of an object in words; the last part of its URI if it is not stored yet.
    mutating func keyText(of number: UInt32, entity: Int, unique: Int) throws(StoreError) -> String
    {
        guard let row = try storedRow(entity: entity, number: number) else { return "p\(number)" }
        return catalog.uniques[unique].text { row.values[$0] }
    }
}

extension KeyBuffer {
    /// Loads the key of a pair.
    mutating func loadPair(_ source: UInt32, _ destination: UInt32) {
        clear()
        append(length: 8)
        append(word: UInt64(source))
        append(length: 8)
        append(word: UInt64(destination))
    }
}

extension Value {
    /// Whether this is a value of a column's type, within its range. Nil fits any.
    fileprivate func fits(_ column: SchemaColumn) -> Bool {
        if isNull { return true }
        guard case .attribute(let type) = column.kind else { return true }
        return fits(type)
    }
}

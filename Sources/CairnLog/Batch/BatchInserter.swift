// Inserts and updates rows of a batch, column batch after column batch.
//
// For each row, in order:
//   1. Its identity: the first uniqueness constraint whose key has no nil part. Is there a row with the key?
//      Rows of the batch that came before count, since they are in the indexes already.
//   2. No: a new number, unless another constraint ties it to a stored object.
//      Yes: by policy the row is left out, or compared with what is stored and, if it differs, written anew
//      under the number.
//   3. A key under which another object is stored is noted; whether it is a conflict is known at the end,
//      when all rows and deletions have been seen.
// At the end: what no row named is deleted if the request says so, then the noted keys are looked at again.
//
// Rows get their block and slot before the block's bytes exist: the cells point into the batch meanwhile.
//
// Invariants: `staged` lists the batch's rows that live in the open block, by slot; nothing is written for
// a row that changes nothing (BL4).
// Threads: within the turn, in one thread.

import CairnFormat
import CairnModel
import CairnStore

/// Carries out a batch insert.
struct BatchInserter: ~Copyable {
    private let request: BatchInsertRequest
    private let entityIndex: Int
    private let entity: Catalog.StoredEntity
    private let identity: StoreIdentity
    private let updates: Bool
    /// The columns that keys are made of, once somebody has asked.
    private var keyColumns: ColumnSet?
    private(set) var result = BatchInsertResult()

    // The block that is being filled.
    private var handle = BlockHandle.none
    private var batch: ColumnBatch?
    private var firstRow = 0
    private var staged: [UInt16] = []
    private var numbers: [UInt32] = []
    private var versions: [UInt32] = []

    private var key = KeyBuffer()
    private var other = KeyBuffer()
    private var touched = NumberSet()
    private var listed = NumberSet()
    /// Keys that another object had when the row came: row, constraint, the row's object.
    private var suspects: [(row: Int, unique: Int, number: UInt32, hash: UInt64)] = []
    private var refused: [StoreError] = []
    private var refusedCount = 0

    /// A batch for an entity of the catalog.
    init(
        _ request: BatchInsertRequest, policy: MergePolicyKind, entity: Int, catalog: Catalog,
        identity: StoreIdentity
    ) {
        self.request = request
        self.entityIndex = entity
        self.entity = catalog.entities[entity]
        self.identity = identity
        updates = policy == .mergeByPropertyObjectTrump || policy == .overwrite
    }

    /// Inserts the rows of a sealed column batch; `firstRow` is the number of its first row.
    mutating func insert(_ batch: ColumnBatch, firstRow: Int, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        self.firstRow = firstRow
        var row = 0
        while row < batch.rows {
            // A block takes as many rows as its budget of bytes allows.
            let end = blockEnd(batch, from: row, sizes: builder.engine.sizes)
            self.batch = batch
            while row < end {
                try insert(row, of: batch, &builder)
                row += 1
            }
            try close(&builder)
        }
        self.batch = nil
    }

    private func blockEnd(_ batch: ColumnBatch, from start: Int, sizes: StoreSizes) -> Int {
        var bytes = 0
        var row = start
        let limit = min(batch.rows, start + sizes.rowsPerBlock)
        let fixed = batch.columns.reduce(0) { $0 + ($1.kind == .bytes ? 2 : $1.kind.width) }
        while row < limit {
            bytes += fixed
            for column in batch.columns where column.kind == .bytes && column.hasValue(row) {
                bytes += min(Int(column.lengths[row]), sizes.largeValueBytes)
            }
            if bytes > sizes.bytesPerBlock && row > start { return row }
            row += 1
        }
        return limit
    }

    // MARK: One row

    private mutating func insert(_ row: Int, of batch: ColumnBatch, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        var known = false
        for unique in entity.uniques {
            let columns = builder.catalog.uniques[unique].columns
            guard key.load(batch, row: row, columns: columns) else { continue }
            known = true
            if let number = try find(unique, &builder) {
                return try meet(number, unique, row, of: batch, &builder)
            }
            break
        }
        if known && entity.uniques.count > 1 && !updates {
            // Skipping policies leave a row out whichever constraint ties it to a stored object.
            for unique in entity.uniques {
                let columns = builder.catalog.uniques[unique].columns
                guard key.load(batch, row: row, columns: columns),
                    let number = try find(unique, &builder)
                else { continue }
                return try skip(row, number, unique, &builder)
            }
        }
        if request.setOnly, let missing = batch.missingColumn(row: row) {
            throw batch.missingError(column: missing, row: row, firstRow: firstRow)
        }
        let number = try builder.issueNumber(tree: entity.tree)
        touch(number)
        for unique in entity.uniques {
            let columns = builder.catalog.uniques[unique].columns
            guard key.load(batch, row: row, columns: columns) else { continue }
            try enter(row, number, unique, &builder)
        }
        stage(row, number, version: 1, &builder)
        addReferences(row, number, of: batch, &builder)
        builder.insertedCount += 1
        result.insertedCount += 1
        note(.inserted, number)
    }

    /// Puts the key that is loaded into an index, and notes it if another object has it.
    private mutating func enter(
        _ row: Int, _ number: UInt32, _ unique: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let hash = key.hash(seed: builder.seed)
        if entity.uniques.count > 1, try find(unique, &builder) != nil {
            suspects.append((firstRow + row, unique, number, hash))
        }
        builder.insertKey(hash, number: number, unique: unique)
    }

    /// The object that has the key that is loaded.
    private mutating func find(_ unique: Int, _ builder: inout CommitBuilder) throws(StoreError)
        -> UInt32?
    {
        var cursor = builder.state.uniques[unique].firstCandidate(
            hash: key.hash(seed: builder.seed))
        while let number = cursor.next() {
            if try loadKey(of: number, unique, &builder), other.equals(key) { return number }
        }
        return nil
    }

    /// Loads the key of an object, which may be a row of the open block.
    private mutating func loadKey(of number: UInt32, _ unique: Int, _ builder: inout CommitBuilder)
        throws(StoreError) -> Bool
    {
        let cell = builder.state.directories[entity.tree][number]
        if cell.handle == handle, !cell.isEmpty, let batch {
            return other.load(
                batch, row: Int(staged[cell.slot]), columns: builder.catalog.uniques[unique].columns
            )
        }
        return try builder.loadKey(of: number, unique: unique, into: &other)
    }

    private mutating func skip(
        _ row: Int, _ number: UInt32, _ unique: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        touch(number)
        if request.failsOnConflict {
            refuse(
                row: firstRow + row, unique, number,
                "an object with this key is stored already", &builder)
        }
        result.skippedCount += 1
        note(.skipped, nil)
    }

    // MARK: A row that is stored already

    private mutating func meet(
        _ number: UInt32, _ unique: Int, _ row: Int, of batch: ColumnBatch,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard updates else { return try skip(row, number, unique, &builder) }
        touch(number)
        let cell = builder.state.directories[entity.tree][number]
        if cell.handle == handle, !cell.isEmpty {
            return try updateStaged(cell, number, row, of: batch, &builder)
        }
        let stored = Int(builder.state.blocks.entry(cell.handle).entity)
        guard stored == entityIndex else {
            return try updateOther(stored, number, row, of: batch, &builder)
        }
        let block = try builder.block(cell.handle)
        try complete(row, of: batch, from: block, cell.slot, builder.catalog)
        if try isUnchanged(row, of: batch, block, cell.slot) {
            result.unchangedCount += 1
            note(.unchanged, nil)
            return
        }
        for unique in entity.uniques {
            let columns = builder.catalog.uniques[unique].columns
            let had = try other.load(block, row: cell.slot, entity: entity, columns: columns)
            let has = key.load(batch, row: row, columns: columns)
            if had && has && key.equals(other) { continue }
            if had {
                builder.removeKey(other.hash(seed: builder.seed), number: number, unique: unique)
            }
            if has { try enter(row, number, unique, &builder) }
        }
        builder.kill(cell.handle, slot: cell.slot)
        stage(row, number, version: DirectoryCell.next(cell.version), &builder)
        builder.updatedCount += 1
        result.updatedCount += 1
        note(.updated, number)
    }

    /// A row whose object an earlier row of the open block inserted or updated.
    private mutating func updateStaged(
        _ cell: DirectoryCell, _ number: UInt32, _ row: Int, of batch: ColumnBatch,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let before = Int(staged[cell.slot])
        for (index, _) in entity.columns.enumerated()
        where batch.columns[index].states[row] == ColumnBuffer.State.untouched && keeps(index) {
            batch.columns[index].copyCell(from: before, to: row)
        }
        if !batch.columns.contains(where: { !$0.isEqual(row, before) }) {
            result.unchangedCount += 1
            note(.unchanged, nil)
            return
        }
        for unique in entity.uniques {
            let columns = builder.catalog.uniques[unique].columns
            let had = other.load(batch, row: before, columns: columns)
            let has = key.load(batch, row: row, columns: columns)
            if had && has && key.equals(other) { continue }
            if had {
                builder.removeKey(other.hash(seed: builder.seed), number: number, unique: unique)
            }
            if has { try enter(row, number, unique, &builder) }
        }
        // The number keeps its slot and its version: to the outside it is written once.
        staged[cell.slot] = UInt16(row)
        result.updatedCount += 1
        note(.updated, number)
    }

    /// A row whose object is of another entity of the hierarchy.
    private mutating func updateOther(
        _ stored: Int, _ number: UInt32, _ row: Int, of batch: ColumnBatch,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard builder.catalog.family(of: entityIndex).contains(stored) else {
            refuse(
                row: firstRow + row, entity.uniques[0], number,
                "the key belongs to an object of the entity \(builder.catalog.entities[stored].name)",
                &builder)
            result.skippedCount += 1
            note(.skipped, nil)
            return
        }
        guard let old = try builder.storedRow(entity: stored, number: number) else { return }
        var values = old.values
        for column in entity.columns.indices {
            let isUntouched = batch.columns[column].states[row] == ColumnBuffer.State.untouched
            if isUntouched && keeps(column) { continue }
            values[column] = batch.value(column, row: row)
        }
        if values == old.values {
            result.unchangedCount += 1
            note(.unchanged, nil)
            return
        }
        // Keys are looked up among the rows of the batch too, which must have their bytes for that.
        try close(&builder)
        let (new, taken) = try builder.replace(
            entity: stored, number: number, old: old, values: values)
        try builder.write([new], entity: stored)
        for suspect in taken {
            suspects.append((firstRow + row, suspect.unique, number, suspect.hash))
        }
        result.updatedCount += 1
        note(.updated, number)
    }

    /// Whether an update leaves a column alone that the row does not name.
    private func keeps(_ column: Int) -> Bool {
        request.setOnly || entity.columns[column].target != nil
    }

    /// Fills the cells that the row leaves alone from what is stored.
    private mutating func complete(
        _ row: Int, of batch: ColumnBatch, from block: CachedBlock, _ slot: Int, _ catalog: Catalog
    ) throws(StoreError) {
        for (index, column) in entity.columns.enumerated()
        where batch.columns[index].states[row] == ColumnBuffer.State.untouched && keeps(index) {
            let keys =
                keyColumns ?? ColumnSet(entity.uniques.flatMap { catalog.uniques[$0].columns })
            keyColumns = keys
            // A key is made of the value, not of where that is kept.
            try batch.columns[index].copyCell(
                from: block, column, slot, to: row, isWhole: keys.contains(index))
        }
    }

    private func isUnchanged(
        _ row: Int, of batch: ColumnBatch, _ block: CachedBlock, _ slot: Int
    ) throws(StoreError) -> Bool {
        for (index, column) in entity.columns.enumerated() {
            guard try batch.columns[index].isEqual(row, block, column, slot) else { return false }
        }
        return true
    }

    // MARK: The open block

    private mutating func stage(
        _ row: Int, _ number: UInt32, version: UInt32, _ builder: inout CommitBuilder
    ) {
        if staged.isEmpty { handle = builder.openBlock(entity: entityIndex) }
        let slot = staged.count
        staged.append(UInt16(row))
        numbers.append(number)
        versions.append(version)
        builder.state.directories[entity.tree].set(
            number, DirectoryCell(handle: handle, slot: slot, version: version), in: &builder.pages)
    }

    private mutating func close(_ builder: inout CommitBuilder) throws(StoreError) {
        guard !staged.isEmpty, let batch else { return }
        try builder.closeBlock(
            handle, entity: entityIndex, batch: batch, selection: staged, numbers: numbers,
            versions: versions)
        handle = .none
        staged.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        versions.removeAll(keepingCapacity: true)
    }

    private func addReferences(
        _ row: Int, _ number: UInt32, of batch: ColumnBatch, _ builder: inout CommitBuilder
    ) {
        for reference in entity.references {
            let column = batch.columns[builder.catalog.references[reference].column]
            guard column.hasValue(row) else { continue }
            let target = column.values.load(fromByteOffset: row * 8, as: UInt64.self)
            builder.state.inverses[reference].insert(
                source: number, target: UInt32(truncatingIfNeeded: target), in: &builder.pages)
        }
    }

    // MARK: The end

    /// Deletes what no row named, and refuses the batch if keys collide.
    mutating func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        if request.prunesMissing { try prune(&builder) }
        for suspect in suspects { try judge(suspect, &builder) }
        guard refusedCount > 0 else { return }
        let more =
            refusedCount > refused.count ? ", the first \(refused.count) of them are listed" : ""
        throw StoreError(
            .constraintConflict,
            "\(refusedCount) row\(refusedCount == 1 ? "" : "s") of the batch cannot be stored beside what is there\(more)",
            context: .init(entity: entity.name), details: refused)
    }

    private mutating func prune(_ builder: inout CommitBuilder) throws(StoreError) {
        var missing: [UInt32] = []
        var handle = builder.state.blocks.first(ofEntity: entityIndex)
        while handle != .none {
            let entry = builder.state.blocks.entry(handle)
            if entry.live > 0 {
                let block = try builder.block(handle)
                let numbers = try block.numbers()
                for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                    let number = numbers.number(slot)
                    if !touched.contains(number) { missing.append(number) }
                }
            }
            handle = builder.state.blocks.next(after: entry)
        }
        var planner = DeletePlanner(catalog: builder.catalog, identity: identity)
        let outcome = try planner.delete(missing, tree: entity.tree, &builder)
        result.deletedCount = outcome.requested
    }

    /// Whether a key that was noted is shared in the state after the batch.
    private mutating func judge(
        _ suspect: (row: Int, unique: Int, number: UInt32, hash: UInt64),
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard try builder.hasRow(tree: entity.tree, suspect.number),
            try builder.loadKey(of: suspect.number, unique: suspect.unique, into: &key),
            key.hash(seed: builder.seed) == suspect.hash
        else { return }
        var cursor = builder.state.uniques[suspect.unique].firstCandidate(hash: suspect.hash)
        while let number = cursor.next() {
            guard number != suspect.number,
                try builder.loadKey(of: number, unique: suspect.unique, into: &other),
                other.equals(key)
            else { continue }
            return refuse(
                row: suspect.row, suspect.unique, number, "the key belongs to another object",
                &builder)
        }
    }

    /// Remembers an error about a row; the first hundred are listed.
    private mutating func refuse(
        row: Int, _ unique: Int, _ number: UInt32, _ message: String, _ builder: inout CommitBuilder
    ) {
        refusedCount += 1
        guard refused.count < 100 else { return }
        let definition = builder.catalog.uniques[unique]
        let owner = (try? builder.keyText(of: number, entity: entityIndex)) ?? "p\(number)"
        let value = (try? builder.keyText(of: number, entity: entityIndex, unique: unique)) ?? ""
        refused.append(
            StoreError(
                .constraintConflict, "\(message): \(value) is \(owner)",
                context: .init(
                    entity: entity.name, key: definition.names.joined(separator: ", "), row: row,
                    objectID: identity.id(UInt64(number), entity: entityIndex))))
    }

    private mutating func touch(_ number: UInt32) {
        if request.prunesMissing { touched.insert(number) }
    }

    private mutating func note(_ outcome: BatchRowOutcome, _ number: UInt32?) {
        if request.reportsOutcomes { result.outcomes.append(outcome) }
        if request.resultType == .objectIDs, let number, !listed.contains(number) {
            listed.insert(number)
            result.objectIDs.append(identity.id(UInt64(number), entity: entityIndex))
        }
    }
}

/// A set of object numbers, a bit each.
struct NumberSet {
    private var words: [UInt64] = []

    func contains(_ number: UInt32) -> Bool {
        let word = Int(number >> 6)
        return word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
    }

    mutating func insert(_ number: UInt32) {
        let word = Int(number >> 6)
        if word >= words.count {
            words.append(
                contentsOf: repeatElement(0, count: word + 1 + words.count / 2 - words.count))
        }
        words[word] |= 1 << UInt64(number & 63)
    }
}

// Updates fetch indexes with the rows of a commit.
//
// They are updated in two places: where a block of new rows is written, and at the end, when the list of
// deaths is complete. Nothing reads a fetch index while a commit is made: until its end they are those of the
// state before.

import CairnStore

extension CommitBuilder {
    /// The writer that collects the changes, reused from an earlier commit if possible.
    private mutating func writer() -> FetchIndexWriter {
        if let fetchIndexWriter { return fetchIndexWriter }
        var writer = tools.memory.fetchIndexWriter.pointee.take()
        if writer?.fits(catalog, seed: seed) != true { writer = nil }
        let found = writer ?? FetchIndexWriter(catalog, seed: seed)
        fetchIndexWriter = found
        return found
    }

    /// Updates the fetch indexes with the last rows of the commit, and keeps the writer for the next one.
    mutating func finishFetchIndexes() throws(StoreError) {
        try settleFetchIndexes()
        guard let writer = fetchIndexWriter, contradiction == nil else { return }
        // It is empty, so the next commit may have it even if this one still fails.
        writer.toldDeaths = 0
        fetchIndexWriter = nil
        tools.memory.fetchIndexWriter.pointee = writer
    }

    /// Notes the rows of a block before it is written: after that, the batch has references instead of large
    /// values.
    mutating func noteBirths(_ batch: ColumnBatch, _ rows: RowList, entity: Int)
        throws(StoreError)
    {
        let writer = writer()
        // A value of this commit may not be written yet.
        if log.hasValues, writer.hasReferences(batch, rows.selection, entity: entity) {
            try log.flush()
        }
        try writer.add(
            batch, rows.selection, rows.numbers, entity: entity, reader.largeValues)
    }

    /// Updates the fetch indexes with the rows that were born and have died so far. Moved rows do not count.
    mutating func settleFetchIndexes() throws(StoreError) {
        if movesRows { return }
        let told = fetchIndexWriter?.toldDeaths ?? 0
        let deaths = deaths.places(from: told)
        if deaths.isEmpty, fetchIndexWriter == nil { return }
        let writer = writer()
        writer.toldDeaths = told + deaths.count
        var slots: [Int] = []
        var index = 0
        while index < deaths.count {
            let handle = deaths[index].handle
            slots.removeAll(keepingCapacity: true)
            while index < deaths.count, deaths[index].handle == handle {
                slots.append(deaths[index].slot)
                index += 1
            }
            let entity = Int(state.blocks.entry(handle).entity)
            if catalog.fetchIndexesOfEntity[entity].isEmpty { continue }
            try writer.add(try block(handle), slots, entity: entity, isInsert: false)
        }
        if let wrong = writer.apply(to: &state.fetchIndexes, in: &pages) {
            contradict("the fetch index \(wrong.name) does not match its rows (IX1)")
        }
    }
}

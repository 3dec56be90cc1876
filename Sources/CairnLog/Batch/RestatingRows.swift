// Objects for which a batch has several rows that together equal what is stored.
//
//   1. Rows are carried out one after the other. One that meets an object that an earlier one has written is noted.
//   2. At the end each such object is held against what was stored before the batch. If it is the same, what its rows said of it
//      was said for nothing, and would be with every batch like this one.
//   3. The batch fails then, and is carried out again without the rows about these objects. Their blocks are on their way to the
//      log by then: nothing less can take them back.
//
// What the store computes does not count: a moment of change is another one each time. An object whose to-many relationships, or
// others that wait for the end, have changed is left alone; and so is one whose keys have changed on the way, as without its rows
// other rows could find it that have found another one, or none.
//
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

/// What is known about objects for which a batch has several rows.
///
/// A class, because most batches have none: state in the inserter itself would be filled and moved with every batch.
final class RestatingRows {
    /// The state before the batch.
    let before: EngineState
    /// The objects whose rows are left out.
    let leftOut: Set<UInt32>
    /// Whether there are such.
    let leavesOut: Bool
    /// The objects that a row has written after another one.
    var rewritten: Set<UInt32> = []
    /// The objects of which a row has changed a key.
    var rekeyed: Set<UInt32> = []

    init(before: EngineState, leftOut: Set<UInt32>) {
        self.before = before
        self.leftOut = leftOut
        leavesOut = !leftOut.isEmpty
    }
}

/// Why a batch is carried out again: some of its objects came to what is stored.
struct RestatedObjects: Error {
    /// The number of the commit that was not made. Another one means that the store has changed.
    let commit: UInt64
    let numbers: Set<UInt32>
}

extension BatchInserter {
    /// Fails the batch if objects came to what is stored by several rows.
    mutating func refuseRestated(_ builder: inout CommitBuilder) throws(StoreError) {
        guard let restating, !restating.rewritten.isEmpty else { return }
        let related = links?.changedLate ?? []
        var numbers: Set<UInt32> = []
        for number in restating.rewritten.subtracting(restating.rekeyed).sorted()
        where !related.contains(number) {
            if try isAsBefore(number, restating.before, &builder) { numbers.insert(number) }
        }
        if numbers.isEmpty { return }
        throw StoreError(
            .invalidRequest,
            "several rows for one object together equal what is stored",
            context: .init(entity: entity.name),
            cause: RestatedObjects(commit: builder.number, numbers: numbers))
    }

    private func isAsBefore(
        _ number: UInt32, _ before: EngineState, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Bool {
        let cell = before.directories[entity.tree][number]
        guard !cell.isEmpty else { return false }
        let entry = before.blocks.entry(cell.handle)
        let concrete = Int(entry.entity)
        guard let now = try builder.storedRow(entity: concrete, number: number),
            Int(builder.state.blocks.entry(now.handle).entity) == concrete
        else { return false }
        let block = try builder.block(of: entry)
        let rowReader = RowReader(
            catalog: builder.catalog, identity: identity, entity: concrete)
        let values = try rowReader.values(block, cell.slot)
        let derived = DerivedColumns(concrete, builder.catalog.schema)
        for column in values.indices
        where values[column] != now.values[column] && !derived.contains(column) {
            return false
        }
        return try rowReader.orderKeys(block, cell.slot) == now.keys
    }
}

// Objects for which a batch has several rows that together equal what is stored.
//
//   1. Rows are applied one after another. An object that a row writes after an earlier one has is noted.
//   2. At the end, each such object is compared with its state before the batch. If they are equal, its rows
//      changed nothing together, and would change nothing with every batch like this one.
//   3. Then the batch fails, and is executed again without the rows about these objects. By then their blocks
//      are being written to the log, so they cannot be taken back individually.
//
// Values that the store computes do not count: a modification date differs each time. An object is left alone
// if its to-many relationships, or others that wait for the end, have changed; and also if its keys changed
// in between, because without its rows other rows could find it that have found another object, or none.
//
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

/// What is known about objects for which a batch has several rows.
///
/// A class, because most batches have none: state in the inserter itself would be filled and moved with every
/// batch.
final class RestatingRows {
    /// The state before the batch.
    let before: EngineState
    /// The objects whose rows are left out.
    let leftOut: Set<UInt32>
    /// Whether there are any.
    let leavesOut: Bool
    /// The objects that a row has written after another row.
    var rewritten: Set<UInt32> = []
    /// The objects of which a row has changed a key.
    var rekeyed: Set<UInt32> = []

    init(before: EngineState, leftOut: Set<UInt32>) {
        self.before = before
        self.leftOut = leftOut
        leavesOut = !leftOut.isEmpty
    }
}

/// Why a batch is executed again: the rows of some objects together equal what is stored.
struct RestatedObjects: Error {
    /// The number of the commit that was not made. A different number means that the store has changed.
    let commit: UInt64
    let numbers: Set<UInt32>
}

extension BatchInserter {
    /// Throws if several rows for an object together equal what is stored.
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

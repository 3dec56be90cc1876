// Order keys of rows that a commit writes.

import CairnFormat
import CairnModel
import CairnStore

extension CommitBuilder {
    /// The order keys of a rewritten row. A row that leaves a list has no key for it.
    func keys(of old: StoredRow, _ values: [Value], entity: Int) -> [Int64?] {
        var keys = old.keys
        for (place, order) in catalog.entities[entity].orders.enumerated()
        where old.values[order.reference] != values[order.reference] {
            keys[place] = nil
        }
        return keys
    }

    /// The order key that is stored with a row; nil if there is none.
    mutating func orderKey(tree: Int, number: UInt32, _ place: Int) throws(StoreError) -> Int64? {
        let cell = state.directories[tree][number]
        guard !cell.isEmpty else {
            throw .damaged("an inverse table names an object that does not exist")
        }
        let entity = catalog.entities[Int(state.blocks.entry(cell.handle).entity)]
        let cells = try block(cell.handle).column(entity.orders[place].column)
        return cells.flatMap { $0.isNil(at: cell.slot) ? nil : $0.integer(at: cell.slot) }
    }

    /// Rewrites stored pairs with other order keys.
    mutating func moveInLists(_ pairs: [(entity: Int, number: UInt32, keys: [Int64?])])
        throws(StoreError)
    {
        var pending = PendingRows()
        for pair in pairs {
            guard let old = try storedRow(entity: pair.entity, number: pair.number) else {
                throw .damaged("an inverse table names a pair that does not exist")
            }
            let isYoung = isYoung(old.handle)
            kill(old.handle, slot: old.slot)
            pending.byEntity[pair.entity, default: []].append(
                PendingRows.Row(
                    number: pair.number,
                    version: isYoung ? old.version : DirectoryCell.next(old.version),
                    values: old.values, keys: pair.keys, kept: nil))
        }
        for (entity, rows) in pending.byEntity.inKeyOrder() {
            try write(rows, entity: entity)
        }
    }
}

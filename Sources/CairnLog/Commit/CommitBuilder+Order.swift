// Order keys of rows that a commit writes.

import CairnFormat
import CairnModel
import CairnStore

extension CommitBuilder {
    /// The order keys of a row that is written anew: who comes into a list stands at its end.
    mutating func keys(of old: StoredRow, number: UInt32, _ values: [Value], entity: Int)
        throws(StoreError) -> [Int64?]
    {
        var keys = old.keys
        for (place, order) in catalog.entities[entity].orders.enumerated()
        where old.values[order.reference] != values[order.reference] {
            keys[place] = nil
            guard let owner = Self.number(of: values[order.reference]),
                let reference = catalog.reference(ofColumn: order.reference, entity: entity)
            else { continue }
            keys[place] = try keyAtEnd(
                reference: reference, owner: owner, of: number)
        }
        return keys
    }

    /// A key behind those of all other members of a list.
    private mutating func keyAtEnd(reference: Int, owner: UInt32, of number: UInt32)
        throws(StoreError) -> Int64?
    {
        let definition = catalog.references[reference]
        guard let place = definition.order else { return nil }
        let tree = catalog.entities[definition.entity].tree
        var members: [UInt32] = []
        sources(reference: reference, target: owner, into: &members)
        var last: Int64?
        for member in members where member != number {
            let key =
                try orderKey(tree: tree, number: member, place) ?? OrderKeys.key(of: member)
            last = max(last ?? key, key)
        }
        return last.map { OrderKeys.key(behind: $0, below: state.nextNumbers[tree]) }
    }

    /// The order key that a stored row has of its own.
    mutating func orderKey(tree: Int, number: UInt32, _ place: Int) throws(StoreError) -> Int64? {
        let cell = state.directories[tree][number]
        guard !cell.isEmpty else {
            throw .damaged("an inverse table names an object that is not there")
        }
        let entity = catalog.entities[Int(state.blocks.entry(cell.handle).entity)]
        let cells = try block(cell.handle).column(entity.orders[place].column)
        return cells.flatMap { $0.isNil(at: cell.slot) ? nil : $0.integer(at: cell.slot) }
    }

    /// Writes stored pairs with other order keys.
    mutating func moveInLists(_ pairs: [(entity: Int, number: UInt32, keys: [Int64?])])
        throws(StoreError)
    {
        var pending = PendingRows()
        for pair in pairs {
            guard let old = try storedRow(entity: pair.entity, number: pair.number) else {
                throw .damaged("an inverse table names a pair that is not there")
            }
            let isYoung = isYoung(old.handle)
            kill(old.handle, slot: old.slot)
            pending.byEntity[pair.entity, default: []].append(
                PendingRows.Row(
                    number: pair.number,
                    version: isYoung ? old.version : DirectoryCell.next(old.version),
                    values: old.values, keys: pair.keys, kept: nil))
        }
        for (entity, rows) in pending.byEntity.sorted(by: { $0.key < $1.key }) {
            try write(rows, entity: entity)
        }
    }
}

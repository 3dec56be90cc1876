// The values that a transaction of the history has found, and those that it left.

public import CairnModel

/// An object before a transaction and after it.
public struct PersistentHistoryValues: Sendable {
    /// What was done to it.
    public let change: PersistentHistoryChange
    /// Its attributes and to-one relationships as they were, by name; nil if it was made by the transaction. Parts of composite
    /// attributes have dotted names.
    public let before: [String: Value]?
    /// The same as they were left; nil if it was deleted.
    public let after: [String: Value]?
}

extension PastStore {
    /// Goes through the objects that a transaction of the history changed, with their values before and after it: as long as
    /// past states are kept that far back. Both states are made once, for all of them.
    ///
    /// ```swift
    /// try store.readValues(of: transaction) { object in
    ///     print(object.before?["price"] ?? .null, "→", object.after?["price"] ?? .null)
    ///     return true
    /// }
    /// ```
    ///
    /// Going through one transaction after the other does not begin again with each: their states follow each other.
    ///
    /// - Parameter body: told each object; goes on as long as it returns true.
    /// - Throws: As ``snapshot(at:)``; `.invalidRequest` if the transaction is one of another store.
    /// - Complexity: O(changes), and what the two states take.
    public func readValues(
        of transaction: PersistentHistoryTransaction, _ body: (PersistentHistoryValues) -> Bool
    ) throws(StoreError) {
        guard transaction.storeID == identity.identifier else {
            throw StoreError(.invalidRequest, "the transaction belongs to another store")
        }
        guard let changes = transaction.changes, transaction.transactionNumber > 0 else { return }
        let before = try snapshot(at: transaction.transactionNumber - 1)
        let after = try snapshot(at: transaction.transactionNumber)
        var start = 0
        while start < changes.count {
            // A batch may have changed a million.
            let part = changes[start..<min(start + 1024, changes.count)]
            let ids = part.map(\.changedObjectID)
            let (old, new) = (try before.rows(ids), try after.rows(ids))
            for (index, change) in part.enumerated() {
                let goesOn = body(
                    PersistentHistoryValues(
                        change: change, before: old[index].map { before.values($0) },
                        after: new[index].map { after.values($0) }))
                if !goesOn { return }
            }
            start += part.count
        }
    }

    /// The same at once, for a transaction that changed few objects.
    ///
    /// - Throws: As ``readValues(of:_:)``.
    public func values(of transaction: PersistentHistoryTransaction) throws(StoreError)
        -> [PersistentHistoryValues]
    {
        var all: [PersistentHistoryValues] = []
        try readValues(of: transaction) {
            all.append($0)
            return true
        }
        return all
    }
}

extension StoreSnapshot {
    /// The values of a row, by name.
    fileprivate func values(_ row: Row) -> [String: Value] {
        let entity = schema.entities[row.entity]
        var values: [String: Value] = [:]
        for (index, column) in entity.columns.enumerated() {
            values[column.name] = row.cells.value(index, of: entity, in: identity)
        }
        return values
    }
}

// The values before and after a transaction of the history.

public import CairnModel

/// An object before a transaction and after it.
public struct PersistentHistoryValues: Sendable {
    /// The change.
    public let change: PersistentHistoryChange
    /// The previous values of its attributes and to-one relationships, by name; nil if the transaction inserted it.
    /// Elements of composite attributes have dotted names.
    public let before: [String: Value]?
    /// Their values after the transaction; nil if it deleted the object.
    public let after: [String: Value]?
}

extension PastStore {
    /// Iterates over the objects that a history transaction changed, with their values before and after it, as far back
    /// as past states are kept. Both states are built once for all objects.
    ///
    /// ```swift
    /// try store.readValues(of: transaction) { object in
    ///     print(object.before?["price"] ?? .null, "→", object.after?["price"] ?? .null)
    ///     return true
    /// }
    /// ```
    ///
    /// Iterating over consecutive transactions does not start over for each: each state continues from the one before.
    ///
    /// - Parameter body: called for each object; return true to continue.
    /// - Throws: As ``snapshot(at:)``; `.invalidRequest` if the transaction belongs to another store.
    /// - Complexity: O(changes), in addition to building the two states.
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

    /// Returns all values at once, for a transaction that changed few objects.
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

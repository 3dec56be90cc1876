// Conditions on the history as formats with arguments.

public import CairnModel
public import CairnStore

extension PersistentHistoryTransaction {
    /// A condition on transactions, as a format string; the arguments replace `%@` and so on.
    ///
    /// ```swift
    /// let mine = try PersistentHistoryTransaction.fetchRequest(
    ///     where: "author == %@ AND timestamp > %@", "sync", yesterday)
    /// let transactions = try context.execute(.fetchHistory(withFetch: mine)).transactions
    /// ```
    ///
    /// The key `token` can be compared with a token, even one for several stores: `token > %@` means transactions after
    /// it. It does not detect that some of these were deleted:
    /// ``PersistentHistoryChangeRequest/fetchHistory(after:)-(PersistentHistoryToken?)`` does.
    ///
    /// - Throws: `PredicateFormatError` with the place.
    public static func fetchRequest(
        where format: String, _ arguments: (any PredicateArgument)?...
    ) throws(PredicateFormatError) -> PersistentHistoryFetchRequest {
        fetchRequest(where: try HistoryTokens.predicate(format, arguments))
    }
}

extension PersistentHistoryChange {
    /// A condition on changes, as a format; `%@` and its like are filled with the arguments.
    ///
    /// ```swift
    /// let changes = try PersistentHistoryChange.fetchRequest(
    ///     where: "changedObjectID == %@ AND transaction.author != 'view'", person.objectID)
    /// ```
    ///
    /// - Throws: `PredicateFormatError` with the place.
    public static func fetchRequest(
        where format: String, _ arguments: (any PredicateArgument)?...
    ) throws(PredicateFormatError) -> PersistentHistoryFetchRequest {
        fetchRequest(where: try HistoryTokens.predicate(format, arguments))
    }
}

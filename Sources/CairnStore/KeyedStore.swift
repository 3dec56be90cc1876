// The commonest question to a store, asked without a snapshot: which object has a key now?

package import CairnModel

/// A store that finds one object by a key at once.
package protocol KeyedStore: PersistentStore {
    /// The row whose property equals a value, in the newest state that is published.
    ///
    /// - Parameter comparison: an equality of a property that is unique by itself, with one value of its type.
    /// - Returns: nil if the store has no index for such a question: `fetch` answers it, or says what is wrong with it.
    /// - Throws: As `fetch`.
    func find(
        _ comparison: PredicateNode.Comparison, entity: Int, includesSubentities: Bool
    ) throws(StoreError) -> FoundRow?
}

/// What was found.
package enum FoundRow {
    /// No object has the key.
    case nothing
    /// This one has it.
    case row(StreamedRow)
}

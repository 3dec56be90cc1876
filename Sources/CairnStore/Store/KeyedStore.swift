// The commonest questions to a store, asked without a snapshot: what is the row of an object now, which object has a key, and
// where does a relationship of one object lead?

package import CairnModel

/// A store that finds one object by its number or by a key, or the members of a relationship, at once.
package protocol KeyedStore: PersistentStore {
    /// The row of an object, in the newest state that is published; nil if there is none.
    ///
    /// - Parameters:
    ///   - reference: the number of the object.
    ///   - entity: an entity of its hierarchy; that of the row may be another one.
    /// - Throws: As `rows`.
    func row(_ reference: UInt64, entity: Int) throws(StoreError) -> StreamedRow?

    /// The row whose property equals a value, in the newest state that is published.
    ///
    /// - Parameter comparison: an equality of a property that is unique by itself, with one value of its type.
    /// - Returns: nil if the store has no index for such a question: `fetch` answers it, or says what is wrong with it.
    /// - Throws: As `fetch`.
    func find(
        _ comparison: PredicateNode.Comparison, entity: Int, includesSubentities: Bool
    ) throws(StoreError) -> FoundRow?

    /// Hands over the rows of the members of a to-many relationship of an object, in the newest state that is published, in
    /// the order of their numbers.
    ///
    /// - Parameters:
    ///   - owner: the number of the object.
    ///   - most: if there are more members, nothing is read.
    ///   - room: where the rows are put together.
    /// - Returns: false if `members` and `rows` are to be asked instead; nothing was handed over then.
    /// - Throws: As `members`.
    func related(
        _ relationship: Int, entity: Int, owner: UInt64, most: Int, _ room: RowRoom,
        _ body: (StreamedRows) -> Void
    ) throws(StoreError) -> Bool
}

/// What was found.
package enum FoundRow {
    /// No object has the key.
    case nothing
    /// This one has it.
    case row(StreamedRow)
}

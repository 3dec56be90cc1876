// The most common queries to a store, without a snapshot: the current row of an object, the object with a key, and the
// members of one object's relationship.

package import CairnModel

/// A store with direct access to an object by its number or key, and to the members of a relationship.
package protocol KeyedStore: PersistentStore {
    /// The row of an object, in the newest published state; nil if there is none.
    ///
    /// - Parameters:
    ///   - reference: the number of the object.
    ///   - entity: an entity of its hierarchy. The row can belong to another one.
    /// - Throws: As `rows`.
    func row(_ reference: UInt64, entity: Int) throws(StoreError) -> StreamedRow?

    /// The row whose property equals a value, in the newest published state.
    ///
    /// - Parameter comparison: an equality comparison of a unique property with one value of its type.
    /// - Returns: nil if the store has no index for such a query: use `fetch`, which executes it or throws an error.
    /// - Throws: As `fetch`.
    func find(
        _ comparison: PredicateNode.Comparison, entity: Int, includesSubentities: Bool
    ) throws(StoreError) -> FoundRow?

    /// Passes the rows of the members of an object's to-many relationship, in the newest published state, in the order of
    /// their numbers.
    ///
    /// - Parameters:
    ///   - owner: the number of the object.
    ///   - most: the maximum number of members. If there are more, nothing is read.
    ///   - room: the buffer for the rows.
    /// - Returns: false if the caller must use `members` and `rows` instead; in that case no rows were passed.
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
    /// The row of the object that has the key.
    case row(StreamedRow)
}

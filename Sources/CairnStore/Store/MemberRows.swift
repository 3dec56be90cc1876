// Members of relationships together with their rows, for stores in which each query has a latency.

package import CairnModel

/// A snapshot that reads the members of a relationship together with their rows.
package protocol MemberRows: StoreSnapshot {
    /// The members of a to-many relationship of several objects, as in `members`, and the distinct rows of all members in
    /// any order.
    ///
    /// - Throws: As `members`.
    func membersWithRows(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> (members: [[ObjectID]], rows: [Row])
}

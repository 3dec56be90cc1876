// Reads the members of a relationship for many objects at once.

public import CairnModel
import FoundationEssentials

/// A relationship to follow, and the columns of its destination to read.
///
/// ```swift
/// let children = try StoreRelated(parent, "children", in: snapshot.schema)
/// try snapshot.read(children, of: parents) { row in
///     labels[row.position].append(row[label])
/// }
/// ```
public struct StoreRelated: Sendable {
    /// The entity of the owners.
    public let entity: SchemaEntity
    /// The relationship's index in that entity.
    public let relationship: Int
    /// The destination entity, whose columns to read.
    public let destination: SchemaEntity
    /// The columns to read.
    public var columns: ColumnSet

    /// Follows a relationship of an entity, which can be to-one or to-many.
    ///
    /// - Parameter columns: the columns of the destination to read; nil: all. Fewer columns are faster.
    /// - Throws: `StoreError` with `.invalidRequest` if the entity has no such relationship.
    public init(
        _ entity: SchemaEntity, _ relationship: String, in schema: Schema,
        columns: ColumnSet? = nil
    ) throws(StoreError) {
        guard let index = entity.relationshipIndex(named: relationship) else {
            throw StoreError(
                .invalidRequest, "the entity has no relationship of this name",
                context: .init(entity: entity.name, key: relationship))
        }
        self.entity = entity
        self.relationship = index
        destination = schema.entities[entity.relationships[index].destination]
        self.columns = columns ?? ColumnSet(destination.columns.indices)
    }
}

extension StoreSnapshot {
    /// Calls a closure with each member of a relationship of some owners. The row's `position` is the index of the owner.
    ///
    /// Owners are processed in the given order, and the members of each in the order of their numbers. If an owner occurs
    /// twice, so do its members; an owner that is not stored has none.
    ///
    /// - Throws: what the closure throws, which ends the iteration; `StoreError` with `.foreignObject` if an owner belongs
    ///   to another store or entity, or `.incompatibleModel` if an entity differs from the store's.
    /// - Complexity: O(objects found).
    @inlinable public func read(
        _ request: StoreRelated, of owners: [ObjectID],
        _ body: (borrowing RowView) throws -> Void
    ) throws {
        var failure: (any Error)?
        try readRelatedBatches(request, of: owners) { batch in
            do {
                try batch.forEachRow(body)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Reads the members and their rows, and passes them.
    public func readRelatedBatches(
        _ request: StoreRelated, of owners: [ObjectID], _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try readRelatedBatchesGenerally(request, of: owners, body)
    }

    /// The same for a store that has a faster way for some questions.
    package func readRelatedBatchesGenerally(
        _ request: StoreRelated, of owners: [ObjectID], _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try check(request.entity, [])
        try check(request.destination, request.columns)
        let members = try members(
            ofRelationship: request.relationship, entity: request.entity.index, owners: owners)
        var gathered = WholeRows(request.destination, request.columns, in: schema)
        // Asking is what costs time where the store is elsewhere: so it is asked once.
        let rows = try rows(Array(members.joined()))
        var place = 0
        for (position, ids) in members.enumerated() {
            for case let row? in rows[place..<(place + ids.count)] {
                if !gathered.take(row, position: position, body) { return }
            }
            place += ids.count
        }
        gathered.finish(body)
    }
}

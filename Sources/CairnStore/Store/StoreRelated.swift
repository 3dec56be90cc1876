// Reading what a relationship leads to, from many objects at once.

public import CairnModel
import FoundationEssentials

/// A relationship that is followed, and which columns of the objects at its other end are read.
///
/// ```swift
/// let children = try StoreRelated(parent, "children", in: snapshot.schema)
/// try snapshot.read(children, of: parents) { row in
///     labels[row.position].append(row[label])
/// }
/// ```
public struct StoreRelated: Sendable {
    /// The entity of the objects that it is followed from.
    public let entity: SchemaEntity
    /// Its index in that entity's relationships.
    public let relationship: Int
    /// The entity whose columns are read.
    public let destination: SchemaEntity
    /// The columns that are read.
    public var columns: ColumnSet

    /// Asks for what a relationship of an entity leads to, be it to-one or to-many.
    ///
    /// - Parameter columns: the columns that are read, of the destination; nil: all. The fewer, the faster.
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
    /// Calls a closure with each object that a relationship leads to from some owners. `position` of its row is the index of
    /// the owner.
    ///
    /// The owners come in the order in which they are given, the objects of each by their numbers. An owner that is given
    /// twice is answered twice; one that is not stored leads nowhere.
    ///
    /// - Throws: what the closure throws, which ends the reading; `StoreError` with `.foreignObject` if an owner is of
    ///   another store or entity, or `.incompatibleModel` if an entity is not as in the store.
    /// - Complexity: O(objects that are found).
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

    /// Asks for the members, then for their rows, and hands them over.
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

import CairnModel
import CairnStore

/// What a context shows to those that work on it, as a state of a store.
protocol ParentState: StoreSnapshot {
    /// The objects that lead to one of many targets, between which the contexts above do not change.
    func referrers(
        toTarget target: ObjectID, relationship: Int, entity: Int,
        _ changed: inout ChangedReferrers
    ) throws(StoreError) -> [ObjectID]
}

/// Which changed objects of contexts lead where, found by one look at them for each relationship.
struct ChangedReferrers {
    /// A relationship in a context.
    struct Key: Hashable {
        let context: ObjectIdentifier
        let relationship: Int
        let entity: Int

        init(_ context: ManagedObjectContext, _ relationship: Int, _ entity: Int) {
            self.context = ObjectIdentifier(context)
            self.relationship = relationship
            self.entity = entity
        }
    }

    private var known: [Key: [ObjectID: Set<ObjectID>]] = [:]

    /// The changed objects of a context that lead to an object.
    mutating func referrers(
        to target: ObjectID, _ key: Key, in context: ManagedObjectContext
    ) -> Set<ObjectID> {
        if let referrers = known[key] { return referrers[target] ?? [] }
        var referrers: [ObjectID: Set<ObjectID>] = [:]
        let owner = context.schema.entities[key.entity]
        for object in context.changedInOrder
        where !object.isDeleted && !object.isGone && object.entity.isKind(of: owner) {
            for id in context.memberIDs(of: object, key.relationship) {
                referrers[id, default: []].insert(object.objectID)
            }
        }
        known[key] = referrers
        return referrers[target] ?? []
    }
}

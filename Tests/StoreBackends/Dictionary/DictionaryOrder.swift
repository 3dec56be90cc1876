// The order of ordered relationships in a dictionary store: each list as it is.

import CairnModel
import CairnStore

/// An ordered to-many relationship of one object.
struct DictionaryList: Hashable {
    /// The entity that declares it.
    let entity: Int
    /// Its index there, which is the same in all descendants.
    let relationship: Int
    let owner: ObjectID
}

extension DictionaryState {
    /// Writes down the order of all lists whose members changed, and of those that were given another one.
    ///
    /// - Returns: the lists that came to be otherwise than was asked.
    mutating func settleOrders(
        after before: DictionaryState, in schema: Schema,
        _ changes: [SaveRequest.OrderChange] = [], _ policy: MergePolicyKind? = nil
    ) -> [SaveRequest.List] {
        guard schema.hasOrder else { return [] }
        var reordered: [SaveRequest.List] = []
        for list in touched(since: before, in: schema) { settle(list, before, schema) }
        for change in changes {
            let entity = schema.entities[change.entity]
            let relationship = entity.relationships[change.relationship]
            guard relationship.keepsOrder, objects[change.owner] != nil else { continue }
            let list = DictionaryList(
                entity: relationship.declaringEntity, relationship: change.relationship,
                owner: change.owner)
            let old = Set(members(of: list, before, schema))
            let now = members(of: list, self, schema)
            let order = ConflictRules.mergedOrder(
                members: change.members, base: change.base, now: now,
                arrivals: now.count { !old.contains($0) }, change.base == nil ? nil : policy)
            if change.base != nil, order != change.members {
                reordered.append(
                    SaveRequest.List(owner: change.owner, relationship: change.relationship))
            }
            orders[list] = order
        }
        for list in orders.keys where objects[list.owner] == nil { orders[list] = nil }
        return reordered
    }

    private func members(of list: DictionaryList, _ state: DictionaryState, _ schema: Schema)
        -> [ObjectID]
    {
        state.members(
            ofRelationship: list.relationship, entity: list.entity, owner: list.owner, in: schema)
    }

    private mutating func settle(
        _ list: DictionaryList, _ before: DictionaryState, _ schema: Schema
    ) {
        orders[list] = members(of: list, self, schema)
    }

    /// The lists whose members are others than before.
    private func touched(since before: DictionaryState, in schema: Schema) -> Set<DictionaryList> {
        var lists: Set<DictionaryList> = []
        for id in Set(objects.keys).union(before.objects.keys) {
            guard let entity = (objects[id] ?? before.objects[id])?.entity else { continue }
            for column in schema.orderedReferences[entity] {
                let (old, new) = (
                    before.objects[id]?.values[column].reference,
                    objects[id]?.values[column].reference
                )
                guard old != new, let index = schema.entities[entity].columns[column].relationship
                else { continue }
                let relationship = schema.entities[entity].relationships[index]
                guard let inverse = relationship.inverse else { continue }
                let back = schema.entities[relationship.destination].relationships[inverse]
                for owner in [old, new] {
                    guard let owner, objects[owner] != nil else { continue }
                    lists.insert(
                        DictionaryList(
                            entity: back.declaringEntity, relationship: inverse, owner: owner))
                }
            }
        }
        for (index, description) in schema.pairs.enumerated() {
            for pair in pairs[index].symmetricDifference(before.pairs[index]) {
                for end in schema.orderedEnds(of: description) {
                    let owner = end == 0 ? pair.source : pair.destination
                    guard objects[owner] != nil,
                        let relationship = end == 0
                            ? description.sourceRelationship : description.destinationRelationship
                    else { continue }
                    let entity = end == 0 ? description.source : description.destination
                    lists.insert(
                        DictionaryList(
                            entity: schema.entities[entity].relationships[relationship]
                                .declaringEntity, relationship: relationship, owner: owner))
                }
            }
        }
        return lists
    }
}

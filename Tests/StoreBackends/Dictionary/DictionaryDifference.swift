// What differs between two states of a dictionary store: by looking at all objects of both.

import CairnModel
import CairnStore

/// Two states, to be compared.
final class DictionaryDifference: ChangeSource {
    private let before: DictionaryState
    private let after: DictionaryState
    private let schema: Schema

    init(_ before: DictionaryState, _ after: DictionaryState, _ schema: Schema) {
        self.before = before
        self.after = after
        self.schema = schema
    }

    func changes() throws(StoreError) -> StoreChanges {
        var inserted: Set<ObjectID> = []
        var updated: Set<ObjectID> = []
        var deleted: Set<ObjectID> = []
        for (id, object) in after.objects {
            guard let old = before.objects[id] else {
                inserted.insert(id)
                continue
            }
            if old.version != object.version { updated.insert(id) }
        }
        for id in before.objects.keys where after.objects[id] == nil { deleted.insert(id) }
        for (old, new) in zip(before.pairs, after.pairs) {
            for pair in old.symmetricDifference(new) {
                for end in [pair.source, pair.destination]
                where before.objects[end] != nil && after.objects[end] != nil {
                    updated.insert(end)
                }
            }
        }
        for list in changedOrders where isPairs(list) && before.objects[list.owner] != nil {
            if after.objects[list.owner] != nil { updated.insert(list.owner) }
        }
        let entities = schema.entities.indices.compactMap { entity -> EntityChanges? in
            func numbers(_ ids: Set<ObjectID>, in state: DictionaryState) -> ObjectNumbers {
                ObjectNumbers(
                    ids.filter { state.objects[$0]?.entity == entity }.map(\.reference))
            }
            var changes = EntityChanges(entity: entity)
            changes.inserted = numbers(inserted, in: after)
            changes.updated = numbers(updated, in: after)
            changes.deleted = numbers(deleted, in: before)
            return changes.isEmpty ? nil : changes
        }
        return StoreChanges(entities: entities, rows: rows(updated))
    }

    private var changedOrders: [DictionaryList] {
        Set(before.orders.keys).union(after.orders.keys)
            .filter { before.orders[$0] != after.orders[$0] }
    }

    private func isPairs(_ list: DictionaryList) -> Bool {
        if case .pairs = schema.entities[list.entity].relationships[list.relationship].storage {
            return true
        }
        return false
    }

    private func rows(_ updated: Set<ObjectID>) -> RowChanges {
        var differences: [ObjectID: RowDifference] = [:]
        var owners: [MemberList: [UInt64]] = [:]
        for id in updated { differences[id] = RowDifference() }
        for id in Set(before.objects.keys).union(after.objects.keys) {
            let (old, new) = (before.objects[id], after.objects[id])
            guard old != new, let entity = (new ?? old)?.entity else { continue }
            for column in schema.entities[entity].columns.indices
            where old?.values[column] != new?.values[column] {
                differences[id]?.columns.insert(column)
            }
            for (column, list) in schema.memberLists(in: schema.entities[entity])
            where old?.values[column] != new?.values[column] {
                for owner in [old, new].compactMap({ $0?.values[column].reference }) {
                    owners[list, default: []].append(owner.reference)
                }
            }
        }
        for (index, pairs) in schema.pairs.enumerated() {
            for pair in before.pairs[index].symmetricDifference(after.pairs[index]) {
                differences[pair.source]?.relationships.insert(pairs.sourceRelationship)
                if let relationship = pairs.destinationRelationship {
                    differences[pair.destination]?.relationships.insert(relationship)
                }
            }
        }
        for list in changedOrders {
            if isPairs(list) {
                differences[list.owner]?.relationships.insert(list.relationship)
            } else {
                let members = MemberList(entity: list.entity, relationship: list.relationship)
                owners[members, default: []].append(list.owner.reference)
            }
        }
        var groups: [RowChanges.Group: [UInt64]] = [:]
        for (id, difference) in differences {
            guard let entity = after.objects[id]?.entity else { continue }
            groups[.init(entity: entity, difference: difference), default: []]
                .append(id.reference)
        }
        return RowChanges(updated: groups, owners: owners)
    }
}

// The history of a dictionary store: a list of transactions, made by looking at all objects of two states.

import CairnModel
import CairnStore
import Foundation

struct DictionaryHistory {
    private(set) var transactions: [PersistentHistoryTransaction] = []
    private(set) var horizon: UInt64 = 0
    var consumers: [String: UInt64] = [:]

    final class Cursor: PersistentHistoryCursor {
        private var rest: [PersistentHistoryTransaction]

        init(_ transactions: [PersistentHistoryTransaction]) { rest = transactions.reversed() }

        func next() throws(StoreError) -> PersistentHistoryTransaction? { rest.popLast() }
    }

    /// Adds what a commit changed.
    mutating func record(
        _ before: DictionaryState, _ after: DictionaryState, _ schema: Schema, author: String?,
        contextName: String?
    ) throws(StoreError) {
        var groups: [PersistentHistoryChanges.Group] = []
        for changes in try Self.changes(before, after, schema) {
            let entity = schema.entities[changes.entity]
            func group(_ type: PersistentHistoryChangeType, _ numbers: ObjectNumbers) {
                if numbers.isEmpty { return }
                groups.append(
                    .init(
                        entity: entity.index, entityName: entity.name, type: type,
                        numbers: numbers))
            }
            group(.insert, changes.inserted)
            for number in changes.updated {
                group(.update, ObjectNumbers(CollectionOfOne(number)))
                groups[groups.count - 1].updatedProperties = Self.changed(
                    before.identity.id(number, entity: entity.index), before, after, entity, schema)
            }
            let kept = entity.attributes.filter(\.description.preservesValueInHistoryOnDeletion)
            for number in changes.deleted {
                group(.delete, ObjectNumbers(CollectionOfOne(number)))
                let object = before.objects[before.identity.id(number, entity: entity.index)]
                for column in kept.flatMap(\.columns) {
                    groups[groups.count - 1].names.append(entity.columns[column].name)
                    groups[groups.count - 1].values.append(object?.values[column] ?? .null)
                }
            }
        }
        if groups.isEmpty { return }
        transactions.append(
            PersistentHistoryTransaction(
                timestamp: Date(), transactionNumber: after.commit,
                storeID: after.identity.identifier, bundleID: nil,
                processID: ProcessInfo.processInfo.processIdentifier, contextName: contextName,
                author: author,
                changes: PersistentHistoryChanges(
                    groups, transaction: after.commit, identity: after.identity)))
    }

    /// What differs, with the owners of to-many relationships whose members are others.
    private static func changes(
        _ before: DictionaryState, _ after: DictionaryState, _ schema: Schema
    ) throws(StoreError) -> [EntityChanges] {
        var all: [Int: EntityChanges] = [:]
        for changes in try DictionaryDifference(before, after, schema).changes().entities {
            all[changes.entity] = changes
        }
        var owners: Set<ObjectID> = []
        for (state, other) in [(before, after), (after, before)] {
            for (id, object) in state.objects where other.objects[id]?.version != object.version {
                owners.formUnion(object.values.compactMap(\.reference))
            }
        }
        for list in Set(before.orders.keys).union(after.orders.keys)
        where before.orders[list] != after.orders[list] { owners.insert(list.owner) }
        for id in owners {
            guard let object = after.objects[id], before.objects[id] != nil else { continue }
            let entity = schema.entities[object.entity]
            if changed(id, before, after, entity, schema).isEmpty { continue }
            all[entity.index, default: EntityChanges(entity: entity.index)].updated
                .formUnion(ObjectNumbers(CollectionOfOne(id.reference)))
        }
        return all.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The names of the properties whose values or members are others.
    private static func changed(
        _ id: ObjectID, _ before: DictionaryState, _ after: DictionaryState,
        _ entity: SchemaEntity, _ schema: Schema
    ) -> Set<String> {
        var names: Set<String> = []
        for attribute in entity.attributes {
            for column in attribute.columns
            where before.objects[id]?.values[column] != after.objects[id]?.values[column] {
                names.insert(attribute.description.name)
            }
        }
        for (index, relationship) in entity.relationships.enumerated() {
            let members = [before, after].map {
                $0.members(
                    ofRelationship: index, entity: entity.index, owner: id, in: schema)
            }
            if members[0] != members[1] { names.insert(relationship.description.name) }
        }
        return names
    }

    /// Deletes what everybody has seen; gives how many transactions that were.
    mutating func delete(through number: UInt64) -> Int {
        let count = transactions.count
        horizon = max(horizon, min(number, consumers.values.min() ?? number))
        transactions.removeAll { $0.transactionNumber <= horizon }
        return count - transactions.count
    }
}

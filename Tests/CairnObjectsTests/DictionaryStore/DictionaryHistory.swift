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
        for changes in try DictionaryDifference(before, after, schema).changes() {
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

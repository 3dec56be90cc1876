// What a store should hold, as dictionaries: the model that random runs are held against.
//
// Threads: a plain value.

import CairnModel
import CairnStore
import Foundation

@testable import CairnLog

struct NaiveStore: Equatable {
    struct Item: Equatable {
        var value: Int64?
        var note: String?
        var box: String?
    }

    struct Tag: Hashable {
        var item: String
        var box: String
    }

    var items: [String: Item] = [:]
    var boxes: Set<String> = []
    var tags: Set<Tag> = []

    mutating func remove(item: String) {
        items[item] = nil
        tags = tags.filter { $0.item != item }
    }

    mutating func remove(box: String) {
        boxes.remove(box)
        for (key, item) in items where item.box == box { items[key]?.box = nil }
        tags = tags.filter { $0.box != box }
    }

    /// What is here and not there, and the other way round, for messages.
    func difference(to other: NaiveStore) -> String {
        func items(_ one: NaiveStore, _ two: NaiveStore) -> [String] {
            one.items.filter { two.items[$0.key] != $0.value }.map { "\($0)" }.sorted()
        }
        return "items \(items(self, other)) for \(items(other, self)), "
            + "boxes \(boxes.subtracting(other.boxes)) for \(other.boxes.subtracting(boxes)), "
            + "tags \(tags.subtracting(other.tags)) for \(other.tags.subtracting(tags))"
    }

    init() {}

    /// What a store holds.
    init(_ store: LogStore) throws {
        let schema = StoreOperation.schema
        let snapshot = try store.snapshot()
        func rows(_ entity: Int) throws -> [Row] {
            var fetch = StoreFetch(entity: entity)
            fetch.includesRows = true
            return try snapshot.fetch(fetch).rows
        }
        func cell(_ row: Row, _ column: Int) -> Value {
            row.cells.value(column, of: schema.entities[row.entity], in: store.identity)
        }
        var names: [ObjectID: String] = [:]
        for row in try rows(StoreOperation.box) {
            guard case .string(let name) = cell(row, StoreOperation.name) else { continue }
            names[row.id] = name
            boxes.insert(name)
        }
        let all = try rows(StoreOperation.item)
        let relationships = schema.entities[StoreOperation.item].relationships
        let index = relationships.firstIndex { $0.description.name == "tags" } ?? 0
        let members = try snapshot.members(
            ofRelationship: index, entity: StoreOperation.item, owners: all.map(\.id))
        for (row, tagged) in zip(all, members) {
            guard case .string(let key) = cell(row, StoreOperation.key) else { continue }
            var item = Item()
            if case .integer(let value) = cell(row, StoreOperation.value) { item.value = value }
            if case .string(let note) = cell(row, StoreOperation.note) { item.note = note }
            if case .objectID(let box) = cell(row, StoreOperation.boxOfItem) {
                item.box = names[box] ?? "a box that is not there"
            }
            items[key] = item
            for id in tagged {
                tags.insert(Tag(item: key, box: names[id] ?? "a box that is not there"))
            }
        }
    }
}

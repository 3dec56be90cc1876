// The list that controllers keep, against an array; and what is told of its changes.

import CairnModel
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnObjects

@Suite("Lists that know their places")
struct FetchedListTests {
    private static let store = UUID()

    private struct Item: Equatable {
        let id: ObjectID
        let key: Int64
        let section: String?
    }

    private func listed(_ item: Item) -> ListedObject {
        ListedObject(id: item.id, keys: [.integer(item.key)], section: item.section)
    }

    private func order() throws -> ListOrder {
        let number = AttributeDescription("number", .integer64)
        let schema = try Schema(
            ManagedObjectModel(entities: [EntityDescription("Item", attributes: [number])]))
        let entity = try #require(schema.entity(named: "Item"))
        return ListOrder([try SortPath(SortKey("number"), of: entity, in: schema)])
    }

    private func precedes(_ left: Item, _ right: Item) -> Bool {
        (left.key, left.id.reference) < (right.key, right.id.reference)
    }

    @Test("Places, sections and content are those of a sorted array, whatever comes and goes")
    func random() throws {
        try Rounds.run("random lists", everyDay: 12, whole: 3_000) { random in
            let isSectioned = Bool.random(using: &random)
            let span = [3, 40, 5_000].randomElement(using: &random) ?? 3
            func item(_ reference: UInt64) -> Item {
                let key = Int64.random(in: 0..<Int64(span), using: &random)
                return Item(
                    id: ObjectID(store: Self.store, hierarchy: 0, reference: reference), key: key,
                    section: isSectioned ? "\(key / 2)" : nil)
            }
            let size = [0, 5, 700, 3_000].randomElement(using: &random) ?? 0
            var items = (0..<size).map { item(UInt64($0)) }
            items.sort(by: precedes)
            let list = FetchedList(
                items.map(listed), try order(), isSectioned: isSectioned)
            var next = UInt64(size)
            for _ in 0..<12 {
                let change = Int.random(in: 1...300, using: &random)
                for _ in 0..<change {
                    if Int.random(in: 0..<10, using: &random) < (size > 900 ? 6 : 4),
                        let index = items.indices.randomElement(using: &random)
                    {
                        #expect(list.remove(items.remove(at: index).id))
                    } else {
                        let new = item(next)
                        next += 1
                        items.insert(
                            new, at: items.firstIndex { precedes(new, $0) } ?? items.endIndex)
                        list.insert(listed(new))
                    }
                }
                list.checkInvariants()
                try compare(list, items, seed: random.seed, &random)
            }
        }
    }

    private func compare(
        _ list: FetchedList, _ items: [Item], seed: UInt64, _ random: inout RandomSource
    ) throws {
        var ids: [ObjectID] = []
        list.forEach { id, _ in ids.append(id) }
        try #require(ids == items.map(\.id), "seed \(seed)")
        #expect(!list.isOutOfOrder)
        var starts: [Int] = []
        for index in items.indices
        where index == 0 || items[index].section != items[index - 1].section {
            starts.append(index)
        }
        if !list.isSectioned { starts = [0] }
        #expect(list.visibleSections == max(starts.count, list.isSectioned ? 0 : 1))
        let snapshot = FetchedResultsSnapshot(list)
        #expect(snapshot.itemIdentifiers == ids && snapshot.numberOfItems == ids.count)
        #expect(
            snapshot.sections.map(\.range.lowerBound) == starts
                || (starts.isEmpty && snapshot.sections.isEmpty))
        for _ in 0..<min(20, items.count) {
            let index = Int.random(in: items.indices, using: &random)
            let section = (starts.lastIndex { $0 <= index }) ?? 0
            let position = try #require(list.position(of: items[index].id))
            #expect(
                position
                    == FetchedList.Position(
                        index: index, section: section, item: index - starts[section]),
                "seed \(seed)")
            #expect(list.entry(at: index).id == items[index].id)
            if list.isSectioned {
                #expect(list.sectionName(section) == items[index].section)
                #expect(list.terms(of: items[index].id)?.section == items[index].section)
            }
            #expect(list.start(ofSection: section) == starts[section])
        }
    }

    @Test("A snapshot does not change with its list, and its difference gives the newer one")
    func snapshots() throws {
        var random = RandomSource("differences of snapshots")
        var items = (0..<2_000).map {
            Item(
                id: ObjectID(store: Self.store, hierarchy: 0, reference: $0),
                key: Int64($0), section: nil)
        }
        let list = FetchedList(items.map(listed), try order(), isSectioned: false)
        for _ in 0..<20 {
            let before = FetchedResultsSnapshot(list)
            let old = items.map(\.id)
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                let index = Int.random(in: items.indices, using: &random)
                let moved = Item(
                    id: items[index].id, key: Int64.random(in: 0..<2_000, using: &random),
                    section: nil)
                list.remove(items.remove(at: index).id)
                list.insert(listed(moved))
                items.insert(moved, at: items.firstIndex { precedes(moved, $0) } ?? items.endIndex)
            }
            #expect(before.itemIdentifiers == old)
            let after = FetchedResultsSnapshot(list)
            #expect(after != before || items.map(\.id) == old)
            let difference = after.difference(from: before)
            #expect(old.applying(difference) == after.itemIdentifiers)
            // Each that moved is removed and inserted, and knows its other end.
            #expect(difference.insertions.count == difference.removals.count)
            #expect(difference.count <= 120)
        }
        let last = FetchedResultsSnapshot(list)
        #expect(last == FetchedResultsSnapshot(list) && last.difference(from: last).isEmpty)
    }

    @Test("One object is put into a list of 100,000 by few comparisons")
    func comparisons() throws {
        let items = (0..<100_000).map {
            Item(
                id: ObjectID(store: Self.store, hierarchy: 0, reference: $0),
                key: Int64($0), section: "\($0 / 1_000)")
        }
        let list = FetchedList(items.map(listed), try order(), isSectioned: true)
        #expect(list.order.comparisons == 0)
        #expect(list.remove(items[70_000].id))
        list.insert(
            listed(Item(id: items[70_000].id, key: 12_345, section: "12")))
        #expect(list.order.comparisons < 20)
        let position = try #require(list.position(of: items[70_000].id))
        #expect(position.section == 12 && position.item == 346)
    }

    @Test(
        "The longest rising run",
        arguments: [
            ([], []), ([3], [0]), ([0, 1, 2], [0, 1, 2]), ([2, 1, 0], [2]),
            ([5, 0, 1, 9, 2, 3], [1, 2, 4, 5]),
        ] as [([Int], [Int])])
    func runs(_ numbers: [Int], _ places: [Int]) {
        #expect(RisingRun.longest(numbers) == places)
    }
}

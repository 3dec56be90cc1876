// What is sorted by, in memory.

import CoreData
import Testing

@Suite("Sort descriptors with keys")
struct SortDescriptorTests {
    private let people: [[String: Any]] = [
        ["name": "file10", "age": 3], ["name": "File2", "age": 1], ["name": "file1", "age": 3],
        ["name": "zoo"],
    ]

    private func names(_ descriptors: NSSortDescriptor...) -> [String] {
        people.sorted { one, other in
            for descriptor in descriptors {
                let order = descriptor.compare(one, to: other)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return false
        }
        .compactMap { $0["name"] as? String }
    }

    @Test("keys and selectors")
    func keys() {
        #expect(
            names(NSSortDescriptor(key: "name", ascending: true))
                == ["File2", "file1", "file10", "zoo"])
        #expect(
            names(
                NSSortDescriptor(
                    key: "name", ascending: true, selector: Selector("localizedStandardCompare:")))
                == ["file1", "File2", "file10", "zoo"])
        #expect(
            names(
                NSSortDescriptor(key: "age", ascending: false),
                NSSortDescriptor(
                    key: "name", ascending: false,
                    selector: NSSelectorFromString("caseInsensitiveCompare:")))
                == ["file10", "file1", "File2", "zoo"])
        #expect(
            names(
                NSSortDescriptor(key: "age", ascending: true) {
                    ($1 as? Int ?? 0) < ($0 as? Int ?? 0) ? .orderedAscending : .orderedSame
                }
            ).last == "zoo")
    }

    @Test("a descriptor gives the closure that it has been given")
    func comparator() {
        let byLength: Comparator = { left, right in
            ((left as? String)?.count ?? 0) < ((right as? String)?.count ?? 0)
                ? .orderedAscending : .orderedDescending
        }
        let descriptor = NSSortDescriptor(key: "title", ascending: true, comparator: byLength)
        #expect(descriptor.comparator("z", "aa") == .orderedAscending)
        let reversed = descriptor.reversedSortDescriptor as? NSSortDescriptor
        #expect(reversed?.comparator("z", "aa") == .orderedAscending)
        let titles = ["aa", "z"].map { ["title": $0] as NSDictionary }
        #expect(descriptor.compare(titles[0], to: titles[1]) == .orderedDescending)
        #expect(reversed?.compare(titles[0], to: titles[1]) == .orderedAscending)
        #expect(NSSortDescriptor(key: "a", ascending: true).comparator(1, 2) == .orderedAscending)
    }

    @Test("what a descriptor says of itself")
    func parts() throws {
        let descriptor = NSSortDescriptor(key: "name", ascending: false)
        #expect(descriptor.key == "name")
        #expect(!descriptor.ascending)
        #expect(descriptor.selector == "compare:")
        let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
        #expect(reversed == NSSortDescriptor(key: "name", ascending: true))
        #expect(reversed != descriptor)
        #expect(NSSortDescriptor(key: nil, ascending: true).key == nil)
        #expect(NSSortDescriptor(key: nil, ascending: true).compare(1, to: 2) == .orderedAscending)
        #expect(
            ([3, 1, 2] as NSArray).sortedArray(
                using: [NSSortDescriptor(key: "self", ascending: true)]) as? [Int] == [1, 2, 3])
    }
}

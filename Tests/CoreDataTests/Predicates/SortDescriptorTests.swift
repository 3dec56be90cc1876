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

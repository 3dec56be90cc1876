// The changes of a transaction: the first of them.

import CairnModel
import Foundation
import Testing

@testable import CairnStore

@Suite("Changes of a transaction")
struct HistoryChangesTests {
    private static let identity = StoreIdentity(identifier: UUID(), hierarchies: [1, 2])

    private static func group(
        _ type: PersistentHistoryChangeType, _ runs: [ClosedRange<UInt64>], entity: Int = 0
    ) -> PersistentHistoryChanges.Group {
        var numbers = ObjectNumbers()
        for run in runs { numbers.append(run) }
        var group = PersistentHistoryChanges.Group(
            entity: entity, entityName: "\(entity)", type: type, numbers: numbers)
        if type == .delete, numbers.count < 100 {
            group.names = ["a", "b"]
            group.values = numbers.flatMap { [.integer(Int64($0)), .null] }
        }
        return group
    }

    private static func text(_ changes: some Sequence<PersistentHistoryChange>) -> [String] {
        changes.map {
            "\($0.changeID) \($0.changedObjectID.reference) \($0.entityName) \($0.changeType) \($0.tombstone ?? [:])"
        }
    }

    @Test("The first of some changes are those, whatever was left out before")
    func first() throws {
        let all = PersistentHistoryChanges(
            [
                Self.group(.insert, [1...3, 7...7]), Self.group(.delete, [10...12, 20...21]),
                Self.group(.update, [4...5], entity: 1),
            ], transaction: 1, identity: Self.identity)
        let some = try #require(all.filtered(where: { $0.changedObjectID.reference % 3 != 1 }))
        let fewer = try #require(some.filtered(where: { $0.changeType != .insert }))
        for changes in [all, some, fewer] {
            for count in 0...changes.count + 1 {
                let first = changes.first(count)
                #expect(Self.text(first) == Self.text(changes.prefix(count)))
                #expect(Self.text(first.first(2)) == Self.text(changes.prefix(min(count, 2))))
            }
        }
    }

    /// Looking at each of them would take days.
    @Test("Of a batch no change is made but those")
    func batches() {
        let all = PersistentHistoryChanges(
            [Self.group(.delete, [1...1 << 40]), Self.group(.insert, [1 << 41...1 << 42])],
            transaction: 1, identity: Self.identity)
        #expect(all.first(3).map(\.changedObjectID.reference) == [1, 2, 3])
        let most = all.first(1 << 40 + 2)
        #expect(most.count == 1 << 40 + 2 && most[1 << 40].changeType == .insert)
        #expect(most[1 << 40 + 1].changeID == 1 << 40 + 2)
    }
}

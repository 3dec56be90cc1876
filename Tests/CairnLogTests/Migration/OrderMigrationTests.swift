// Lists keep their order, however their members are kept before and after.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog
@testable import CairnMigration

@Suite("Migration of ordered lists")
struct OrderMigrationTests {
    /// How a track knows the lists that it is in.
    enum Form: String, CaseIterable {
        case oneList, manyLists, noList

        var inverse: RelationshipDescription? {
            guard self != .noList else { return nil }
            var lists = RelationshipDescription(
                "lists", to: "List", toMany: self == .manyLists, inverse: "tracks")
            lists.isOrdered = self == .manyLists
            return lists
        }

        func model(isListFirst: Bool) -> ManagedObjectModel {
            var tracks = RelationshipDescription(
                "tracks", to: "Track", toMany: true, inverse: inverse?.name)
            tracks.isOrdered = true
            let list = EntityDescription(
                "List", attributes: [.init("n", .integer64)], relationships: [tracks])
            var track = EntityDescription("Track", attributes: [.init("n", .integer64)])
            track.relationships = inverse.map { [$0] } ?? []
            // Pairs have their source in the entity that comes first.
            return ManagedObjectModel(entities: isListFirst ? [list, track] : [track, list])
        }
    }

    @Test(
        "An ordered relationship keeps its order, whether members are kept as references or as pairs",
        arguments: Form.allCases, Form.allCases)
    func forms(_ before: Form, _ after: Form) throws {
        var random = RandomSource("\(before) to \(after)")
        for isListFirst in [true, false] {
            let models = [before, after].map { $0.model(isListFirst: isListFirst) }
            let store = MigratedStore()
            var objects = RandomObjects(agreeingWith: models)
            let content = try store.with(models[0]) { log in
                for _ in 0..<3 { try objects.fill(log, ofEach: 4...8, &random) }
                return try MigratedStore.content(log)
            }
            try store.migrate(to: models[1])
            let migrated = try store.check(nil, models[1])
            let expected = ExpectedContent(
                from: try Schema(models[0]), to: try Schema(models[1]), before: content)
            #expect(expected.problems(migrated).isEmpty, "\(isListFirst)")
            // What is added comes last.
            try store.with(models[1]) { log in
                try objects.fill(log, ofEach: 4...8, &random)
                let more = try MigratedStore.content(log)
                for (number, list) in migrated["List"] ?? [:] {
                    #expect(more["List"]?[number]?["tracks"] == list["tracks"])
                }
                let findings = try log.check().findings
                #expect(findings.isEmpty)
            }
        }
    }

    @Test("Friends of friends keep their order: from both ends of a pair, and from one end")
    func friends() throws {
        func model(_ name: String, _ modifier: String?) -> ManagedObjectModel {
            var friends = RelationshipDescription(
                name, to: "Person", toMany: true, inverse: name)
            friends.isOrdered = true
            friends.renamingIdentifier = name == "friends" ? nil : "friends"
            friends.versionHashModifier = modifier
            return ManagedObjectModel(entities: [
                EntityDescription(
                    "Person", attributes: [.init("n", .integer64)], relationships: [friends])
            ])
        }
        var random = RandomSource()
        let models = [model("friends", nil), model("friends", "2"), model("mates", nil)]
        let store = MigratedStore()
        var objects = RandomObjects(agreeingWith: models)
        let before = try store.with(models[0]) { log in
            for _ in 0..<3 { try objects.fill(log, ofEach: 5...9, &random) }
            return try MigratedStore.content(log)
        }
        try store.migrate(to: models[1])
        #expect(try store.check(before, models[1]) == before)
        try store.migrate(to: models[2])
        let after = try store.check(nil, models[2])
        for (number, person) in before["Person"] ?? [:] {
            #expect(after["Person"]?[number]?["mates"] == person["friends"])
        }
    }

    @Test("Rows without keys stand by number, and others share the keys of their numbers")
    func keys() {
        func row(_ owner: UInt32, _ member: UInt32, _ number: UInt32) -> CarriedOrder.Row {
            .init(owner: owner, member: member, number: number)
        }
        func link(_ owner: UInt64, _ member: UInt64) -> UInt64 { owner << 32 | member }
        let order = CarriedOrder([link(1, 7), link(1, 5), link(1, 6), link(2, 5), link(2, 6)])
        let keys = order.keys([row(1, 5, 10), row(1, 6, 11), row(1, 7, 14), row(1, 8, 12)])
        #expect(
            keys == [11, 12, 10, 14].map { OrderKeys.key(of: $0) })
        #expect(order.keys([row(2, 6, 4), row(2, 5, 3)]) == [nil, nil])
        #expect(CarriedOrder().keys([row(1, 6, 1), row(1, 5, 2)]) == [nil, nil])
    }
}

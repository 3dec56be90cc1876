// Constraints that are new or have changed: kept if nobody stands against them, refused with all who do.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog
@testable import CairnMigration

@Suite("Migration of uniqueness constraints")
struct ConstraintMigrationTests {
    private typealias Store = MigratedStore

    private static func user(_ unique: [[String]] = [], _ more: [AttributeDescription] = [])
        -> ManagedObjectModel
    {
        Store.model(
            Store.entity(
                "User", [.init("uniqueId", .string), .init("name", .string)] + more, unique: unique)
        )
    }

    private static func filled(_ keys: [String?]) throws -> (store: Store, content: Store.Content) {
        let store = Store()
        let content = try store.with(user()) { log in
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "User",
                    objects: keys.enumerated().map { index, key in
                        var row: [String: Any] = ["name": "n\(index)"]
                        row["uniqueId"] = key
                        return row
                    }))
            return try Store.content(log)
        }
        return (store, content)
    }

    @Test("A constraint nobody stands against is enforced afterwards; nil is no duplicate (B032)")
    func added() throws {
        let (store, before) = try Self.filled((0..<200).map { $0 % 5 == 0 ? nil : "u\($0)" })
        let model = Self.user([["uniqueId"]])
        let report = try store.migrate(to: model)
        #expect(report.plan.inferability == .ifNoDuplicates && report.plan.cost == .keyPass)
        _ = try store.check(before, model)
        try store.with(model) { (log) throws in
            let rows: [[String: Any]] = [["uniqueId": "u7", "name": "other"]]
            var request = BatchInsertRequest(entityName: "User", objects: rows)
            request.failsOnConflict = true
            #expect(throws: StoreError.self) { try log.execute(request) }
            request.failsOnConflict = false
            request.mergePolicy = .mergeByPropertyObjectTrump
            #expect(try log.execute(request).updatedCount == 1)
        }
    }

    @Test(
        "Duplicates are refused with 134111: entity, attribute, keys, rows, examples; the store stays (B166)"
    )
    func refused() throws {
        // Twice and three times, and some without a key.
        let keys: [String?] = ["a", "b", "a", nil, "c", "b", "b", nil, nil, "d"]
        let (store, before) = try Self.filled(keys)
        let model = Self.user([["uniqueId"]])
        do {
            try store.migrate(to: model)
            Issue.record("duplicates were let in")
        } catch let error as StoreError {
            #expect(error.code == .migrationConstraintViolation && error.code.rawValue == 134_111)
            #expect(error.message.hasPrefix("cannot migrate store in place: constraint violation"))
            #expect(error.details.count == 1)
            #expect(error.details[0].context.entity == "User")
            #expect(error.details[0].context.key == "uniqueId")
            // Nobody's values are in what is logged.
            #expect("\(error)".contains("2 keys are shared by 5 objects"))
            #expect(!"\(error)".contains("have b"))
            let cause = try #require(error.cause as? MigrationDuplicates)
            let found = try #require(cause.constraints.first)
            #expect(found.keys == 2 && found.objects == 5)
            #expect(
                Set(found.examples.map { "\($0.values) \($0.count)" })
                    == ["[\(Value.string("a"))] 2", "[\(Value.string("b"))] 3"])
            #expect(found.examples.allSatisfy { $0.objectIDs.count == $0.count })
        }
        _ = try store.check(before, Self.user())
        // The same on the closed store, without trying.
        let report = try LogStore.duplicates(
            at: "/store", for: try Schema(model), options: store.options)
        #expect(report.map(\.keys) == [2] && report.map(\.objects) == [5])
        #expect(
            try LogStore.duplicates(
                at: "/store", for: try Schema(Self.user()), options: store.options
            ).isEmpty)
    }

    @Test("Of many keys the examples are those of the first objects, on each opening")
    func examples() throws {
        let keys = (0..<40).map { "k\($0 % 20)" }
        for _ in 0..<3 {
            let (store, _) = try Self.filled(keys)
            let report = try LogStore.duplicates(
                at: "/store", for: try Schema(Self.user([["uniqueId"]])), options: store.options)
            let found = try #require(report.first)
            #expect(found.keys == 20 && found.objects == 40)
            #expect(found.examples.map(\.values) == (0..<5).map { [.string("k\($0)")] })
        }
    }

    @Test("Those who get one default are duplicates that the migration would make")
    func defaulted() throws {
        let (store, before) = try Self.filled(["a", nil, "b", nil])
        var entity = Self.user([["uniqueId"]]).entities[0]
        entity.attributes[0].isOptional = false
        entity.attributes[0].defaultValue = .string("x")
        let model = ManagedObjectModel(entities: [entity])
        #expect {
            try store.migrate(to: model)
        } throws: { error in
            let cause = (error as? StoreError)?.cause as? MigrationDuplicates
            return cause?.constraints.first?.examples.first?.values == [.string("x")]
        }
        _ = try store.check(before, Self.user())
    }

    @Test("Compound, inherited, widened and renamed keys; constraints that go never fail")
    func kinds() throws {
        func model(
            _ type: AttributeType, _ name: String, _ unique: [[String]], child: [[String]] = []
        ) -> ManagedObjectModel {
            var key = AttributeDescription(name, type)
            if name != "key" { key.renamingIdentifier = "key" }
            return Store.model(
                Store.entity("Base", [key, .init("part", .integer16)], unique: unique),
                Store.entity("Child", under: "Base", [.init("email", .string)], unique: child))
        }
        let store = Store()
        let first = model(.integer16, "key", [])
        let before = try store.with(first) { log in
            for name in ["Base", "Child"] {
                _ = try log.execute(
                    BatchInsertRequest(
                        entityName: name,
                        objects: (0..<90).map { index in
                            let isChild = name == "Child"
                            return [
                                "key": index, "part": isChild ? 1 : 0,
                                "email": isChild ? "e\(index)" : NSNull(),
                            ].filter { isChild || $0.key != "email" }
                        }))
            }
            return try Store.content(log)
        }
        // Over both entities the key alone is not unique; with the part it is.
        #expect(throws: StoreError.self) {
            try store.migrate(to: model(.integer16, "key", [["key"]]))
        }
        let steps = [
            model(.integer16, "key", [["key", "part"]], child: [["email"]]),
            model(.integer64, "number", [["number", "part"]], child: [["email"]]),
            model(.integer64, "number", [["part", "number"]], child: [["email"], ["number"]]),
            model(.integer64, "number", []),
        ]
        for (step, model) in steps.enumerated() {
            try store.migrate(to: model)
            let expected = before.mapValues { objects in
                objects.mapValues { row in
                    var row = row
                    if step > 0 {
                        row["number"] = row["key"]
                        row["key"] = nil
                    }
                    return row
                }
            }
            // One is checked in every way, as the next begins with what that leaves.
            if step == 1 || step == 3 {
                _ = try store.check(expected, model, "step \(step)")
            } else {
                try store.with(model) { (log) throws in
                    #expect(try Store.content(log) == expected)
                    #expect(try log.check().findings.isEmpty)
                }
            }
        }
    }

    @Test("It can be cancelled, and the store is as it was (134120)")
    func cancelled() throws {
        let (store, before) = try Self.filled((0..<300).map { "u\($0)" })
        let model = Self.user([["uniqueId"], ["name"]])
        for stage in [MigrationProgress.Stage.keys, .finishing] {
            #expect {
                try store.migrate(to: model) { options in
                    options.migrationProgress = { $0.stage != stage || $0.stage == .finishing }
                }
                throw StoreError(.migrationCancelled, "it cannot be cancelled any more")
            } throws: { ($0 as? StoreError)?.code == .migrationCancelled }
            guard stage == .keys else { continue }
            _ = try store.check(before, Self.user())
        }
        _ = try store.check(before, model)
    }

    @Test("What failed commits have used up stays used up when a migration fails, too (F-622)")
    func failedNumbers() throws {
        let store = Store()
        let next = Self.user([["uniqueId"]])
        var model = next
        model.entities.append(Store.entity("Extra", [.init("name", .string)]))
        let before = try store.with(model) { store in
            for name in ["Extra", "User"] {
                let key = name == "User" ? "uniqueId" : "name"
                _ = try store.execute(BatchInsertRequest(entityName: name, objects: [[key: "a"]]))
            }
            var request = BatchInsertRequest(
                entityName: "User", objects: [["uniqueId": "c"], ["uniqueId": "a"]])
            request.failsOnConflict = true
            #expect(throws: StoreError.self) { try store.execute(request) }
            return try Store.content(store)
        }
        for _ in 0..<2 {
            #expect {
                try store.migrate(to: next) { options in
                    options.migrationProgress = { $0.stage != .removing }
                }
            } throws: { ($0 as? StoreError)?.code == .migrationCancelled }
            _ = try store.check(before, model)
        }
    }

    @Test("Many duplicated keys are found in one pass, with as many objects as they are")
    func many() throws {
        let (store, _) = try Self.filled((0..<5_000).map { "k\($0 / 2 % 2_000)" })
        let found = try LogStore.duplicates(
            at: "/store", for: try Schema(Self.user([["uniqueId"]])), options: store.options)
        #expect(found.map(\.keys) == [2_000] && found.map(\.objects) == [5_000])
    }
}

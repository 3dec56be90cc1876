// Rules for duplicates that are carried out in the commit of a migration.

import Cairn
import CairnFileSystem
import CairnTestSupport
import Synchronization
import Testing

@testable import CairnLog
@testable import CairnObjects

@Suite("Duplicates that are folded when a store is migrated")
struct DeduplicatingMigrationTests {
    /// A store on a disk in memory.
    private struct Disk {
        var options = LogStoreOptions()

        init() { options.fileSystem = MemoryFileSystem() }

        /// Opens the store, does something with it, and closes it.
        @discardableResult
        func with<Result>(_ model: ManagedObjectModel, _ body: (Stack) throws -> Result) throws
            -> Result
        {
            let store = try LogStore.open(at: "/store", schema: try Schema(model), options: options)
            defer { try? store.close() }
            return try body(Stack(store: store))
        }

        @discardableResult
        func migrate(to model: ManagedObjectModel, _ requests: DeduplicationRequest...) throws
            -> MigrationReport
        {
            var options = options
            options.deduplicateWhenMigrating(requests)
            return try LogStore.migrate(at: "/store", to: try Schema(model), options: options)
        }

        func count(_ model: ManagedObjectModel, _ entity: String) throws -> Int {
            try with(model) { try $0.context().count(entity) }
        }
    }

    // MARK: Models

    /// People in teams, whose lists have an order, with notes.
    ///
    /// - Parameter isRenamed: whether the entity and the key are called otherwise.
    private static func model(
        unique: [[String]] = [], isRenamed: Bool = false,
        _ change: (inout ManagedObjectModel) -> Void = { _ in }
    ) -> ManagedObjectModel {
        let name = isRenamed ? "Human" : "Person"
        var key = AttributeDescription(isRenamed ? "mail" : "email", .string)
        if isRenamed { key.renamingIdentifier = "email" }
        var person = EntityDescription(
            name,
            attributes: [
                key, .init("name", .string), .init("modified", .integer64), .init("code", .string),
            ],
            relationships: [
                .init("notes", to: "Note", toMany: true, inverse: "person"),
                .init("team", to: "Team", inverse: "members"),
            ], uniquenessConstraints: unique)
        if isRenamed { person.renamingIdentifier = "Person" }
        var members = RelationshipDescription("members", to: name, toMany: true, inverse: "team")
        members.isOrdered = true
        var model = ManagedObjectModel(entities: [
            person,
            EntityDescription(
                "Team", attributes: [.init("name", .string)], relationships: [members]),
            EntityDescription(
                "Note", attributes: [.init("text", .string)],
                relationships: [.init("person", to: name, inverse: "notes")]),
        ])
        change(&model)
        return model
    }

    private static let people = DeduplicationRequest(
        entityName: "Person", by: ["email"], keeping: .newest(by: "modified"))

    /// Three people with the address a, the last of them the newest, one with b, and two without.
    @discardableResult
    private static func fill(_ disk: Disk, _ model: ManagedObjectModel = model()) throws
        -> [String: ObjectID]
    {
        try disk.with(model) { stack in
            let context = stack.context()
            let people: [(String, String?, Int)] = [
                ("a1", "a", 1), ("b1", "b", 2), ("a2", "a", 3), ("n1", nil, 4), ("n2", nil, 5),
                ("a3", "a", 6),
            ]
            var objects: [String: ManagedObject] = [:]
            for (name, email, modified) in people {
                objects[name] = context.make(
                    "Person", ["name": name, "email": email, "modified": modified])
                context.make("Note", ["text": "of \(name)", "person": objects[name]])
            }
            for (name, members) in ["red": ["n1", "a1", "b1"], "blue": ["a2", "n2"]] {
                let team = context.make("Team", ["name": name])
                for member in members { objects[member]?["team"] = team }
                objects[name] = team
            }
            try context.save()
            return objects.mapValues(\.objectID)
        }
    }

    /// All that there is, in words; lists in their order.
    private static func content(_ stack: Stack, _ entity: String) throws -> [String] {
        let context = stack.context()
        var lines: [String] = []
        for person in try context.all(entity, sortedBy: "name") {
            let notes = person.members("notes").compactMap { $0.string("text") }.sorted()
            lines.append("\(person.string("name") ?? "") \(notes)")
        }
        for team in try context.all("Team", sortedBy: "name") {
            let members = try #require(team["members"] as? [ManagedObject])
            let names = members.map { $0.string("name") ?? "" }
            lines.append("\(team.string("name") ?? "") \(names)")
        }
        return lines
    }

    // MARK: Folding

    @Test(
        "Relationships and lists are re-pointed as by the request itself, old ids lead on, and the history says it",
        arguments: [false, true])
    func folding(isRenamed: Bool) throws {
        var disk = Disk()
        disk.options.persistentHistoryTracking = true
        let old = try Self.fill(disk)
        let entity = isRenamed ? "Human" : "Person"
        let key = isRenamed ? "mail" : "email"
        let next = Self.model(unique: [[key]], isRenamed: isRenamed)
        var request = DeduplicationRequest(
            entityName: entity, by: [key], keeping: .newest(by: "modified"))
        request.author = "upgrade"
        let report = try disk.migrate(to: next, request)
        #expect(report.foldedObjects == 2)
        // The same by hand, before the migration.
        let other = Disk()
        try Self.fill(other)
        try other.with(Self.model()) { _ = try $0.context().execute(Self.people) }
        try other.migrate(to: next)
        let expected = try other.with(next) { try Self.content($0, entity) }
        try disk.with(next) { stack in
            let found = try Self.content(stack, entity)
            #expect(found == expected)
            #expect(found.contains { $0.hasPrefix("a3 ") && $0.contains("of a1") }, "\(found)")
            let context = stack.context()
            for name in ["a1", "a2", "a3"] {
                let id = try #require(old[name])
                let object = try context.existingObject(with: id)
                #expect(object.string("name") == "a3")
            }
            let transactions = try context.execute(.fetchHistory(after: nil)).transactions
            let last = try #require(transactions.last { $0.author == "upgrade" })
            let deleted = (last.changes ?? []).filter { $0.changeType == .delete }
            #expect(Set(deleted.map(\.changedObjectID.reference)).count == 2)
            #expect(try #require(stack.store as? LogStore).check().findings.isEmpty)
        }
    }

    @Test("A rule, a fold and a condition in new names; what is new tells no objects apart")
    func terms() throws {
        let disk = Disk()
        try Self.fill(disk)
        let next = Self.model(unique: [["mail"]], isRenamed: true) { model in
            for index in model.entities[0].attributes.indices {
                switch model.entities[0].attributes[index].name {
                case "modified":
                    model.entities[0].attributes[index].name = "changed"
                    model.entities[0].attributes[index].renamingIdentifier = "modified"
                case "name":
                    model.entities[0].attributes[index].name = "title"
                    model.entities[0].attributes[index].renamingIdentifier = "name"
                default: break
                }
            }
            model.entities[0].attributes.append(.init("rank", .integer32, default: .integer(7)))
        }
        var request = DeduplicationRequest(
            entityName: "Human", by: ["mail"],
            keeping: .merge(
                ["title": .newest(by: "changed"), "code": .newest(by: "rank"), "rank": .maximum],
                into: .smallest(by: "rank")))
        request.predicate = try PredicateNode(
            format: "changed < 100 AND (team.name != 'green' OR title == 'x')")
        #expect(try disk.migrate(to: next, request).foldedObjects == 2)
        try disk.with(next) { stack in
            let found = try stack.context().find("Human", "mail", .string("a"))
            // Equal in the key and in rank, their other attributes decide: the least comes first.
            #expect(found.map { $0.int("changed") } == [1])
            #expect(found.map { $0.string("title") } == ["a3"])
            #expect(found.map { $0.int("rank") } == [7])
        }
    }

    @Test("Only objects that the constraint holds for are folded")
    func covered() throws {
        func model(_ unique: [[String]], condition: String? = nil, hasGuests: Bool = true) throws
            -> ManagedObjectModel
        {
            var worker = EntityDescription("Worker", uniquenessConstraints: unique)
            worker.superentityName = "Person"
            if let condition {
                worker.uniquenessRules = [
                    UniquenessRule(
                        ["email"], where: try PredicateNode(format: condition))
                ]
            }
            var guest = EntityDescription("Guest")
            guest.superentityName = "Worker"
            return ManagedObjectModel(
                entities: [
                    EntityDescription(
                        "Person",
                        attributes: [
                            .init("email", .string), .init("modified", .integer64),
                            .init("isGone", .boolean),
                        ]), worker,
                ] + (hasGuests ? [guest] : []))
        }
        func fill(_ disk: Disk) throws {
            try disk.with(model([])) { stack in
                try stack.store { context in
                    ["Person", "Person", "Worker", "Worker", "Worker", "Guest"].enumerated().map {
                        context.make(
                            $1, ["email": "a", "modified": $0, "isGone": $0 == 2])
                    }
                }
            }
        }
        // The newest one is a guest, and goes with the entity.
        let disk = Disk()
        try fill(disk)
        let next = try model([["email"]], hasGuests: false)
        let report = try disk.migrate(to: next, Self.people)
        #expect(report.foldedObjects == 2 && report.removedObjects == ["Guest": 1])
        #expect(try disk.count(next, "Person") == 3)
        #expect(try disk.count(next, "Worker") == 1)
        // A condition of the constraint leaves one out.
        let conditional = Disk()
        try fill(conditional)
        let current = try model([], condition: "isGone == NO")
        #expect(try conditional.migrate(to: current, Self.people).foldedObjects == 2)
        #expect(try conditional.count(current, "Worker") == 2)
        // Without descendants the request is not about workers.
        let alone = Disk()
        try fill(alone)
        var request = Self.people
        request.includesSubentities = false
        let error = storeError { try alone.migrate(to: next, request) }
        #expect(error?.code == .migrationConstraintViolation)
    }

    @Test("Two requests that change one object make the migration fail, and the store is as it was")
    func meeting() throws {
        let disk = Disk()
        try Self.fill(disk)
        try disk.with(Self.model()) { stack in
            let context = stack.context()
            for name in ["a3", "b1"] {
                let found = try context.find("Person", "name", .string(name))
                found.first?["code"] = "same"
            }
            try context.save()
        }
        let next = Self.model(unique: [["email"], ["code"]])
        let codes = DeduplicationRequest(entityName: "Person", by: ["code"], keeping: .first)
        let error = storeError { try disk.migrate(to: next, Self.people, codes) }
        #expect(error?.code == .migrationFailed, "\(String(describing: error))")
        #expect(error?.message.contains("two deduplication requests") == true)
        #expect(try disk.count(Self.model(), "Person") == 6)
        // Where they do not meet both are carried out.
        try disk.with(Self.model()) { stack in
            let context = stack.context()
            for (name, code) in [("a3", "other"), ("n1", "same")] {
                let found = try context.find("Person", "name", .string(name))
                found.first?["code"] = code
            }
            try context.save()
        }
        #expect(try disk.migrate(to: next, Self.people, codes).foldedObjects == 3)
        #expect(try disk.count(next, "Person") == 3)
    }

    // MARK: Passing over

    @Test("Without a constraint that asks for it nothing is folded")
    func unneeded() throws {
        let disk = Disk()
        try Self.fill(disk)
        let more = Self.model { $0.entities[0].attributes.append(.init("age", .integer16)) }
        #expect(try disk.migrate(to: more, Self.people).foldedObjects == 0)
        #expect(try disk.count(more, "Person") == 6)
        // A constraint over other keys, or over more of them.
        let other = Self.model(unique: [["email", "name"], ["name"]])
        #expect(try disk.migrate(to: other, Self.people).foldedObjects == 0)
        #expect(try disk.count(other, "Person") == 6)
        let last = Self.model(unique: [["email"]])
        #expect(try disk.migrate(to: last, Self.people).foldedObjects == 2)
        // What held before asks for nothing.
        let again = Self.model(unique: [["email"]]) {
            $0.entities[0].attributes.append(.init("age", .integer16))
        }
        #expect(try disk.migrate(to: again, Self.people).foldedObjects == 0)
    }

    @Test("What the migration adds nobody has twice; what no model knows is an error")
    func names() throws {
        let disk = Disk()
        try Self.fill(disk)
        let next = Self.model(unique: [["email"], ["badge"]]) { model in
            model.entities[0].attributes.append(.init("badge", .string))
            model.entities.append(
                EntityDescription(
                    "Car", attributes: [.init("plate", .string)],
                    uniquenessConstraints: [["plate"]]))
        }
        let cars = DeduplicationRequest(entityName: "Car", by: ["plate"], keeping: .first)
        let badges = DeduplicationRequest(entityName: "Person", by: ["badge"], keeping: .first)
        let wrong: [(String, [String], DeduplicationRule)] = [
            ("Persn", ["email"], .first), ("Person", ["emial"], .first),
            ("Car", ["color"], .first), ("Person", ["email"], .newest(by: "modifed")),
            ("Person", ["email"], .merge(["nam": .keep])),
        ]
        for (entity, keys, rule) in wrong {
            let request = DeduplicationRequest(entityName: entity, by: keys, keeping: rule)
            let error = storeError { try disk.migrate(to: next, Self.people, request) }
            #expect(error?.code == .invalidRequest, "\(entity) \(keys) \(rule)")
        }
        #expect(try disk.migrate(to: next, cars, badges, Self.people).foldedObjects == 2)
        #expect(try disk.count(next, "Person") == 4)
    }

    @Test("In stages only the one that adds the constraint folds, whatever is known by then")
    func stages() throws {
        let disk = Disk()
        try Self.fill(disk)
        let second = Self.model { $0.entities[0].attributes.append(.init("age", .integer16)) }
        let third = Self.model(unique: [["email"]]) {
            $0.entities[0].attributes.append(.init("age", .integer16))
            $0.entities.append(
                EntityDescription("Car", attributes: [.init("plate", .string)]))
        }
        let fourth = Self.model(unique: [["email"]]) {
            $0.entities.append(
                EntityDescription(
                    "Car", attributes: [.init("plate", .string)],
                    uniquenessConstraints: [["plate"]]))
        }
        let counts = Mutex<[Int]>([])
        var stage = CustomMigrationStage(
            currentModel: ModelReference(second), nextModel: ModelReference(third), label: "unique")
        stage.willMigrateHandler = { context in
            let count = try context.count("Person")
            counts.withLock { $0.append(count) }
        }
        stage.didMigrateHandler = { context in
            let count = try context.count("Person")
            counts.withLock { $0.append(count) }
            for _ in 0..<2 { context.make("Car", ["plate": "x"]) }
            try context.save()
        }
        let manager = StagedMigrationManager(
            [
                LightweightMigrationStage([ModelReference(Self.model()), ModelReference(second)]),
                stage, LightweightMigrationStage([ModelReference(fourth)]),
            ])
        var options = disk.options
        // Of the second request no model knows anything before the third.
        let cars = DeduplicationRequest(entityName: "Car", by: ["plate"], keeping: .first)
        options.deduplicateWhenMigrating([
            cars, DeduplicationRequest(entityName: "Person", by: ["email"], keeping: .first),
        ])
        #expect(try manager.migrateStore(at: "/store", to: fourth, options: options) == 3)
        #expect(counts.withLock { $0 } == [6, 4])
        #expect(try disk.count(fourth, "Person") == 4)
        #expect(try disk.count(fourth, "Car") == 1)
    }

    @Test("A migration by a mapping folds nothing, and says how it can be done")
    func mapped() throws {
        let disk = Disk()
        try Self.fill(disk)
        let next = Self.model(unique: [["email"]])
        var options = disk.options
        options.deduplicateWhenMigrating([Self.people])
        let mapping = MappingModel(drafting: try ModelMigrationPlan(from: Self.model(), to: next))
        let error = storeError {
            let migration = try LogStore.beginMigration(
                at: "/store", to: try Schema(next), options: options)
            try MigrationManager(migration, mapping: mapping).migrate()
        }
        #expect(error?.code == .migrationConstraintViolation)
        #expect(
            error?.message.contains("its policy has to resolve") == true, "\(error?.message ?? "")")
        #expect(try disk.count(Self.model(), "Person") == 6)
    }
}

// Targets of relationships in batch inserts: those that must be there, and rows that name each other.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Targets of the rows of a batch")
struct BatchTargetsTests {
    /// - Parameter derives: whether an entity that has nothing to do with the others has a derived attribute.
    private static func model(derives: Bool) -> ManagedObjectModel {
        var node = EntityDescription(
            "Node", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        node.relationships = [
            RelationshipDescription("parent", to: "Node", inverse: "children"),
            RelationshipDescription("children", to: "Node", toMany: true, inverse: "parent"),
        ]
        var owned = EntityDescription(
            "Owned", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        var toOwner = RelationshipDescription("owner", to: "Owner", inverse: "owned")
        toOwner.isOptional = false
        owned.relationships = [toOwner]
        var owner = EntityDescription(
            "Owner", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        owner.relationships = [
            RelationshipDescription("owned", to: "Owned", toMany: true, inverse: "owner")
        ]
        var part = EntityDescription(
            "Part", attributes: [.init("label", .string), .init("name", .string)],
            uniquenessConstraints: [["label"], ["name", "whole"]])
        part.relationships = [
            RelationshipDescription("whole", to: "Part", inverse: "parts"),
            RelationshipDescription("parts", to: "Part", toMany: true, inverse: "whole"),
        ]
        var other = EntityDescription(
            "Other", attributes: [.init("name", .string), .init("large", .string)])
        if derives { other.attributes[1].derivationExpression = "uppercase:(name)" }
        return ManagedObjectModel(entities: [node, owned, owner, part, other])
    }

    private static func open(derives: Bool = false) throws -> LogStore {
        try LogStore.open(
            at: "/store", schema: try Schema(model(derives: derives)),
            options: SampleStore.options(on: MemoryFileSystem(), durability: .relaxed))
    }

    @discardableResult
    private static func put(
        _ store: LogStore, _ entity: String, _ rows: [[String: Any]], makesTargets: Bool = false
    ) throws -> BatchInsertResult {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        request.createsTargets = makesTargets
        return try store.execute(request)
    }

    private static func error(_ body: () throws -> Void) -> StoreError? {
        do {
            try body()
            return nil
        } catch { return error as? StoreError }
    }

    private static func count(_ store: LogStore, _ entity: String, _ format: String) throws -> Int {
        let description = try #require(store.schema.entity(named: entity))
        let predicate = try PredicateNode(format: format).bound(
            to: description, in: store.schema, nullSemantics: .twoValued)
        return try store.snapshot().count(
            StoreFetch(entity: description.index, predicate: predicate))
    }

    @Test("A new object without the target of a mandatory relationship is refused, by row and key")
    func mandatory() throws {
        let store = try Self.open()
        try Self.put(store, "Owner", [["name": "x"]])
        let one = Self.error {
            try Self.put(store, "Owned", [["name": "a", "owner": "x"], ["name": "b"]])
        }
        #expect(one?.code == .missingMandatory && one?.message == "a required relationship is nil")
        #expect(one?.context.row == 1 && one?.context.key == "owner")
        #expect(one?.context.entity == "Owned")
        let two = Self.error { try Self.put(store, "Owned", [["name": "a"], ["name": "b"]]) }
        #expect(two?.code == .multiple && two?.details.compactMap(\.context.row) == [0, 1])
        // A later row about the object may say it; and who is stored has it.
        try Self.put(store, "Owned", [["name": "a"], ["name": "a", "owner": "x"]])
        try Self.put(store, "Owned", [["name": "a"]])
        #expect(try Self.count(store, "Owned", "owner.name == 'x'") == 1)
        #expect(try Self.count(store, "Owned", "TRUEPREDICATE") == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test(
        "NaN is no target's key, and never leads to the object whose key is zero",
        arguments: [AttributeType.decimal, .double])
    func noNumber(type: AttributeType) throws {
        let rate = EntityDescription(
            "Rate", attributes: [.init("value", type)], uniquenessConstraints: [["value"]])
        var item = EntityDescription("Item", attributes: [.init("name", .string)])
        item.relationships = [RelationshipDescription("rate", to: "Rate")]
        let store = try LogStore.open(
            at: "/store", schema: try Schema(ManagedObjectModel(entities: [rate, item])),
            options: SampleStore.options(on: MemoryFileSystem(), durability: .relaxed))
        try Self.put(store, "Rate", [["value": 0]])
        let none = type == .decimal ? RowTarget.key(Decimal.nan) : .key(Double.nan)
        let error = Self.error {
            try Self.put(store, "Item", [["name": "a", "rate": none]])
        }
        #expect(error != nil)
        #expect(try Self.count(store, "Item", "TRUEPREDICATE") == 0)
        try Self.put(store, "Item", [["name": "a", "rate": RowTarget.key(Decimal(0))]])
        #expect(try Self.count(store, "Item", "rate.value == 0") == 1)
        try store.close()
    }

    @Test(
        "Rows of one batch that name each other are written once, whichever comes first",
        arguments: [false, true])
    func once(derivesElsewhere: Bool) throws {
        let store = try Self.open(derives: derivesElsewhere)
        // Each leads to the next one, the last to the first; but for one, which shows that the others were not written anew.
        let result = try Self.put(
            store, "Node",
            (0..<900).map { ["name": "n\($0)", "parent": "n\(($0 + 1) % 900)"] }
                + [["name": "alone"]])
        #expect(result.insertedCount == 901 && result.updatedCount == 0)
        let state = store.engine.registry.published()
        let node = try #require(store.schema.entity(named: "Node"))
        var (all, live) = (0, 0)
        for level in BlockLevel.allCases {
            for handle in state.blocks.blocks(ofEntity: node.index, level) {
                all += Int(state.blocks.entry(handle).rows)
                live += Int(state.blocks.entry(handle).live)
            }
        }
        #expect(all == 901 && live == 901)
        for number in [0, 7, 899] {
            let next = (number + 1) % 900
            let format = "name == 'n\(number)' AND parent.name == 'n\(next)'"
            #expect(try Self.count(store, "Node", format) == 1)
        }
        // Of several rows about one object the last that names a target counts.
        try Self.put(
            store, "Node",
            [
                ["name": "x", "parent": "z"], ["name": "x"], ["name": "y", "parent": "x"],
                ["name": "x", "parent": "y"], ["name": "z"],
            ])
        #expect(try Self.count(store, "Node", "name == 'x' AND parent.name == 'y'") == 1)
        #expect(try Self.count(store, "Node", "name == 'y' AND parent.name == 'x'") == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test(
        "A target that belongs to a key gives its row that key, also if it comes later in the batch"
    )
    func keys() throws {
        let store = try Self.open()
        try Self.put(
            store, "Part", [["label": "a", "name": "n", "whole": "b"], ["label": "b"]])
        #expect(try store.check().findings.isEmpty)
        // Found by it.
        let again = try Self.put(store, "Part", [["name": "n", "whole": "b"]])
        #expect(again.unchangedCount == 1 && again.insertedCount == 0)
        // And refused by it.
        let error = Self.error {
            try Self.put(
                store, "Part",
                [
                    ["label": "c", "name": "n", "whole": "d"], ["label": "d"],
                    ["label": "e", "name": "n", "whole": "d"],
                ])
        }
        #expect(error?.code == .constraintConflict)
        #expect(try Self.count(store, "Part", "TRUEPREDICATE") == 2)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("Rows that name targets which are there are compared with what is stored in runs")
    func runs() throws {
        let store = try Self.open()
        try Self.put(store, "Node", [["name": "x"], ["name": "y"]])
        func rows(_ changed: [Int: String?] = [:]) -> [[String: Any]] {
            (0..<200).map { row in
                var values: [String: Any] = ["name": "n\(row)", "parent": "x"]
                if let parent = changed[row] { values["parent"] = parent ?? NSNull() }
                return values
            }
        }
        try Self.put(store, "Node", rows())
        #expect(try Self.put(store, "Node", rows()).unchangedCount == 200)
        let result = try Self.put(store, "Node", rows([5: "y", 77: nil, 78: "n199"]))
        #expect(result.updatedCount == 3 && result.unchangedCount == 197)
        #expect(try Self.count(store, "Node", "parent.name == 'x'") == 197)
        // One waits from row 20 on, and is found at the end; a row behind it names another target for the same object.
        var waiting = rows([20: "later", 30: "later"])
        waiting += [["name": "n30", "parent": "y"], ["name": "later"]]
        let third = try Self.put(store, "Node", waiting)
        #expect(third.insertedCount == 1)
        #expect(try Self.count(store, "Node", "name == 'n20' AND parent.name == 'later'") == 1)
        #expect(try Self.count(store, "Node", "name == 'n30' AND parent.name == 'y'") == 1)
        #expect(try Self.count(store, "Node", "parent.name == 'x'") == 198)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    /// Animals with one key. A cat has something else where a dog has its collar.
    private static func animals() throws -> LogStore {
        let animal = EntityDescription(
            "Animal", attributes: [.init("tag", .string), .init("name", .string)],
            uniquenessConstraints: [["tag"]])
        var cat = EntityDescription("Cat", attributes: [.init("lives", .integer16)])
        cat.superentityName = "Animal"
        var dog = EntityDescription("Dog")
        dog.superentityName = "Animal"
        dog.relationships = [
            RelationshipDescription("collar", to: "Collar", inverse: "dog"),
            RelationshipDescription("kennel", to: "Kennel", inverse: "dogs"),
            RelationshipDescription("bones", to: "Bone", toMany: true, inverse: "dog"),
        ]
        var collar = EntityDescription(
            "Collar", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        collar.relationships = [RelationshipDescription("dog", to: "Dog", inverse: "collar")]
        var kennel = EntityDescription(
            "Kennel", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        kennel.relationships = [
            RelationshipDescription("dogs", to: "Dog", toMany: true, inverse: "kennel")
        ]
        var bone = EntityDescription(
            "Bone", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        bone.relationships = [RelationshipDescription("dog", to: "Dog", inverse: "bones")]
        let store = try LogStore.open(
            at: "/store",
            schema: try Schema(
                ManagedObjectModel(entities: [animal, cat, dog, collar, kennel, bone])),
            options: SampleStore.options(on: MemoryFileSystem(), durability: .relaxed))
        try put(store, "Cat", [["tag": "2", "name": "Tom", "lives": 9]])
        return store
    }

    @Test(
        "A row that cannot be merged into an object of another entity is refused, whoever its targets are",
        arguments: ["collar", "kennel", "bones"])
    func targetsOfRefused(key: String) throws {
        let store = try Self.animals()
        let name = key == "bones" ? "Bone" : key.capitalized
        try Self.put(store, name, [["name": "there"]])
        // One that is there, and one that nobody has.
        for target in ["there", "nowhere"] {
            let value: Any = key == "bones" ? [target] : target
            let error = Self.error { try Self.put(store, "Dog", [["tag": "2", key: value]]) }
            #expect(error?.code == .constraintConflict)
            let single = error?.details.first
            #expect(single?.context.key == key && single?.context.row == 0, "\(target)")
        }
        #expect(try Self.count(store, "Cat", "name == 'Tom' AND lives == 9") == 1)
        #expect(try Self.count(store, "Dog", "TRUEPREDICATE") == 0)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("A row that leads nowhere takes nothing from an object of another entity")
    func leadingNowhere() throws {
        let store = try Self.animals()
        let result = try Self.put(
            store, "Dog",
            [
                [
                    "tag": "2", "name": "Rex", "collar": NSNull(), "kennel": NSNull(),
                    "bones": [String](),
                ]
            ])
        #expect(result.updatedCount == 1 && result.insertedCount == 0)
        #expect(try Self.count(store, "Cat", "name == 'Rex' AND lives == 9") == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test(
        "A target that is made counts where its key leads, which is to objects that are there alone"
    )
    func madeMembers() throws {
        var department = EntityDescription(
            "Department", attributes: [.init("name", .string), .init("size", .integer64)],
            uniquenessConstraints: [["name"]])
        department.attributes[1].derivationExpression = "employees.@count"
        department.relationships = [
            RelationshipDescription(
                "employees", to: "Employee", toMany: true, inverse: "department")
        ]
        var employee = EntityDescription(
            "Employee", attributes: [.init("name", .string), .init("pay", .double)],
            uniquenessConstraints: [["department", "name"], ["pay"]])
        employee.relationships = [
            RelationshipDescription("department", to: "Department", inverse: "employees")
        ]
        var task = EntityDescription("Task", attributes: [.init("name", .string)])
        task.relationships = [RelationshipDescription("worker", to: "Employee")]
        let store = try LogStore.open(
            at: "/store",
            schema: try Schema(ManagedObjectModel(entities: [department, employee, task])),
            options: SampleStore.options(on: MemoryFileSystem(), durability: .relaxed))
        var given = BatchInsertRequest(entityName: "Department", objects: [["name": "d"]])
        given.resultType = .objectIDs
        let id = try #require(try store.execute(given).objectIDs.first)
        func put(_ keys: [[String: Value]]) throws -> BatchInsertResult {
            var request = BatchInsertRequest(
                entityName: "Task",
                objects: keys.map { ["name": "t", "worker": RowTarget.keys($0)] as [String: Any] })
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.createsTargets = true
            return try store.execute(request)
        }
        let worker: [String: Value] = ["department": .objectID(id), "name": .string("w")]
        #expect(try put([worker, worker]).createdTargetCount == 1)
        #expect(try Self.count(store, "Department", "size == 1") == 1)
        let nobody = ObjectID(store: id.store, hierarchy: id.hierarchy, reference: 99)
        let error = Self.error {
            _ = try put([["department": .objectID(nobody), "name": .string("w")]])
        }
        #expect(error?.code == .objectNotFound)
        #expect(
            error?.context.detail?.contains("department refers to no existing object") == true)
        // Both zeros are one key.
        #expect(
            try put([["pay": .double(0)], ["pay": .double(-0.0)]]).createdTargetCount == 1)
        #expect(try Self.count(store, "Employee", "TRUEPREDICATE") == 2)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    // MARK: Targets that are made

    @Test("Targets that nobody has are made once, if no row turns out to be them")
    func made() throws {
        let store = try Self.open()
        let owned = [
            ["name": "a", "owner": "x"], ["name": "b", "owner": "x"], ["name": "c", "owner": "y"],
        ]
        let missing = Self.error { try Self.put(store, "Owned", owned) }
        #expect(missing?.details.map(\.code) == Array(repeating: .objectNotFound, count: 3))
        #expect(try Self.count(store, "Owned", "TRUEPREDICATE") == 0)
        let result = try Self.put(store, "Owned", owned, makesTargets: true)
        #expect(result.insertedCount == 3 && result.createdTargetCount == 2)
        #expect(try Self.count(store, "Owner", "TRUEPREDICATE") == 2)
        #expect(try Self.count(store, "Owned", "owner.name == 'x'") == 2)
        let again = try Self.put(store, "Owned", owned, makesTargets: true)
        #expect(again.unchangedCount == 3 && again.createdTargetCount == 0)
        // Of its own hierarchy: b comes later in the batch, d does not.
        let nodes = [
            ["name": "a", "parent": "b"], ["name": "c", "parent": "d"],
            ["name": "b", "parent": "d"],
        ]
        let tree = try Self.put(store, "Node", nodes, makesTargets: true)
        #expect(tree.insertedCount == 3 && tree.createdTargetCount == 1)
        #expect(try Self.count(store, "Node", "TRUEPREDICATE") == 4)
        #expect(try Self.count(store, "Node", "name == 'a' AND parent.name == 'b'") == 1)
        #expect(try Self.count(store, "Node", "parent.name == 'd'") == 2)
        // As members of a list.
        let lists: [[String: Any]] = [
            ["name": "d", "children": ["a", "e", "f"]], ["name": "e", "children": [String]()],
        ]
        #expect(try Self.put(store, "Node", lists, makesTargets: true).createdTargetCount == 1)
        #expect(try Self.count(store, "Node", "parent.name == 'd'") == 3)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("A target that cannot be made alone is refused, with the reason")
    func unmade() throws {
        let store = try Self.open()
        let error = Self.error {
            try Self.put(store, "Owner", [["name": "x", "owned": ["a"]]], makesTargets: true)
        }
        #expect(error?.code == .objectNotFound && error?.context.row == 0)
        #expect(
            error?.context.detail?.hasSuffix(
                "it cannot be inserted: a new Owned must have a target for owner") == true)
        #expect(try Self.count(store, "Owner", "TRUEPREDICATE") == 0)
        try store.close()
    }

    @Test("A made target has what the first row that names it says of it; one that is there stays")
    func madeOf() throws {
        let rate = EntityDescription(
            "Rate",
            attributes: [
                .init("value", .integer64), .init("code", .string),
                .init("kind", .string, optional: false, default: .string("usual")),
            ], uniquenessConstraints: [["value"], ["code"]])
        var item = EntityDescription(
            "Item", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        item.relationships = [RelationshipDescription("rate", to: "Rate")]
        let store = try LogStore.open(
            at: "/store", schema: try Schema(ManagedObjectModel(entities: [rate, item])),
            options: SampleStore.options(on: MemoryFileSystem(), durability: .relaxed))
        func named(_ value: Int64, _ more: [String: Value] = [:]) -> RowTarget {
            var values = more
            values["value"] = .integer(value)
            return .keys(values)
        }
        try Self.put(store, "Rate", [["value": 1, "code": "a"]])
        let result = try Self.put(
            store, "Item",
            [
                ["name": "i", "rate": named(2, ["code": .string("b")])],
                ["name": "j", "rate": named(3)],
                ["name": "k", "rate": named(3, ["code": .string("c")])],
                ["name": "l", "rate": named(1, ["code": .string("d")])],
            ], makesTargets: true)
        #expect(result.createdTargetCount == 2)
        for (format, count) in [
            ("value == 2 AND code == 'b' AND kind == 'usual'", 1),
            ("value == 3 AND code == nil", 1),
            ("value == 1 AND code == 'a'", 1), ("TRUEPREDICATE", 3),
        ] { #expect(try Self.count(store, "Rate", format) == count, "\(format)") }
        #expect(try Self.count(store, "Item", "rate.value == 3") == 2)
        // Another object has one of its keys.
        let taken = Self.error {
            try Self.put(
                store, "Item", [["name": "m", "rate": named(4, ["code": .string("a")])]],
                makesTargets: true)
        }
        #expect(taken?.code == .constraintConflict && taken?.context.row == 0)
        #expect(taken?.context.key == "code")
        for (more, makes) in [
            (["code": .string("e")], false), (["size": .integer(1)], true),
        ] as [([String: Value], Bool)] {
            let error = Self.error {
                try Self.put(
                    store, "Item", [["name": "m", "rate": named(5, more)]], makesTargets: makes)
            }
            #expect(error?.code == .invalidRequest && error?.context.key == "rate")
        }
        #expect(try Self.count(store, "Item", "TRUEPREDICATE") == 4)
        #expect(try Self.count(store, "Rate", "TRUEPREDICATE") == 3)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }
}

// Batch inserts under the declared merge policy, beside saves of the same rows.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Batch inserts under the declared merge policy")
struct DeclaredBatchTests {
    /// A rule of every kind, composite attributes, relationships, and an entity that inherits and has rules of its own.
    ///
    /// - Parameter hasSecondKey: whether there is a second constraint, beside which objects are found in another way.
    private static func model(hasSecondKey: Bool = false) -> ManagedObjectModel {
        func attribute(
            _ name: String, _ type: AttributeType, _ rule: MergeRule? = nil, default: Value? = nil
        ) -> AttributeDescription {
            var attribute = AttributeDescription(name, type)
            attribute.mergeRule = rule
            attribute.defaultValue = `default` ?? .null
            return attribute
        }
        var place = attribute("place", .composite, .newest(by: "modified"))
        place.elements = [
            attribute("street", .string), attribute("floor", .integer16, default: .integer(2)),
        ]
        var size = attribute("size", .composite, .fillNil)
        size.elements = [
            attribute("height", .double), attribute("unit", .string, default: .string("m")),
        ]
        var owner = RelationshipDescription("owner", to: "Owner", inverse: "items")
        owner.mergeRule = .newest(by: "modified")
        var maker = RelationshipDescription("maker", to: "Owner", inverse: "made")
        maker.mergeRule = .fillNil
        var seller = RelationshipDescription("seller", to: "Owner", inverse: "sold")
        seller.mergeRule = .store
        let item = EntityDescription(
            "Item",
            attributes: [
                attribute("code", .string), attribute("second", .integer32),
                attribute("visits", .integer64, .sum, default: .integer(3)),
                attribute("small", .integer16, .sum), attribute("exact", .decimal, .sum),
                attribute("ratio", .double, .sum), attribute("short", .float, .sum),
                attribute("best", .integer32, .maximum, default: .integer(4)),
                attribute("name", .string, .maximum), attribute("first", .date, .minimum),
                attribute("cost", .decimal, .minimum),
                attribute("title", .string, .newest(by: "modified")),
                attribute("key", .uuid, .newest(by: "modified")),
                attribute("modified", .date), attribute("note", .string, .fillNil),
                attribute("link", .uri, .fillNil), attribute("origin", .string, .store),
                attribute("isOld", .boolean, .store, default: .boolean(false)),
                attribute("color", .string, default: .string("red")), attribute("bytes", .binary),
                place, size,
            ],
            relationships: [
                owner, maker, seller, RelationshipDescription("user", to: "Owner", inverse: "used"),
            ], uniquenessConstraints: hasSecondKey ? [["code"], ["second"]] : [["code"]])
        var special = EntityDescription(
            "Special", attributes: [attribute("extra", .date, .maximum)])
        special.superentityName = "Item"
        special.mergeRule = .newest(by: "extra")
        let people = EntityDescription(
            "Owner", attributes: [attribute("name", .string)],
            relationships: [
                ("items", "owner"), ("made", "maker"), ("sold", "seller"), ("used", "user"),
            ]
            .map { RelationshipDescription($0.0, to: "Item", toMany: true, inverse: $0.1) },
            uniquenessConstraints: [["name"]])
        return ManagedObjectModel(entities: [item, special, people])
    }

    @Test("A part that must have a value is not lost where the row does not name it")
    func mandatoryParts() throws {
        var model = Self.model()
        var place = AttributeDescription("seat", .composite, optional: false)
        place.mergeRule = .newest(by: "modified")
        place.elements = [
            .init("row", .string, optional: false), .init("number", .integer16),
        ]
        model.entities[0].attributes.append(place)
        let stack = try Stack(model, .log)
        let context = stack.context(.declared)
        func insert(_ rows: [[String: Any]]) throws -> BatchInsertResult {
            try context.execute(BatchInsertRequest(entityName: "Item", objects: rows))
        }
        let whole: [String: Any] = [
            "code": "a", "seat.row": "f", "seat.number": 1, "modified": Self.date(3),
        ]
        #expect(try insert([whole]).insertedCount == 1)
        let part: [String: Any] = ["code": "a", "seat.number": 2, "modified": Self.date(5)]
        let error = storeError { _ = try insert([["code": "b", "seat.row": "g"], part]) }
        #expect(error?.code == .missingMandatory && error?.context.row == 1)
        #expect(error?.context.key == "seat.row")
        // What is older changes nothing, so nothing is missing either.
        #expect(
            try insert([["code": "a", "seat.number": 2, "modified": Self.date(1)]]).unchangedCount
                == 1)
    }

    private static func date(_ seconds: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(seconds))
    }

    /// A row: of each property a value, nil, or nothing. Those of composite attributes have dotted names.
    private static func row(_ random: inout RandomSource) -> [String: Any?] {
        var row: [String: Any?] = ["code": "c\(random.below(12))"]
        func set(_ key: String, _ value: Any, _ random: inout RandomSource) {
            guard random.chance(45) else { return }
            row.updateValue(random.chance(15) ? nil : value, forKey: key)
        }
        let (number, half) = (random.below(9) - 4, Double(random.below(9)) / 2)
        let (day, time, isOld) = (random.below(4), random.below(3), random.chance(50))
        let color = random.chance(50) ? "red" : "blue"
        // Some are too large to lie among the others.
        let text = String(repeating: "\(random.below(5))", count: random.chance(5) ? 9_000 : 1)
        set("visits", number, &random)
        set("small", number, &random)
        set("exact", Decimal(number) / 4, &random)
        set("ratio", half, &random)
        set("short", Float(half), &random)
        set("best", number, &random)
        set("name", text, &random)
        set("first", date(day), &random)
        set("cost", Decimal(number), &random)
        set("title", text, &random)
        set("key", UUID(uuidString: "00000000-0000-0000-0000-00000000000\(day)") ?? UUID(), &random)
        set("modified", date(time), &random)
        set("note", text, &random)
        set("link", URL(string: "x:\(number)") ?? URL(fileURLWithPath: "/"), &random)
        set("origin", text, &random)
        set("isOld", isOld, &random)
        set("color", color, &random)
        set("bytes", Data(text.utf8), &random)
        set("place.street", text, &random)
        set("place.floor", day, &random)
        set("size.height", half, &random)
        set("size.unit", "cm", &random)
        for key in ["owner", "maker", "seller", "user"] {
            let name = "o\(random.below(5))"
            set(key, name, &random)
        }
        return row
    }

    /// The row as a batch takes it.
    private static func values(_ row: [String: Any?]) -> [String: Any] {
        row.mapValues { $0 ?? NSNull() }
    }

    /// Stores objects that rows will meet.
    private static func begin(_ stack: Stack, _ random: inout RandomSource) throws {
        let rows = (0..<6).map { _ in row(&random) }
        let isSpecial = (0..<6).map { _ in random.chance(40) }
        try stack.store { context in
            for name in 0..<5 { context.make("Owner", ["name": "o\(name)"]) }
            return []
        }
        for (index, row) in rows.enumerated() {
            var row = row
            row["code"] = "c\(index)"
            try save(row, isSpecial[index] ? "Special" : "Item", in: stack)
        }
    }

    /// Saves a row as a new object.
    private static func save(_ row: [String: Any?], _ entity: String = "Item", in stack: Stack)
        throws
    {
        let context = stack.context(.declared)
        let object = context.make(entity)
        for (key, value) in row {
            if let name = value as? String, ["owner", "maker", "seller", "user"].contains(key) {
                object[key] = try context.find("Owner", "name", .string(name)).first
            } else {
                try object.setValue(value, forKeyPath: key)
            }
        }
        try context.save()
    }

    /// All objects with all of their values, as a text.
    private static func content(_ stack: Stack) throws -> String {
        let entities = stack.store.schema
        return try stack.context().all("Item", sortedBy: "code").map { object in
            let entity = try #require(entities.entity(named: object.entity.name))
            let values = entity.columns.map { column -> String in
                if let name = column.relationship.map({ entity.relationships[$0].description.name })
                {
                    return "\(name): \(object.object(name)?.string("name") ?? "-")"
                }
                return
                    "\(column.name): \(object.value(forKeyPath: column.name).map { "\($0)" } ?? "-")"
            }
            return entity.name + " " + values.joined(separator: ", ")
        }.joined(separator: "\n")
    }

    @Test(
        "Rows of a batch leave what as many saves in their order leave",
        arguments: RandomSource.seeds(4, whole: 400))
    func likeSaves(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = RandomSource(seed: seed)
        let model = Self.model(hasSecondKey: random.chance(40))
        let stacks = (try Stack(model, .log), try Stack(model, .log))
        var other = random
        try Self.begin(stacks.0, &random)
        try Self.begin(stacks.1, &other)
        #expect(try Self.content(stacks.0) == Self.content(stacks.1))
        // Long batches meet rows of their own, in the open block and in those before; short ones what is stored.
        for _ in 0..<4 {
            let count = [1, 3, 40, 60][random.below(4)]
            let rows = (0..<count).map { _ in Self.row(&random) }
            var request = BatchInsertRequest(entityName: "Item", objects: rows.map(Self.values))
            request.reportsOutcomes = random.chance(50)
            try stacks.0.context(.declared).execute(request)
            for row in rows { try Self.save(row, in: stacks.1) }
            #expect(try Self.content(stacks.0) == Self.content(stacks.1))
        }
        let store = try #require(stacks.0.store as? LogStore)
        #expect(try store.check().findings.isEmpty)
    }

    /// Nodes that lead to each other, under three rules.
    private static let nodes: ManagedObjectModel = {
        var node = EntityDescription(
            "Node", attributes: [.init("name", .string), .init("modified", .integer64)],
            uniquenessConstraints: [["name"]])
        let rules: [(String, MergeRule)] = [
            ("parent", .newest(by: "modified")), ("boss", .fillNil), ("first", .store),
        ]
        for (name, rule) in rules {
            var relationship = RelationshipDescription(name, to: "Node", inverse: "of\(name)")
            relationship.mergeRule = rule
            node.relationships += [
                relationship,
                RelationshipDescription("of\(name)", to: "Node", toMany: true, inverse: name),
            ]
        }
        return ManagedObjectModel(entities: [node])
    }()

    @Test("A target that comes later is what its row's object has, and greater than those before")
    func laterTargets() throws {
        let stack = try Stack(Self.nodes, .log)
        try stack.store { [$0.make("Node", ["name": "there"])] }
        func row(_ name: String, _ modified: Int, _ target: String) -> [String: Any] {
            [
                "name": name, "modified": modified, "parent": target, "boss": target,
                "first": target,
            ]
        }
        let rows: [[String: Any]] = [
            row("older", 5, "later"), row("older", 3, "there"),
            row("newer", 3, "there"), row("newer", 5, "later"),
            row("waits", 5, "later"), row("waits", 5, "there"),
            row("has", 5, "there"), row("has", 5, "later"),
            row("changes", 5, "later"), row("changes", 7, "there"),
            ["name": "later"],
        ]
        try stack.context(.declared).execute(
            BatchInsertRequest(entityName: "Node", objects: rows))
        func targets(_ name: String) throws -> [String] {
            let node = try #require(try stack.context().find("Node", "name", .string(name)).first)
            return ["parent", "boss", "first"].map { node.object($0)?.string("name") ?? "-" }
        }
        #expect(try targets("older") == ["later", "later", "later"])
        #expect(try targets("newer") == ["later", "there", "there"])
        #expect(try targets("waits") == ["later", "later", "later"])
        #expect(try targets("has") == ["later", "there", "there"])
        #expect(try targets("changes") == ["there", "later", "later"])
        // The same of objects that are stored.
        try stack.context(.declared).execute(
            BatchInsertRequest(
                entityName: "Node",
                objects: [
                    row("older", 4, "last"), row("newer", 6, "last"), row("later", 1, "last"),
                    row("later", 0, "there"), ["name": "last"],
                ]))
        #expect(try targets("older") == ["later", "later", "later"])
        #expect(try targets("newer") == ["last", "there", "there"])
        // What is stored stays where the rule says so, be it nothing.
        #expect(try targets("later") == ["last", "last", "-"])
        let store = try #require(stack.store as? LogStore)
        #expect(try store.check().findings.isEmpty)
    }

    @Test("What gave way to a target that never comes is what the object has then")
    func targetsThatNeverCome() throws {
        let stack = try Stack(Self.nodes, .log)
        try stack.store { context in
            ["one", "two"].map { context.make("Node", ["name": $0]) }
        }
        func row(_ name: String, _ modified: Int, _ target: String) -> [String: Any] {
            ["name": name, "modified": modified, "parent": target, "boss": target]
        }
        let rows: [[String: Any]] = [
            row("first", 5, "never"), row("first", 5, "two"), row("first", 5, "one"),
            row("comes", 5, "never"), row("comes", 5, "one"), row("comes", 5, "last"),
            row("has", 5, "one"), row("has", 5, "never"),
            row("newer", 5, "one"), row("newer", 6, "never"),
            row("older", 6, "never"), row("older", 5, "one"),
            row("none", 5, "never"), row("none", 5, "nowhere"),
            ["name": "last"],
        ]
        func targets(_ name: String) throws -> [String] {
            let node = try #require(try stack.context().find("Node", "name", .string(name)).first)
            return ["parent", "boss"].map { node.object($0)?.string("name") ?? "-" }
        }
        func insert(_ rows: [[String: Any]], ignores: Bool) throws {
            var request = BatchInsertRequest(entityName: "Node", objects: rows)
            request.ignoresMissingTargets = ignores
            try stack.context(.declared).execute(request)
        }
        #expect(storeError { try insert(rows, ignores: false) } != nil)
        #expect(try stack.context().count("Node") == 2)
        try insert(rows, ignores: true)
        // Of one time the greatest counts; the first that is not nil.
        #expect(try targets("first") == ["two", "two"])
        #expect(try targets("comes") == ["last", "one"])
        #expect(try targets("has") == ["one", "one"])
        // Who is newer says that it leads nowhere.
        #expect(try targets("newer") == ["-", "one"])
        #expect(try targets("older") == ["-", "one"])
        #expect(try targets("none") == ["-", "-"])
        // The same of objects that are stored.
        try insert(
            [row("first", 5, "never"), row("none", 5, "never"), row("none", 5, "one")],
            ignores: true)
        #expect(try targets("first") == ["two", "two"])
        #expect(try targets("none") == ["one", "one"])
        let store = try #require(stack.store as? LogStore)
        #expect(try store.check().findings.isEmpty)
    }

    @Test("So it is where both sides are to-one, and all targets wait for the end")
    func partnersThatNeverCome() throws {
        func side(_ name: String, _ inverse: String) -> EntityDescription {
            var relationship = RelationshipDescription(
                "partner", to: inverse, inverse: "partner")
            relationship.mergeRule = .fillNil
            return EntityDescription(
                name, attributes: [.init("name", .string)], relationships: [relationship],
                uniquenessConstraints: [["name"]])
        }
        let stack = try Stack(
            ManagedObjectModel(entities: [side("Left", "Right"), side("Right", "Left")]), .log)
        try stack.store { [$0.make("Right", ["name": "there"])] }
        var request = BatchInsertRequest(
            entityName: "Left",
            objects: [
                ["name": "a", "partner": "never"], ["name": "a", "partner": "there"],
                ["name": "b", "partner": "never"],
            ])
        request.ignoresMissingTargets = true
        try stack.context(.declared).execute(request)
        let found = try stack.context().all("Left", sortedBy: "name")
        #expect(found.map { $0.object("partner")?.string("name") } == ["there", nil])
        #expect(found[0].object("partner")?.object("partner") === found[0])
    }

    @Test("A sum that its type cannot hold is refused with its row, and nothing is written")
    func refusedSums() throws {
        let stack = try Stack(Self.model(), .log)
        try stack.store { [$0.make("Special", ["code": "s", "small": 30_000])] }
        let before = try Self.content(stack)
        func error(_ rows: [[String: Any]]) -> StoreError? {
            storeError {
                try stack.context(.declared).execute(
                    BatchInsertRequest(entityName: "Item", objects: rows))
            }
        }
        let staged = error([
            ["code": "a", "small": 30_000], ["code": "b"], ["code": "a", "small": 10_000],
        ])
        let other = error([["code": "a"], ["code": "s", "small": 10_000]])
        for (error, row) in [(staged, 2), (other, 1)] {
            #expect(error?.code == .invalidRequest && error?.context.row == row)
            #expect(error?.context.key == "small" && error?.context.entity == "Item")
        }
        #expect(error([["code": "s", "small": 2_767], ["code": "x", "visits": Int.max]]) == nil)
        let stored = error([["code": "y"], ["code": "x", "visits": 1]])
        #expect(stored?.context.row == 1 && stored?.context.key == "visits")
        let after = try stack.context().all("Item", sortedBy: "code")
        #expect(after.map { $0.string("code") } == ["s", "x"] && before.contains("30000"))
        #expect(after[0].int("small") == 32_767)
    }

    @Test("A row that changes nothing leaves its object's version, and makes no commit")
    func unchanged() throws {
        let stack = try Stack(Self.model(), .log)
        let ids = try stack.store { context in
            (0..<40).map {
                context.make(
                    "Item",
                    [
                        "code": "c\($0)", "title": "x", "modified": Self.date(5), "note": "n",
                        "origin": "here", "best": 9,
                    ])
            }
        }
        func versions() throws -> [UInt32?] {
            try stack.store.snapshot().rows(ids).map { $0?.version }
        }
        let before = try versions()
        let rows: [[String: Any]] = (0..<40).map {
            [
                "code": "c\($0)", "title": "y", "modified": Self.date(3), "note": "m",
                "origin": "there", "best": 8, "visits": 0, "small": NSNull(),
            ]
        }
        let request = BatchInsertRequest(entityName: "Item", objects: rows)
        let result = try stack.context(.declared).execute(request)
        #expect(result.unchangedCount == 40 && result.updatedCount == 0 && result.commit == nil)
        #expect(try versions() == before)
        // What a row says counts, also if it is what is stored or a default value.
        let same = BatchInsertRequest(
            entityName: "Item", objects: (0..<40).map { ["code": "c\($0)", "visits": 3] })
        #expect(try stack.context(.declared).execute(same).updatedCount == 40)
        #expect(try stack.context().all("Item").allSatisfy { $0.int("visits") == 6 })
    }

    @Test("Rows in the order in which their objects are stored are merged in runs")
    func runs() throws {
        var model = Models.shop
        model.entities[1].mergeRule = .newest(by: "price")
        model.entities[1].attributes[4].mergeRule = .fillNil
        let stack = try Stack(model, .log)
        try stack.store { context in
            (0..<200).map {
                context.make(
                    "Product",
                    [
                        "serialCode": "c\($0)", "name": "old", "price": 5,
                        "note": $0 == 70 ? nil : "n",
                    ])
            }
        }
        // Some are newer, some older, one has a note where there is none, and most say what is stored.
        let rows: [[String: Any]] = (0..<200).map {
            let price = $0 % 50 == 7 ? 6.0 : $0 % 50 == 8 ? 4.0 : 5.0
            return [
                "serialCode": "c\($0)", "name": price == 5 ? "old" : "new", "price": price,
                "note": $0 == 70 ? "row" : "n",
            ]
        }
        let result = try stack.context(.declared).execute(
            BatchInsertRequest(entityName: "Product", objects: rows))
        #expect(result.updatedCount == 5 && result.unchangedCount == 195)
        let products = try stack.context().all("Product")
        #expect(products.count { $0.string("name") == "new" && $0["price"] as? Double == 6 } == 4)
        #expect(products.count { $0.string("name") == "old" && $0["price"] as? Double == 5 } == 196)
        #expect(products.compactMap { $0.string("note") }.filter { $0 == "row" }.count == 1)
    }

    @Test("A key that is a sum moves")
    func summedKeys() throws {
        var number = AttributeDescription("number", .integer64)
        number.mergeRule = .sum
        let model = ManagedObjectModel(entities: [
            EntityDescription("Item", attributes: [number], uniquenessConstraints: [["number"]])
        ])
        for count in [1, 3] {
            let stack = try Stack(model, .log)
            for _ in stride(from: 0, to: 3, by: count) {
                let rows = Array(repeating: ["number": 5], count: count)
                try stack.context(.declared).execute(
                    BatchInsertRequest(entityName: "Item", objects: rows))
            }
            let numbers = try stack.context().all("Item", sortedBy: "number").map {
                $0.int("number")
            }
            #expect(numbers == [5, 10])
            let store = try #require(stack.store as? LogStore)
            #expect(try store.check().findings.isEmpty)
        }
    }

    @Test("Where the model has no rules it is as under object trump, of what rows name")
    func noRules() throws {
        let shop = try Stack(Models.shop, .log)
        try shop.store { [$0.make("Product", ["serialCode": "a", "note": "x", "price": 2])] }
        let rows = BatchInsertRequest(
            entityName: "Product", objects: [["serialCode": "a", "price": 3.0]])
        #expect(try shop.context(.declared).execute(rows).updatedCount == 1)
        let product = try shop.context().all("Product")[0]
        #expect(product.string("note") == "x" && product["price"] as? Double == 3)
        // A row may find an object of a descendant, which has rules.
        var vehicles = Models.vehicles
        vehicles.entities[1].mergeRule = .fillNil
        let stack = try Stack(vehicles, .log)
        try stack.store { context in
            ["SportCar", "Car"].map {
                context.make($0, ["numberPlate": $0, "maker": "stored"])
            }
        }
        let cars = BatchInsertRequest(
            entityName: "Car",
            objects: ["SportCar", "Car"].map { ["numberPlate": $0, "maker": "row"] })
        let result = try stack.context(.declared).execute(cars)
        #expect(result.updatedCount == 1 && result.unchangedCount == 1)
        let makers = try stack.context().all("Car", sortedBy: "numberPlate").map {
            $0.string("maker")
        }
        #expect(makers == ["row", "stored"])
    }
}

// Conditions with the nil of SQL: what is unknown is not found, by a store, by a context and in memory.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@Suite("The nil of SQL")
struct SQLNullsTests {
    private static let model: ManagedObjectModel = {
        var box = EntityDescription(
            "Box",
            attributes: [
                .init("name", .string), .init("nick", .string), .init("size", .integer32),
                .init("least", .integer32), .init("weight", .double), .init("full", .boolean),
            ])
        box.relationships = [
            .init("items", to: "Item", toMany: true, inverse: "box"),
            .init("rack", to: "Rack", inverse: "boxes"),
        ]
        var item = EntityDescription(
            "Item",
            attributes: [.init("label", .string), .init("price", .integer32)])
        item.relationships = [.init("box", to: "Box", inverse: "items")]
        var rack = EntityDescription(
            "Rack", attributes: [.init("name", .string), .init("floor", .integer32)])
        rack.relationships = [.init("boxes", to: "Box", toMany: true, inverse: "rack")]
        return ManagedObjectModel(entities: [box, item, rack])
    }()

    // MARK: Examples

    /// Boxes a, b, c and one without a name, which has nothing but nil.
    private func stocked(_ backend: Backend) throws -> Stack {
        let stack = try Stack(Self.model, backend)
        try stack.store { context in
            let rack = context.make("Rack", ["name": "north", "floor": 1])
            let a = context.make(
                "Box",
                ["name": "a", "nick": "a", "size": 5, "least": 3, "weight": 1.5, "full": true])
            let b = context.make("Box", ["name": "b", "size": 20, "full": false])
            let c = context.make("Box", ["name": "c", "nick": "x", "least": 9])
            a["rack"] = rack
            b["rack"] = context.make("Rack")
            let none = context.make("Box")
            for (box, label, price) in [
                (a, "a", 4), (a, nil, 8), (b, "z", nil), (c, nil, nil), (c, "c", 12),
            ] as [(ManagedObject, String?, Int?)] {
                context.make("Item", ["label": label, "price": price, "box": box])
            }
            return [a, b, c, none]
        }
        return stack
    }

    private func names(
        _ format: String, _ stack: Stack, _ nullSemantics: NullSemantics = .sql
    ) throws -> String {
        var request = FetchRequest(
            entityName: "Box", predicate: try PredicateNode(format: format))
        request.nullSemantics = nullSemantics
        request.sortDescriptors = [SortKey("name")]
        func joined(_ objects: [ManagedObject]) -> String {
            objects.map { $0.string("name") ?? "-" }.joined()
        }
        let context = stack.context()
        let found = try joined(context.fetch(request))
        #expect(try context.count(for: request) == found.count, "\(format)")
        // A store by itself, and with changes over it.
        var fetch = StoreFetch(
            entity: try #require(stack.store.schema.entity(named: "Box")).index,
            predicate: request.predicate)
        fetch.nullSemantics = nullSemantics
        #expect(try stack.store.snapshot().count(fetch) == found.count, "\(format)")
        for box in try context.all("Box") { box["weight"] = box["weight"] }
        #expect(context.hasChanges)
        #expect(try joined(context.fetch(request)) == found, "\(format) over changes")
        return found
    }

    /// Conditions, and who fulfils them.
    private static let cases: [(String, String)] = [
        // One value.
        ("size != 5", "b"), ("size == 5", "a"), ("NOT size == 5", "b"), ("NOT size > 10", "a"),
        ("size == NULL", "-c"), ("size != NULL", "ab"), ("NOT size == NULL", "ab"),
        ("NOT NOT size > 10", "b"), ("NOT name CONTAINS 'a'", "bc"),
        ("NOT nick LIKE 'a*'", "c"),
        ("NOT items.label CONTAINS 'q' AND NOT name CONTAINS 'q'", "b"),
        ("NOT name MATCHES '[ab]'", "c"),
        ("NOT name IN 'abx'", "c"), ("NOT size < NULL", ""), ("size < NULL", ""),
        ("NOT 1 > NULL", ""),
        // Lists.
        ("size IN {5, NULL}", "a"), ("NOT size IN {5, NULL}", ""), ("NOT size IN {5}", "b"),
        ("NOT size IN {}", "-abc"), ("size IN {}", ""), ("NOT name IN {nick, 'b'}", "c"),
        // Between is two comparisons.
        ("size BETWEEN {1, 9}", "a"), ("NOT size BETWEEN {1, 9}", "b"),
        ("NOT size BETWEEN {least, 4}", "ab"), ("NOT size BETWEEN {6, NULL}", "a"),
        ("size BETWEEN {1, NULL}", ""),
        // Two properties.
        ("name == nick", "a"), ("name != nick", "c"), ("NOT name == nick", "c"),
        ("NOT name != nick", "a"), ("NOT size > least", ""),
        // Logic.
        ("size > 10 OR name == 'c'", "bc"), ("NOT (size > 10 AND name == 'c')", "ab"),
        ("NOT (size > 10 OR name == 'c')", "a"), ("NOT (size > 10 AND FALSEPREDICATE)", "-abc"),
        ("size > 10 OR NOT size > 10", "ab"),
        // Ways that lead nowhere.
        ("rack.name != 'south'", "a"), ("NOT rack.name == 'south'", "a"),
        ("rack.name == NULL", "-bc"), ("rack != NULL AND NOT rack.floor > 3", "a"),
        // What is calculated.
        ("NOT size + 1 > 10", "a"), ("size * 2 != 10", "b"),
        ("TERNARY(size > 10, 1, 0) == 0", "-ac"), ("TERNARY(NOT size > 10, 1, 0) == 0", "-bc"),
        ("TERNARY(size > 10, NULL, 1) != 2", "-ac"), ("uppercase:(nick) != 'A'", "c"),
        // Members: ANY and NONE are EXISTS, ALL is ALL.
        ("ANY items.price > 5", "ac"), ("ANY items.price != 4", "ac"),
        ("NONE items.price > 5", "-b"), ("NOT ANY items.price != 4", "-b"),
        ("ALL items.price > 3", "-a"), ("NOT ALL items.price > 3", ""),
        ("NOT ALL items.price > 5", "a"), ("ALL items.price != 5", "-a"),
        ("NOT ALL items.price != 4", "a"), ("ALL items.label != 'q'", "-b"),
        ("NOT ALL items.label IN {'a', 'z'}", "c"),
        ("NOT ALL items.price BETWEEN {5, 20}", "a"),
        ("ANY items.price > least", "ac"), ("NONE items.price > least", "-b"),
        ("ANY items.price == NULL", "bc"), ("ALL items.price != NULL", "-a"),
        ("ALL items.price > least", "-a"),
        ("ANYKEY != 'a'", "abc"), ("NOT ANYKEY != 'a'", "-"), ("name IN items.label", "ac"),
        ("NOT name IN items.label", "-b"),
        ("items.label CONTAINS name", "ac"), ("NOT items.label CONTAINS 'q'", "-b"),
        ("SUBQUERY(items, $i, $i.price != 4).@count > 0", "ac"),
        ("SUBQUERY(items, $i, NOT $i.price > 5).@count > 0", "a"),
        ("NOT SUBQUERY(items, $i, $i.price != 4).@count > 0", "-b"),
        ("items.@max.price != 8", "c"), ("items.@count != 7", "-abc"),
    ]

    @Test("Each form finds what SQL finds", arguments: cases)
    func forms(_ format: String, _ expected: String) throws {
        for backend in Backend.allCases {
            #expect(try names(format, stocked(backend)) == expected, "\(backend)")
        }
    }

    @Test("Without the flag a comparison with nil is false, and its opposite true")
    func twoValued() throws {
        for backend in Backend.allCases {
            let stack = try stocked(backend)
            for (format, expected) in [
                ("size != 5", "-bc"), ("NOT size > 10", "-ac"), ("NOT size IN {5, NULL}", "-bc"),
                ("name != nick", "bc"), ("ANY items.price != 4", "abc"),
            ] {
                #expect(try names(format, stack, .twoValued) == expected, "\(format)")
            }
        }
    }

    @Test(
        "A condition on groups, and choices in columns, follow the flag",
        arguments: Backend.allCases)
    func tables(_ backend: Backend) throws {
        let stack = try stocked(backend)
        var request = FetchRequest<DictionaryResult>(entityName: "Box")
        request.propertiesToFetch = [
            .expression(
                .init("big", expression: try .init(format: "TERNARY(NOT size > 10, 0, 1)"))),
            .expression(.init("most", expression: try .init(format: "max:(weight)"))),
        ]
        request.propertiesToGroupBy = ["big"]
        request.havingPredicate = try PredicateNode(format: "most != 9")
        func rows() throws -> [[Value]] { try stack.context().fetch(request).map(\.values) }
        #expect(
            try rows() == [[.integer(0), .double(1.5)], [.integer(1), .null]])
        request.nullSemantics = .sql
        #expect(try rows() == [[.integer(0), .double(1.5)]])
        request.havingPredicate = try PredicateNode(format: "NOT most == 9 OR big == 1")
        #expect(try rows() == [[.integer(0), .double(1.5)], [.integer(1), .null]])
        request.predicate = try PredicateNode(format: "size != 5")
        #expect(try rows() == [[.integer(1), .null]])
        request.propertiesToFetch.append(
            .expression(.init("count", expression: try .init(format: "count:(SELF)"))))
        #expect(try rows() == [[.integer(1), .null, .integer(1)]])
    }

    @Test("A batch delete follows the fetch that it is about", arguments: Backend.allCases)
    func batchDelete(_ backend: Backend) throws {
        let stack = try stocked(backend)
        var fetch = StoreFetch(
            entity: try #require(stack.store.schema.entity(named: "Box")).index,
            predicate: .compare("size", .notEqual, .integer(5)))
        fetch.nullSemantics = .sql
        #expect(try stack.store.execute(BatchDeleteRequest(.fetch(fetch))).deletedCount == 1)
        #expect(try stack.context().all("Box").count == 3)
        fetch.nullSemantics = .twoValued
        #expect(try stack.store.execute(BatchDeleteRequest(.fetch(fetch))).deletedCount == 2)
    }

    @Test("What does not fit is refused with the key", arguments: Backend.allCases)
    func refusals(_ backend: Backend) throws {
        let stack = try stocked(backend)
        for (format, key) in [("NOT colour == 1", "colour"), ("NOT items == 1", "items")] {
            let error = storeError { _ = try names(format, stack) }
            #expect(error?.code == .invalidRequest && error?.context.key == key, "\(format)")
        }
    }

    @Test("What would grow beyond all bounds is refused, and soon", arguments: Backend.allCases)
    func growth(_ backend: Backend) throws {
        let stack = try stocked(backend)
        func nested(_ depth: Int) -> PredicateNode {
            var node = PredicateNode.compare("size", .notEqual, .integer(5))
            for _ in 0..<depth {
                node = .not(
                    .compare(
                        .conditional(node, .keyPath("size"), .keyPath("least")), .equal,
                        .constant(.integer(7))))
            }
            return node
        }
        var request = FetchRequest(entityName: "Box", predicate: nested(6))
        request.nullSemantics = .sql
        #expect(try stack.context().count(for: request) == 2)
        request.predicate = nested(40)
        let error = storeError { _ = try stack.context().count(for: request) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("too many conditions") == true)
        var table = FetchRequest<DictionaryResult>(entityName: "Box")
        table.nullSemantics = .sql
        table.propertiesToFetch = [
            .expression(
                .init(
                    "x", expression: .conditional(nested(40), .keyPath("size"), .keyPath("least"))))
        ]
        #expect(storeError { _ = try stack.context().fetch(table) }?.code == .invalidRequest)
    }

    @Test("Requests that differ in it are not equal, and copies keep it")
    func requests() {
        let plain = FetchRequest(entityName: "Box")
        var other = plain
        #expect(plain.nullSemantics == .twoValued)
        other.nullSemantics = .sql
        #expect(plain != other && plain.nullSemantics == .twoValued)
        other.nullSemantics = .twoValued
        #expect(plain == other && plain.hashValue == other.hashValue)
    }

    // MARK: Random conditions

    private struct Tally {
        var asked = 0
        /// Answers that two values give otherwise.
        var telling = 0
    }

    private func ask(
        _ node: PredicateNode, _ entity: SchemaEntity, _ graph: Graph,
        _ snapshots: [any StoreSnapshot], _ tally: inout Tally, _ seed: UInt64
    ) throws {
        // Constants become values of what they are compared with. What compares two of them becomes true or false, which
        // is wrong where one is nil.
        guard let plain = try? node.bound(to: entity, in: graph.schema), !node.comparesNull
        else { return }
        if node.hasAssignment {
            #expect(throws: PredicateFormatError.self, "\(node), seed \(seed)") {
                try node.bound(to: entity, in: graph.schema, nullSemantics: .sql)
            }
            return
        }
        let bound = try node.bound(to: entity, in: graph.schema, nullSemantics: .sql)
        let objects = graph.objects.filter { $0.evaluatedEntity.isKind(of: entity) }
        let expected = try objects.filter { try ThreeValues.answer(plain, $0) == true }
            .map(\.evaluatedID)
        let text: Comment = "\(node) of \(entity.name), bound \(bound), seed \(seed)"
        let evaluator = try PredicateEvaluator(bound)
        #expect(objects.filter { evaluator.matches($0) }.map(\.evaluatedID) == expected, text)
        let again = try PredicateEvaluator(
            bound.bound(to: entity, in: graph.schema, nullSemantics: .sql))
        #expect(
            objects.filter { again.matches($0) }.map(\.evaluatedID) == expected, "again: \(text)")
        tally.asked += 1
        let twoValued = try PredicateEvaluator(plain)
        let other = objects.filter { twoValued.matches($0) }.map(\.evaluatedID)
        if other != expected { tally.telling += 1 }
        var fetch = StoreFetch(entity: entity.index, predicate: plain)
        fetch.nullSemantics = .sql
        for snapshot in snapshots {
            #expect(try snapshot.fetch(fetch).ids == expected, text)
            #expect(try snapshot.count(fetch) == expected.count, text)
        }
    }

    @Test("Random conditions over random stores are answered as in three values")
    func differential() throws {
        var tally = Tally()
        try StoredRounds.run("conditions with the nil of SQL", everyDay: 4, whole: 400) {
            count, asked, random in
            for _ in 0..<count {
                let entity = RandomValue.pick(asked.graph.schema.entities, &random)
                let node = asked.conditions.predicate(
                    entity, depth: Int.random(in: 0...3, using: &random), &random)
                try ask(node, entity, asked.graph, asked.snapshots, &tally, random.seed)
                if random.oneIn(10) {
                    var request = FetchRequest(entityName: entity.name, predicate: node)
                    request.nullSemantics = .sql
                    guard
                        let bound = try? node.bound(
                            to: entity, in: asked.graph.schema, nullSemantics: .sql)
                    else { continue }
                    let ids = try asked.snapshots[0].fetch(
                        StoreFetch(entity: entity.index, predicate: bound)
                    ).ids
                    let context = ManagedObjectContext(store: asked.store)
                    #expect(try context.fetch(request).map(\.objectID) == ids, "\(node)")
                }
            }
        }
        Campaign.report("conditions with the nil of SQL: \(tally.telling) telling", tally.asked)
        #expect(tally.telling * (Campaign.isLong ? 20 : 60) > tally.asked, "\(tally)")
    }

    @Test(
        "Random conditions on members, lists, choices and two properties are answered as in three values"
    )
    func members() throws {
        var tally = Tally()
        try Rounds.run("members with the nil of SQL", everyDay: 6, whole: 2000) { random in
            let store = try LogStore.inMemory(schema: Schema(Self.model))
            try RandomBoxes.fill(ManagedObjectContext(store: store), &random)
            let graph = try Graph(store)
            let snapshot = try store.snapshot()
            let entity = try #require(graph.schema.entity(named: "Box"))
            for _ in 0..<60 {
                let node = RandomBoxes.condition(depth: 3, &random)
                try ask(node, entity, graph, [snapshot], &tally, random.seed)
            }
        }
        Campaign.report("members with the nil of SQL: \(tally.telling) telling", tally.asked)
        #expect(tally.asked >= 270, "\(tally)")
        #expect(tally.telling * 5 > tally.asked, "\(tally)")
    }
}

extension PredicateNode {
    /// Whether a constant is compared with nil somewhere.
    fileprivate var comparesNull: Bool {
        var found = false
        forEachComparison { comparison in
            guard case .constant(let one) = comparison.left,
                case .constant(let other) = comparison.right
            else { return }
            found = found || one.isNull || other.isNull
        }
        return found
    }
}

/// Boxes with items and racks, much of it nil, and conditions on them.
private enum RandomBoxes {
    static func fill(_ context: ManagedObjectContext, _ random: inout RandomSource) throws {
        func number() -> Int? {
            random.oneIn(3) ? nil : Int.random(in: 0...3, using: &random)
        }
        func text() -> String? {
            random.oneIn(3) ? nil : RandomValue.pick(["a", "b", "ab"], &random)
        }
        let racks = (0..<2).map { _ in context.make("Rack", ["name": text(), "floor": number()]) }
        for _ in 0..<12 {
            let box = context.make(
                "Box",
                [
                    "name": text(), "nick": text(), "size": number(), "least": number(),
                    "weight": number().map { Double($0) / 2 },
                ])
            box["rack"] = random.oneIn(3) ? nil : RandomValue.pick(racks, &random)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                context.make("Item", ["label": text(), "price": number(), "box": box])
            }
        }
        try context.save()
    }

    private typealias Relation = PredicateNode.Comparison.Operator

    static func condition(depth: Int, _ random: inout RandomSource) -> PredicateNode {
        switch depth == 0 ? 9 : Int.random(in: 0..<8, using: &random) {
        case 0: return .and((0..<2).map { _ in condition(depth: depth - 1, &random) })
        case 1: return .or((0..<2).map { _ in condition(depth: depth - 1, &random) })
        case 2, 3: return .not(condition(depth: depth - 1, &random))
        default: return comparison(depth: depth, &random)
        }
    }

    private static func relation(_ random: inout RandomSource) -> Relation {
        RandomValue.pick(
            [.equal, .notEqual, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual], &random)
    }

    private static func number(depth: Int, _ random: inout RandomSource) -> ExpressionNode {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .constant(.integer(Int64.random(in: 0...3, using: &random)))
        case 1: return .constant(random.oneIn(4) ? .null : .integer(1))
        case 2: return .function(.add, [.keyPath("size"), .keyPath("least")])
        case 3 where depth > 0:
            return .conditional(
                condition(depth: depth - 1, &random), .keyPath("size"), .keyPath("least"))
        case 4 where depth > 0:
            return .collection(.count, of: members(depth: depth, &random), path: nil)
        case 5 where depth > 0:
            return .collection(.maximum, of: members(depth: depth, &random), path: "price")
        case 6: return .keyPath("rack.floor")
        case 7: return .keyPath("weight")
        default: return .keyPath(random.oneIn(2) ? "size" : "least")
        }
    }

    private static func members(depth: Int, _ random: inout RandomSource) -> ExpressionNode {
        guard random.oneIn(2) else { return .keyPath("items") }
        let price = ExpressionNode.path(of: .variable("i"), "price")
        var inner = PredicateNode.compare(price, relation(&random), number(depth: 0, &random))
        if random.oneIn(2) { inner = .not(inner) }
        return .subquery(.keyPath("items"), variable: "i", inner)
    }

    private static func text(_ random: inout RandomSource) -> ExpressionNode {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .constant(.string(RandomValue.pick(["a", "b", "ab"], &random)))
        case 1: .function(.uppercase, [.keyPath("nick")])
        case 2: .keyPath("rack.name")
        default: .keyPath(random.oneIn(2) ? "name" : "nick")
        }
    }

    private static func comparison(depth: Int, _ random: inout RandomSource) -> PredicateNode {
        let modifier: PredicateNode.Comparison.Modifier = random.oneIn(2) ? .any : .all
        let options: PredicateNode.Comparison.Options = random.oneIn(3) ? .caseInsensitive : []
        func numbers() -> ExpressionNode {
            .braces(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in number(depth: 0, &random) })
        }
        let own = ExpressionNode.keyPath(random.oneIn(2) ? "size" : "least")
        let prices = ExpressionNode.keyPath("items.price")
        let labels = ExpressionNode.keyPath("items.label")
        let relations: [Relation] = [.contains, .beginsWith, .endsWith, .like, .equal, .notEqual]
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return .compare(own, .in, numbers())
        case 1:
            return .compare(
                own, .between,
                .braces([number(depth: 0, &random), number(depth: 0, &random)]))
        case 2: return .compare(text(&random), .in, labels, options: options)
        case 3: return .compare(labels, .contains, text(&random), options: options)
        case 4:
            return .compare(
                prices, relation(&random), number(depth: depth, &random), modifier: modifier)
        case 5: return .compare(prices, .in, numbers(), modifier: modifier)
        case 6:
            return .compare(
                prices, .between,
                .braces([number(depth: 0, &random), number(depth: 0, &random)]),
                modifier: modifier)
        case 7:
            return .compare(
                labels, RandomValue.pick(relations, &random), text(&random), modifier: modifier,
                options: options)
        case 8:
            return .compare(
                .anyKey, random.oneIn(2) ? .equal : .notEqual, .constant(.string("a")))
        case 9:
            return .compare(
                text(&random), RandomValue.pick(relations, &random), text(&random),
                options: options)
        case 10: return .compare(own, relation(&random), .constant(.null))
        default:
            return .compare(
                number(depth: depth, &random), relation(&random), number(depth: depth, &random))
        }
    }
}

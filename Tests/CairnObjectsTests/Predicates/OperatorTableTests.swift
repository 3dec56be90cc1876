// Every operator with every option over texts, and every kind of number beside every other: the store and the
// evaluator in memory say the same.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@Suite("Operators in a store and in memory")
struct OperatorTableTests {
    private static let numberTypes: [AttributeType] = [
        .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean,
    ]

    private static let schema: Schema = {
        let texts = EntityDescription(
            "Text", attributes: [.init("plain", .string), .init("coded", .string)])
        let number = EntityDescription(
            "Number", attributes: numberTypes.map { .init($0.rawValue, $0) })
        do {
            return try Schema(ManagedObjectModel(entities: [texts, number]))
        } catch {
            preconditionFailure("the model is right: \(error)")
        }
    }()

    private func store(_ entity: Int, _ rows: [[String: Any]]) throws -> LogStore {
        var options = LogStoreOptions()
        options.sizes.largeValueBytes = 100
        let store = try LogStore.inMemory(schema: Self.schema, options: options)
        let result = try store.execute(
            BatchInsertRequest(entityName: Self.schema.entities[entity].name, objects: rows))
        #expect(result.insertedCount == rows.count)
        return store
    }

    private func check(
        _ node: PredicateNode, _ graph: Graph, _ snapshot: any StoreSnapshot, _ entity: Int
    )
        throws
    {
        let bound = try node.bound(to: Self.schema.entities[entity], in: Self.schema)
        let expected = graph.matching(
            try PredicateEvaluator(bound), Self.schema.entities[entity], subentities: true
        ).map(\.evaluatedID)
        let found = try snapshot.fetch(StoreFetch(entity: entity, predicate: bound)).ids
        #expect(found == expected, "\(node)")
    }

    @Test(
        "Texts by every operator with every option",
        arguments: PredicateNode.Comparison.Operator.allCases
    )
    func texts(_ relation: PredicateNode.Comparison.Operator) throws {
        let texts = RandomValue.texts
        // The texts once each, and often enough to be kept once for many rows.
        var rows: [[String: Any]] = []
        for row in 0..<texts.count * 4 {
            // What is left out is nil.
            var values: [String: Any] = [:]
            if row < texts.count {
                values["plain"] = texts[row]
            } else if row % 3 != 0 {
                values["plain"] = "a \(row)"
            }
            // With a value that has frames of its own a block keeps each text by itself.
            let text = texts[row % texts.count]
            if row % 7 != 0, text.utf8.count < 100 { values["coded"] = text }
            rows.append(values)
        }
        let store = try store(0, rows)
        let graph = try Graph(store)
        let snapshot = try store.snapshot()
        let constants = relation == .matches ? ["a.*", "[A-Z]+", "caf.", ".*É.*", ""] : texts
        var random = RandomSource("texts, \(relation)")
        let step = Campaign.step(relation == .matches ? 6 : 24)
        let first = Int.random(in: 0..<step, using: &random)
        for bits in UInt8(0)..<16 {
            for (index, text) in constants.enumerated()
            where (index + Int(bits) + first) % step == 0 {
                let right: ExpressionNode =
                    switch relation {
                    case .between:
                        .list([.string(text), .string(texts[(index + 5) % texts.count])])
                    case .in where index % 2 == 0:
                        .list(
                            (0..<index % 5).map { .string(texts[(index + $0 * 3) % texts.count]) })
                    default: .constant(.string(text))
                    }
                for column in ["plain", "coded"] {
                    try check(
                        .compare(.keyPath(column), relation, right, options: .init(rawValue: bits)),
                        graph, snapshot, 0)
                }
            }
        }
    }

    @Test("Numbers of every kind beside constants of every kind", arguments: numberTypes)
    func numbers(_ type: AttributeType) throws {
        var random = RandomSource(seed: 11)
        func values(_ type: AttributeType, _ count: Int) -> [Value] {
            Array(Set((0..<count).map { _ in RandomValue.stored(type, &random) }))
        }
        let stored = Self.numberTypes.map { values($0, 200) }
        var rows: [[String: Any]] = []
        for row in 0..<40 {
            var values: [String: Any] = [:]
            for (place, type) in Self.numberTypes.enumerated() where row % 9 != 8 {
                let known = stored[place]
                values[type.rawValue] = known[row % known.count].plainNumber
            }
            rows.append(values)
        }
        let store = try store(1, rows)
        let graph = try Graph(store)
        let snapshot = try store.snapshot()
        let constants = stored.flatMap { $0 } + [.null]
        let left = ExpressionNode.keyPath(type.rawValue)
        for (index, constant) in constants.enumerated() where index % Campaign.step(2) == 0 {
            for relation: PredicateNode.Comparison.Operator in [
                .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
            ] {
                try check(.compare(left, relation, .constant(constant)), graph, snapshot, 1)
            }
            let others = [
                constant, .integer(3),
                constants[Int.random(in: 0..<constants.count, using: &random)],
            ]
            try check(.compare(left, .in, .list(others)), graph, snapshot, 1)
            try check(.compare(left, .between, .list(Array(others.prefix(2)))), graph, snapshot, 1)
        }
        for other in Self.numberTypes {
            for relation: PredicateNode.Comparison.Operator in [
                .equal, .notEqual, .less, .greaterOrEqual,
            ] {
                try check(.compare(left, relation, .keyPath(other.rawValue)), graph, snapshot, 1)
            }
        }
    }
}

extension Value {
    /// What a batch takes for a number.
    fileprivate var plainNumber: Any? {
        switch self {
        case .integer(let value): value
        case .decimal(let value): value
        case .double(let value): value
        case .float(let value): value
        case .boolean(let value): value
        default: nil
        }
    }
}

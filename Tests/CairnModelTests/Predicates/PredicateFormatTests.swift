// A printed predicate reads back as the same tree.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Printing predicates")
struct PredicateFormatTests {
    @Test(
        "A predicate is printed as people write it",
        arguments: [
            ("a=1 && b<>'x'", "a == 1 AND b != 'x'"), ("5 < a", "5 < a"),
            ("(a=1 or b=2) and !c in {1,2}", "(a == 1 OR b == 2) AND NOT c IN {1, 2}"),
            ("a == 5.0", "a == 5.0"), ("a == 1e3", "a == 1000.0"), ("#in == nil", "#in == NULL"),
            ("NONE a.b == 1", "NOT ANY a.b == 1"), ("SOME a.b <[dc] 1", "ANY a.b <[cd] 1"),
            ("a NOT IN {1}", "NOT a IN {1}"),
            ("(a + 2) * -b > (1 - (2 - c))", "(a + 2) * (0 - b) > 1 - (2 - c)"),
            ("uppercase(a) = 'A'", "uppercase:(a) == 'A'"), ("add:to:(a, 1) == 2", "a + 1 == 2"),
            ("a & 1 | b = 0", "a & 1 | b == 0"), ("SELF.a.@count > 1", "a.@count > 1"),
            ("a IN (b.c)", "a IN b.c"), ("a[first] = 1", "a[FIRST] == 1"),
            (
                "subquery(a, $x, $x.b = SELF).@count = 0",
                "SUBQUERY(a, $x, $x.b == SELF).@count == 0"
            ),
            ("a == CAST('2001-01-01', 'NSDate')", "a == CAST('2001-01-01T00:00:00Z', 'NSDate')"),
            ("ternary(a = 1, b, nil).c = 2", "TERNARY(a == 1, b, NULL).c == 2"),
            ("a == \"it's\"", "a == 'it\\'s'"), ("SELF == 'x'", "SELF == 'x'"),
            ("NOT (a == 1 AND b == YES)", "NOT (a == 1 AND b == TRUE)"),
        ])
    func text(_ format: String, printed: String) throws {
        let node = try PredicateNode(format: format)
        #expect(node.predicateFormat == printed)
        #expect("\(node)" == printed)
        #expect(try PredicateNode(format: printed) == node)
    }

    @Test("Random trees of literals read back as they were")
    func roundTrip() throws {
        var random = RandomSource()
        for _ in 0..<Campaign.count(500, whole: 50_000) {
            let node = Self.tree(depth: 4, using: &random)
            let text = node.predicateFormat
            #expect(try PredicateNode(format: text) == node, "\(text)")
        }
    }

    @Test("Random trees of every expression read back as they were")
    func everything() throws {
        var random = RandomSource()
        for _ in 0..<Campaign.count(700, whole: 50_000) {
            let node = RandomPredicate.predicate(depth: 4, using: &random)
            let text = node.predicateFormat
            do {
                #expect(try PredicateNode(format: text) == node, "seed \(random.seed): \(text)")
            } catch {
                Issue.record("seed \(random.seed): \(error.explanation)")
            }
        }
    }

    @Test("Random trees are coded and come back as they were")
    func coding() throws {
        var random = RandomSource()
        for _ in 0..<200 {
            let node = RandomPredicate.predicate(depth: 4, using: &random)
            let data = try JSONEncoder().encode(node)
            #expect(try JSONDecoder().decode(PredicateNode.self, from: data) == node)
        }
    }

    @Test("Values of every type come back as they were, numbers as equal ones")
    func values() throws {
        let id = ObjectID(store: UUID(), hierarchy: 2, reference: 9)
        let url = try #require(URL(string: "https://example.com/a%20b?c='d'"))
        for value: Value in [
            .date(Date(timeIntervalSinceReferenceDate: 0.1)), .uuid(UUID()), .uri(url),
            .date(Date(timeIntervalSinceReferenceDate: -1e300)), .objectID(id),
            .date(Date(timeIntervalSinceReferenceDate: .infinity)), .binary(Data([0, 255, 7])),
            .double(.nan), .double(.infinity), .double(-.infinity), .integer(.min), .null,
        ] {
            let node = PredicateNode.compare("a", .equal, value)
            #expect(try PredicateNode(format: node.predicateFormat) == node, "\(node)")
        }
        for value: Value in [.double(0.1), .float(0.1), .double(1), .double(1e-300)] {
            let node = PredicateNode.compare(
                .constant(value), .equal,
                try ExpressionNode(format: ExpressionNode.constant(value).expressionFormat))
            let schema = try Schema(ManagedObjectModel(entities: [EntityDescription("A")]))
            #expect(
                try node.bound(to: schema.entities[0], in: schema) == .constant(true), "\(node)")
        }
    }

    @Test("Random bound trees read back and bind as they were")
    func boundRoundTrip() throws {
        var random = RandomSource()
        let types: [AttributeType] = [
            .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid, .uri,
        ]
        var thing = EntityDescription("Thing", attributes: types.map { .init($0.rawValue, $0) })
        thing.relationships = [.init("owner", to: "Thing", inverse: nil)]
        let schema = try Schema(ManagedObjectModel(entities: [thing]))
        let entity = try #require(schema.entity(named: "Thing"))
        for _ in 0..<2000 {
            let column = try #require(entity.columns.randomElement(using: &random))
            let value = Self.value(of: column.kind, using: &random)
            let node = PredicateNode.compare(column.name, .notEqual, value)
            #expect(try node.bound(to: entity) == node)
            let copy = try PredicateNode(format: node.predicateFormat).bound(to: entity)
            #expect(copy == node, "\(node.predicateFormat)")
        }
    }

    static func tree(depth: Int, using random: inout RandomSource) -> PredicateNode {
        switch depth == 0 ? 0 : Int.random(in: 0..<6, using: &random) {
        case 1: return .not(tree(depth: depth - 1, using: &random))
        case 2, 3:
            return .and(
                (0..<Int.random(in: 2...4, using: &random)).map { _ in
                    tree(depth: depth - 1, using: &random)
                })
        case 4:
            return .or(
                (0..<Int.random(in: 2...4, using: &random)).map { _ in
                    tree(depth: depth - 1, using: &random)
                })
        case 5 where random.oneIn(3): return .constant(.random(using: &random))
        default: return .comparison(comparison(using: &random))
        }
    }

    static func comparison(using random: inout RandomSource) -> PredicateNode.Comparison {
        let keys = [
            "a", "a.b", "in", "size.first", "first name", "x.", "objectID", "SELF", "é.true", "1st",
            "a'b\\", "-",
        ]
        let subject: PredicateNode.Comparison.Subject =
            random.oneIn(8) ? .objectID : .key(keys.randomElement(using: &random) ?? "a")
        let relation =
            PredicateNode.Comparison.Operator.allCases.randomElement(using: &random) ?? .equal
        let count =
            switch relation {
            case .in: Int.random(in: 0...4, using: &random)
            case .between: 2
            default: 1
            }
        return PredicateNode.Comparison(
            subject, relation, (0..<count).map { _ in literal(using: &random) })
    }

    static func literal(using random: inout RandomSource) -> Value {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            return .integer(
                Int64(bitPattern: random.next() >> UInt64.random(in: 0..<64, using: &random)))
        case 1: return decimal(using: &random)
        case 2: return .boolean(.random(using: &random))
        case 3: return .null
        case 4: return .double(1e200 * Double.random(in: 1...2, using: &random))
        default: return .string(text(using: &random))
        }
    }

    static func decimal(using random: inout RandomSource) -> Value {
        let digits = (0..<Int.random(in: 1...38, using: &random)).map { _ in
            String(Int.random(in: 0...9, using: &random))
        }.joined()
        let exponent = Int.random(in: -60...40, using: &random)
        return Decimal(string: "\(digits)e\(exponent)").map { .decimal($0) } ?? .null
    }

    static func text(using random: inout RandomSource) -> String {
        let pieces = [
            "'", "\"", "\\", "\n", "\r\n", "\t", "\0", "%@", "é", "e\u{301}", "\u{301}", "👩‍👩‍👧", "a",
            " ",
        ]
        return (0..<Int.random(in: 0...6, using: &random)).map { _ in
            pieces.randomElement(using: &random) ?? ""
        }.joined()
    }

    static func value(of kind: SchemaColumn.Kind, using random: inout RandomSource) -> Value {
        if random.oneIn(10) { return .null }
        switch kind {
        case .reference:
            return .objectID(
                ObjectID(store: UUID(), hierarchy: 3, reference: random.next() >> 32))
        case .attribute(.integer64): return .integer(Int64(bitPattern: random.next()))
        case .attribute(.decimal): return decimal(using: &random)
        case .attribute(.double):
            return .double(Double(bitPattern: random.next()))
        case .attribute(.float):
            return .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
        case .attribute(.string): return .string(text(using: &random))
        case .attribute(.boolean): return .boolean(.random(using: &random))
        case .attribute(.date):
            // From the year 1033 to 2968, with all the bits of a fraction.
            let seconds = Double.random(in: -3e10...3e10, using: &random)
            return .date(
                Date(
                    timeIntervalSinceReferenceDate:
                        random.oneIn(3)
                        ? seconds.rounded() : random.oneIn(3) ? seconds / 1e12 : seconds))
        case .attribute(.binary):
            return .binary(Data(random.bytes(Int.random(in: 0...9, using: &random))))
        case .attribute(.uuid): return .uuid(UUID())
        default:
            return URL(string: "https://example.com/\(random.next())?q=a%20b").map { .uri($0) }
                ?? .null
        }
    }
}

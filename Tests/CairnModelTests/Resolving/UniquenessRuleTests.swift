// What a uniqueness constraint with options may say, and what is refused when the schema is made.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnModel

@Suite("Uniqueness constraints with options")
struct UniquenessRuleTests {
    private static func model(
        _ rules: [UniquenessRule], plain: [[String]] = [],
        change: (inout EntityDescription) -> Void = { _ in }
    ) -> ManagedObjectModel {
        var derived = AttributeDescription("made", .string)
        derived.derivationExpression = "canonical:(name)"
        var cache = AttributeDescription("cache", .string)
        cache.isTransient = true
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("city", .string), .init("height", .float)]
        var account = EntityDescription(
            "Account",
            attributes: [
                .init("name", .string), .init("level", .integer16), .init("deletedAt", .date),
                .init("key", .uuid), .init("hidden", .boolean), .init("bytes", .transformable),
                derived, cache, place,
            ],
            relationships: [
                .init("owner", to: "Account", inverse: "owned"),
                .init("owned", to: "Account", toMany: true, inverse: "owner"),
            ], uniquenessConstraints: plain)
        account.uniquenessRules = rules
        change(&account)
        return ManagedObjectModel(entities: [account])
    }

    private static func rule(_ format: String) -> UniquenessRule {
        UniquenessRule(["name"], format: format)
    }

    @Test(
        "Conditions on what the object itself stores are understood",
        arguments: [
            "deletedAt == nil", "deletedAt != nil AND level > 3", "NOT hidden == YES",
            "level IN {1, 2, 3} OR name BEGINSWITH[cd] \"a\"", "level BETWEEN {1, 5}",
            "place.city == \"Wien\"", "owner == nil", "nil != owner",
            "key == \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"", "name LIKE \"a*\"",
            "name == place.city", "bytes == nil",
            "deletedAt > CAST(\"2026-05-09T06:13:20Z\", \"NSDate\")",
            "name != \"it's \\\"so\\\"\\n\"",
        ])
    func understood(_ format: String) throws {
        let schema = try Schema(Self.model([Self.rule(format)]))
        let constraint = try #require(schema.entities[0].constraints.first)
        #expect(constraint.names == ["name"] && constraint.options?.names == ["name"])
        // What is kept reads back as what it is.
        let model = Self.model([Self.rule(format)])
        let data = try JSONEncoder().encode(model)
        #expect(try JSONDecoder().decode(ManagedObjectModel.self, from: data) == model)
    }

    @Test(
        "What a store could not keep right is refused with the reason",
        arguments: [
            ("owner.name == \"x\"", "owner.name is not stored with the object"),
            ("ANY owned.level > 3", "ANY looks at other objects"),
            ("owned.@count > 1", "it can only use the object's own attributes"),
            ("cache == nil", "cache is not stored with the object"),
            ("made == \"x\"", "made is derived"), ("other == 1", "other is not stored"),
            ("name MATCHES \"a.*\"", "MATCHES is not supported here"),
            ("name ==[l] \"a\"", "[l] is not supported here"),
            ("deletedAt < now()", "only use the object's own attributes"),
            ("level + 1 > 3", "only use the object's own attributes"),
            ("SELF == nil", "only use the object's own attributes"),
            ("level == $level", "only use the object's own attributes"),
            (
                "SUBQUERY(owned, $x, $x.level > 1).@count > 0",
                "only use the object's own attributes"
            ),
            ("owner == name", "can only be compared with nil"),
            ("owner IN {}", "can only be compared with nil"), ("level > \"x\"", "level"),
            ("bytes == \"x\"", "bytes"), ("name ==", "expected"),
            ("FALSEPREDICATE", "it matches no object"),
        ])
    func refused(_ format: String, _ reason: String) {
        let error = #expect(throws: ModelError.self) {
            try Schema(Self.model([Self.rule(format)]))
        }
        #expect(error?.code == .invalidConstraint)
        #expect(error?.element == "Account, uniqueness constraint (name)")
        if reason != "expected" {
            #expect(error?.message.contains(reason) ?? false, "\(error?.message ?? "")")
        }
    }

    @Test("A condition that is made of values is kept as its text says it")
    func madeOfValues() throws {
        let constants: [(String, Value)] = [
            ("deletedAt", .date(Date(timeIntervalSinceReferenceDate: 0.1))),
            ("deletedAt", .date(Date(timeIntervalSinceReferenceDate: 1e14))),
            ("key", .uuid(UUID())), ("level", .double(2.5)), ("level", .double(1e300)),
            ("name", .string("'\\\n\r\t\0\u{301}")), ("hidden", .boolean(false)),
        ]
        for (name, value) in constants {
            let condition = PredicateNode.compare(.keyPath(name), .notEqual, .constant(value))
            let model = Self.model([UniquenessRule(["name"], where: condition)])
            _ = try Schema(model)
            let data = try JSONEncoder().encode(model)
            let read = try JSONDecoder().decode(ManagedObjectModel.self, from: data)
            #expect(read == model, "\(condition)")
        }
    }

    @Test("A condition that always holds is none, and one that is not understood is not lost")
    func trivial() throws {
        #expect(UniquenessRule(["name"], format: "TRUEPREDICATE").isPlain)
        #expect(UniquenessRule(["name"], where: .and([])).isPlain)
        let misread = UniquenessRule(["name"], format: "deletedAt ==")
        #expect(!misread.isPlain)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(Self.model([misread])) }
    }

    @Test("Of what is only compared with nil the value is not asked for")
    func nilsOnly() throws {
        let format = "bytes != nil AND deletedAt == nil AND (name == nil OR name > \"a\")"
        let schema = try Schema(Self.model([Self.rule(format)]))
        let rule = try #require(schema.entities[0].constraints.first?.rule)
        let names = schema.entities[0].columns.map(\.name)
        #expect(rule.conditionColumns.map { names[$0] } == ["name", "deletedAt", "bytes"])
        #expect(rule.valueColumns.map { names[$0] } == ["name"])
        #expect(rule.holds([.string("b"), .null, .integer(1)]))
        #expect(!rule.holds([.string("b"), .integer(1), .integer(1)]))
        #expect(!rule.holds([.string("a"), .null, .integer(1)]))
        #expect(!rule.holds([.null, .null, .null]))
    }

    @Test("Without regard to case there must be a text; names are those of stored properties")
    func names() {
        for rule in [
            UniquenessRule(["level"], caseInsensitive: true),
            UniquenessRule(["key", "owner"], diacriticInsensitive: true),
            UniquenessRule(["nothing"], nilsAreEqual: true),
            UniquenessRule(["cache"], nilsAreEqual: true),
            UniquenessRule(["owned"], nilsAreEqual: true),
            UniquenessRule(["bytes"], nilsAreEqual: true),
            UniquenessRule(["made"], nilsAreEqual: true), UniquenessRule([], nilsAreEqual: true),
            UniquenessRule(["name", "name"], caseInsensitive: true),
        ] {
            let error = #expect(throws: ModelError.self) { try Schema(Self.model([rule])) }
            #expect(error?.code == .invalidConstraint, "\(rule)")
        }
    }

    @Test(
        "One that repeats another of the entity or an ancestor is dropped, one with other options is not"
    )
    func repeated() throws {
        let folded = UniquenessRule(["name", "level"], caseInsensitive: true)
        var turned = folded
        turned.names = ["level", "name"]
        var child = EntityDescription("Child")
        child.superentityName = "Account"
        child.uniquenessRules = [
            turned, UniquenessRule(["name"]), UniquenessRule(["name"], nilsAreEqual: true),
        ]
        var model = Self.model([folded, turned], plain: [["name"]])
        model.entities.append(child)
        let schema = try Schema(model)
        #expect(schema.entities[0].constraints.map(\.names) == [["name"], ["name", "level"]])
        #expect(schema.entities[1].constraints.count == 3)
        #expect(schema.entities[1].constraints[2].options?.nilsAreEqual == true)
        #expect(schema.entities[1].plainConstraints.map(\.names) == [["name"]])
    }

    @Test("Options change the version hash, and a rule without options is a plain constraint")
    func hashes() throws {
        let none = Self.model([], plain: [["name"]]).entities[0]
        let same = Self.model([UniquenessRule(["name"])]).entities[0]
        #expect(none.versionHash == same.versionHash)
        var hashes: Set<Data> = [none.versionHash]
        let rules = [
            UniquenessRule(["name"], nilsAreEqual: true),
            UniquenessRule(["name"], caseInsensitive: true),
            UniquenessRule(["name"], diacriticInsensitive: true), Self.rule("level > 1"),
            Self.rule("level > 2"),
        ]
        for rule in rules {
            let entity = Self.model([rule]).entities[0]
            #expect(hashes.insert(entity.versionHash).inserted, "\(rule)")
        }
        let two = Self.model([rules[0], rules[3]]).entities[0]
        let turned = Self.model([rules[3], rules[0]]).entities[0]
        #expect(two.versionHash == turned.versionHash)
    }

    @Test("A rule's key: who takes part, nil as a value, texts folded as predicates fold them")
    func keys() throws {
        let schema = try Schema(
            Self.model([
                UniquenessRule(
                    ["name", "level"], format: "deletedAt == nil AND NOT hidden == YES",
                    nilsAreEqual: true, caseInsensitive: true, diacriticInsensitive: true)
            ]))
        let entity = schema.entities[0]
        let constraint = try #require(entity.constraints.first)
        func key(_ values: [String: Value]) -> [Value]? {
            constraint.key(of: entity.columns.map { values[$0.name] ?? .null })
        }
        #expect(key([:]) == [.null, .null])
        #expect(
            key(["name": .string("Straße É"), "level": .integer(1)])
                == [.string("strasse e"), .integer(1)])
        #expect(key(["deletedAt": .date(Date(timeIntervalSinceReferenceDate: 0))]) == nil)
        #expect(key(["hidden": .boolean(true)]) == nil)
        #expect(key(["hidden": .boolean(false)]) != nil)
        for (one, other) in [("ÉCOLE", "ecole"), ("ǅ", "ǆ"), ("ﬁ", "FI"), ("e\u{301}", "é")] {
            let folded = try PredicateEvaluator(
                .compare(
                    .constant(.string(one)), .equal, .constant(.string(other)),
                    options: [.caseInsensitive, .diacriticInsensitive]))
            #expect(folded.matches(.null), "\(one) \(other)")
            #expect(key(["name": .string(one)]) == key(["name": .string(other)]))
        }
    }

    @Test("The text of a model says what options a constraint has")
    func text() {
        let model = Self.model(
            [
                UniquenessRule(["name"], format: "deletedAt == nil", caseInsensitive: true),
                UniquenessRule(["level", "owner"], nilsAreEqual: true, diacriticInsensitive: true),
            ], plain: [["key"]])
        let lines = ModelDescription(model).description.split(separator: "\n")
        let unique = lines.filter { $0.contains("unique") }.map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(
            unique == [
                "unique key", "unique name where deletedAt == NULL, without regard to case",
                "unique level, owner nil is a value, without regard to accents",
            ])
    }
}

// What declared merge rules make of values: each rule against each kind of conflict.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@Suite("Declared merge rules")
struct DeclaredRulesTests {
    /// `value` with a rule, `modified` that says which is newer, `note` with none.
    private static func entity(
        _ rule: MergeRule?, _ type: AttributeType = .integer64, standard: MergeRule? = nil
    ) throws -> SchemaEntity {
        var thing = EntityDescription(
            "Thing",
            attributes: [.init("value", type), .init("modified", .date), .init("note", .string)])
        thing.attributes[0].mergeRule = rule
        thing.mergeRule = standard
        return try Schema(ManagedObjectModel(entities: [thing])).entities[0]
    }

    private static func row(_ value: Int64?, _ time: Double = 0, _ note: String? = nil) -> [Value] {
        [
            value.map { .integer($0) } ?? .null,
            .date(Date(timeIntervalSinceReferenceDate: time)), note.map { .string($0) } ?? .null,
        ]
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let rule: MergeRule
        /// What was read, what is saved and what is stored; then what comes of it.
        let base: Int64?
        let ours: Int64?
        let theirs: Int64?
        let result: Int64?
        var times: (Double, Double) = (1, 2)
        var testDescription: String { "\(rule.text) \(times)" }
    }

    @Test(
        "An object that two have changed",
        arguments: [
            Case(rule: .store, base: 1, ours: 2, theirs: 3, result: 3),
            Case(rule: .store, base: 1, ours: 2, theirs: 1, result: 2),
            Case(rule: .object, base: 1, ours: 2, theirs: 3, result: 2),
            Case(rule: .object, base: 1, ours: nil, theirs: 3, result: nil),
            Case(rule: .fillNil, base: 1, ours: 2, theirs: 3, result: 3),
            Case(rule: .fillNil, base: 1, ours: 2, theirs: nil, result: 2),
            Case(rule: .newest(by: "modified"), base: 1, ours: 2, theirs: 3, result: 3),
            Case(
                rule: .newest(by: "modified"), base: 1, ours: 2, theirs: 3, result: 2,
                times: (2, 1)),
            Case(
                rule: .newest(by: "modified"), base: 1, ours: 2, theirs: 3, result: 3,
                times: (2, 2)),
            Case(
                rule: .newest(by: "modified"), base: 1, ours: 4, theirs: 3, result: 4,
                times: (2, 2)),
            // Nobody else has changed it, be it that the other row is the newer one.
            Case(rule: .newest(by: "modified"), base: 1, ours: 2, theirs: 1, result: 2),
            Case(rule: .maximum, base: 5, ours: 2, theirs: 3, result: 3),
            Case(rule: .maximum, base: 5, ours: 2, theirs: 5, result: 2),
            Case(rule: .maximum, base: 5, ours: 2, theirs: nil, result: 2),
            Case(rule: .minimum, base: 5, ours: 2, theirs: 3, result: 2),
            Case(rule: .minimum, base: 5, ours: nil, theirs: 3, result: 3),
            Case(rule: .sum, base: 10, ours: 12, theirs: 15, result: 17),
            Case(rule: .sum, base: 10, ours: 7, theirs: 10, result: 7),
            Case(rule: .sum, base: nil, ours: 2, theirs: 3, result: 5),
            Case(rule: .sum, base: 4, ours: nil, theirs: 5, result: 1),
        ])
    func versions(_ test: Case) throws {
        let entity = try Self.entity(test.rule)
        let base = Self.row(test.base)
        let ours = Self.row(test.ours, test.times.0)
        let theirs = Self.row(test.theirs, test.times.1, "theirs")
        let merged = try ConflictRules.declaredValues(
            entity, base: base, ours: ours, changed: [0, 1], theirs: theirs)
        #expect(merged[0] == Self.row(test.result)[0])
        // Without a change of ours all is as it is stored.
        let same = try ConflictRules.declaredValues(
            entity, base: base, ours: base, changed: [], theirs: theirs)
        #expect(same == theirs)
        #expect(merged[2] == .string("theirs"))
        if case .fold(.newest) = test.rule {
            // What says who is newer is that of the newer one, though nothing is declared of it.
            #expect(merged[1] == Self.row(0, max(test.times.0, test.times.1))[1])
        }
    }

    struct Pair: Sendable, CustomTestStringConvertible {
        let rule: MergeRule
        let kept: Int64?
        /// What was set on the other one; nil: nothing was.
        let given: Int64??
        let result: Int64?
        var times: (Double, Double) = (1, 2)
        var testDescription: String { "\(rule.text) \(times)" }
    }

    @Test(
        "A new object that becomes a stored one",
        arguments: [
            Pair(rule: .store, kept: 1, given: 2, result: 1),
            Pair(rule: .store, kept: nil, given: 2, result: nil),
            Pair(rule: .object, kept: 1, given: 2, result: 2),
            Pair(rule: .object, kept: 1, given: .some(nil), result: nil),
            Pair(rule: .object, kept: 1, given: nil, result: 1),
            Pair(rule: .fillNil, kept: 1, given: 2, result: 1),
            Pair(rule: .fillNil, kept: nil, given: 2, result: 2),
            Pair(rule: .newest(by: "modified"), kept: 1, given: 2, result: 2),
            Pair(rule: .newest(by: "modified"), kept: 1, given: 2, result: 1, times: (2, 1)),
            Pair(rule: .newest(by: "modified"), kept: 1, given: nil, result: 1),
            Pair(rule: .maximum, kept: 1, given: 2, result: 2),
            Pair(rule: .maximum, kept: nil, given: 2, result: 2),
            Pair(rule: .minimum, kept: 1, given: 2, result: 1),
            Pair(rule: .sum, kept: 10, given: 5, result: 15),
            Pair(rule: .sum, kept: nil, given: 5, result: 5),
            Pair(rule: .sum, kept: 10, given: nil, result: 10),
        ])
    func constraints(_ test: Pair) throws {
        let entity = try Self.entity(test.rule)
        var assigned: ColumnSet = [1]
        if test.given != nil { assigned.insert(0) }
        // What was not set is the default, which counts for nothing.
        let given = Self.row(test.given ?? 99, test.times.1)
        let merged = try ConflictRules.declaredValues(
            entity, given: given, assigned: assigned, counted: assigned,
            kept: Self.row(test.kept, test.times.0, "kept"), keptAssigned: nil)
        #expect(merged[0] == Self.row(test.result)[0])
        #expect(merged[2] == .string("kept"))
        // A new one in which nothing was set gives way.
        if let given = test.given {
            let new = try ConflictRules.declaredValues(
                entity, given: Self.row(given), assigned: [0], counted: [0],
                kept: Self.row(7), keptAssigned: [])
            #expect(new[0] == Self.row(given)[0])
        }
    }

    @Test(
        "A stored object that becomes another one counts as a whole, where values are put together")
    func rows() throws {
        func merged(_ rule: MergeRule, _ counted: ColumnSet = [0, 1, 2]) throws -> Value {
            try ConflictRules.declaredValues(
                Self.entity(rule), given: Self.row(counted.contains(0) ? 3 : nil, 9),
                assigned: [], counted: counted, kept: Self.row(10, 1), keptAssigned: nil)[0]
        }
        #expect(try merged(.sum) == .integer(13) && merged(.minimum) == .integer(3))
        #expect(try merged(.newest(by: "modified")) == .integer(3))
        #expect(try merged(.object) == .integer(10) && merged(.store) == .integer(10))
        // What an object of another entity does not have takes nothing from the one that stays.
        #expect(try merged(.newest(by: "modified"), [1, 2]) == .integer(10))
    }

    @Test("The entity says it for properties without a rule")
    func standard() throws {
        let entity = try Self.entity(.sum, standard: .newest(by: "modified"))
        let merged = try ConflictRules.declaredValues(
            entity, base: Self.row(1, 0, "a"), ours: Self.row(2, 5, "ours"), changed: [0, 1, 2],
            theirs: Self.row(4, 3, "theirs"))
        #expect(merged == Self.row(5, 5, "ours"))
        let store = try Self.entity(nil, standard: .store)
        #expect(store.mergeRules.keepsStored && store.mergeRules.isDeclared)
        let other = try ConflictRules.declaredValues(
            store, base: Self.row(1, 0, "a"), ours: Self.row(2, 5, "a"), changed: [0, 1],
            theirs: Self.row(4, 0, "theirs"))
        #expect(other == Self.row(4, 5, "theirs"))
        #expect(try !Self.entity(nil).mergeRules.isDeclared)
    }

    @Test("Sums of every type of numbers; one that its type cannot hold is an error that names it")
    func sums() throws {
        func sum(_ type: AttributeType, _ base: Value, _ ours: Value, _ theirs: Value) throws
            -> Value
        {
            let rest = Self.row(0).dropFirst()
            return try ConflictRules.declaredValues(
                Self.entity(.sum, type), base: [base] + rest, ours: [ours] + rest, changed: [0],
                theirs: [theirs] + rest)[0]
        }
        #expect(try sum(.double, .double(1), .double(1.5), .double(3)) == .double(3.5))
        #expect(try sum(.float, .float(1), .float(1.5), .float(3)) == .float(3.5))
        #expect(try sum(.decimal, .decimal(1), .decimal(2), .decimal(4)) == .decimal(5))
        let most = Value.integer(.max)
        #expect(try sum(.integer64, most, .integer(.max - 1), .integer(5)) == .integer(4))
        #expect(try sum(.integer64, .integer(-5), most, .integer(-6)) == .integer(.max - 1))
        for (type, ours, theirs) in [
            (AttributeType.integer64, most, Value.integer(1)),
            (.integer16, .integer(32_000), .integer(32_000)),
        ] {
            let error = #expect(throws: StoreError.self) {
                try sum(type, .integer(0), ours, theirs)
            }
            #expect(error?.code == .invalidRequest && error?.context.key == "value")
        }
    }

    @Test(
        "Which of two comes first makes no difference",
        arguments: [MergeRule.newest(by: "modified"), .maximum, .minimum, .sum])
    func order(_ rule: MergeRule) throws {
        let entity = try Self.entity(rule, standard: .newest(by: "modified"))
        var all: [[Value]] = []
        for value in [nil, -1, 2] as [Int64?] {
            for time in [0.0, 1, 2] {
                for note in [nil, "a", "b"] { all.append(Self.row(value, time, note)) }
            }
        }
        for base in [Self.row(nil), Self.row(1, 1, "a")] {
            func both(_ first: [Value], _ second: [Value]) throws -> [Value] {
                let changed = ColumnSet(second.indices.filter { second[$0] != base[$0] })
                return try ConflictRules.declaredValues(
                    entity, base: base, ours: second, changed: changed, theirs: first)
            }
            for one in all {
                for other in all {
                    let (left, right) = (try both(one, other), try both(other, one))
                    #expect(left == right, "\(base), \(one), \(other)")
                }
            }
        }
    }
}

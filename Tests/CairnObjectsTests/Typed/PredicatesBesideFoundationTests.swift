// Predicates of `#Predicate` that this library and Foundation answer for the same objects, unsaved and stored.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@testable import CairnObjects

@Composite
struct LetterBox: Equatable {
    var town: String?
    var number: Int = 0
}

@Entity
final class Correspondent: ManagedObject {
    var name: String?
    var level: Int?
    var isKnown: Bool?
    var box: LetterBox?
    var boss: Correspondent?
    @Relationship(deleteRule: .nullify, inverse: \Letter.to) var sent: Set<Letter>
    @Relationship(deleteRule: .nullify, inverse: \Correspondent.boss) var staff: Set<Correspondent>
}

@Entity
final class Letter: ManagedObject {
    var number: Int = 0
    var title: String?
    var to: Correspondent?
    /// It begins as the relationship is called.
    var topic: String?
}

@Suite("Predicates beside Foundation")
struct PredicatesBesideFoundationTests {
    private static func makeContext(_ store: LogStore? = nil) throws -> ManagedObjectContext {
        let store =
            try store
            ?? LogStore.inMemory(schema: try Schema(ManagedObjectModel(for: Letter.self)))
        return ManagedObjectContext(store: store, classes: ObjectClasses(for: Letter.self))
    }

    /// Letters and people with holes wherever there may be one.
    private static func fill(_ context: ManagedObjectContext, _ random: inout RandomSource) {
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        let names = ["", "a", "ab", "b", "ba", "abc"]
        let people = (0..<7).map { _ in
            let person = context.insert(Correspondent.self)
            if number(0..<3) > 0 { person.name = names[number(0..<names.count)] }
            if number(0..<3) > 0 { person.level = number(0..<4) }
            if number(0..<3) > 0 { person.isKnown = number(0..<2) == 0 }
            if number(0..<3) > 0 {
                person.box = LetterBox(
                    town: number(0..<3) == 0 ? nil : names[number(0..<names.count)],
                    number: number(0..<3))
            }
            return person
        }
        for person in people where number(0..<2) == 0 { person.boss = people[number(0..<7)] }
        for place in 0..<24 {
            let letter = context.insert(Letter.self)
            letter.number = place
            if number(0..<3) > 0 { letter.title = names[number(0..<names.count)] }
            // Somebody gets none.
            if number(0..<3) > 0 { letter.to = people[number(0..<6)] }
            letter.topic = number(0..<2) == 0 ? "a" : "b"
        }
    }

    private static func predicate(_ random: inout RandomSource) -> Predicate<Letter> {
        let n = Int.random(in: 0..<4, using: &random)
        let s = ["", "a", "ab", "b", "z"][Int.random(in: 0..<5, using: &random)]
        let makes = makes[Int.random(in: 0..<makes.count, using: &random)]
        return makes[Int.random(in: 0..<makes.count, using: &random)](n, s)
    }

    private typealias Make = @Sendable (Int, String) -> Predicate<Letter>
    private static let makes: [[Make]] = [counts, members, texts, values, choices, composites]

    private static let counts: [Make] = [
        { n, _ in #Predicate { $0.to?.sent.count == n } },
        { n, _ in #Predicate { $0.to?.sent.count != n } },
        { n, _ in #Predicate { ($0.to?.sent.count ?? -1) < n } },
        { n, _ in #Predicate { ($0.to?.sent.count ?? 9) >= n } },
        { n, _ in #Predicate { $0.to?.boss?.sent.count == n } },
        { n, _ in #Predicate { $0.to?.boss?.staff.count != n } },
        { _, _ in #Predicate { $0.to?.sent.isEmpty == true } },
        { _, _ in #Predicate { $0.to?.sent.isEmpty != true } },
        { _, _ in #Predicate { $0.to?.boss?.sent.isEmpty == false } },
        { _, _ in #Predicate { $0.to?.staff.isEmpty ?? true } },
        { _, _ in #Predicate { $0.to?.staff.isEmpty == nil } },
        { _, _ in #Predicate { $0.to?.sent.isEmpty == $0.to?.boss?.sent.isEmpty } },
        { n, _ in #Predicate { $0.to.flatMap { $0.sent.count + 1 } == n } },
        { n, _ in #Predicate { (($0.to?.sent.count ?? 0) * 2) > n } },
        { _, _ in
            #Predicate { ($0.to?.sent.count ?? 0) == ($0.to?.boss?.sent.count ?? 0) }
        },
    ]

    private static let members: [Make] = [
        { n, _ in #Predicate { $0.to?.sent.contains { $0.number > n } == true } },
        { n, _ in #Predicate { $0.to?.sent.contains { $0.number > n } ?? true } },
        { n, _ in #Predicate { $0.to?.sent.contains { $0.number > n } != false } },
        { n, _ in #Predicate { $0.to?.staff.allSatisfy { ($0.level ?? 0) < n } == true } },
        { n, _ in #Predicate { $0.to?.staff.allSatisfy { $0.level != n } ?? false } },
        { n, _ in #Predicate { $0.to?.sent.filter { $0.number > n }.count == 0 } },
        { n, _ in #Predicate { $0.to?.sent.filter { $0.number < n }.isEmpty == true } },
        { n, _ in #Predicate { $0.to?.staff.contains { $0.boss?.level == n } != true } },
        { n, s in
            #Predicate { letter in
                letter.to?.staff.contains { $0.sent.contains { $0.title == s } } == true
                    || letter.number == n
            }
        },
    ]

    private static let texts: [Make] = [
        { _, s in #Predicate { $0.to?.name == s } },
        { _, s in #Predicate { $0.to?.name != s } },
        { n, _ in #Predicate { $0.to?.name?.count == n } },
        { n, _ in #Predicate { $0.to?.name?.count != n } },
        { _, _ in #Predicate { $0.to?.name?.isEmpty == true } },
        { _, _ in #Predicate { $0.to?.name?.isEmpty != false } },
        { _, s in #Predicate { $0.to?.name?.contains(s) == true } },
        { _, s in #Predicate { $0.to?.name?.contains(s) != false } },
        { _, s in #Predicate { ($0.to.flatMap { $0.name } ?? s).contains("a") } },
        { _, s in
            #Predicate {
                ($0.to.flatMap { $0.boss }.flatMap { $0.name } ?? s).starts(with: "a")
            }
        },
        { _, s in #Predicate { ($0.to?.name ?? s) == ($0.title ?? "a") } },
        { _, s in
            #Predicate { letter in letter.to.flatMap { to in letter.topic } == s }
        },
        { _, s in #Predicate { s.isEmpty || $0.title?.contains(s) == true } },
        { _, s in #Predicate { ($0.title ?? s).contains(/ab?$/) } },
    ]

    private static let values: [Make] = [
        { n, _ in #Predicate { $0.to?.level == n } },
        { n, _ in #Predicate { $0.to?.level != n } },
        { n, _ in #Predicate { ($0.to?.level ?? n) > 1 } },
        { n, _ in #Predicate { ($0.to?.level ?? 0) + 1 == n } },
        { n, _ in #Predicate { $0.to.flatMap { $0.level ?? n } == n } },
        { n, _ in #Predicate { $0.to.flatMap { $0.level ?? n } != n } },
        { n, _ in
            let levels: [Int?] = [n, 2]
            return #Predicate { levels.contains($0.to.flatMap { $0.level }) }
        },
        { n, _ in
            let levels: [Int?] = [n, nil]
            return #Predicate { levels.contains($0.to.flatMap { $0.boss }.flatMap { $0.level }) }
        },
        { n, _ in #Predicate { (0...n).contains($0.to.flatMap { $0.level } ?? -1) } },
        { n, _ in #Predicate { (-n...n).contains($0.number - 2) } },
        { _, _ in #Predicate { $0.to?.isKnown == true } },
        { _, _ in #Predicate { $0.to?.isKnown != true } },
        { _, _ in #Predicate { $0.to?.isKnown ?? true } },
        { _, _ in #Predicate { $0.to?.isKnown == $0.to?.boss?.isKnown } },
    ]

    private static let choices: [Make] = [
        { _, _ in #Predicate { $0.to == nil } },
        { _, _ in #Predicate { $0.to?.boss == nil } },
        { _, _ in #Predicate { $0.to?.boss != nil } },
        { n, _ in
            #Predicate { if let to = $0.to { to.sent.count < n } else { true } }
        },
        { n, _ in
            #Predicate { if let boss = $0.to?.boss { boss.level == n } else { false } }
        },
        { n, _ in #Predicate { $0.to != nil ? $0.to?.level == n : $0.number > n } },
        { n, s in #Predicate { ($0.to?.isKnown ?? ($0.title == s)) } },
        { n, _ in #Predicate { ($0.to?.level ?? $0.number) == n } },
        { n, _ in
            #Predicate { ($0.to?.sent.contains { $0.number > n } ?? ($0.number == 3)) }
        },
    ]

    private static let composites: [Make] = [
        { _, _ in #Predicate { $0.to?.box == nil } },
        { _, _ in #Predicate { $0.to?.box != nil } },
        { _, s in #Predicate { $0.to?.box?.town == s } },
        { _, s in #Predicate { $0.to?.boss?.box?.town != s } },
        { _, _ in #Predicate { $0.to?.box?.town?.isEmpty == true } },
        { _, _ in #Predicate { $0.to?.box?.town?.isEmpty != false } },
        { n, _ in #Predicate { $0.to?.box?.number == n } },
        { n, _ in #Predicate { ($0.to?.box?.number ?? n) != n } },
        { n, _ in
            #Predicate { if let box = $0.to?.box { box.number < n } else { true } }
        },
    ]

    /// A condition, and what Foundation says of its parts.
    private struct Asked {
        let node: PredicateNode
        let answer: (Letter) throws -> Bool

        init(_ predicate: Predicate<Letter>) throws {
            node = try #require(try FetchRequest<Letter>(predicate).predicate)
            answer = { try predicate.evaluate($0) }
        }

        /// Two put together.
        init(_ one: Asked, _ other: Asked, _ choice: Int) {
            switch choice {
            case 0:
                node = one.node && other.node
                answer = { try one.answer($0) && other.answer($0) }
            case 1:
                node = one.node || !other.node
                answer = { try one.answer($0) || !other.answer($0) }
            case 2:
                node = !(one.node && other.node)
                answer = { try !(one.answer($0) && other.answer($0)) }
            default:
                node = !one.node
                answer = { try !one.answer($0) }
            }
        }
    }

    private static func combined(_ random: inout RandomSource) throws -> Asked {
        try Asked(
            Asked(predicate(&random)), Asked(predicate(&random)),
            Int.random(in: 0..<4, using: &random))
    }

    @Test("Each condition finds what Foundation finds, unsaved and stored")
    func random() throws {
        var random = RandomSource()
        for _ in 0..<Campaign.count(1, whole: 100) {
            let context = try Self.makeContext()
            Self.fill(context, &random)
            var conditions: [Asked] = []
            for make in Self.makes.joined() {
                conditions.append(try Asked(make(Int.random(in: 0..<4, using: &random), "a")))
            }
            for _ in 0..<60 { conditions.append(try Self.combined(&random)) }
            func check(_ context: ManagedObjectContext, _ state: String) throws {
                let letters = try context.fetch(FetchRequest<Letter>())
                for condition in conditions {
                    let expected = Set(try letters.filter(condition.answer).map(\.number))
                    let request = FetchRequest<Letter>(predicate: condition.node)
                    let found = Set(try context.fetch(request).map(\.number))
                    #expect(found == expected, "\(state): \(condition.node)")
                    let inMemory = Set(try condition.node.filter(letters).map(\.number))
                    #expect(inMemory == expected, "\(state), in memory: \(condition.node)")
                }
            }
            try check(context, "unsaved")
            try context.save()
            let fresh = ManagedObjectContext(
                store: context.store, classes: ObjectClasses(for: Letter.self))
            try check(fresh, "stored")
            // A fetch asks the objects that are changed: all of them are.
            for letter in try fresh.fetch(FetchRequest<Letter>()) {
                letter.title = "\(letter.title ?? "")b"
                if random.oneIn(3) { letter.to = nil }
            }
            try check(fresh, "changed")
        }
    }

    @Test(
        "A collection to which no way leads is nil in the format language, not empty",
        arguments: [
            ("to.sent.@count == 0", ""), ("to.sent.@count != 0", "abc"),
            ("to.sent.@count < 3", "a"),
            ("NOT to.sent.@count == 0", "abc"), ("to.sent.@count == NULL", "bc"),
            ("to.sent.@sum.number == 0", "a"), ("to.sent.@sum.number == NULL", "bc"),
            ("to.boss.sent.@count == 0", "a"), ("to.sent[SIZE] == 1", "a"),
            ("to.staff[SIZE] == 0", "a"), ("to.staff.@count == 0", "a"),
            ("SUBQUERY(to.sent, $s, $s.number > 5).@count == 0", "a"),
            ("SUBQUERY(to.sent, $s, $s.number > 5).@count != 0", "bc"),
            ("to.sent.@count + 1 == 1", ""), ("to.sent.@count IN {0, 1}", "a"),
            ("to.sent.@count BETWEEN {0, 5}", "a"), ("ANY to.sent.number >= 0", "a"),
            ("NONE to.sent.number >= 0", "bc"), ("ALL to.sent.number >= 0", "abc"),
            ("TERNARY(to.sent.@count == 0, 'yes', 'no') == 'yes'", ""),
        ])
    func formats(_ format: String, _ expected: String) throws {
        let context = try Self.makeContext()
        let boss = context.insert(Correspondent.self)
        let person = context.insert(Correspondent.self)
        person.boss = boss
        for (place, title) in ["a", "b", "c"].enumerated() {
            let letter = context.insert(Letter.self)
            letter.title = title
            letter.number = place
            if place == 0 { letter.to = person }
        }
        func check(_ context: ManagedObjectContext, _ state: String) throws {
            let request = try FetchRequest<Letter>(where: format, sortBy: [SortKey("number")])
            let titles = try context.fetch(request).compactMap(\.title).joined()
            #expect(titles == expected, "\(state)")
        }
        try check(context, "unsaved")
        try context.save()
        try check(
            ManagedObjectContext(store: context.store, classes: ObjectClasses(for: Letter.self)),
            "stored")
    }
}

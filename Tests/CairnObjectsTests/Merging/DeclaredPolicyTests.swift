// Saves under the declared merge policy: what contexts and stores make of the model's rules.

import Cairn
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Observation
import StoreBackends
import Synchronization
import Testing

@testable import CairnObjects

@Entity
final class RuledArticle: ManagedObject {
    #Unique<RuledArticle>([\.code])
    var code: String = ""
    @Attribute(mergeRule: .sum) var visits: Int = 0
    @Attribute(mergeRule: .newest(by: "modified")) var title: String?
    var modified: Date?
    @Attribute(mergeRule: .maximum) var best: Int?
    @Attribute(mergeRule: .fillNil) var note: String?
    @Attribute(mergeRule: .store) var origin: String?
    var color: String?
    @Relationship(inverse: \RuledTag.articles) var tags: Set<RuledTag>
}

@Entity
final class RuledTag: ManagedObject {
    var label: String = ""
    var articles: Set<RuledArticle>
}

@Entity(mergeRule: .newest(by: "modified"))
final class RuledNote: ManagedObject {
    var text: String?
    var modified: Date?
    @Relationship(mergeRule: .fillNil) var article: RuledArticle?
}

@Suite("The declared merge policy")
struct DeclaredPolicyTests {
    @Test("Marks of classes and properties say rules")
    func marks() throws {
        let note = RuledNote.entity()
        #expect(note.mergeRule == .newest(by: "modified"))
        #expect(note.relationships.map(\.mergeRule) == [.fillNil])
        let rules = RuledArticle.entity().attributes.map(\.mergeRule)
        #expect(
            rules == [nil, .sum, .newest(by: "modified"), nil, .maximum, .fillNil, .store, nil])
    }

    private static func stack(_ backend: Backend) throws -> Stack {
        let types: [any PersistentEntity.Type] = [RuledArticle.self, RuledTag.self]
        return try Stack(
            ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
    }

    private static func date(_ seconds: Double) -> Date {
        Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// The policy as a store carries it out, and as it is done to objects.
    private static var policies: [MergePolicy] { [.declared, PlainSubclass(merge: .declared)] }

    @Test("Two change one object", arguments: Backend.allCases)
    func versions(_ backend: Backend) throws {
        for policy in Self.policies {
            let stack = try Self.stack(backend)
            let setup = stack.context()
            let article = setup.insert(RuledArticle.self)
            article.visits = 10
            article.title = "first"
            try setup.save()
            let (one, other) = (stack.context(policy), stack.context(policy))
            func mine(_ context: ManagedObjectContext) throws -> RuledArticle {
                try #require(try context.fetch(FetchRequest<RuledArticle>()).first)
            }
            let (left, right) = (try mine(one), try mine(other))
            left.visits += 2
            left.title = "left"
            left.modified = Self.date(20)
            left.best = 7
            left.note = "left"
            left.origin = "left"
            left.color = "left"
            right.visits += 5
            right.title = "right"
            right.modified = Self.date(10)
            right.best = 3
            right.note = "right"
            right.origin = "right"
            right.color = "right"
            for context in [one, other] {
                let tag = context.insert(RuledTag.self)
                tag.label = context === one ? "l" : "r"
                (context === one ? left : right).tags.insert(tag)
            }
            try one.save()
            try other.save()
            for article in [right, try mine(stack.context())] {
                #expect(article.visits == 17 && article.title == "left")
                #expect(article.modified == Self.date(20) && article.best == 7)
                #expect(article.note == "left" && article.origin == "left")
                #expect(article.color == "right")
            }
            #expect(try Set(mine(stack.context()).tags.map(\.label)) == ["l", "r"])
            #expect(!other.hasChanges)
        }
    }

    @Test("A new object meets a stored one, and another new one", arguments: Backend.allCases)
    func constraints(_ backend: Backend) throws {
        for policy in Self.policies {
            let stack = try Self.stack(backend)
            let setup = stack.context()
            let stored = setup.insert(RuledArticle.self)
            stored.code = "a"
            stored.visits = 10
            stored.best = 3
            stored.origin = "stored"
            stored.modified = Self.date(10)
            stored.title = "stored"
            stored.color = "stored"
            try setup.save()
            let context = stack.context(policy)
            var new: [RuledArticle] = []
            for (index, visits) in [1, 2].enumerated() {
                let article = context.insert(RuledArticle.self)
                article.code = "a"
                article.visits = visits
                article.best = 5 - index
                article.note = "new \(index)"
                article.origin = "new"
                article.modified = Self.date(Double(5 + 10 * index))
                article.title = "new \(index)"
                let tag = context.insert(RuledTag.self)
                article.tags.insert(tag)
                new.append(article)
            }
            let plain = context.insert(RuledArticle.self)
            plain.code = "a"
            try context.save()
            let all = try stack.context().fetch(FetchRequest<RuledArticle>())
            let article = try #require(all.first)
            #expect(all.count == 1 && article.objectID == stored.objectID)
            #expect(article.visits == 13 && article.best == 5 && article.note == "new 0")
            #expect(article.origin == "stored" && article.color == "stored")
            #expect(article.title == "new 1" && article.modified == Self.date(15))
            #expect(article.tags.count == 2)
            #expect(new[0].absorbedInto == stored.objectID && new[1].absorbedInto != nil)
        }
    }

    @Test("A stored object comes to have the key of another one", arguments: Backend.allCases)
    func changedKeys(_ backend: Backend) throws {
        for policy in Self.policies {
            let stack = try Self.stack(backend)
            let ids = try stack.store { context in
                ["a", "b"].map { code in
                    context.make(
                        "RuledArticle",
                        ["code": code, "visits": code == "a" ? 10 : 3, "best": 4, "color": code])
                }
            }
            let context = stack.context(policy)
            let second = context.object(with: ids[1])
            second["code"] = "a"
            second["visits"] = 4
            try context.save()
            let left = try stack.context().all("RuledArticle")
            #expect(left.map(\.objectID) == [ids[0]])
            #expect(left[0].int("visits") == 14 && left[0].int("best") == 4)
            #expect(left[0].string("color") == "a")
        }
    }

    @Test(
        "The entity's rule says what becomes of what one side has deleted",
        arguments: Backend.allCases, [MergeRule.store, .object, .fillNil])
    func deletions(_ backend: Backend, _ rule: MergeRule) throws {
        var model = Models.shop
        model.entities[1].mergeRule = rule
        for policy in Self.policies {
            let stack = try Stack(model, backend)
            let ids = try stack.products(2)
            // A save that deletes is not the store's to merge.
            let (context, deleting) = (stack.context(policy), stack.context(policy))
            let (changed, deleted) = (
                context.object(with: ids[0]), deleting.object(with: ids[1])
            )
            #expect(changed.string("name") == "0" && deleted.string("name") == "1")
            changed["name"] = "changed"
            deleting.delete(deleted)
            let other = stack.context()
            other.delete(other.object(with: ids[0]))
            other.object(with: ids[1])["name"] = "changed there"
            try other.save()
            try context.save()
            try deleting.save()
            let names = try stack.context().all("Product").map { $0.string("name") }
            #expect(names == (rule == .store ? ["changed there"] : ["changed"]))
        }
    }

    @Test(
        "Rules that do not look at who comes first give the same in either order",
        arguments: Backend.allCases, RandomSource.seeds(5))
    func eitherOrder(_ backend: Backend, _ seed: UInt64) throws {
        print("seed \(seed)")
        func run(_ order: [Int]) throws -> String {
            var random = RandomSource(seed: seed)
            let stack = try Self.stack(backend)
            try stack.store { [$0.make("RuledArticle", ["code": "a", "visits": 5])] }
            let contexts = (0..<3).map { _ in stack.context(.declared) }
            for context in contexts {
                for object in [
                    try context.all("RuledArticle")[0],
                    context.make("RuledArticle", ["code": "b"]),
                ] {
                    if random.chance(70) { object["visits"] = random.below(9) }
                    if random.chance(70) { object["best"] = random.below(9) }
                    if random.chance(70) {
                        object["title"] = "\(random.below(4))"
                        object["modified"] = Self.date(Double(random.below(3)))
                    }
                }
            }
            for place in order { try contexts[place].save() }
            return try stack.context().all("RuledArticle", sortedBy: "code").map { article in
                ["code", "visits", "best", "title", "modified"].map {
                    article[$0].map { "\($0)" } ?? "-"
                }.joined(separator: " ")
            }.joined(separator: "\n")
        }
        let first = try run([0, 1, 2])
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            #expect(try run(order) == first)
        }
    }

    @Test("A sum that its type cannot hold fails the save, and names the property")
    func overflow() throws {
        for policy in Self.policies {
            let stack = try Self.stack(.log)
            let id = try stack.store { [$0.make("RuledArticle", ["code": "a"])] }[0]
            let context = stack.context(policy)
            context.object(with: id)["visits"] = Int.max
            let other = stack.context()
            other.object(with: id)["visits"] = 1
            try other.save()
            let error = storeError { try context.save() }
            #expect(error?.code == .invalidRequest && error?.context.key == "visits")
            #expect(try stack.context().all("RuledArticle")[0].int("visits") == 1)
        }
    }

    @Test("A sum that fails leaves the others as they are, and the save can be tried again")
    func failing() throws {
        for policy in Self.policies {
            let stack = try Self.stack(.log)
            let ids = try stack.store { context in
                (0..<3).map { context.make("RuledArticle", ["code": "\($0)", "visits": 10]) }
            }
            let context = stack.context(policy)
            let articles = ids.map { context.object(with: $0) }
            for (index, article) in articles.enumerated() {
                article["visits"] = index == 1 ? Int.max : 11
            }
            let other = stack.context()
            for id in ids { other.object(with: id)["visits"] = 20 }
            try other.save()
            #expect(storeError { try context.save() }?.code == .invalidRequest)
            for article in articles {
                #expect(article.committedValues(forKeys: ["visits"])["visits"] as? Int == 10)
            }
            #expect(articles.map { $0.int("visits") } == [11, .max, 11])
            articles[1]["visits"] = 12
            try context.save()
            #expect(articles.map { $0.int("visits") } == [21, 22, 21])
            // The same where objects come to have the keys of others, one of several new ones among them.
            let codes = ["0", "0", "1", "2"]
            let new = codes.map { context.make("RuledArticle", ["code": $0, "visits": 1]) }
            new[2]["visits"] = Int.max
            #expect(storeError { try context.save() }?.context.key == "visits")
            #expect(Set(context.insertedObjects) == Set(new))
            #expect(articles.allSatisfy { !$0.hasChanges })
            #expect(new.map { $0.int("visits") } == [1, 1, .max, 1])
            new[2]["visits"] = 1
            try context.save()
            #expect(articles.map { $0.int("visits") } == [23, 23, 22])
            #expect(try stack.context().count("RuledArticle") == 3)
        }
    }

    @Test("Who has read what a policy changes is told, whoever carries it out")
    func observation() throws {
        for policy in Self.policies + [PlainSubclass(merge: .rollback)] {
            let stack = try Self.stack(.log)
            let id = try stack.store { [$0.make("RuledArticle", ["code": "a", "visits": 1])] }[0]
            let context = stack.context(policy)
            context.isObservable = true
            let article = try #require(try context.existingObject(with: id) as? RuledArticle)
            article.visits = 3
            article.color = "mine"
            let other = stack.context()
            // Under the last policy what is changed here alone goes, too.
            other.object(with: id)[policy.mergeType == .rollback ? "note" : "visits"] =
                policy.mergeType == .rollback ? "theirs" : 5
            try other.save()
            let told = Atomic<Int>(0)
            withObservationTracking {
                _ = article.visits
            } onChange: {
                told.add(1, ordering: .relaxed)
            }
            try context.save()
            #expect(told.load(ordering: .relaxed) == 1)
            #expect(article.visits == (policy.mergeType == .rollback ? 1 : 7))
        }
    }
}

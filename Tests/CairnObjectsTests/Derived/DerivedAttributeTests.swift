// Attributes that the store computes, as they are after a save.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("Derived attributes")
struct DerivedAttributeTests {
    /// An object as it is stored, with nobody's changes.
    private func stored(_ object: ManagedObject, _ stack: Stack) throws -> ManagedObject {
        try stack.context().existingObject(with: object.objectID)
    }

    @Test(
        "Texts are written another way, and follow what they are made of",
        arguments: Backend.allCases)
    func texts(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let author = context.make("Author", ["name": "Éva Ström"])
        #expect(author.string("key") == nil)
        try context.save()
        #expect(author.string("key") == "eva strom" && author.string("shout") == "ÉVA STRÖM")
        author["name"] = "Zoë"
        try context.save()
        #expect(author.string("key") == "zoe")
        author["name"] = nil
        try context.save()
        #expect(author["key"] == nil && author["shout"] == nil)
        #expect(try stored(author, stack)["key"] == nil)
    }

    @Test(
        "B142: adding or deleting a related object changes @count and @sum at the next save",
        arguments: Backend.allCases)
    func members(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let author = context.make("Author", ["name": "A"])
        try context.save()
        #expect(author.int("articleCount") == 0 && author.int("words") == 0)
        #expect(author["average"] == nil && author["longest"] == nil && author["first"] == nil)
        let one = context.make("Article", ["name": "Two", "wordCount": 20, "author": author])
        context.make("Article", ["name": "One", "wordCount": 10, "author": author])
        context.make("Article", ["name": "None", "author": author])
        #expect(author.int("articleCount") == 0)
        try context.save()
        #expect(author.int("articleCount") == 3 && author.int("words") == 30)
        #expect(author["average"] as? Double == 15 && author.int("longest") == 20)
        #expect(author.string("first") == "None")
        one["wordCount"] = 35
        try context.save()
        #expect(author.int("words") == 45 && author.int("longest") == 35)
        context.delete(one)
        try context.save()
        #expect(author.int("articleCount") == 2 && author.int("words") == 10)
        #expect(try stored(author, stack).int("words") == 10)
        author["articles"] = Set<ManagedObject>()
        try context.save()
        #expect(author.int("articleCount") == 0 && author["longest"] == nil)
    }

    @Test("A member that moves changes its old owner and its new one", arguments: Backend.allCases)
    func moves(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let (a, b) = (context.make("Author", ["name": "A"]), context.make("Author", ["name": "B"]))
        let article = context.make("Article", ["name": "T", "wordCount": 7, "author": a])
        try context.save()
        #expect(a.int("words") == 7 && b.int("words") == 0)
        #expect(article.string("authorName") == "A")
        // Another context moves it: the owners are no objects of that one.
        let other = stack.context()
        let same = other.object(with: article.objectID)
        same["author"] = other.object(with: b.objectID)
        try other.save()
        #expect(same.string("authorName") == "B")
        #expect(try stored(a, stack).int("words") == 0)
        #expect(try stored(b, stack).int("words") == 7)
    }

    @Test(
        "Members of many-to-many relationships count, in both directions",
        arguments: Backend.allCases)
    func pairs(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let tags = ["t", "u"].map { context.make("Tag", ["name": $0]) }
        tags[0]["weight"] = 1.5
        tags[1]["weight"] = 2.25
        let article = context.make("Article", ["name": "T", "wordCount": 4])
        let other = context.make("Article", ["name": "U", "wordCount": 5])
        article["tags"] = Set(tags)
        other["tags"] = Set([tags[0]])
        let people = ["A", "B", "C"].map { context.make("Author", ["name": $0, "age": 30]) }
        people[0]["friends"] = Set([people[1], people[2]])
        let reader = context.make("Reader", ["name": "R"])
        reader["likes"] = Set([article, other])
        try context.save()
        #expect(article.int("tagCount") == 2 && article["weight"] as? Double == 3.75)
        #expect(tags[0].int("uses") == 2 && tags[0].int("words") == 9)
        #expect(people.map { $0.int("friendCount") } == [2, 1, 1])
        #expect(people[0].int("friendAges") == 60)
        #expect(reader.int("likeCount") == 2 && reader.int("shortest") == 4)
        tags[0]["weight"] = 0.5
        people[2]["age"] = 40
        other.remove(tags[0], from: "tags")
        try context.save()
        #expect(article["weight"] as? Double == 2.75 && other["weight"] as? Double == 0)
        #expect(tags[0].int("uses") == 1 && people[0].int("friendAges") == 70)
        context.delete(article)
        context.delete(people[0])
        try context.save()
        #expect(tags.map { $0.int("uses") } == [0, 0] && tags[0].int("words") == 0)
        #expect(people[1].int("friendCount") == 0)
        #expect(reader.int("likeCount") == 1 && reader.int("shortest") == 5)
    }

    @Test(
        "A path shows what is at its end, whoever changes that or a step of it",
        arguments: Backend.allCases)
    func paths(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let paris = context.make("Publisher", ["name": "P", "city": "Paris"])
        let rome = context.make("Publisher", ["name": "R", "city": "Rome"])
        let author = context.make("Author", ["name": "A", "publisher": paris])
        let article = context.make("Review", ["name": "T", "author": author, "reviewer": author])
        author["favourite"] = article
        try context.save()
        #expect(article.string("city") == "Paris" && article.string("reviewerCity") == "Paris")
        #expect(author.string("city") == "paris" && author.string("favouriteName") == "T")
        let other = stack.context()
        other.object(with: paris.objectID)["city"] = "Lyon"
        other.object(with: article.objectID)["name"] = "U"
        try other.save()
        #expect(try stored(article, stack).string("city") == "Lyon")
        #expect(try stored(author, stack).string("favouriteName") == "U")
        context.refreshAllObjects()
        author["publisher"] = rome
        try context.save()
        #expect(article.string("city") == "Rome" && article.string("reviewerCity") == "Rome")
        #expect(rome.int("authorCount") == 1 && paris.int("authorCount") == 0)
        article["author"] = nil
        try context.save()
        #expect(article["city"] == nil && article["authorName"] == nil)
        #expect(article.string("reviewerCity") == "Rome")
    }

    @Test("An object that takes somebody's partner changes all three", arguments: Backend.allCases)
    func partners(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let (a, b) = (context.make("Author", ["name": "Å"]), context.make("Author", ["name": "B"]))
        let badge = context.make("Badge", ["name": "1", "code": 7, "holder": a])
        try context.save()
        #expect(a.int("badgeCode") == 7 && b["badgeCode"] == nil)
        #expect(badge.string("holderKey") == "a")
        b["badge"] = badge
        try context.save()
        #expect(a["badgeCode"] == nil && b.int("badgeCode") == 7)
        #expect(badge.string("holderKey") == "b")
    }

    @Test(
        "Delete rules change what is computed across the relationship", arguments: Backend.allCases)
    func deleteRules(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let publisher = context.make("Publisher", ["name": "P", "city": "Oslo"])
        let author = context.make("Author", ["name": "A", "publisher": publisher])
        let series = context.make("Series", ["name": "Säule"])
        let section = context.make("Section", ["name": "S"])
        let article = context.make(
            "Article",
            [
                "name": "T", "wordCount": 3, "author": author, "series": series,
                "section": section,
            ])
        try context.save()
        #expect(article.string("seriesKey") == "saule" && section["words"] as? Double == 3)
        // No action: the reference stays and leads nowhere.
        context.delete(series)
        try context.save()
        #expect(try stored(article, stack)["seriesKey"] == nil)
        context.delete(section)
        #expect(storeError { try context.save() }?.code == .deleteDenied)
        context.rollback()
        // Cascade to the author, nullify at the article.
        context.delete(publisher)
        try context.save()
        let left = try stored(article, stack)
        #expect(left["authorName"] == nil && left["city"] == nil && left["author"] == nil)
    }

    @Test(
        "B143: now() moves forward on each save of the object, and not when others are counted anew",
        arguments: Backend.allCases)
    func moments(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let before = Date()
        let author = context.make("Author", ["name": "A"])
        try context.save()
        let first = try #require(author["savedAt"] as? Date)
        #expect(first >= before && first <= Date())
        author["age"] = 40
        try context.save()
        let second = try #require(author["savedAt"] as? Date)
        #expect(second > first)
        let article = context.make("Article", ["name": "T", "author": author])
        try context.save()
        #expect(author.int("articleCount") == 1 && author["savedAt"] as? Date == second)
        let stamp = try #require(article["savedAt"] as? Double)
        #expect(stamp > second.timeIntervalSinceReferenceDate)
        // Saved with the same value: nothing is written.
        author["age"] = 40
        try context.save()
        #expect(author["savedAt"] as? Date == second)
    }

    @Test(
        "B146: a predicate finds by the canonical copy in the store, whatever the case and diacritics of the original",
        arguments: Backend.allCases)
    func search(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        for name in ["Åsa", "ASA", "asá", "Asta", "Ása b"] {
            context.make("Author", ["name": name])
        }
        try context.save()
        func names(_ format: String) throws -> Set<String?> {
            let predicate = try PredicateNode(format: format)
            let request = FetchRequest<ManagedObject>(entityName: "Author", predicate: predicate)
            return Set(try stack.context().fetch(request).map { $0.string("name") })
        }
        #expect(try names("key == 'asa'") == ["Åsa", "ASA", "asá"])
        #expect(try names("key BEGINSWITH 'asa'") == ["Åsa", "ASA", "asá", "Ása b"])
        #expect(try names("key CONTAINS 'st'") == ["Asta"])
        guard backend == .log else { return }
        for number in 0..<500 { context.make("Author", ["name": "Ö \(number)"]) }
        try context.save()
        let plan = try stack.context().explain(
            FetchRequest<ManagedObject>(
                entityName: "Author", predicate: .compare("key", .equal, .string("asa"))))
        #expect(plan.access.hasPrefix("index byKey"), "\(plan.access)")
        #expect(plan.results == 3)
        try context.find("Author", "name", .string("ASA"))[0]["name"] = "Oda"
        try context.save()
        #expect(try names("key == 'asa'") == ["Åsa", "asá"])
        #expect(try names("key == 'oda'") == ["Oda"])
    }

    // MARK: Values from outside

    @Test("What is put into a derived attribute by hand does not last", arguments: Backend.allCases)
    func byHand(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let context = stack.context()
        let author = context.insert("Author")
        author["name"] = "A"
        author["key"] = "x"
        author["articleCount"] = 9
        try context.save()
        #expect(author.string("key") == "a" && author.int("articleCount") == 0)
        author["words"] = 9
        try context.save()
        #expect(author.int("words") == 0 && !context.hasChanges)
        #expect(try stored(author, stack).int("words") == 0)
    }

    @Test(
        "A mandatory derived attribute is not asked for before the save",
        arguments: Backend.allCases)
    func mandatory(_ backend: Backend) throws {
        var key = AttributeDescription.derived("key", .string, "canonical:(name)")
        key.isOptional = false
        let model = ManagedObjectModel(entities: [
            EntityDescription("Item", attributes: [.init("name", .string), key])
        ])
        let stack = try Stack(model, backend)
        let context = stack.context()
        let item = context.make("Item", ["name": "N"])
        let empty = context.make("Item")
        try context.save()
        #expect(item.string("key") == "n" && empty["key"] == nil)
    }

    @Test(
        "A count or sum that the attribute cannot hold refuses the save",
        arguments: Backend.allCases)
    func range(_ backend: Backend) throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Box",
                attributes: [
                    .init("name", .string), .derived("sum", .integer16, "items.size.@sum"),
                ],
                relationships: [.init("items", to: "Item", toMany: true, inverse: "box")]),
            EntityDescription(
                "Item", attributes: [.init("size", .integer64)],
                relationships: [.init("box", to: "Box", inverse: "items")]),
        ])
        let stack = try Stack(model, backend)
        let context = stack.context()
        let box = context.make("Box", ["name": "B"])
        context.make("Item", ["size": 32_767, "box": box])
        try context.save()
        #expect(box.int("sum") == 32_767)
        let more = context.make("Item", ["size": 1, "box": box])
        let error = storeError { try context.save() }
        #expect(error?.code == .validation && error?.context.key == "sum")
        #expect(context.hasChanges)
        more["size"] = -1
        try context.save()
        #expect(box.int("sum") == 32_766)
    }

    @Test(
        "B145: The store does not open with a derivation that is none",
        arguments: ["articles.@sum.age"])
    func opening(_ expression: String) {
        var model = Models.press
        model.entities[1].attributes.append(.derived("wrong", .integer64, expression))
        let error = #expect(throws: ModelError.self) { try Stack(model, .log) }
        #expect(error?.code == .invalidDerivation && error?.element == "Author.wrong")
    }
}

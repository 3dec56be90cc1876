// Derived attributes where two write one object, and where objects become one.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Derived attributes and conflicts")
struct DerivedConflictTests {
    private static let policies: [MergePolicyKind] = MergePolicyKind.allCases

    @Test(
        "Counting an object anew is no conflict for somebody who changes it, under any policy",
        arguments: Backend.allCases, policies)
    func recount(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let stack = try Stack(Models.press, backend)
        let id = try stack.store { [$0.make("Author", ["name": "A", "age": 1])] }[0]
        for policy in [MergePolicy(merge: kind), PlainSubclass(merge: kind)] {
            let context = stack.context(policy)
            let author = context.object(with: id)
            author["age"] = (author.int("age") ?? 0) + 1
            let count = author.int("articleCount") ?? 0
            try stack.store { other in
                [other.make("Article", ["author": other.object(with: id)])]
            }
            try context.save()
            #expect(author.int("articleCount") == count + 1)
        }
        let author = try stack.context().existingObject(with: id)
        #expect(author.int("age") == 3 && author.int("articleCount") == 2)
    }

    @Test(
        "Counting an object anew is no conflict for somebody who deletes it",
        arguments: Backend.allCases, policies)
    func deletion(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let stack = try Stack(Models.press, backend)
        let ids = try stack.store { context in
            let author = context.make("Author", ["name": "A"])
            return [author, context.make("Article", ["name": "T", "author": author])]
        }
        let context = stack.context(MergePolicy(merge: kind))
        let author = context.object(with: ids[0])
        #expect(author.int("articleCount") == 1)
        let other = stack.context()
        other.object(with: ids[1])["author"] = nil
        try other.save()
        context.delete(author)
        try context.save()
        #expect(try stack.context().count("Author") == 0)
    }

    @Test("A change of what is not derived is a conflict as ever", arguments: Backend.allCases)
    func realConflict(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let id = try stack.store { [$0.make("Author", ["name": "A", "age": 1])] }[0]
        let context = stack.context()
        let author = context.object(with: id)
        author["name"] = "B"
        try stack.store { other in
            other.object(with: id)["age"] = 2
            return [other.make("Article", ["author": other.object(with: id)])]
        }
        let error = storeError { try context.save() }
        #expect(error?.code == .mergeConflict && error?.versions.count == 1)
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        #expect(author.string("key") == "b" && author.int("age") == 2)
        #expect(author.int("articleCount") == 1)
    }

    @Test(
        "After any policy has resolved a conflict, derived attributes are those of what is stored",
        arguments: Backend.allCases, policies)
    func resolved(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let stack = try Stack(Models.press, backend)
        let ids = try stack.store { context in
            let author = context.make("Author", ["name": "A", "age": 1])
            let other = context.make("Author", ["name": "O"])
            return [
                author, other,
                context.make("Article", ["name": "T", "wordCount": 1, "author": author]),
            ]
        }
        let context = stack.context(MergePolicy(merge: kind))
        let article = context.object(with: ids[2])
        article["wordCount"] = 5
        article["author"] = context.object(with: ids[1])
        try stack.store { other in
            let same = other.object(with: ids[2])
            same["wordCount"] = 9
            same["name"] = "U"
            return [same]
        }
        let isRefused = storeError { try context.save() } != nil
        #expect(isRefused == (kind == .error))
        let fresh = stack.context()
        let stored = try fresh.existingObject(with: ids[2])
        let author = try #require(stored.object("author"))
        #expect(author.int("words") == stored.int("wordCount"))
        #expect(author.string("first") == stored.string("name"))
        #expect(stored.string("authorName") == author.string("name"))
        let without = try fresh.all("Author").filter { $0 != author }
        #expect(without.map { $0.int("articleCount") } == [0])
        if !isRefused {
            for key in ["authorName", "name", "wordCount"] {
                #expect("\(article[key] ?? "")" == "\(stored[key] ?? "")")
            }
        }
    }

    @Test(
        "A new object that is merged into a stored one, or takes its place, leaves nothing counted wrong",
        arguments: Backend.allCases,
        [
            MergePolicyKind.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
            .rollback,
        ])
    func absorbed(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let stack = try Stack(Models.press, backend)
        try stack.store { context in
            let author = context.make("Author", ["name": "A", "age": 1])
            let tag = context.make("Tag", ["name": "t", "weight": 1.0])
            let article = context.make("Article", ["name": "T", "wordCount": 1, "author": author])
            article["tags"] = Set([tag])
            return [author, article, tag]
        }
        let context = stack.context(MergePolicy(merge: kind))
        let author = context.make("Author", ["name": "A", "age": 9])
        let tag = context.make("Tag", ["name": "t", "weight": 4.0])
        let article = context.make("Article", ["name": "U", "wordCount": 2, "author": author])
        article["tags"] = Set([tag])
        context.make("Article", ["name": "T", "wordCount": 6])
        try context.save()
        let fresh = stack.context()
        for author in try fresh.all("Author") {
            let articles = author.members("articles")
            #expect(author.int("articleCount") == articles.count)
            #expect(author.int("words") == articles.reduce(0) { $0 + ($1.int("wordCount") ?? 0) })
        }
        for tag in try fresh.all("Tag") {
            #expect(tag.int("uses") == tag.members("articles").count)
        }
        for article in try fresh.all("Article") {
            #expect(article.string("authorName") == article.object("author")?.string("name"))
            let weights = article.members("tags").compactMap { $0["weight"] as? Double }
            #expect(article["weight"] as? Double == weights.reduce(0, +))
        }
        #expect(try fresh.count("Author") == 1 && fresh.count("Tag") == 1)
        #expect(!context.hasChanges && article.int("wordCount") == 2)
    }

    @Test(
        "A new object that is created again under its id has all of it", arguments: Backend.allCases
    )
    func recreated(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let id = try stack.store { [$0.make("Author", ["name": "A", "age": 1])] }[0]
        let context = stack.context(.mergeByPropertyObjectTrump)
        let author = context.object(with: id)
        author["age"] = 2
        let other = stack.context()
        other.delete(other.object(with: id))
        try other.save()
        try context.save()
        #expect(author.string("key") == "a" && author.int("articleCount") == 0)
        #expect(try stack.context().existingObject(with: id).string("shout") == "A")
    }
}

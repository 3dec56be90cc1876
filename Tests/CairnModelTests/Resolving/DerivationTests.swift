// What a derivation expression may say, and what is refused when the schema is made.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnModel

@Suite("Derivations")
struct DerivationTests {
    private static func model(
        _ expression: String, _ type: AttributeType,
        change: (inout EntityDescription) -> Void = { _ in }
    ) -> ManagedObjectModel {
        var derived = AttributeDescription("made", type)
        derived.derivationExpression = expression
        var other = AttributeDescription("key", .string)
        other.derivationExpression = "canonical:(name)"
        var cache = AttributeDescription("cache", .string)
        cache.isTransient = true
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("city", .string), .init("height", .float)]
        var links = RelationshipDescription("links", to: "Article", toMany: true)
        links.isTransient = true
        var author = EntityDescription(
            "Author", attributes: [.init("name", .string), other, cache, place, derived],
            relationships: [
                .init("articles", to: "Article", toMany: true, inverse: "author"),
                .init("friends", to: "Author", toMany: true, inverse: "friends"),
                .init("publisher", to: "Publisher", inverse: "authors"), links,
            ])
        change(&author)
        let article = EntityDescription(
            "Article",
            attributes: [
                .init("title", .string), .init("words", .integer32), .init("size", .integer64),
                .init("score", .float), .init("price", .decimal), .init("at", .date),
                .init("seen", .boolean), .init("bytes", .binary),
            ],
            relationships: [.init("author", to: "Author", inverse: "articles")])
        let publisher = EntityDescription(
            "Publisher",
            attributes: [
                .init("name", .string), .init("rank", .integer16), .init("weight", .double),
            ],
            relationships: [.init("authors", to: "Author", toMany: true, inverse: "publisher")])
        return ManagedObjectModel(entities: [author, article, publisher])
    }

    @Test(
        "Every form is understood, for each type that can hold what comes out",
        arguments: [
            ("name", [.string]), ("place.city", [.string]), ("place.height", [.float, .double]),
            ("publisher.name", [.string]),
            ("publisher.rank", [.integer16, .integer32, .integer64, .double, .decimal]),
            ("uppercase:(name)", [.string]), ("lowercase:(publisher.name)", [.string]),
            ("canonical:(name)", [.string]), ("canonical(name)", [.string]),
            ("now()", [.date, .double]),
            (
                "articles.@count",
                [.integer16, .integer32, .integer64, .double, .float, .decimal]
            ),
            ("friends.@count", [.integer64]),
            (
                "articles.words.@sum",
                [.integer16, .integer32, .integer64, .double, .float, .decimal]
            ),
            ("articles.price.@sum", [.decimal, .double]),
            ("articles.score.@avg", [.float, .double]), ("articles.words.@avg", [.double, .float]),
            ("articles.words.@min", [.integer32, .integer64, .decimal]),
            ("articles.at.@max", [.date]), ("articles.title.@min", [.string]),
        ] as [(String, [AttributeType])])
    func forms(_ expression: String, _ types: [AttributeType]) throws {
        for type in types {
            let schema = try Schema(Self.model(expression, type))
            let author = try #require(schema.entity(named: "Author"))
            #expect(schema.derivations.entities[author.index].map(\.element).last == "Author.made")
        }
    }

    @Test(
        "B145: an operator in the middle is refused when the schema is made, and says where it belongs"
    )
    func operatorPlace() throws {
        let error = #expect(throws: ModelError.self) {
            try Schema(Self.model("articles.@sum.words", .integer64))
        }
        #expect(error?.code == .invalidDerivation)
        #expect(
            error?.description
                == "Author.made: invalid derivation \"articles.@sum.words\": the operator comes last: "
                + "articles.words.@sum")
    }

    @Test(
        "What a store could not keep right is refused with the reason",
        arguments: [
            ("title", .string, "Author has no property title"),
            ("name", .integer64, "Author.name is of type string"),
            ("publisher.rank", .float, "Publisher.rank is of type integer16"),
            ("publisher.weight", .integer64, "cannot hold"),
            ("place", .string, "Author.place is composite"),
            ("cache", .string, "Author.cache is transient"),
            ("key", .string, "Author.key is derived, too"),
            ("made", .string, "it is derived from itself"),
            ("publisher", .string, "its result is an object"),
            ("publisher.city", .string, "Publisher has no property city"),
            ("articles.title", .string, "Author.articles is to-many"),
            ("friends.key.@max", .string, "Author.key is derived, too"),
            ("links.@count", .integer64, "Author.links is transient"),
            ("publisher.@count", .integer64, "Author.publisher is to-one"),
            ("publisher.authors.@count", .integer64, "Author.publisher is to-one"),
            ("articles.author.@count", .integer64, "articles.@count"),
            ("articles.@sum", .integer64, "needs an attribute of the members"),
            ("articles.title.@sum", .integer64, "needs numbers"),
            ("articles.seen.@sum", .integer64, "needs numbers"),
            ("articles.price.@sum", .integer64, "@sum of Article.price is of type decimal"),
            ("articles.words.@avg", .integer64, "@avg of Article.words is of type double"),
            ("articles.size.@min", .integer32, "Article.size is of type integer64"),
            ("articles.bytes.@max", .binary, "whose values have no order"),
            ("articles.author.name.@min", .string, "Article.author is a relationship"),
            ("articles.words.@distinctUnionOfObjects", .integer64, "returns several values"),
            ("name.@count", .integer64, "Author.name is an attribute"),
            ("lines.@count", .integer64, "Author has no property lines"),
            ("articles.@count", .string, "a count does not fit the type string"),
            ("now()", .string, "a date does not fit the type string"),
            ("uppercase:(articles.title)", .string, "Author.articles is to-many"),
            ("uppercase:(publisher.rank)", .string, "Publisher.rank is of type integer16"),
            ("canonical:(name)", .binary, "returns a string"),
            ("canonical:('x')", .string, "its path"),
            ("abs:(publisher.rank)", .integer64, "a derivation may only use the functions"),
            ("1 + 2", .integer64, "a derivation may only use the functions"),
            ("name ==", .string, "it cannot be parsed"), ("", .string, "it cannot be parsed"),
            ("7", .integer64, "an attribute is derived from a path"),
        ] as [(String, AttributeType, String)])
    func refusals(_ expression: String, _ type: AttributeType, _ reason: String) {
        let error = #expect(throws: ModelError.self) {
            try Schema(Self.model(expression, type))
        }
        #expect(error?.code == .invalidDerivation)
        #expect(error?.element == "Author.made")
        #expect(error?.message.contains(reason) ?? false, "\(error?.message ?? "")")
        #expect(error?.message.contains("\"\(expression)\"") ?? false)
    }

    @Test("Transient and composite attributes are not derived, nor elements of composite ones")
    func kinds() {
        func error(_ change: (inout AttributeDescription) -> Void) -> ModelError? {
            #expect(throws: ModelError.self) {
                try Schema(
                    Self.model("name", .string) {
                        change(&$0.attributes[4])
                    })
            }
        }
        #expect(error { $0.isTransient = true }?.code == .invalidDerivation)
        #expect(error { $0.type = .composite }?.message.contains("composite") ?? false)
        let element = error { made in
            var leaf = AttributeDescription("leaf", .string)
            leaf.derivationExpression = "name"
            made = AttributeDescription("made", .composite)
            made.elements = [leaf]
        }
        #expect(element?.element == "Author.made.leaf")
    }

    @Test("No uniqueness constraint is made of a derived attribute, an inherited one neither")
    func constraints() {
        let own = #expect(throws: ModelError.self) {
            try Schema(
                Self.model("now()", .date) { $0.uniquenessConstraints = [["name", "key"]] })
        }
        #expect(own?.code == .invalidConstraint)
        #expect(own?.element == "Author, uniqueness constraint (name, key)")
        #expect(own?.message.hasPrefix("key is derived") ?? false)
        var model = Self.model("now()", .date)
        var child = EntityDescription("Editor", uniquenessConstraints: [["key"]])
        child.superentityName = "Author"
        model.entities.append(child)
        let inherited = #expect(throws: ModelError.self) { try Schema(model) }
        #expect(inherited?.element == "Editor, uniqueness constraint (key)")
    }

    @Test("Descendants inherit derived attributes in their places, and add their own")
    func inheritance() throws {
        var model = Self.model("articles.@count", .integer64)
        var made = AttributeDescription("another", .string)
        made.derivationExpression = "uppercase:(name)"
        var child = EntityDescription("Editor", attributes: [made])
        child.superentityName = "Author"
        // Before its parent.
        model.entities.insert(child, at: 0)
        let schema = try Schema(model)
        let (editor, author) = (schema.entities[0], schema.entities[1])
        #expect(
            schema.derivations.entities[editor.index].map(\.element)
                == ["Author.key", "Author.made", "Editor.another"])
        #expect(
            schema.derivations.entities[author.index].map(\.element)
                == ["Author.key", "Author.made"])
        let article = try #require(schema.entity(named: "Article"))
        #expect(schema.derivations.watches[article.index].count == 1)
        let publisher = try #require(schema.entity(named: "Publisher"))
        #expect(!schema.derivations.concerns[publisher.index])
    }

    @Test(
        "Every derivation in the models of real apps is understood",
        .enabled(if: Corpus.isAvailable))
    func corpus() throws {
        Corpus.noteUse()
        var derived: [String] = []
        for file in CorpusModel.all where file.features["derived"] != nil {
            derived += try Schema(file.read().model).derivations.entities.joined().map(\.element)
        }
        #expect(
            derived.sorted() == [
                "ChildEntity.canonicalOptionalString", "ChildEntity.derivedCount",
                "ChildEntity.now",
            ])
    }
}

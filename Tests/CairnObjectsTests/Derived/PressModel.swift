// A press with derived attributes of every form, across every kind of relationship and delete rule.

import CairnModel

extension AttributeDescription {
    /// An attribute that the store computes.
    static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> Self {
        var attribute = AttributeDescription(name, type)
        attribute.derivationExpression = expression
        return attribute
    }
}

extension Models {
    /// Every entity is found by its name, which is unique.
    static let press: ManagedObjectModel = {
        func name() -> AttributeDescription { AttributeDescription("name", .string) }
        let publisher = EntityDescription(
            "Publisher",
            attributes: [
                name(), .init("city", .string),
                .derived("authorCount", .integer32, "authors.@count"),
                .derived("ages", .decimal, "authors.age.@sum"),
            ],
            relationships: [
                .init(
                    "authors", to: "Author", toMany: true, inverse: "publisher",
                    deleteRule: .cascade)
            ], uniquenessConstraints: [["name"]])
        var author = EntityDescription(
            "Author",
            attributes: [
                name(), .init("age", .integer16), .derived("key", .string, "canonical:(name)"),
                .derived("shout", .string, "uppercase:(name)"),
                .derived("articleCount", .integer64, "articles.@count"),
                .derived("words", .integer64, "articles.wordCount.@sum"),
                .derived("average", .double, "articles.wordCount.@avg"),
                .derived("longest", .integer32, "articles.wordCount.@max"),
                .derived("first", .string, "articles.name.@min"),
                .derived("friendCount", .integer64, "friends.@count"),
                .derived("friendAges", .integer64, "friends.age.@sum"),
                .derived("stars", .float, "reviews.stars.@avg"),
                .derived("city", .string, "lowercase:(publisher.city)"),
                .derived("favouriteName", .string, "favourite.name"),
                .derived("badgeCode", .integer64, "badge.code"),
                .derived("savedAt", .date, "now()"),
            ],
            relationships: [
                .init("publisher", to: "Publisher", inverse: "authors"),
                .init("articles", to: "Article", toMany: true, inverse: "author"),
                .init("reviews", to: "Review", toMany: true, inverse: "reviewer"),
                .init("friends", to: "Author", toMany: true, inverse: "friends"),
                .init("favourite", to: "Article"),
                .init("badge", to: "Badge", inverse: "holder"),
            ], uniquenessConstraints: [["name"]])
        author.indexes = [.init("byKey", elements: [.init("key")])]
        let article = EntityDescription(
            "Article",
            attributes: [
                name(), .init("wordCount", .integer32),
                .derived("authorName", .string, "author.name"),
                .derived("city", .string, "author.publisher.city"),
                .derived("seriesKey", .string, "canonical:(series.name)"),
                .derived("parentName", .string, "parent.name"),
                .derived("partCount", .integer16, "parts.@count"),
                .derived("partWords", .integer64, "parts.wordCount.@sum"),
                .derived("tagCount", .integer64, "tags.@count"),
                .derived("weight", .double, "tags.weight.@sum"),
                .derived("savedAt", .double, "now()"),
            ],
            relationships: [
                .init("author", to: "Author", inverse: "articles"),
                .init("section", to: "Section", inverse: "articles"),
                .init("series", to: "Series", inverse: "articles"),
                .init("parent", to: "Article", inverse: "parts"),
                .init("parts", to: "Article", toMany: true, inverse: "parent"),
                .init("tags", to: "Tag", toMany: true, inverse: "articles"),
            ], uniquenessConstraints: [["name"]])
        var review = EntityDescription(
            "Review",
            attributes: [
                .init("stars", .integer32),
                .derived("reviewerCity", .string, "reviewer.publisher.city"),
                .derived("authorAge", .integer16, "author.age"),
                .derived("longestPart", .integer32, "parts.wordCount.@max"),
            ],
            relationships: [.init("reviewer", to: "Author", inverse: "reviews")])
        review.superentityName = "Article"
        // A sibling whose attributes are others, found by the same relationships.
        var reprint = EntityDescription(
            "Reprint",
            attributes: [
                .derived("printedAt", .date, "now()"), .derived("renewedAt", .double, "now()"),
                .derived("checkedAt", .date, "now()"),
                .derived("sectionName", .string, "section.name"),
            ])
        reprint.superentityName = "Article"
        let section = EntityDescription(
            "Section",
            attributes: [name(), .derived("words", .double, "articles.wordCount.@sum")],
            relationships: [
                .init(
                    "articles", to: "Article", toMany: true, inverse: "section", deleteRule: .deny)
            ], uniquenessConstraints: [["name"]])
        let series = EntityDescription(
            "Series",
            attributes: [name(), .derived("articleCount", .integer16, "articles.@count")],
            relationships: [
                .init(
                    "articles", to: "Article", toMany: true, inverse: "series",
                    deleteRule: .noAction)
            ], uniquenessConstraints: [["name"]])
        let tag = EntityDescription(
            "Tag",
            attributes: [
                name(), .init("weight", .double), .derived("uses", .integer64, "articles.@count"),
                .derived("words", .integer64, "articles.wordCount.@sum"),
            ],
            relationships: [.init("articles", to: "Article", toMany: true, inverse: "tags")],
            uniquenessConstraints: [["name"]])
        let badge = EntityDescription(
            "Badge",
            attributes: [
                name(), .init("code", .integer64),
                .derived("holderKey", .string, "canonical:(holder.name)"),
                .derived("savedAt", .date, "now()"),
            ], relationships: [.init("holder", to: "Author", inverse: "badge")],
            uniquenessConstraints: [["name"]])
        let reader = EntityDescription(
            "Reader",
            attributes: [
                name(), .derived("likeCount", .integer64, "likes.@count"),
                .derived("shortest", .integer64, "likes.wordCount.@min"),
            ], relationships: [.init("likes", to: "Article", toMany: true)],
            uniquenessConstraints: [["name"]])
        return ManagedObjectModel(entities: [
            publisher, author, article, review, section, series, tag, reader, badge, reprint,
        ])
    }()
}

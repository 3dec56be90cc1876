// Merge rules as a part of the model: their text, their place, and what a schema refuses.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Merge rules in the model")
struct MergeRuleTests {
    private static let all: [MergeRule] = [
        .store, .object, .fillNil, .newest(by: "modified"), .newest(by: "home.city"), .maximum,
        .minimum, .sum, .union,
    ]

    @Test("Every rule reads back from its text", arguments: all)
    func texts(_ rule: MergeRule) {
        #expect(MergeRule(text: rule.text) == rule)
    }

    @Test(
        "What is no rule is none",
        arguments: [
            "", "Sum", "newest", "newest(by:)", "newest(by: )", "newest(by: a b)", "newest(by: a",
        ])
    func noRule(_ text: String) {
        #expect(MergeRule(text: text) == nil)
    }

    private static func model(
        _ change: (inout EntityDescription) -> Void = { _ in }
    ) -> ManagedObjectModel {
        var article = EntityDescription(
            "Article",
            attributes: [
                .init("title", .string), .init("visits", .integer64), .init("modified", .date),
                .init("picture", .binary),
            ],
            relationships: [
                .init("tags", to: "Tag", toMany: true, inverse: "articles"),
                .init("first", to: "Tag"),
            ])
        change(&article)
        let tag = EntityDescription(
            "Tag", relationships: [.init("articles", to: "Article", toMany: true, inverse: "tags")])
        return ManagedObjectModel(entities: [article, tag])
    }

    @Test("Rules are written with the model, and no part of what tells its versions apart")
    func coding() throws {
        let model = Self.model { article in
            article.mergeRule = .newest(by: "modified")
            article.attributes[1].mergeRule = .sum
            article.relationships[0].mergeRule = .union
        }
        let read = try JSONDecoder().decode(
            ManagedObjectModel.self, from: JSONEncoder().encode(model))
        #expect(read == model && read.entities[0].attributes[1].mergeRule == .sum)
        #expect(read.entities[0].mergeRule == .newest(by: "modified"))
        #expect(model.entityVersionHashesByName == Self.model().entityVersionHashesByName)
        #expect(model != Self.model())
        var changed = model
        changed.entities[0].attributes[1].mergeRule = nil
        changed.entities[0].relationships[0].mergeRule = nil
        changed.entities[0].mergeRule = nil
        #expect(changed == Self.model())
    }

    @Test("A file of Core Data's model editor says them in its table of information")
    func file() throws {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Article" representedClassName="Article" syncable="YES">
                    <attribute name="visits" attributeType="Integer 64" defaultValueString="0">
                        <userInfo><entry key="cairn.mergeRule" value="sum"/></userInfo>
                    </attribute>
                    <attribute name="modified" optional="YES" attributeType="Date"/>
                    <relationship name="more" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Article">
                        <userInfo><entry key="cairn.mergeRule" value="union"/></userInfo>
                    </relationship>
                    <userInfo><entry key="cairn.mergeRule" value="newest(by: modified)"/></userInfo>
                </entity>
            </model>
            """
        let model = try ModelFile(xml: Data(xml.utf8)).model
        let entity = try Schema(model).entities[0]
        #expect(model.entities[0].mergeRule == .newest(by: "modified"))
        #expect(model.entities[0].attributes[0].mergeRule == .sum)
        #expect(model.entities[0].relationships[0].mergeRule == .union)
        let rules = entity.mergeRules.properties.map { ($0.columns.lowerBound, $0.rule) }
        #expect(rules.map { $0.0 } == [0, 1])
        #expect(rules.map { $0.1 } == [.sum, .newest(by: "modified")])
    }

    @Test("Descendants inherit rules, and have their own")
    func inheritance() throws {
        var base = EntityDescription(
            "Base", attributes: [.init("number", .integer16), .init("text", .string)])
        base.mergeRule = .store
        base.attributes[0].mergeRule = .maximum
        var child = EntityDescription("Child", attributes: [.init("more", .string)])
        child.superentityName = "Base"
        var grandchild = EntityDescription("Grandchild")
        grandchild.superentityName = "Child"
        grandchild.mergeRule = .fillNil
        let schema = try Schema(ManagedObjectModel(entities: [base, child, grandchild]))
        #expect(schema.entities[1].mergeRules.properties.map(\.rule) == [.maximum, .store, .store])
        #expect(schema.entities[1].mergeRules.keepsStored)
        #expect(
            schema.entities[2].mergeRules.properties.map(\.rule) == [.maximum, .fillNil, .fillNil])
        #expect(!schema.entities[2].mergeRules.keepsStored)
    }

    @Test("A schema refuses rules that do not fit, and names where they stand")
    func misfits() {
        let wrong: [(String, (inout EntityDescription) -> Void)] = [
            ("Article.title", { $0.attributes[0].mergeRule = .sum }),
            ("Article.title", { $0.attributes[0].mergeRule = .union }),
            ("Article.title", { $0.attributes[0].mergeRule = .newest(by: "nothing") }),
            ("Article.title", { $0.attributes[0].mergeRule = .newest(by: "picture") }),
            ("Article.title", { $0.attributes[0].userInfo[MergeRule.userInfoKey] = "sums" }),
            ("Article.tags", { $0.relationships[0].mergeRule = .store }),
            ("Article.tags", { $0.relationships[0].mergeRule = .maximum }),
            ("Article.first", { $0.relationships[1].mergeRule = .union }),
            ("Article", { $0.mergeRule = .sum }),
            ("Article", { $0.mergeRule = .newest(by: "tags") }),
            ("Article", { $0.userInfo[MergeRule.userInfoKey] = "" }),
        ]
        for (element, change) in wrong {
            let error = #expect(throws: ModelError.self) { try Schema(Self.model(change)) }
            #expect(error?.code == .invalidValue && error?.element == element)
        }
        var city = AttributeDescription("city", .string)
        city.mergeRule = .fillNil
        var home = AttributeDescription("home", .composite)
        home.elements = [city]
        let model = ManagedObjectModel(entities: [EntityDescription("Person", attributes: [home])])
        let error = #expect(throws: ModelError.self) { try Schema(model) }
        #expect(error?.element == "Person.home.city")
    }
}

// How models are kept: nothing is lost, the usual is left out, and what is missing is usual.

import CairnModel
import Foundation
import Testing

@Suite("Keeping models as JSON")
struct ModelCodingTests {
    /// A description in which no property has its usual value.
    private static let attribute: AttributeDescription = {
        var attribute = AttributeDescription(
            "a", .string, optional: false, default: .string("x"))
        attribute.isTransient = true
        attribute.minimumValue = .integer(1)
        attribute.maximumValue = .integer(2)
        attribute.minimumLength = 3
        attribute.maximumLength = 4
        attribute.regularExpression = "r"
        attribute.setValidationPredicates(
            [.compare(.evaluatedObject, .notEqual, .constant(.string("s")))],
            withValidationWarnings: ["w"])
        attribute.derivationExpression = "d"
        attribute.elements = [AttributeDescription("e", .double)]
        attribute.compositeName = "c"
        attribute.valueTransformerName = "v"
        attribute.customClassName = "k"
        attribute.allowsExternalBinaryDataStorage = true
        attribute.preservesValueInHistoryOnDeletion = true
        attribute.usesScalarValueType = true
        attribute.renamingIdentifier = "o"
        attribute.versionHashModifier = "m"
        attribute.userInfo = ["u": "i"]
        attribute.otherMarks = ["syncable": "YES"]
        return attribute
    }()

    private static let relationship: RelationshipDescription = {
        var relationship = RelationshipDescription(
            "r", to: "E", toMany: true, inverse: "i", deleteRule: .deny)
        relationship.isOrdered = true
        relationship.isOptional = false
        relationship.isTransient = true
        relationship.minimumCount = 1
        relationship.maximumCount = 2
        relationship.renamingIdentifier = "o"
        relationship.versionHashModifier = "m"
        relationship.userInfo = ["u": "i"]
        relationship.otherMarks = ["x": "y"]
        return relationship
    }()

    private static let index: FetchIndexDescription = {
        var element = FetchIndexDescription.Element(expression: "a + 1", type: "Double")
        element.kind = .rTree
        element.isAscending = false
        var index = FetchIndexDescription("i", elements: [element, .init("a")])
        index.form = .compoundIndex
        index.partialIndexPredicate = "p"
        index.userInfo = ["u": "i"]
        index.otherMarks = ["x": "y"]
        return index
    }()

    private static let property: FetchedPropertyDescription = {
        var property = FetchedPropertyDescription("f", entityName: "E", predicateFormat: "p")
        property.sortDescriptors = [SortKey("s", ascending: false)]
        property.isOptional = false
        property.userInfo = ["u": "i"]
        property.otherMarks = ["x": "y"]
        return property
    }()

    private static let template: FetchRequestTemplate = {
        var template = FetchRequestTemplate("t", entityName: "E", predicateFormat: "p")
        template.fetchLimit = 1
        template.fetchBatchSize = 2
        template.resultType = 3
        template.includesSubentities = false
        template.includesPropertyValues = false
        template.includesPendingChanges = false
        template.returnsObjectsAsFaults = false
        template.returnsDistinctResults = true
        template.otherMarks = ["x": "y"]
        return template
    }()

    private static let entity: EntityDescription = {
        var entity = EntityDescription(
            "E", attributes: [attribute], relationships: [relationship],
            uniquenessConstraints: [["a"]])
        entity.managedObjectClassName = "c"
        entity.isAbstract = true
        entity.superentityName = "s"
        entity.fetchedProperties = [property]
        entity.uniquenessRules = [UniquenessRule(["a"], nilsAreEqual: true)]
        entity.indexes = [index]
        entity.renamingIdentifier = "o"
        entity.versionHashModifier = "m"
        entity.userInfo = ["u": "i"]
        entity.otherMarks = ["x": "y"]
        return entity
    }()

    private static let model: ManagedObjectModel = {
        var model = ManagedObjectModel(entities: [entity])
        model.configurations = ["c": ["E"]]
        model.composites = [CompositeDescription("c", elements: [attribute])]
        model.fetchRequestTemplates = [template]
        model.versionIdentifiers = ["1"]
        model.otherMarks = ["x": "y"]
        return model
    }()

    /// Every stored property is written, and read back.
    private func checkAll<T: Codable & Equatable>(_ value: T) throws {
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(T.self, from: data) == value)
        let written = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let stored = Mirror(reflecting: value).children.compactMap(\.label)
        #expect(Set(written.keys) == Set(stored), "\(T.self)")
    }

    @Test("No property of any description is forgotten")
    func complete() throws {
        try checkAll(Self.attribute)
        try checkAll(Self.relationship)
        try checkAll(Self.index)
        try checkAll(Self.property)
        try checkAll(Self.template)
        try checkAll(Self.entity)
        try checkAll(Self.model)
    }

    @Test("What is usual is not written")
    func short() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription("E", attributes: [.init("a", .string)])
        ])
        #expect(
            try model.json() == """
                {
                  "entities" : [
                    {
                      "attributes" : [
                        {
                          "name" : "a",
                          "type" : "string"
                        }
                      ],
                      "name" : "E"
                    }
                  ]
                }

                """)
    }

    @Test("What is missing is usual, and what is not known is passed over")
    func tolerant() throws {
        let model = try ManagedObjectModel(
            json: """
                {"entities": [{"name": "E", "fromTheFuture": 1, "attributes":
                [{"name": "a", "type": "string", "hologram": true}]}]}
                """)
        #expect(
            model
                == ManagedObjectModel(entities: [
                    EntityDescription("E", attributes: [.init("a", .string)])
                ]))
        #expect(try ManagedObjectModel(json: "{}") == ManagedObjectModel())
    }

    @Test(
        "What is no model is an error",
        arguments: [
            "", "[]", "{\"entities\": [{}]}", "{\"entities\": [{\"name\": 5}]}",
            "{\"entities\": [{\"name\": \"E\", \"attributes\": [{\"name\": \"a\", \"type\": \"tensor\"}]}]}",
        ])
    func broken(_ text: String) {
        #expect(throws: (any Error).self) { try ManagedObjectModel(json: text) }
    }
}

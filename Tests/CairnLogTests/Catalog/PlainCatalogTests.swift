// Schema documents are read without the general decoder where they can be, and never otherwise than with it.

import CairnModel
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnLog

@Suite("Reading schema documents without the general decoder")
struct PlainCatalogTests {
    /// As much of what a model can say as plain documents have.
    private static let model: ManagedObjectModel = {
        var text = AttributeDescription("text", .string, optional: false, default: .string("é日x"))
        text.minimumLength = 1
        text.maximumLength = 80
        text.regularExpression = "[a-z]+"
        text.renamingIdentifier = "title"
        text.versionHashModifier = "2"
        text.userInfo = ["a": "1", "b": "", "ü": "3"]
        text.otherMarks = ["syncable": "YES"]
        var number = AttributeDescription("number", .integer64, default: .integer(-7))
        number.minimumValue = .integer(.min + 1)
        number.maximumValue = .integer(.max)
        number.usesScalarValueType = true
        var bytes = AttributeDescription("bytes", .binary)
        bytes.allowsExternalBinaryDataStorage = true
        bytes.preservesValueInHistoryOnDeletion = true
        var derived = AttributeDescription("derived", .double, default: .double(-0.1))
        derived.derivationExpression = "children.@count"
        var cache = AttributeDescription("cache", .undefined)
        cache.isTransient = true
        var value = AttributeDescription("value", .transformable)
        value.valueTransformerName = "T"
        value.customClassName = "C"
        var colour = AttributeDescription("colour", .composite)
        colour.compositeName = "Colour"
        colour.elements = [
            AttributeDescription("r", .float, default: .float(0.5)),
            AttributeDescription("on", .boolean, default: .boolean(true)),
        ]
        var parent = EntityDescription(
            "Parent",
            attributes: [
                text, number, bytes, derived, cache, value, colour,
                .init("at", .date, default: .date(.init(timeIntervalSinceReferenceDate: 1.5))),
            ],
            relationships: [
                .init(
                    "children", to: "Child", toMany: true, inverse: "parent", deleteRule: .cascade)
            ], uniquenessConstraints: [["text"], ["number", "text"]])
        parent.managedObjectClassName = "P"
        parent.renamingIdentifier = "Old"
        parent.versionHashModifier = "1"
        parent.userInfo = ["k": "v"]
        parent.otherMarks = ["x": "y"]
        var byExpression = FetchIndexDescription.Element(
            expression: "length(text)", type: "Integer 64")
        byExpression.kind = .rTree
        byExpression.isAscending = false
        var index = FetchIndexDescription("byText", elements: [.init("text"), byExpression])
        index.form = .compoundIndex
        index.partialIndexPredicate = "number > 0"
        index.userInfo = ["i": "1"]
        index.otherMarks = ["j": "2"]
        parent.indexes = [index]
        var base = EntityDescription("Base", attributes: [.init("name", .string)])
        base.isAbstract = true
        var one = RelationshipDescription("parent", to: "Parent", inverse: "children")
        one.isOptional = false
        one.renamingIdentifier = "owner"
        one.versionHashModifier = "3"
        one.userInfo = ["a": "b"]
        one.otherMarks = ["c": "d"]
        var many = RelationshipDescription("others", to: "Child", toMany: true)
        many.minimumCount = 1
        many.maximumCount = 9
        var child = EntityDescription("Child", relationships: [one, many])
        child.superentityName = "Base"
        var model = ManagedObjectModel(entities: [parent, base, child])
        model.versionIdentifiers = ["1", "two"]
        model.otherMarks = ["type": "x"]
        return model
    }()

    private static func plain(_ bytes: [UInt8]) -> Catalog? {
        bytes.withUnsafeBytes { CatalogDocument.decodePlain($0) }
    }

    private static func any(_ bytes: [UInt8]) -> Catalog? {
        bytes.withUnsafeBytes { try? CatalogDocument.decodeAny($0) }
    }

    private static func document(_ model: ManagedObjectModel) throws -> [UInt8] {
        try CatalogDocument.encode(Catalog(new: Schema(model)))
    }

    @Test("What a store writes of a model is plain, and read as it was")
    func written() throws {
        let bytes = try Self.document(Self.model)
        #expect(Self.plain(bytes)?.schema.model == Self.model)
        #expect(Self.any(bytes)?.schema.model == Self.model)
    }

    @Test("Models with what is seldom in one are read by the general decoder")
    func seldom() throws {
        var model = Self.model
        model.configurations = ["c": ["Parent"]]
        model.entities[0].attributes[0].defaultValue = .string("a \"quoted\" text")
        let bytes = try Self.document(model)
        #expect(Self.plain(bytes) == nil)
        #expect(Self.any(bytes)?.schema.model == model)
        let decoded = try bytes.withUnsafeBytes { try CatalogDocument.decode($0) }
        #expect(decoded.schema.model == model)
    }

    private static let words = """
        { } [ ] , : " null true false -1 -0 01 1e2 1.0 4294967296 18446744073709551616 "entities" "name" "type" "id"
        "isOptional":false, "isToMany":false "maximumCount":1, "minimumLength":3, "tree":1 "other":1, "kind":"binary" "isAscending":true, "form":"indexed", \\u0041 \\n é {} []
        """.split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }

    @Test("A changed document that is read without the general decoder is read alike with it")
    func changed() throws {
        let whole = try Self.document(Self.model)
        var read = 0
        var passed = 0
        Rounds.run("changed schema documents", everyDay: 1500, whole: 300_000) { random in
            var bytes = whole
            if random.oneIn(3) {
                // A digit or letter for another: mostly the document stays one.
                let at = Int.random(in: 0..<bytes.count, using: &random)
                if bytes[at] >= 48, bytes[at] != UInt8(ascii: "\\") { bytes[at] ^= 1 }
            } else {
                random.mutate(&bytes, words: Self.words)
            }
            guard let plain = Self.plain(bytes) else {
                passed += 1
                return
            }
            read += 1
            let any = Self.any(bytes)
            if any?.schema.model != plain.schema.model || any?.version != plain.version {
                Issue.record(
                    "seed \(random.seed): read otherwise: \(String(decoding: bytes, as: UTF8.self))"
                )
            }
        }
        #expect(read > 0 && passed > 0)
    }
}

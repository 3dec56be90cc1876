// The model that a store of Core Data has of itself.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnCoreData
@testable import CairnTool

@Suite("The model in a store of Core Data")
struct ArchivedModelTests {
    /// A predicate that compares.
    private func comparison(
        _ writer: inout ArchiveWriter, _ left: ListNode, _ type: Int64, _ right: ListNode,
        options: Int64 = 0
    ) -> ListNode {
        var members: [(String, ListNode)] = [
            ("NSModifier", .integer(0)), ("NSOperatorType", .integer(type)),
            ("NSOptions", .integer(options)),
        ]
        if type == 4 || type == 5 { members.append(("NSNegate", .boolean(type == 5))) }
        let operation = writer.object("NSComparisonPredicateOperator", members)
        return writer.object(
            "NSComparisonPredicate",
            [
                ("NSLeftExpression", left), ("NSRightExpression", right),
                ("NSPredicateOperator", operation),
            ])
    }

    private func constant(_ writer: inout ArchiveWriter, _ value: ListNode) -> ListNode {
        writer.object("NSConstantValueExpression", [("NSConstantValue", value)])
    }

    private func itself(_ writer: inout ArchiveWriter) -> ListNode {
        writer.object("NSSelfExpression", [("NSExpressionType", .integer(1))])
    }

    private func path(_ writer: inout ArchiveWriter, _ text: String) -> ListNode {
        let name = writer.text(text)
        let key = writer.object("NSKeyPathSpecifierExpression", [("NSKeyPath", name)])
        let arguments = writer.array([key])
        let operand = itself(&writer)
        return writer.object(
            "NSKeyPathExpression", [("NSArguments", arguments), ("NSOperand", operand)])
    }

    /// The archive of a model with two entities, one of the other, and a third with what they lead to.
    ///
    /// - Parameters:
    ///   - conditions: more validation predicates of `Thing.name`.
    ///   - derivations: more attributes of `Thing`, texts, that are derived.
    ///   - change: what else `Thing` has.
    private func archive(
        conditions: [ArchivedCondition] = [], derivations: [(String, ArchivedNode)] = [],
        _ change: (inout ArchiveWriter) -> [(String, ListNode)] = { _ in [] }
    ) -> [UInt8] {
        var writer = ArchiveWriter()
        let top = writer.room()
        let thing = writer.room()
        func attribute(
            _ writer: inout ArchiveWriter, _ name: String, _ type: Int64,
            _ more: [(String, ListNode)] = []
        ) -> (String, ListNode) {
            let title = writer.text(name)
            return (
                name,
                writer.object(
                    "NSAttributeDescription",
                    [
                        ("NSPropertyName", title), ("NSAttributeType", .integer(type)),
                        ("NSRenamingIdentifier", title), ("NSFlagsKey", .integer(0)),
                        ("NSIsOptional", .boolean(true)),
                    ] + more)
            )
        }
        var limits: [ListNode] = []
        for (type, number) in [(3, 2), (1, 9)] as [(Int64, Int64)] {
            let left = path(&writer, "length")
            let right = constant(&writer, .integer(number))
            limits.append(comparison(&writer, left, type, right))
        }
        let left = itself(&writer)
        let right = constant(&writer, .text("it's \\ new"))
        limits.append(comparison(&writer, left, 99, right, options: 3))
        let unwanted = constant(&writer, .text("none"))
        limits.append(comparison(&writer, left, 5, unwanted))
        for condition in conditions { limits.append(condition.add(to: &writer)) }
        let predicates = writer.array(limits)
        let warnings = writer.array([.text(""), .text(""), .text("say new"), .text("")])
        let count = path(&writer, "parts")
        let arguments = writer.array([count])
        let expression = writer.object(
            "NSFunctionExpression",
            [("NSSelectorName", .text("count:")), ("NSArguments", arguments)])
        let decimal = writer.object(
            "NSDecimalNumber",
            [
                ("NS.exponent", .integer(-2)), ("NS.length", .integer(1)),
                ("NS.negative", .boolean(true)), ("NS.mantissa.bo", .integer(1)),
                ("NS.mantissa", .data([0xCF, 0x07] + [UInt8](repeating: 0, count: 14))),
            ])
        let derived = derivations.map { name, expression in
            let node = expression.add(to: &writer)
            return attribute(&writer, name, 700, [("NSDerivationExpression", node)])
        }
        var properties: [(String, ListNode)] = [
            attribute(
                &writer, "name", 700,
                [("NSValidationPredicates", predicates), ("NSValidationWarnings", warnings)]),
            attribute(&writer, "price", 400, [("NSDefaultValue", decimal)]),
            attribute(&writer, "image", 1000, [("NSFlagsKey", .integer(4))]),
            attribute(
                &writer, "partCount", 300, [("NSDerivationExpression", expression)]),
            (
                "parts",
                writer.object(
                    "NSRelationshipDescription",
                    [
                        ("NSMaxCount", .integer(0)), ("NSIsOptional", .boolean(true)),
                        ("NSIsOrdered", .boolean(true)), ("NSDeleteRule", .integer(2)),
                        ("_NSDestinationEntityName", .text("Part")),
                        ("_NSInverseRelationshipName", .text("thing")),
                    ])
            ),
        ]
        properties += derived
        let own = writer.dictionary(properties)
        let tuple = writer.array([.text("name")])
        let tuples = writer.array([tuple])
        let more = change(&writer)
        writer.fill(
            thing, "NSEntityDescription",
            [
                ("NSEntityName", .text("Thing")), ("NSProperties", own),
                ("NSUniqueTuples", tuples), ("NSIsAbstract", .boolean(false)),
            ] + more)
        let size = attribute(&writer, "size", 500)
        let all = writer.dictionary(properties + [size])
        let big = writer.object(
            "NSEntityDescription",
            [
                ("NSEntityName", .text("Bíg")), ("NSSuperentity", .reference(thing)),
                ("NSProperties", all), ("NSRenamingIdentifier", .text("Large")),
            ])
        let back: (String, ListNode) = (
            "thing",
            writer.object(
                "NSRelationshipDescription",
                [
                    ("NSMaxCount", .integer(1)), ("NSIsOptional", .boolean(true)),
                    ("_NSDestinationEntityName", .text("Thing")),
                    ("_NSInverseRelationshipName", .text("parts")),
                ])
        )
        let backs = writer.dictionary([back])
        let part = writer.object(
            "NSEntityDescription", [("NSEntityName", .text("Part")), ("NSProperties", backs)])
        let entities = writer.dictionary([
            ("Thing", .reference(thing)), ("Bíg", big), ("Part", part),
        ])
        let versions = writer.array([.text("v7")])
        writer.fill(
            top, "NSManagedObjectModel",
            [("NSEntities", entities), ("NSVersionIdentifiers", versions)])
        return writer.bytes(of: .reference(top))
    }

    @Test("an archive is read: inheritance, limits, defaults, derivations, relationships")
    func reading() throws {
        let archive = try #require(KeyedArchive(archive()))
        var model = try #require(ArchivedModel(archive))
        let schema = try model.schema()
        #expect(model.remarks == [])
        #expect(model.model.versionIdentifiers == ["v7"])
        #expect(schema.entities.map(\.name) == ["Bíg", "Part", "Thing"])
        let thing = try #require(model.model.entity(named: "Thing"))
        #expect(thing.uniquenessConstraints == [["name"]])
        #expect(thing.attributes.map(\.name) == ["image", "name", "partCount", "price"])
        let name = thing.attributes[1]
        #expect(name.minimumLength == 2 && name.maximumLength == 9)
        #expect(name.validationWarnings == ["say new", ""])
        #expect(
            name.validationPredicates.map(\.predicateFormat) == [
                #"SELF CONTAINS[cd] 'it\'s \\ new'"#, "SELF != 'none'",
            ])
        #expect(thing.attributes[0].allowsExternalBinaryDataStorage)
        #expect(thing.attributes[2].derivationExpression == "parts.@count")
        #expect(
            thing.attributes[3].defaultValue == .decimal(try #require(Decimal(string: "-19.99"))))
        #expect(thing.relationships[0].isToMany && thing.relationships[0].isOrdered)
        #expect(thing.relationships[0].deleteRule == .cascade)
        let big = try #require(model.model.entity(named: "Bíg"))
        #expect(big.superentityName == "Thing" && big.renamingIdentifier == "Large")
        #expect(big.attributes.map(\.name) == ["size"] && big.relationships.isEmpty)
    }

    @Test("a store is imported with its own model; a given model must be the same")
    func store() throws {
        let work = try CoreDataWorkplace()
        let file = try CoreDataFile(
            work.old, entities: [(1, "Part", 0, 2), (2, "Thing", 0, 1), (3, "Bíg", 2, 0)])
        try file.run(
            """
            CREATE TABLE ZPART (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTHING INTEGER,
                Z2_THING INTEGER, Z_FOK_THING INTEGER);
            CREATE TABLE ZTHING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPARTCOUNT INTEGER,
                ZSIZE FLOAT, ZPRICE DECIMAL, ZNAME VARCHAR, ZIMAGE BLOB);
            INSERT INTO Z_MODELCACHE VALUES (\(CoreDataFile.blob(ArchiveWriter.packed(archive()))));
            """)
        try ClubStore.add("ZTHING", 1, 3, ["ZPARTCOUNT": "2", "ZSIZE": "1.5"], to: file)
        try ClubStore.add("ZPART", 1, 1, ["ZTHING": "1", "Z_FOK_THING": "2048"], to: file)
        try ClubStore.add("ZPART", 2, 1, ["ZTHING": "1", "Z_FOK_THING": "1024"], to: file)
        let run = cairn("import-coredata", work.old, work.new)
        #expect(run.code == 0, "\(run.errors)")
        let store = try ImportedStore(work.new)
        #expect(try store.value("Bíg", 1, "partCount") == .integer(2))
        #expect(try store.members("Thing", 1, "parts") == [2, 1])

        var model = store.schema.model
        for index in model.entities.indices where model.entities[index].name == "Thing" {
            model.entities[index].attributes[0] = .init("image", .transformable)
            model.entities[index].relationships[0].isOrdered = false
        }
        try Data(try model.json().utf8).write(to: URL(fileURLWithPath: work.model))
        let other = CairnToolTests.run([
            "import-coredata", work.old, work.folder.path("other.cairn"), "--model", work.model,
        ])
        #expect(other.code == 1)
        #expect(
            other.errors.contains(
                "the store was written with another model: Thing.image is binary in the store and transformable in the model; Thing.parts is to-many, ordered, to Part in the store and to-many, to Part in the model"
            ), "\(other.errors)")
    }

    @Test("parts that have no form here are left out, and named")
    func leftOut() throws {
        let bytes = archive { writer in
            let broken = writer.object("NSBlockPredicate", [])
            let element = writer.object(
                "NSFetchIndexElementDescription", [("NSPropertyName", .text("name"))])
            let elements = writer.array([element])
            let index = writer.object(
                "NSFetchIndexDescription",
                [
                    ("NSIndexName", .text("byName")), ("NSIndexElements", elements),
                    ("NSPartialIndexPredicate", broken),
                ])
            let indexes = writer.array([index])
            return [("NSFetchIndexDescriptions", indexes)]
        }
        let archive = try #require(KeyedArchive(bytes))
        let model = try #require(ArchivedModel(archive))
        #expect(
            model.remarks == [
                "the model's index byName of Thing is left out: its predicate cannot be written as text: it has a predicate of the class NSBlockPredicate"
            ])
    }

    /// A path that a tree can have, and that no text is read into.
    private static let endless = Array(repeating: "@count", count: 450).joined(separator: ".")

    @Test("what cannot be asked or read back is left out by itself, and the rest stays")
    func single() throws {
        let bytes = archive(
            conditions: [
                .other("NSBlockPredicate"),
                .compared(.call(.constant(.text("x")), "launch", []), 4, .constant(.null)),
                .compared(.itself, 6, .constant(.text("("))),
                .compared(.path(Self.endless), 4, .constant(.integer(1))),
                .compared(.itself, 5, .constant(.text("nobody"))),
            ],
            derivations: [
                ("upper", .function("uppercase:", [.path("name")])),
                ("odd", .function("uppercase:", [.path("nothing")])),
                ("endless", .path(Self.endless)),
            ])
        let archive = try #require(KeyedArchive(bytes))
        var model = try #require(ArchivedModel(archive))
        _ = try model.schema()
        let thing = try #require(model.model.entity(named: "Thing"))
        let attributes = Dictionary(uniqueKeysWithValues: thing.attributes.map { ($0.name, $0) })
        let name = try #require(attributes["name"])
        #expect(
            name.validationPredicates.map(\.predicateFormat) == [
                #"SELF CONTAINS[cd] 'it\'s \\ new'"#, "SELF != 'none'", "SELF != 'nobody'",
            ])
        #expect(name.validationWarnings == ["say new", "", ""])
        #expect(name.minimumLength == 2 && name.regularExpression == nil)
        #expect(
            attributes.compactMapValues(\.derivationExpression) == [
                "upper": "uppercase:(name)", "partCount": "parts.@count",
            ])
        let left = "a validation predicate of the model's Thing.name is left out: "
        let underived = " is no longer derived, and keeps the value it has: "
        let expected = [
            "the model's Thing.endless\(underived)its format could not be parsed: ",
            left + "it has a predicate of the class NSBlockPredicate", left,
            left + "its format could not be parsed: ",
            "the pattern of the model's Thing.name cannot be used and is left out: ",
            "the model's Thing.odd\(underived)invalid derivation \"uppercase:(nothing)\": ",
        ]
        #expect(model.remarks.count == expected.count)
        for (remark, start) in zip(model.remarks, expected) {
            #expect(remark.hasPrefix(start), "\(remark)")
        }
    }

    @Test("predicates of indexes, fetched properties and fetch requests are those that read back")
    func unreadable() throws {
        var writer = ArchiveWriter()
        func request(_ path: String) -> ListNode {
            let condition = ArchivedCondition.compared(.path(path), 4, .constant(.integer(1)))
                .add(to: &writer)
            return writer.object(
                "NSFetchRequest", [("NSEntityName", .text("Thing")), ("NSPredicate", condition)])
        }
        func fetched(_ path: String) -> ListNode {
            let request = request(path)
            return writer.object(
                "NSFetchedPropertyDescription",
                [("_NSFetchRequestEntityName", .text("Thing")), ("NSFetchRequest", request)])
        }
        func index(_ name: String, _ path: String) -> ListNode {
            let condition = ArchivedCondition.compared(.path(path), 4, .constant(.integer(1)))
                .add(to: &writer)
            let element = writer.object(
                "NSFetchIndexElementDescription", [("NSPropertyName", .text("amount"))])
            let elements = writer.array([element])
            return writer.object(
                "NSFetchIndexDescription",
                [
                    ("NSIndexName", .text(name)), ("NSIndexElements", elements),
                    ("NSPartialIndexPredicate", condition),
                ])
        }
        let attribute = writer.object(
            "NSAttributeDescription",
            [("NSPropertyName", .text("amount")), ("NSAttributeType", .integer(300))])
        let properties = writer.dictionary([
            ("amount", attribute), ("equals", fetched("amount")), ("others", fetched(Self.endless)),
        ])
        let indexes = writer.array([index("byAmount", "amount"), index("byDepth", Self.endless)])
        let thing = writer.object(
            "NSEntityDescription",
            [
                ("NSEntityName", .text("Thing")), ("NSProperties", properties),
                ("NSFetchIndexDescriptions", indexes),
            ])
        let entities = writer.dictionary([("Thing", thing)])
        let templates = writer.dictionary([
            ("deep", request(Self.endless)), ("one", request("amount")),
        ])
        let top = writer.object(
            "NSManagedObjectModel",
            [("NSEntities", entities), ("NSFetchRequestTemplates", templates)])
        let archive = try #require(KeyedArchive(writer.bytes(of: top)))
        var model = try #require(ArchivedModel(archive))
        _ = try model.schema()
        let reason =
            " is left out: its predicate cannot be written as text: its format could not be parsed: "
        let parts = [
            "fetched property Thing.others", "index byDepth of Thing", "fetch request deep",
        ]
        #expect(model.remarks.count == parts.count)
        for (remark, part) in zip(model.remarks, parts) {
            #expect(remark.hasPrefix("the model's \(part)\(reason)"), "\(remark)")
        }
        let entity = try #require(model.model.entity(named: "Thing"))
        #expect(entity.fetchedProperties.map(\.predicateFormat) == ["amount == 1"])
        #expect(entity.indexes.map(\.partialIndexPredicate) == ["amount == 1"])
        #expect(model.model.fetchRequestTemplates.map(\.predicateFormat) == ["amount == 1"])
    }

    @Test("archives whose bytes are changed are models or none, never a trap")
    func mutations() throws {
        let original = archive()
        var models = 0
        let words = ["NSProperties", "NSEntities", "$class", "NS.objects"].map { Array($0.utf8) }
        Rounds.run(#function, everyDay: 2_000, whole: 1_000_000) { random in
            var bytes = original
            random.mutate(&bytes, words: words)
            guard let archive = KeyedArchive(bytes), var model = ArchivedModel(archive) else {
                return
            }
            models += 1
            _ = try? model.schema()
        }
        printLine("mutations: \(models) were models")
    }

    @Test("what is packed badly, or unpacks to too much, is nothing")
    func unpacking() {
        let bytes = archive()
        let packed = ArchiveWriter.packed(bytes)
        #expect(Inflate.unpacked(packed) == bytes)
        #expect(Inflate.unpacked(Array(packed.dropLast())) == nil)
        #expect(Inflate.unpacked([]) == nil)
        #expect(Inflate.unpacked([0xFF, 0xFF, 0xFF]) == nil)
        let large = [UInt8](repeating: 0, count: Inflate.limit + (1 << 20))
        #expect(Inflate.unpacked(ArchiveWriter.packed(large)) == nil)
    }

    @Test("property lists of XML are read as binary ones are")
    func lists() {
        let xml = """
            <?xml version="1.0"?><plist version="1.0"><dict><key>a</key><integer>-3</integer>\
            <key>b</key><array><true/><string>x</string><real>1.5</real></array>\
            <key>c</key><data>AAEC</data></dict></plist>
            """
        let expected = PropertyList.dictionary([
            "a": .integer(-3), "b": .array([.boolean(true), .text("x"), .real(1.5)]),
            "c": .data([0, 1, 2]),
        ])
        #expect(PropertyList(Array(xml.utf8)) == expected)
        let binary = ListWriter.bytes(
            .dictionary([
                ("a", .integer(-3)), ("b", .array([.boolean(true), .text("x"), .real(1.5)])),
                ("c", .data([0, 1, 2])),
            ]))
        #expect(PropertyList(binary) == expected)
        #expect(PropertyList(Array("bplist00".utf8)) == nil)
        #expect(PropertyList([]) == nil)
    }
}

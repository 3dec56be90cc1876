// Mapping models of Xcode: what they say, and what is wrong with some. The files are written here, in the shape that Xcode writes.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnModel

@Suite("Mapping models of Xcode")
struct MappingModelReadingTests {
    private static let vehicles: [EntityDescription] = {
        var vehicle = EntityDescription(
            "Vehicle", attributes: [.init("plate", .string)],
            relationships: [.init("owner", to: "Person", inverse: "vehicles")])
        vehicle.isAbstract = true
        var car = EntityDescription("Car", attributes: [.init("doors", .integer16)])
        car.superentityName = "Vehicle"
        var bike = EntityDescription("Bike")
        bike.superentityName = "Vehicle"
        return [vehicle, car, bike]
    }()

    /// People with vehicles.
    private static let old: ManagedObjectModel = {
        var address = AttributeDescription("address", .composite)
        address.elements = [.init("city", .string)]
        return ManagedObjectModel(
            entities: vehicles + [
                EntityDescription(
                    "Person",
                    attributes: [
                        .init("given", .string), .init("family", .string), .init("age", .integer16),
                        .init("note", .string), address,
                    ],
                    relationships: [
                        .init("vehicles", to: "Vehicle", toMany: true, inverse: "owner")
                    ]),
                EntityDescription("Place", attributes: [.init("name", .string)]),
            ])
    }()

    /// People have one name and badges.
    private static let new: ManagedObjectModel = {
        var address = AttributeDescription("address", .composite)
        address.elements = [.init("city", .string)]
        var sorting = AttributeDescription("sorting", .string)
        sorting.derivationExpression = "canonical:(name)"
        var cache = AttributeDescription("cache", .string)
        cache.isTransient = true
        return ManagedObjectModel(
            entities: vehicles + [
                EntityDescription(
                    "Person",
                    attributes: [
                        .init("name", .string), .init("age", .integer64), .init("note", .string),
                        .init("level", .integer16), address, sorting, cache,
                    ],
                    relationships: [
                        .init("vehicles", to: "Vehicle", toMany: true, inverse: "owner"),
                        .init("badges", to: "Badge", toMany: true, inverse: "person"),
                        .init("garage", to: "Garage", inverse: "people"),
                    ]),
                EntityDescription(
                    "Badge", attributes: [.init("title", .string)],
                    relationships: [.init("person", to: "Person", inverse: "badges")]),
                EntityDescription(
                    "Garage", attributes: [.init("name", .string)],
                    relationships: [
                        .init("people", to: "Person", toMany: true, inverse: "garage")
                    ]),
            ])
    }()

    /// What becomes of one in the other.
    private static let text = MappingText([
        .init(
            from: "Person", to: "Person",
            [
                .attribute(
                    "name",
                    .call(
                        .variable("entityPolicy"), "fullNameOf:and:",
                        [.source("given"), .source("family")])),
                .attribute("age"), .attribute("note"), .attribute("address"),
                .attribute("level"), .attribute("sorting"), .attribute("cache"),
                .relationship("vehicles"), .relationship("garage"),
                .relationship(
                    "badges", nil,
                    ["sourcekeypath": "$source", "sourcemappingname": "PersonToBadge"]),
            ],
            [
                "migrationpolicyclassname": "Shop.PersonPolicy",
                "userinfodata": MappingText.userInfo([("sourceVersion", "v1.2")]),
            ]),
        .init(
            from: "Person", to: "Badge",
            [
                .attribute("title", .source("note")),
                // Written by somebody, though it was to be generated.
                .relationship(
                    "person", .destinations("PersonToPerson", .variable("source"))),
            ], ["sourcefilterpredicatestring": "note != nil && age > 17"]),
        .init(from: "Vehicle", to: "Vehicle", [.attribute("plate"), .relationship("owner")]),
        .init(
            from: "Car", to: "Car",
            [.attribute("plate"), .attribute("doors"), .relationship("owner")],
            ["name": "Cars"]),
        .init(
            from: "Bike", to: "Bike",
            [
                .attribute("plate", .constant(.text("none"))),
                .relationship("owner", nil, ["autogenerateexpression": "0"]),
            ]),
        .init(to: "Garage", [.attribute("name"), .relationship("people")]),
        .init(from: "Place"),
    ])

    private static func read(_ xml: String, file: String? = nil) throws(ModelError)
        -> MappingModel
    {
        try MappingModel(
            xml: Data(xml.utf8), file: file, forSourceModel: old, destinationModel: new)
    }

    private static func lines(_ mapping: EntityMapping?) -> [String] {
        ((mapping?.attributeMappings ?? []) + (mapping?.relationshipMappings ?? [])).map {
            "\($0.name) <- \($0.valueExpression.map(\.expressionFormat) ?? "?")"
        }
    }

    @Test("A mapping model says what Xcode shows, in its order")
    func reading() throws {
        let mapping = try Self.read(Self.text.xml)
        #expect(
            mapping.entityMappings.map { "\($0.name) \($0.mappingType)" } == [
                "PersonToPerson custom", "PersonToBadge transform", "Cars transform",
                "BikeToBike transform", "Garage add", "Place remove",
            ])
        let person = try #require(mapping["PersonToPerson"])
        #expect(person.entityMigrationPolicyClassName == "Shop.PersonPolicy")
        #expect(person.userInfo == ["sourceVersion": "v1.2"])
        let call = "FUNCTION($manager, 'destinationInstances'"
        #expect(
            Self.lines(person) == [
                "name <- FUNCTION($entityPolicy, 'fullNameOf:and:', $source.given, $source.family)",
                "age <- $source.age", "note <- $source.note", "address <- $source.address",
                "level <- ?", "vehicles <- \(call), $source.vehicles)", "garage <- ?",
                "badges <- \(call), 'PersonToBadge', $source)",
            ])
        let badge = try #require(mapping["PersonToBadge"])
        #expect(badge.sourcePredicate?.predicateFormat == "note != NULL AND age > 17")
        #expect(
            Self.lines(badge) == [
                "title <- $source.note",
                "person <- FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'PersonToPerson', $source)",
            ])
        #expect(
            Self.lines(mapping["Cars"]) == [
                "plate <- $source.plate", "doors <- $source.doors",
                "owner <- \(call), 'PersonToPerson', $source.owner)",
            ])
        #expect(Self.lines(mapping["BikeToBike"]) == ["plate <- 'none'", "owner <- ?"])
        #expect(Self.lines(mapping["Garage"]) == ["name <- ?", "people <- ?"])
    }

    @Test("Mappings come in the order of their numbers, whatever their place in the file")
    func numbers() throws {
        var text = Self.text
        text.entities[4].texts["mappingnumber"] = "-3"
        text.entities[0].texts["mappingnumber"] = "100"
        #expect(
            try Self.read(text.xml).entityMappings.map(\.name) == [
                "BikeToBike", "PersonToBadge", "Cars", "Garage", "Place", "PersonToPerson",
            ])
    }

    @Test("Objects that the mapping model does not lead to count for nothing")
    func leftBehind() throws {
        let whole = Self.text.xml
        let behind = """
            <object type="XDDEVENTITYMAPPING" id="z900">
                <attribute name="destinationname" type="string">Nothing</attribute>
                <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL"></relationship>
            </object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z901"/>
            <object type="XDDEVSOMETHINGNEW" id="z902"/>
            </database>
            """
        let mapping = try Self.read(
            whole.replacingOccurrences(of: "</database>", with: behind))
        #expect(mapping.entityMappings.count == 6)
    }

    @Test("Texts are read without Core Data's escapes, and what only looks like one stays")
    func escapes() throws {
        var text = MappingText([.init(from: "Place", to: "Garage", [], ["name": "PLACES"])])
        func name(_ written: String) throws -> String {
            let xml = text.xml.replacingOccurrences(of: "PLACES", with: written)
            return try Self.read(xml).entityMappings[0].name
        }
        #expect(try name("a\\u2600b\\u3c00\\u3e00") == "a&b<>")
        #expect(try name("a&amp;&#x41;<![CDATA[<]]>") == "a&A<")
        #expect(try name("\\u3dd8\\u00de") == "\u{1F600}")
        #expect(try name("\\u3dd8") == "\\u3dd8", "half a character")
        #expect(
            try name("\\u3dd8\\u2600\\u00de\\u3c00") == "\\u3dd8&\\u00de<", "halves beside others")
        #expect(try name("\\u26\\u-001\\uzzzz\\") == "\\u26\\u-001\\uzzzz\\")
        #expect(try name("\\u5c00u2600") == "\\u2600")
        text.entities[0].texts["sourcefilterpredicatestring"] = "name < 'b'"
        #expect(
            try Self.read(text.xml).entityMappings[0].sourcePredicate?.predicateFormat
                == "name < 'b'")
    }

    @Test("A key path without a mapping leads to what any made, and may lack its first step")
    func keyPaths() throws {
        func people(_ texts: [String: String]) throws -> String? {
            let text = MappingText([
                .init(from: "Car", to: "Garage", [.relationship("people", nil, texts)])
            ])
            return try Self.read(text.xml).entityMappings[0]["people"]?.valueExpression?
                .expressionFormat
        }
        let call = "FUNCTION($manager, 'destinationInstances'"
        #expect(try people([:]) == nil)
        #expect(try people(["sourcekeypath": "owner"]) == "\(call), $source.owner)")
        #expect(try people(["sourcekeypath": "$source.owner"]) == "\(call), $source.owner)")
        #expect(
            try people(["sourcekeypath": "owner", "sourcemappingname": "CarToGarage"])
                == "\(call), 'CarToGarage', $source.owner)")
        #expect(try people(["sourcemappingname": "CarToGarage"]) == nil)
    }

    @Test("Who names the mapping of an abstract entity means those of the entities below it")
    func abstractMappings() throws {
        func vehicles(_ texts: [String: String]) throws(ModelError) -> String? {
            var text = Self.text
            text.entities[0].properties[7].texts.merge(texts) { $1 }
            return try Self.read(text.xml)["PersonToPerson"]?["vehicles"]?.valueExpression?
                .expressionFormat
        }
        let any = "FUNCTION($manager, 'destinationInstances', $source.vehicles)"
        #expect(try vehicles(["sourcemappingname": "VehicleToVehicle"]) == any)
        #expect(
            try vehicles([
                "sourcemappingname": "VehicleToVehicle", "sourcekeypath": "$source.vehicles",
            ]) == any)
        #expect(
            try vehicles(["sourcemappingname": "Cars"])
                == "FUNCTION($manager, 'destinationInstances', 'Cars', $source.vehicles)")
        // A mapping of the same name that is there is the one that is meant.
        var text = Self.text
        text.entities[0].properties[7].texts["sourcemappingname"] = "Cars"
        text.entities[2].texts["name"] = "Cars"
        #expect(
            try Self.read(text.xml)["PersonToPerson"]?["vehicles"]?.valueExpression?
                .expressionFormat
                == "FUNCTION($manager, 'destinationInstances', 'Cars', $source.vehicles)")
    }

    // MARK: What is wrong

    /// A file with something wrong in it.
    struct Bad: Sendable, CustomTestStringConvertible {
        let name: String
        let code: ModelError.Code
        let element: String?
        let sentence: String
        var change: @Sendable (inout MappingText) -> Void = { _ in }
        var edit: @Sendable (String) -> String = { $0 }

        var testDescription: String { name }

        static let all: [Bad] = [
            Bad(
                name: "another file", code: .malformed, element: nil,
                sentence: "this is not a mapping model: the root element is model",
                edit: { _ in "<model/>" }),
            Bad(
                name: "no mapping model", code: .malformed, element: nil,
                sentence: "there is no mapping model in the file",
                edit: { _ in "<database></database>" }),
            Bad(
                name: "two mapping models", code: .malformed, element: nil,
                sentence: "there are 2 mapping models in the file",
                edit: {
                    $0.replacingOccurrences(
                        of: "</database>",
                        with: "<object type=\"XDDevMappingModel\" id=\"z1\"/></database>")
                }),
            Bad(
                name: "an id twice", code: .duplicateName, element: "z103",
                sentence: "the file has two objects with this id",
                edit: { $0.replacingOccurrences(of: "id=\"z104\"", with: "id=\"z103\"") }),
            Bad(
                name: "an object that is not there", code: .malformed, element: "z102",
                sentence: "entitymappings names z999, which is not in the file",
                edit: { $0.replacingOccurrences(of: "\"z103 z104", with: "\"z999 z104") }),
            Bad(
                name: "an object of another type", code: .malformed, element: "z102",
                sentence: "entitymappings names z102, which is of the type XDDEVMAPPINGMODEL",
                edit: { $0.replacingOccurrences(of: "\"z103 z104", with: "\"z102 z104") }),
            Bad(
                name: "no entity", code: .invalidElement, element: "z109",
                sentence: "the entity mapping names no entity",
                change: { $0.entities[6].source = nil }),
            Bad(
                name: "an entity that is not there", code: .unknownName, element: "ShopToGarage",
                sentence:
                    "the old model has no entity Shop; the file maps Shop.xcdatamodel to Shop 2.xcdatamodel",
                change: { $0.entities[5].source = "Shop" }),
            Bad(
                name: "an attribute that is not there", code: .unknownName,
                element: "Garage.size", sentence: "Garage has no attribute size",
                change: { $0.entities[5].properties.append(.attribute("size")) }),
            Bad(
                name: "a property without a name", code: .invalidElement, element: "Garage",
                sentence: "a property mapping has no name",
                change: { $0.entities[5].properties.append(.attribute("")) }),
            Bad(
                name: "a name twice", code: .duplicateName, element: "Cars",
                sentence: "two entity mappings have this name",
                change: { $0.entities[4].texts["name"] = "Cars" }),
            Bad(
                name: "a number that is none", code: .invalidElement, element: "Place",
                sentence: "mappingnumber is not a number: seven",
                change: { $0.entities[6].texts["mappingnumber"] = "seven" }),
            Bad(
                name: "a predicate that is none", code: .invalidMapping, element: "Place",
                sentence: "its filter predicate is invalid",
                change: { $0.entities[6].texts["sourcefilterpredicatestring"] = "name ==" }),
            Bad(
                name: "a predicate of other keys", code: .invalidMapping, element: "Place",
                sentence: "its predicate does not fit Place",
                change: { $0.entities[6].texts["sourcefilterpredicatestring"] = "size == 1" }),
            Bad(
                name: "a fetch of its own", code: .invalidMapping, element: "Place",
                sentence: "its source fetch is a custom expression",
                change: {
                    $0.entities[6].texts["autogenerateexpression"] = "0"
                    $0.entities[6].texts["sourceexpressiondata"] = MappingText.base64(
                        ArchivedNode.itself.archive)
                }),
            Bad(
                name: "broken base 64", code: .malformed, element: "Cars.plate",
                sentence: "valueexpressiondata is not written in base64",
                change: { $0.entities[3].properties[0].texts["valueexpressiondata"] = "YnB*" }),
            Bad(
                name: "no archive", code: .malformed, element: "Cars.plate",
                sentence: "its value expression is not a keyed archive",
                change: { $0.entities[3].properties[0].texts["valueexpressiondata"] = "YnBs" }),
            Bad(
                name: "no user info", code: .malformed, element: "Cars.plate",
                sentence: "its user info is not a keyed archive",
                change: { $0.entities[3].properties[0].texts["userinfodata"] = "YnBs" }),
            Bad(
                name: "a block", code: .invalidMapping, element: "Cars.plate",
                sentence:
                    "its value expression is not supported: it has an expression of the class NSBlockExpression",
                change: { $0.entities[3].properties[0].expression = .other("NSBlockExpression") }),
            Bad(
                name: "a path that leads nowhere", code: .invalidMapping, element: "Cars.plate",
                sentence: "Car of the old model has no property wheels",
                change: { $0.entities[3].properties[0].expression = .source("wheels") }),
            Bad(
                name: "a function of nobody", code: .invalidMapping, element: "Cars.plate",
                sentence: "launch is a function of neither $manager nor $entityPolicy",
                change: {
                    $0.entities[3].properties[0].expression = .call(
                        .constant(.text("x")), "launch", [])
                }),
            Bad(
                name: "a policy that is not there", code: .invalidMapping, element: "Cars.plate",
                sentence: "plateOf: is a function of a policy, but the mapping has none",
                change: {
                    $0.entities[3].properties[0].expression = .call(
                        .variable("entityPolicy"), "plateOf:", [.variable("source")])
                }),
            Bad(
                name: "a mapping that is not there", code: .unknownName,
                element: "PersonToPerson.badges", sentence: "there is no entity mapping Badges",
                change: {
                    $0.entities[0].properties[9].texts["sourcemappingname"] = "Badges"
                }),
            Bad(
                name: "a mapping that makes nothing", code: .invalidMapping,
                element: "PersonToPerson.vehicles",
                sentence: "VehicleToVehicle creates no objects, because Vehicle is abstract",
                change: {
                    $0.entities[0].properties[7].expression = .destinations(
                        "VehicleToVehicle", .source("vehicles"))
                }),
            Bad(
                name: "a key path that is none", code: .invalidMapping,
                element: "PersonToPerson.badges", sentence: "its key path is invalid",
                change: { $0.entities[0].properties[9].texts["sourcekeypath"] = "$source." }),
            Bad(
                name: "a key path without end", code: .invalidMapping,
                element: "PersonToPerson.badges",
                sentence: "its value expression has more than 512 levels",
                change: {
                    $0.entities[0].properties[9].texts["sourcekeypath"] =
                        String(repeating: "vehicles.owner.", count: 400) + "vehicles"
                }),
            Bad(
                name: "an object named very often", code: .malformed, element: "z102",
                sentence: "entitymappings names z103, which another object names already",
                edit: { $0.replacingOccurrences(of: "\"z103 z104", with: "\"z103 z103 z104") }),
            Bad(
                name: "an object of two", code: .malformed, element: "PersonToBadge",
                sentence: "attributemappings names z110, which another object names already",
                edit: {
                    $0.replacingOccurrences(of: "idrefs=\"z120\"", with: "idrefs=\"z110\"")
                }),
            Bad(
                name: "a derived attribute that is set", code: .invalidMapping,
                element: "PersonToPerson.sorting", sentence: "it is derived and cannot be set",
                change: { $0.entities[0].properties[5].expression = .source("given") }),
        ]
    }

    @Test("The error names the line, the mapping and the property", arguments: Bad.all)
    func bad(_ bad: Bad) throws {
        var text = Self.text
        bad.change(&text)
        let xml = bad.edit(text.xml)
        let error = try #require(throws: ModelError.self) {
            try Self.read(xml, file: "bad.xml")
        }
        #expect(error.code == bad.code)
        #expect(error.element == bad.element, "\(error)")
        #expect(error.message.hasPrefix(bad.sentence), "\(error)")
        #expect(error.file == "bad.xml")
        let line = try #require(error.line)
        let lines = xml.split(separator: "\n", omittingEmptySubsequences: false)
        let said = lines[line - 1]
        #expect(
            said.contains("<object") || said.contains("<database") || said.contains("<model"),
            "\(error): \(said)")
        // The line is that of the property, or else of its mapping.
        if let property = bad.element?.split(separator: ".").dropFirst().first {
            #expect(
                lines[line...].prefix { !$0.contains("</object") }.contains {
                    $0.contains(">\(property)<")
                })
        }
    }

    @Test("A folder, its file and a URL are read; what is none of them says so")
    func files() throws {
        try withTemporaryDirectory { folder in
            let model = folder.url("Shop.xcmappingmodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            func read(_ path: String) throws(ModelError) -> MappingModel {
                try MappingModel(
                    contentsOfFile: path, forSourceModel: Self.old, destinationModel: Self.new)
            }
            func message(_ path: String) throws -> String {
                try #require(throws: ModelError.self) { try read(path) }.description
            }
            #expect(
                try message(model.path)
                    == "\(model.path): the folder has no xcmapping.xml: it is not a mapping model")
            #expect(
                try message(folder.path("none"))
                    == "\(folder.path("none")): there is no such file or folder")
            let file = model.appending(path: "xcmapping.xml")
            try Data(Self.text.xml.utf8).write(to: file)
            #expect(try read(model.path).entityMappings.count == 6)
            #expect(try read(model.path + "//").entityMappings.count == 6)
            #expect(try read(file.path).entityMappings.count == 6)
            let mapping = try MappingModel(
                contentsOf: model, forSourceModel: Self.old, destinationModel: Self.new)
            #expect(mapping.entityMappings.count == 6)
            let compiled = folder.url("Shop.cdm")
            try Data(ArchivedNode.itself.archive).write(to: compiled)
            #expect(
                try message(compiled.path)
                    == "\(compiled.path): this is a compiled mapping model: use the .xcmappingmodel that it was compiled from"
            )
            try Data("<database>\n<object".utf8).write(to: file)
            #expect(try message(model.path).hasPrefix("\(file.path):2: the XML is broken: "))
        }
    }

    @Test("A file of very many archives that lead to one value in very many ways is refused")
    func bombs() throws {
        // What it has beside its root are as many values as a quarter of a file may have.
        let data = ListNode.data([UInt8](repeating: 7, count: 32_000))
        var writer = ArchiveWriter()
        let root = writer.dictionary([("note", .text("kept"))])
        let bytes = writer.bytes(of: root, [("other", .repeated(data, 260))])
        func read(_ count: Int) throws(ModelError) -> MappingModel {
            var text = MappingText([.init(to: "Garage")])
            for index in 0..<count {
                text.entities[0].properties.append(
                    .attribute(
                        index == 0 ? "name" : "name\(index)", nil,
                        ["userinfodata": MappingText.base64(bytes)]))
            }
            return try Self.read(text.xml)
        }
        #expect(try read(1).entityMappings[0]["name"]?.userInfo == ["note": "kept"])
        let error = try #require(throws: ModelError.self) { try read(8) }
        #expect(error.message == "its user info is not a keyed archive")
        #expect(error.element == "Garage.name4")
    }

    // MARK: Anything

    @Test("A changed file is a mapping model that fits, or an error with its place")
    func fuzzed() throws {
        let whole = Array(Self.text.xml.utf8)
        _ = try Self.read(String(decoding: whole, as: UTF8.self))
        let words = """
            <object </object> <attribute </attribute> <relationship > " z102 z103 z104 z110 idrefs=" \\u2600 \\ud800 &amp;
            &#0; <![CDATA[ ]]> XDDEVMAPPINGMODEL XDDEVENTITYMAPPING XDDEVATTRIBUTEMAPPING name valueexpressiondata
            sourcename destinationname mappingnumber -1 99999999999999999999 $source . Person Badge Garage YnBsaXN0MDA=
            sourcekeypath sourcemappingname userinfodata 1 0 \u{0} é
            """.split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }
            + Self.long([".owner.vehicles", "z103 ", "<attribute name='a'>", "\\u3dd8", "NOT "])
        var models = 0
        var errors = 0
        Rounds.run("fuzzed mapping models", everyDay: 200, whole: 500_000) { random in
            var bytes = whole
            random.mutate(&bytes, words: words)
            do throws(ModelError) {
                _ = try MappingModel(
                    xml: Data(bytes), file: "fuzzed", forSourceModel: Self.old,
                    destinationModel: Self.new)
                models += 1
            } catch {
                errors += 1
                if error.line == nil || error.file != "fuzzed" {
                    Issue.record("seed \(random.seed): no place: \(error)")
                }
            }
        }
        #expect(models > 0 && errors > 0)
    }

    /// Words so often that what they make is long or deep.
    private static func long(_ words: [String]) -> [[UInt8]] {
        words.map { Array(String(repeating: $0, count: 600).utf8) }
    }

    @Test("A file whose archives are changed is a mapping model, or an error with its place")
    func fuzzedArchives() throws {
        let archives = Self.text.entities.flatMap(\.properties).compactMap(\.expression?.archive)
        let xml = Self.text.xml
        let parts = archives.map { xml.components(separatedBy: MappingText.base64($0)) }
        let words =
            ["NSOperand", "$class", "manager", "source", "entityPolicy", "@count"]
            .map { Array($0.utf8) }
            + Self.long(["@count.", "owner."])
        var models = 0
        Rounds.run("fuzzed archives of mapping models", everyDay: 400, whole: 500_000) { random in
            let index = Int.random(in: 0..<archives.count, using: &random)
            var bytes = archives[index]
            random.mutate(&bytes, words: words)
            let changed = parts[index].joined(separator: MappingText.base64(bytes))
            do throws(ModelError) {
                _ = try Self.read(changed, file: "fuzzed")
                models += 1
            } catch {
                if error.line == nil || error.element == nil {
                    Issue.record("seed \(random.seed): no place: \(error)")
                }
            }
        }
        #expect(models > 0)
    }
}

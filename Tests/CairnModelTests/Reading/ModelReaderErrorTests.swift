// What is wrong with a model file is told with the element and the line.

import CairnModel
import Foundation
import Testing

/// A model file with something wrong in it.
struct BadModel: Sendable, CustomTestStringConvertible {
    let title: String
    let code: ModelError.Code
    let element: String?
    let line: Int?
    let body: String

    var testDescription: String { title }

    init(_ title: String, _ code: ModelError.Code, _ element: String?, line: Int?, _ body: String) {
        self.title = title
        self.code = code
        self.element = element
        self.line = line
        self.body = body
    }

    /// The body begins on line 3.
    var xml: Data { ModelText.file(body) }

    static let all: [BadModel] = [
        BadModel(
            "an attribute type that is not known", .invalidElement, "A.x", line: 4,
            """
            <entity name="A">
            <attribute name="x" attributeType="Integer 128"/>
            </entity>
            """),
        BadModel(
            "an attribute without a type that is not transient", .invalidElement, "A.x", line: 4,
            """
            <entity name="A">
            <attribute name="x" optional="YES"/>
            </entity>
            """),
        BadModel(
            "a mark that is neither YES nor NO", .invalidElement, "A.x", line: 4,
            """
            <entity name="A">
            <attribute name="x" optional="perhaps" attributeType="String"/>
            </entity>
            """),
        BadModel(
            "an entity without a name", .invalidElement, nil, line: 3,
            """
            <entity syncable="YES"/>
            """),
        BadModel(
            "an attribute without a name", .invalidElement, "A", line: 4,
            """
            <entity name="A">
            <attribute attributeType="String"/>
            </entity>
            """),
        BadModel(
            "a relationship without a destination", .invalidElement, "A.r", line: 4,
            """
            <entity name="A">
            <relationship name="r" maxCount="1"/>
            </entity>
            """),
        BadModel(
            "a destination that does not exist", .unknownName, "A.r", line: 4,
            """
            <entity name="A">
            <relationship name="r" destinationEntity="B"/>
            </entity>
            """),
        BadModel(
            "an inverse that does not exist", .mismatchedInverse, "A.r", line: 4,
            """
            <entity name="A">
            <relationship name="r" destinationEntity="B" inverseName="a" inverseEntity="B"/>
            </entity>
            <entity name="B"/>
            """),
        BadModel(
            "an inverse that leads back to another relationship", .mismatchedInverse, "A.r",
            line: 4,
            """
            <entity name="A">
            <relationship name="r" destinationEntity="B" inverseName="a" inverseEntity="B"/>
            <relationship name="s" destinationEntity="B" inverseName="a" inverseEntity="B"/>
            </entity>
            <entity name="B">
            <relationship name="a" destinationEntity="A" inverseName="s" inverseEntity="A"/>
            </entity>
            """),
        BadModel(
            "an inverse that leads to another entity", .mismatchedInverse, "A.r", line: 4,
            """
            <entity name="A">
            <relationship name="r" destinationEntity="B" inverseName="a" inverseEntity="B"/>
            </entity>
            <entity name="B">
            <relationship name="a" destinationEntity="B" inverseName="r" inverseEntity="B"/>
            </entity>
            """),
        BadModel(
            "a delete rule that is not known", .invalidElement, "A.r", line: 4,
            """
            <entity name="A">
            <relationship name="r" destinationEntity="A" deletionRule="Forget"/>
            </entity>
            """),
        BadModel(
            "a count that is negative", .invalidElement, "A.r", line: 4,
            """
            <entity name="A">
            <relationship name="r" destinationEntity="A" toMany="YES" minCount="-1"/>
            </entity>
            """),
        BadModel(
            "a constraint on an attribute that is missing", .invalidConstraint,
            "A, uniqueness constraint (x, y)", line: 6,
            """
            <entity name="A">
            <attribute name="x" attributeType="String"/>
            <uniquenessConstraints>
            <uniquenessConstraint>
            <constraint value="x"/>
            <constraint value="y"/>
            </uniquenessConstraint>
            </uniquenessConstraints>
            </entity>
            """),
        BadModel(
            "a constraint on nothing", .invalidConstraint, "A, uniqueness constraint ()", line: 5,
            """
            <entity name="A">
            <uniquenessConstraints>
            <uniquenessConstraint/>
            </uniquenessConstraints>
            </entity>
            """),
        BadModel(
            "a constraint on a to-many relationship", .invalidConstraint,
            "A, uniqueness constraint (r)", line: 6,
            """
            <entity name="A">
            <relationship name="r" destinationEntity="A" toMany="YES"/>
            <uniquenessConstraints>
            <uniquenessConstraint>
            <constraint value="r"/>
            </uniquenessConstraint>
            </uniquenessConstraints>
            </entity>
            """),
        BadModel(
            "entities that inherit in a circle", .circularInheritance, "A", line: 3,
            """
            <entity name="A" parentEntity="B"/>
            <entity name="B" parentEntity="A"/>
            """),
        BadModel(
            "a parent that does not exist", .unknownName, "A", line: 3,
            """
            <entity name="A" parentEntity="B"/>
            """),
        BadModel(
            "two entities of one name", .duplicateName, "A", line: 4,
            """
            <entity name="A"/>
            <entity name="A"/>
            """),
        BadModel(
            "two properties of one name", .duplicateName, "A.x", line: 5,
            """
            <entity name="A">
            <attribute name="x" attributeType="String"/>
            <relationship name="x" destinationEntity="A"/>
            </entity>
            """),
        BadModel(
            "a property that its parent has already", .duplicateName, "B.x", line: 7,
            """
            <entity name="A">
            <attribute name="x" attributeType="String"/>
            </entity>
            <entity name="B" parentEntity="A">
            <attribute name="x" attributeType="String"/>
            </entity>
            """),
        BadModel(
            "an index on a property that does not exist", .invalidConstraint, "A, index byX",
            line: 4,
            """
            <entity name="A">
            <fetchIndex name="byX">
            <fetchIndexElement property="x" type="Binary" order="ascending"/>
            </fetchIndex>
            </entity>
            """),
        BadModel(
            "an index element on nothing", .invalidElement, "A, index byX", line: 5,
            """
            <entity name="A">
            <fetchIndex name="byX">
            <fetchIndexElement type="Binary" order="ascending"/>
            </fetchIndex>
            </entity>
            """),
        BadModel(
            "a default that is no number", .invalidValue, "A.x", line: 4,
            """
            <entity name="A">
            <attribute name="x" attributeType="Integer 16" defaultValueString="many"/>
            </entity>
            """),
        BadModel(
            "a default that is too large for its type", .invalidValue, "A.x", line: 4,
            """
            <entity name="A">
            <attribute name="x" attributeType="Integer 16" defaultValueString="40000"/>
            </entity>
            """),
        BadModel(
            "limits the wrong way round", .invalidValue, "A.x", line: 4,
            """
            <entity name="A">
            <attribute name="x" attributeType="Double" minValueString="2" maxValueString="1"/>
            </entity>
            """),
        BadModel(
            "a regular expression that does not compile", .invalidValue, "A.x", line: 4,
            """
            <entity name="A">
            <attribute name="x" attributeType="String" regularExpressionString="(a"/>
            </entity>
            """),
        BadModel(
            "a composite that does not exist", .unknownName, "A.x", line: 4,
            """
            <entity name="A">
            <attribute name="x" attributeType="Composite" composite="Colour"/>
            </entity>
            """),
        BadModel(
            "composites that hold each other", .circularInheritance, "composite C", line: 6,
            """
            <entity name="A">
            <attribute name="x" attributeType="Composite" composite="C"/>
            </entity>
            <composite name="C">
            <attribute name="d" attributeType="Composite" composite="D"/>
            </composite>
            <composite name="D">
            <attribute name="c" attributeType="Composite" composite="C"/>
            </composite>
            """),
        BadModel(
            "a composite with two elements of one name", .duplicateName, "composite C.d", line: 5,
            """
            <composite name="C">
            <attribute name="d" attributeType="String"/>
            <attribute name="d" attributeType="String"/>
            </composite>
            """),
        BadModel(
            "an error in a composite's element, found where it is used", .invalidElement, "A.x.d",
            line: 4,
            """
            <entity name="A">
            <attribute name="x" attributeType="Composite" composite="C"/>
            </entity>
            <composite name="C">
            <attribute name="d" attributeType="Undefined"/>
            </composite>
            """),
        BadModel(
            "a configuration with an entity that does not exist", .unknownName, "configuration C",
            line: 3,
            """
            <configuration name="C">
            <memberEntity name="A"/>
            </configuration>
            """),
        BadModel(
            "a template for an entity that does not exist", .unknownName, "fetch request T",
            line: 3,
            """
            <fetchRequest name="T" entity="A" predicateString="TRUEPREDICATE"/>
            """),
        BadModel(
            "a fetched property without a request", .invalidElement, "A.f", line: 4,
            """
            <entity name="A">
            <fetchedProperty name="f"/>
            </entity>
            """),
    ]
}

/// Model files as texts.
enum ModelText {
    /// A model file with a body that begins on line 3.
    static func file(_ body: String) -> Data {
        Data("<?xml version=\"1.0\"?>\n<model>\n\(body)\n</model>\n".utf8)
    }

    static func read(_ body: String) throws -> ModelFile {
        try ModelFile(xml: file(body), file: "test.xml")
    }
}

@Suite("Errors in model files")
struct ModelReaderErrorTests {
    @Test("The error names code, element, file and line", arguments: BadModel.all)
    func place(_ bad: BadModel) throws {
        let error = try #require(throws: ModelError.self) {
            _ = try ModelFile(xml: bad.xml, file: "bad.xml")
        }
        #expect(error.code == bad.code)
        #expect(error.element == bad.element)
        #expect(error.line == bad.line)
        #expect(error.file == "bad.xml")
        #expect(error.description.hasPrefix("bad.xml:\(bad.line ?? 0): "))
    }

    @Test(
        "Broken XML is told with its line",
        arguments: [
            ("<model>\n<entity name=\"A\">\n</model>", 3),
            ("<model>\n<entity name=\"A\"", 2),
            ("<model>\n<entity name=\"A\" name=\"B\"/>\n</model>", 2),
            ("<model>\n<entity name=A/>\n</model>", 2),
            ("no XML at all", 1),
            ("", 1),
            ("<model/>\n<model/>", 2),
            ("<model/>\nx", 2),
            ("</model>", 1),
            ("<model>\n<!-- no end", 2),
            ("<model>\n<entity name=\"&copy;\"/></model>", 2),
            ("<model>\n<entity name=\"&#xD800;\"/></model>", 2),
            ("<model>\n<entity name=\"a & b\"/></model>", 2),
            ("<model\nname=\"a\"version=\"b\"/>", 2),
            ("<!DOCTYPE model [<!ENTITY a \"b\">]>\n<model/>", 1),
            ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<model/>", 1),
        ])
    func brokenXML(_ text: String, line: Int) throws {
        let error = try #require(throws: ModelError.self) {
            _ = try ManagedObjectModel(xml: Data(text.utf8), file: "broken.xml")
        }
        #expect(error.code == .malformed)
        #expect(error.line == line)
        #expect(error.file == "broken.xml")
    }

    @Test("Another kind of XML is not a model")
    func otherRoot() throws {
        let error = try #require(throws: ModelError.self) {
            _ = try ManagedObjectModel(xml: Data("<?xml version=\"1.0\"?>\n<plist/>".utf8))
        }
        #expect(error.code == .malformed)
        #expect(error.line == 2)
        #expect(error.message.contains("plist"))
    }

    @Test("Bytes that are not valid UTF-8 are told with their line")
    func encoding() {
        let error = #expect(throws: ModelError.self) {
            _ = try ManagedObjectModel(
                xml: Data(Array("<model>\n<en".utf8) + [0xC4, 0x74, 0x2F, 0x3E]))
        }
        #expect(error?.code == .malformed)
        #expect(error?.line == 2)
    }

    @Test("Elements nested without end are refused")
    func deep() throws {
        let text = String(repeating: "<model>\n", count: 200)
        let error = try #require(throws: ModelError.self) {
            _ = try ManagedObjectModel(xml: Data(text.utf8))
        }
        #expect(error.code == .malformed)
        #expect(error.line == 65)
    }
}

// Every part of a model file is read into the description it belongs to.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Reading model files")
struct ModelReaderTests {
    private func attribute(_ marks: String) throws -> AttributeDescription {
        let file = try ModelText.read(
            "<entity name=\"A\"><attribute name=\"x\" \(marks)/></entity>")
        return try #require(file.model.entities.first?.attributes.first)
    }

    @Test(
        "An attribute type is known by its name in the file",
        arguments: [
            ("Integer 16", AttributeType.integer16), ("Integer 32", .integer32),
            ("Integer 64", .integer64), ("Decimal", .decimal), ("Double", .double),
            ("Float", .float), ("String", .string), ("Boolean", .boolean), ("Date", .date),
            ("Binary", .binary), ("UUID", .uuid), ("URI", .uri), ("Transformable", .transformable),
        ])
    func types(_ name: String, type: AttributeType) throws {
        #expect(try attribute("attributeType=\"\(name)\"").type == type)
    }

    @Test(
        "A default is a value of the attribute's type",
        arguments: [
            ("Integer 16", "-7", Value.integer(-7)), ("Integer 32", "0.0", .integer(0)),
            ("Integer 32", "NO", .integer(0)), ("Integer 64", "12.00", .integer(12)),
            ("Integer 64", "9223372036854775807", .integer(.max)),
            ("Integer 64", "1e3", .integer(1000)),
            ("Double", "0.1", .double(0.1)), ("Float", "0.1", .float(0.1)),
            ("Boolean", "YES", .boolean(true)), ("Boolean", "false", .boolean(false)),
            ("Boolean", "0", .boolean(false)), ("String", "", .string("")),
            ("String", "007", .string("007")), ("Integer 16", "", .null),
        ])
    func defaults(_ type: String, text: String, value: Value) throws {
        let attribute = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
        #expect(attribute.defaultValue == value)
        #expect(attribute.otherMarks["defaultValueString"] == (value.isNull ? "" : nil))
    }

    @Test("A decimal default has all its digits")
    func decimalDefault() throws {
        let text = "12345678901234567890.123456789012345678"
        let attribute = try attribute("attributeType=\"Decimal\" defaultValueString=\"\(text)\"")
        #expect(attribute.defaultValue == .decimal(try #require(Decimal(string: text))))
        #expect("\(attribute.defaultValue)" == text)
    }

    @Test("A decimal default with more digits than a decimal has is refused")
    func decimalTooLong() {
        let text = String(repeating: "9", count: 39)
        #expect(throws: ModelError.self) {
            try attribute("attributeType=\"Decimal\" defaultValueString=\"\(text)\"")
        }
    }

    @Test("A date default is seconds since 2001")
    func dateDefault() throws {
        let attribute = try attribute(
            "attributeType=\"Date\" defaultDateTimeInterval=\"666643260\"")
        #expect(
            attribute.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 666_643_260)))
    }

    @Test("Limits of numbers, strings and dates go where they belong")
    func limits() throws {
        let number = try attribute(
            "attributeType=\"Integer 16\" minValueString=\"10\" maxValueString=\"1000\"")
        #expect(number.minimumValue == .integer(10))
        #expect(number.maximumValue == .integer(1000))
        let string = try attribute(
            "attributeType=\"String\" minValueString=\"3\" maxValueString=\"10\" "
                + "regularExpressionString=\"[a-z]+\"")
        #expect(string.minimumLength == 3)
        #expect(string.maximumLength == 10)
        #expect(string.minimumValue == nil)
        #expect(string.regularExpression == "[a-z]+")
        let date = try attribute(
            "attributeType=\"Date\" minDateTimeInterval=\"407847600\" minValueString=\"12/4/2013\" "
                + "maxDateTimeInterval=\"439470000\" maxValueString=\"12/5/2014\"")
        #expect(date.minimumValue == .date(Date(timeIntervalSinceReferenceDate: 407_847_600)))
        #expect(date.maximumValue == .date(Date(timeIntervalSinceReferenceDate: 439_470_000)))
        #expect(
            date.otherMarks == ["minValueString": "12/4/2013", "maxValueString": "12/5/2014"])
    }

    @Test("The marks of an attribute are read, and unknown ones are kept")
    func marks() throws {
        let attribute = try attribute(
            """
            optional="true" transient="YES" attributeType="Transformable" usesScalarValueType="NO" \
            valueTransformerName="T" customClassName="C" allowsExternalBinaryDataStorage="YES" \
            preserveAfterDeletion="YES" elementID="old" versionHashModifier="2" syncable="YES" \
            allowsCloudEncryption="YES" fromTheFuture="1"
            """)
        #expect(attribute.isOptional && attribute.isTransient)
        #expect(!attribute.usesScalarValueType)
        #expect(attribute.valueTransformerName == "T")
        #expect(attribute.customClassName == "C")
        #expect(attribute.allowsExternalBinaryDataStorage)
        #expect(attribute.preservesValueInHistoryOnDeletion)
        #expect(attribute.renamingIdentifier == "old")
        #expect(attribute.versionHashModifier == "2")
        #expect(
            attribute.otherMarks == [
                "syncable": "YES", "allowsCloudEncryption": "YES", "fromTheFuture": "1",
            ])
    }

    @Test("A derived attribute has its expression")
    func derived() throws {
        let attribute = try attribute(
            "attributeType=\"Date\" derived=\"YES\" derivationExpression=\"now()\"")
        #expect(attribute.derivationExpression == "now()")
    }

    @Test("An attribute without a type is undefined if it is transient")
    func undefined() throws {
        let attribute = try attribute("optional=\"YES\" transient=\"YES\"")
        #expect(attribute.type == .undefined)
    }

    @Test("A composite attribute has the elements of its composites")
    func composites() throws {
        let file = try ModelText.read(
            """
            <entity name="A"><attribute name="x" attributeType="Composite" composite="C"/></entity>
            <compositeAttribute name="C">
                <attribute name="one" attributeType="String" optional="YES"/>
                <attribute name="two" attributeType="Composite" composite="D"/>
            </compositeAttribute>
            <composite name="D"><attribute name="three" attributeType="Integer 16"/></composite>
            """)
        let attribute = try #require(file.model.entities.first?.attributes.first)
        #expect(attribute.compositeName == "C")
        #expect(attribute.elements.map(\.name) == ["one", "two"])
        #expect(attribute.elements[1].elements.map(\.name) == ["three"])
        #expect(file.model.composites.map(\.name) == ["C", "D"])
        #expect(file.schema.entities[0].columns.map(\.name) == ["x.one", "x.two.three"])
    }

    @Test("A relationship is read with counts, rule and order")
    func relationship() throws {
        let file = try ModelText.read(
            """
            <entity name="A">
                <relationship name="many" toMany="YES" ordered="YES" minCount="3" maxCount="10" \
            deletionRule="No Action" destinationEntity="B" inverseName="one" inverseEntity="B" \
            renamingIdentifier="old" syncable="YES"/>
            </entity>
            <entity name="B">
                <relationship name="one" optional="YES" maxCount="1" deletionRule="Deny" \
            destinationEntity="A" inverseName="many" inverseEntity="A"/>
            </entity>
            """)
        let many = file.model.entities[0].relationships[0]
        #expect(many.isToMany && many.isOrdered && !many.isOptional)
        #expect(many.minimumCount == 3 && many.maximumCount == 10)
        #expect(many.deleteRule == .noAction)
        #expect(many.inverseName == "one")
        #expect(many.renamingIdentifier == "old")
        #expect(many.otherMarks == ["syncable": "YES"])
        let one = file.model.entities[1].relationships[0]
        #expect(!one.isToMany && one.isOptional)
        #expect(one.maximumCount == 1)
        #expect(one.deleteRule == .deny)
    }

    @Test("Indexes of all forms are read and told apart")
    func indexes() throws {
        let file = try ModelText.read(
            """
            <entity name="A">
                <attribute name="x" attributeType="Double" indexed="YES"/>
                <attribute name="y" attributeType="Double"/>
                <fetchIndex name="byXY" partialIndexPredicate="x &gt; 1">
                    <fetchIndexElement property="x" type="Binary" order="descending"/>
                    <fetchIndexElement expression="y + 1" expressionType="Double" type="RTree"/>
                </fetchIndex>
                <compoundIndexes>
                    <compoundIndex><index value="x"/><index value="entity"/></compoundIndex>
                </compoundIndexes>
            </entity>
            """)
        let indexes = file.model.entities[0].indexes
        #expect(indexes.map(\.form) == [.indexed, .fetchIndex, .compoundIndex])
        #expect(indexes[1].partialIndexPredicate == "x > 1")
        #expect(indexes[1].elements[0].propertyName == "x")
        #expect(!indexes[1].elements[0].isAscending)
        #expect(indexes[1].elements[1].expression == "y + 1")
        #expect(indexes[1].elements[1].expressionType == "Double")
        #expect(indexes[1].elements[1].kind == .rTree)
        #expect(indexes[2].elements.map(\.propertyName) == ["x", "entity"])
    }

    @Test("Entity, configuration, template, fetched property and user info are read")
    func rest() throws {
        let file = try ModelText.read(
            """
            <entity name="A" representedClassName=".A" isAbstract="YES" elementID="Old" \
            versionHashModifier="3" syncable="YES" codeGenerationType="class">
                <fetchedProperty name="f" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="B" predicateString="x == 1"/>
                </fetchedProperty>
                <userInfo><entry key="k" value="v"/><entry key="k2" value=""/></userInfo>
            </entity>
            <entity name="B" parentEntity="A"/>
            <configuration name="C" usedWithCloudKit="YES"><memberEntity name="B"/></configuration>
            <fetchRequest name="T" entity="A" predicateString="x == $X" fetchLimit="5" \
            fetchBatchSize="6" resultType="2" includeSubentities="NO" includePropertyValues="NO" \
            includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            <elements><element name="A" positionX="0"/></elements>
            """)
        let entity = file.model.entities[0]
        #expect(entity.managedObjectClassName == ".A")
        #expect(entity.isAbstract)
        #expect(entity.renamingIdentifier == "Old")
        #expect(entity.versionHashModifier == "3")
        #expect(entity.userInfo == ["k": "v", "k2": ""])
        #expect(entity.otherMarks == ["syncable": "YES", "codeGenerationType": "class"])
        #expect(entity.fetchedProperties[0].entityName == "B")
        #expect(entity.fetchedProperties[0].predicateFormat == "x == 1")
        #expect(file.model.entities[1].superentityName == "A")
        #expect(file.model.configurations == ["C": ["B"]])
        #expect(file.model.otherMarks == ["configuration C usedWithCloudKit": "YES"])
        let template = file.model.fetchRequestTemplates[0]
        #expect(template.predicateFormat == "x == $X")
        #expect(template.fetchLimit == 5 && template.fetchBatchSize == 6)
        #expect(template.resultType == 2)
        #expect(!template.includesSubentities && !template.includesPropertyValues)
        #expect(!template.includesPendingChanges && !template.returnsObjectsAsFaults)
        #expect(template.returnsDistinctResults)
    }

    @Test("An element that is not known is left out with a warning that has its line")
    func unknownElement() throws {
        let file = try ModelText.read("<entity name=\"A\">\n<hologram name=\"h\"/>\n</entity>")
        let warning = try #require(file.warnings.first)
        #expect(file.warnings.count == 1)
        #expect(warning.element == "A")
        #expect(warning.line == 4)
        #expect(warning.message.contains("hologram"))
    }

    @Test("Comments, references, blanks and declarations of XML are understood")
    func xml() throws {
        let text = """
            \u{FEFF}<?xml version="1.0" encoding="UTF-8" standalone='yes'?>
            <!DOCTYPE model SYSTEM "model.dtd">
            <!-- a <comment/> -->
            <model
                userDefinedModelVersionIdentifier = '1 &lt; 2 &amp;&#10;&#x41;&quot;&apos;&gt;'>
            text &amp; more <![CDATA[ <entity/> ]]>
            <entity name="Ü"  ></entity >
            </model>
            <!-- end -->
            """
        let model = try ManagedObjectModel(xml: Data(text.utf8))
        #expect(model.versionIdentifiers == ["1 < 2 &\nA\"'>"])
        #expect(model.entities.map(\.name) == ["Ü"])
    }

    @Test("A model in UTF-16 is read", arguments: [true, false])
    func utf16(_ isLittle: Bool) throws {
        let text =
            "\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-16\"?><model><entity name=\"Ü\"/></model>"
        let bytes = text.utf16.flatMap { unit in
            let pair = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
            return isLittle ? pair : pair.reversed()
        }
        #expect(try ManagedObjectModel(xml: Data(bytes)).entities.map(\.name) == ["Ü"])
    }
}

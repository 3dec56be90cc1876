// The text of a model is what a person expects to read, and the JSON of it loses nothing.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Printing models")
struct ModelDescriptionTests {
    @Test("Everything that a model says is in its text, in columns")
    func text() throws {
        let file = try ModelText.read(
            """
            <entity name="Item" isAbstract="YES" representedClassName=".Item" elementID="Thing">
                <attribute name="name" attributeType="String" minValueString="1" maxValueString="80" \
            regularExpressionString="[a-z]+"/>
                <attribute name="added" optional="YES" attributeType="Date" defaultDateTimeInterval="0"/>
                <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
                <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <entity name="Product" parentEntity="Item">
                <attribute name="price" optional="YES" attributeType="Decimal" minValueString="0" \
            defaultValueString="9.99" indexed="YES"/>
                <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES" \
            derivationExpression="tags.@count"/>
                <relationship name="tags" optional="YES" toMany="YES" ordered="YES" maxCount="5" \
            deletionRule="Cascade" destinationEntity="Tag" inverseName="product" inverseEntity="Tag"/>
                <fetchedProperty name="others" optional="YES">
                    <fetchRequest name="r" entity="Tag" predicateString="name == 'x'"/>
                </fetchedProperty>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="name"/>
                        <constraint value="price"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
                <fetchIndex name="byPrice" partialIndexPredicate="price &gt; 0">
                    <fetchIndexElement property="price" type="Binary" order="descending"/>
                </fetchIndex>
            </entity>
            <entity name="Tag">
                <relationship name="product" maxCount="1" deletionRule="Deny" \
            destinationEntity="Product" inverseName="tags" inverseEntity="Product"/>
            </entity>
            <composite name="Place"><attribute name="lat" attributeType="Double"/></composite>
            <configuration name="Local"><memberEntity name="Tag"/></configuration>
            <fetchRequest name="cheap" entity="Product" predicateString="price &lt; $P" fetchLimit="9"/>
            """)
        #expect(
            ModelDescription(file.model).description == """
                3 entities, 5 attributes, 2 relationships

                composite Place
                  attribute  lat  double  required

                entity Item   abstract, class .Item, was Thing, info k=v
                  attribute  name       string           required, 1 to 80 characters, matches [a-z]+
                  attribute  added      date             default 2001-01-01T00:00:00Z
                  attribute  place      composite Place
                             place.lat  double           required

                entity Product : Item
                  attribute     price    decimal    default 9.99, at least 0
                  attribute     count    integer64  derived from tags.@count
                  relationship  tags     ⇉ Tag      inverse product, ordered, at most 5 objects, cascade on delete
                  fetched       others   → Tag      name == 'x'
                  unique        name, price
                  index         price
                  index         byPrice  price ↓    where price > 0

                entity Tag
                  relationship  product  → Product  inverse tags, required, deny on delete

                configuration  Local  Tag
                template       cheap  → Product  where price < $P, at most 9

                """)
    }

    @Test("An empty model has a text too")
    func empty() {
        #expect(
            ModelDescription(ManagedObjectModel()).description
                == "0 entities, 0 attributes, 0 relationships\n")
    }

    @Test(
        "The text of a real model names every entity and property",
        .enabled(if: Corpus.isAvailable), arguments: CorpusModel.today)
    func corpus(_ source: CorpusModel) throws {
        if source.file == CorpusModel.today[0].file { Corpus.noteUse() }
        let model = try source.read().model
        let text = ModelDescription(model).description
        for entity in model.entities {
            #expect(text.contains("entity \(entity.name)"))
            for attribute in entity.attributes { #expect(text.contains(" \(attribute.name) ")) }
            for relationship in entity.relationships {
                #expect(text.contains(" \(relationship.name) "))
            }
        }
        #expect(!text.contains(" \n"))
        #expect(try ManagedObjectModel(json: model.json()) == model)
    }
}

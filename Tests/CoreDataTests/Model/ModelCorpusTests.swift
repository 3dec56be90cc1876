// Models of real apps through Core Data's descriptions and back.

import CairnModel
import CairnTestSupport
import CoreData
import Testing

@Suite("Models of real apps in descriptions", .enabled(if: Corpus.isAvailable))
struct ModelCorpusTests {
    /// The models that are tried: every day some, in a campaign all.
    private static func files(_ words: String) throws -> [URL] {
        let folder = Corpus.url("xcdatamodel")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".xml") }.sorted()
        #expect(names.count == 155)
        var random = RandomSource(words)
        return Campaign.sample(names, oneIn: 5, using: &random)
            .map { folder.appendingPathComponent($0) }
    }

    @Test("a model comes through descriptions and their copies as it is")
    func roundTrip() throws {
        Corpus.noteUse()
        for url in try Self.files("models of real apps in descriptions") {
            let name = url.lastPathComponent
            let read = try ManagedObjectModel(contentsOf: url)
            let model = try #require(NSManagedObjectModel(contentsOf: url))
            #expect(model.entityVersionHashesByName == read.entityVersionHashesByName, "\(name)")
            let copy = try #require(model.copy() as? NSManagedObjectModel)
            #expect(copy.described == read, "\(name)")
            for (entity, described) in zip(copy.entities, read.entities) {
                #expect(entity.superentity?.name == described.superentityName)
                for relationship in described.relationships {
                    let one = try #require(entity.relationshipsByName[relationship.name])
                    #expect(one.destinationEntity?.name == relationship.destinationEntityName)
                    #expect(one.inverseRelationship?.name == relationship.inverseName)
                    #expect(one.isToMany == relationship.isToMany)
                }
            }
        }
    }

    @Test("what descriptions say by objects of their own comes back as it was")
    func objects() throws {
        Corpus.noteUse()
        for url in try Self.files("models of real apps by objects") {
            let read = try ManagedObjectModel(contentsOf: url)
            let model = try #require(NSManagedObjectModel(contentsOf: url))
            for entity in model.entities {
                for property in entity.properties where property.entity === entity {
                    // Limits are conditions here.
                    property.setValidationPredicates(
                        property.validationPredicates,
                        withValidationWarnings: property.validationWarnings.map {
                            $0 as? String ?? ""
                        })
                    if let attribute = property as? NSAttributeDescription {
                        attribute.defaultValue = attribute.defaultValue
                    }
                }
            }
            for (name, request) in model.fetchRequestTemplatesByName {
                model.setFetchRequestTemplate(request, forName: name)
            }
            #expect(model.described.entities == read.entities, "\(url.lastPathComponent)")
        }
    }
}

// Stores that follow their model by what can be inferred.

import CairnTestSupport
import CoreData
import Foundation
import Testing

@Suite("Lightweight migration")
struct LightweightMigrationTests {
    @Test("a store follows a renamed and a new attribute when it is loaded")
    func inCode() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            try NotesModel.fill(url)
            let container = try Stack.onDisk(NotesModel.second(), at: url)
            let notes = try container.viewContext.fetch(
                NSFetchRequest<NSManagedObject>(entityName: "Note"))
            #expect(notes.count == 2)
            #expect(try container.viewContext.texts("headline", of: "Note") == ["first", "second"])
            #expect(notes.allSatisfy { $0.value(forKey: "isPinned") as? Bool == false })
        }
    }

    @Test("without the options a store of another version is refused with Core Data's number")
    func refused() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            try NotesModel.fill(url)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.second())
            func code(_ options: [String: Bool]?) -> Int? {
                do {
                    try coordinator.addPersistentStore(
                        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                        options: options)
                    return nil
                } catch {
                    return (error as NSError).code
                }
            }
            #expect(code(nil) == NSPersistentStoreIncompatibleVersionHashError)
            #expect(
                code([NSMigratePersistentStoresAutomaticallyOption: true])
                    == NSMigrationMissingMappingModelError)
            #expect(
                code([
                    NSMigratePersistentStoresAutomaticallyOption: true,
                    NSInferMappingModelAutomaticallyOption: true,
                ]) == nil)
        }
    }

    @Test("two versions of a model from Xcode")
    func fromFiles() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Models/Library.xcdatamodeld")
        func model(_ version: String) throws -> NSManagedObjectModel {
            try #require(
                NSManagedObjectModel(
                    contentsOf: folder.appendingPathComponent("\(version).xcdatamodel")))
        }
        try withTemporaryDirectory { directory in
            let url = directory.url("Library.sqlite")
            _ = try Stack.onDisk(try model("Library"), at: url)
            let newer = try model("Library 2")
            let old = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                type: .sqlite, at: url)
            #expect(!newer.isConfiguration(withName: nil, compatibleWithStoreMetadata: old))
            _ = try Stack.onDisk(newer, at: url)
            let new = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                type: .sqlite, at: url)
            #expect(newer.isConfiguration(withName: nil, compatibleWithStoreMetadata: new))
            // An iterative migration looks among the versions for the one that the store is of.
            let bundle = try #require(Bundle(url: folder.deletingLastPathComponent()))
            for (version, metadata) in [(try model("Library"), old), (newer, new)] {
                let found = NSManagedObjectModel.mergedModel(
                    from: [bundle], forStoreMetadata: metadata)
                #expect(found == version)
            }
            let (first, second) = (NotesModel.first(), NotesModel.second())
            let hashes = [NSStoreModelVersionHashesKey: second.entityVersionHashesByName]
            #expect(
                NSManagedObjectModel(byMerging: [first, second], forStoreMetadata: hashes) == second
            )
            #expect(old[NSStoreUUIDKey] as? String == new[NSStoreUUIDKey] as? String)
        }
    }

    @Test("what can be inferred is said, and what cannot is an error")
    func inferred() throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: NotesModel.first(), destinationModel: NotesModel.second())
        let note = try #require(mapping.entityMappingsByName["IEM_Transform_Note"])
        #expect(note.mappingType == .transformEntityMappingType)
        #expect(note.sourceEntityName == "Note")
        #expect(
            note.attributeMappings?.compactMap(\.name).sorted() == [
                "author", "headline", "isPinned",
            ])
        #expect(
            mapping.entityMappingsByName["IEM_Copy_Person"]?.mappingType == .copyEntityMappingType)
        #expect(note.userInfo?["mappedProperties"] as? Set<String> == ["headline", "author"])
        #expect(note.userInfo?["addedProperties"] as? Set<String> == ["isPinned"])
        #expect(note.userInfo?["removedProperties"] as? Set<String> == [])
        let fewer = NotesModel.first()
        fewer.entities.removeAll { $0.name == "Person" }
        let back = try NSMappingModel.inferredMappingModel(
            forSourceModel: NotesModel.first(), destinationModel: fewer)
        #expect(
            back.entityMappingsByName["IEM_Remove_Person"]?.userInfo?["removedProperties"]
                as? Set<String> == ["name"])
        let forth = try NSMappingModel.inferredMappingModel(
            forSourceModel: fewer, destinationModel: NotesModel.first())
        #expect(
            forth.entityMappingsByName["IEM_Add_Person"]?.userInfo?["addedProperties"]
                as? Set<String> == ["name"])
        // A derived attribute is computed anew, and is no new one.
        func counting(_ isOptional: Bool) -> NSManagedObjectModel {
            let model = NotesModel.third()
            model.entitiesByName["Note"]?.attributesByName["headline"]?.isOptional = isOptional
            let count = NSDerivedAttributeDescription()
            count.name = "noteCount"
            count.attributeType = .integer64AttributeType
            count.derivationExpression = NSExpression(format: "notes.@count")
            model.entitiesByName["Person"]?.properties.append(count)
            return model
        }
        let derived = counting(false)
        derived.entitiesByName["Note"]?.attributesByName["headline"]?.defaultValue = ""
        let counted = try NSMappingModel.inferredMappingModel(
            forSourceModel: counting(true), destinationModel: derived)
        let person = try #require(
            counted.entityMappings.first { $0.destinationEntityName == "Person" })
        #expect(
            person.userInfo?["mappedProperties"] as? Set<String> == ["name", "notes", "noteCount"])
        let changed = NotesModel.first()
        changed.entitiesByName["Note"]?.attributesByName["title"]?.attributeType =
            .integer64AttributeType
        do {
            _ = try NSMappingModel.inferredMappingModel(
                forSourceModel: NotesModel.first(), destinationModel: changed)
            Issue.record("a text cannot become a number by itself")
        } catch {
            #expect((error as NSError).code == NSInferredMappingModelError)
        }
    }

    @Test("numbers follow their attribute to another type, if that holds all of them")
    func numbers() throws {
        func model(_ type: NSAttributeType, _ name: String) -> NSManagedObjectModel {
            let amount = NSAttributeDescription()
            amount.name = name
            amount.renamingIdentifier = "amount"
            amount.attributeType = type
            let card = NSEntityDescription()
            card.name = "Card"
            card.properties = [amount]
            let model = NSManagedObjectModel()
            model.entities = [card]
            return model
        }
        let whole = model(.integer64AttributeType, "amount")
        let double = model(.doubleAttributeType, "value")
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: whole, destinationModel: double)
        #expect(
            mapping.entityMappingsByName["IEM_Transform_Card"]?.userInfo?["mappedProperties"]
                as? Set<String> == ["value"])
        try withTemporaryDirectory { folder in
            let url = folder.url("Cards.sqlite")
            func fill() throws {
                let context = try Stack.onDisk(whole, at: url).viewContext
                for amount in [1, 70_000, nil] as [Int?] {
                    NSEntityDescription.insertNewObject(forEntityName: "Card", into: context)
                        .setValue(amount, forKey: "amount")
                }
                try context.save()
            }
            func values(_ model: NSManagedObjectModel, _ name: String) throws -> [Double] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Card")
                request.sortDescriptors = [NSSortDescriptor(key: name, ascending: true)]
                return try Stack.onDisk(model, at: url).viewContext.fetch(request).map {
                    ($0.value(forKey: name) as? NSNumber)?.doubleValue ?? -1
                }
            }
            try fill()
            do {
                _ = try Stack.onDisk(model(.integer16AttributeType, "amount"), at: url)
                Issue.record("a number that does not fit is not cut off")
            } catch {
                #expect("\(error)".contains("amount"))
            }
            #expect(try values(whole, "amount") == [-1, 1, 70_000])
            #expect(try values(double, "value") == [-1, 1, 70_000])
            let back = model(.integer32AttributeType, "sum")
            back.entities[0].properties[0].renamingIdentifier = "value"
            #expect(try values(back, "sum") == [-1, 1, 70_000])
        }
    }
}

extension NotesModel {
    /// Makes a store of the first version with two notes, both by Ada.
    static func fill(_ url: URL) throws {
        let container = try Stack.onDisk(first(), at: url)
        container.viewContext.insertNote("first", by: "Ada")
        container.viewContext.insertNote("second", by: "Ada")
        try container.viewContext.save()
    }
}

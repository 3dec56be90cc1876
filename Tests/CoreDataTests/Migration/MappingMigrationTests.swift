// Migrations by mapping models, with the code of policies.

import CairnTestSupport
import CoreData
import Foundation
import Testing

/// Makes the person who has written a note, once for each name.
final class WriterPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let name = sInstance.value(forKey: "author") as? String else { return }
        let note = try #require(
            manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first)
        var writers = manager.userInfo?["writers"] as? [String: NSManagedObject] ?? [:]
        let context = try #require(note.managedObjectContext)
        #expect(context === manager.destinationContext)
        if writers[name] == nil {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(name, forKey: "name")
            writers[name] = person
            manager.userInfo = ["writers": writers]
        }
        note.setValue(writers[name], forKey: "writer")
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        #expect(mapping.userInfo?["made for"] as? String == "tests")
        #expect(manager.currentEntityMapping === mapping)
        #expect(manager.destinationEntity(for: mapping)?.name == "Note")
    }
}

/// Refuses everything.
final class RefusingPolicy: NSEntityMigrationPolicy {
    struct Refusal: Error {}

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        throw Refusal()
    }
}

/// Cancels the migration that it is a part of.
final class CancellingPolicy: NSEntityMigrationPolicy {
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        manager.cancelMigrationWithError(CocoaError(.userCancelled))
    }
}

/// Says titles aloud.
final class ShoutingPolicy: NSEntityMigrationPolicy {
    override var functions: [String: Function] {
        ["shout:": { ($0[0] as? String)?.uppercased() }]
    }
}

@Suite("Migration by a mapping model")
struct MappingMigrationTests {
    private func property(_ name: String, _ format: String?) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = format.map { NSExpression(format: $0) }
        return mapping
    }

    /// From the first version to the third, as one writes it by hand.
    private func mapping(policy: String? = nil) -> NSMappingModel {
        let note = NSEntityMapping()
        note.name = "NoteToNote"
        note.mappingType = policy == nil ? .transformEntityMappingType : .customEntityMappingType
        note.sourceEntityName = "Note"
        note.destinationEntityName = "Note"
        note.sourceEntityVersionHash = NotesModel.first().entityVersionHashesByName["Note"]
        note.destinationEntityVersionHash = NotesModel.third().entityVersionHashesByName["Note"]
        note.attributeMappings = [property("headline", "$source.title")]
        note.relationshipMappings = [property("writer", nil)]
        note.entityMigrationPolicyClassName = policy
        note.userInfo = ["made for": "tests"]
        let person = NSEntityMapping()
        person.name = "PersonToPerson"
        person.mappingType = .transformEntityMappingType
        person.sourceEntityName = "Person"
        person.destinationEntityName = "Person"
        person.attributeMappings = [property("name", "$source.name")]
        let mapping = NSMappingModel()
        mapping.entityMappings = [note, person]
        return mapping
    }

    private func manager() -> NSMigrationManager {
        NSMigrationManager(
            sourceModel: NotesModel.first(), destinationModel: NotesModel.third())
    }

    private func migrate(
        _ manager: NSMigrationManager, from url: URL, by mapping: NSMappingModel, to new: URL
    ) throws {
        try manager.migrateStore(
            from: url, type: .sqlite, options: nil, mapping: mapping, to: new, type: .sqlite,
            options: nil)
    }

    @Test("a policy makes objects of what was an attribute, and the old store stays as it is")
    func policy() throws {
        try withTemporaryDirectory { folder in
            let (url, new) = (folder.url("Notes.sqlite"), folder.url("New.sqlite"))
            try NotesModel.fill(url)
            let manager = manager()
            try migrate(manager, from: url, by: mapping(policy: "WriterPolicy"), to: new)
            #expect(manager.migrationProgress == 1)
            let migrated = try Stack.onDisk(NotesModel.third(), at: new)
            let people = try migrated.viewContext.fetch(
                NSFetchRequest<NSManagedObject>(entityName: "Person"))
            #expect(people.count == 1)
            #expect(people.first?.value(forKey: "name") as? String == "Ada")
            let notes = people.first?.value(forKey: "notes") as? Set<NSManagedObject>
            #expect(
                notes?.compactMap { $0.value(forKey: "headline") as? String }.sorted()
                    == ["first", "second"])
            let old = try Stack.onDisk(NotesModel.first(), at: url)
            #expect(try old.viewContext.texts("title", of: "Note") == ["first", "second"])
        }
    }

    @Test("the older call migrates too, and the new store can take the place of the old one")
    func replaced() throws {
        try withTemporaryDirectory { folder in
            let (url, new) = (folder.url("Notes.sqlite"), folder.url("New.sqlite"))
            try NotesModel.fill(url)
            try manager().migrateStore(
                from: url, sourceType: NSSQLiteStoreType, options: nil,
                with: mapping(policy: "CoreDataTests.WriterPolicy"), toDestinationURL: new,
                destinationType: NSSQLiteStoreType, destinationOptions: nil)
            let coordinator = NSPersistentStoreCoordinator(
                managedObjectModel: NSManagedObjectModel())
            try coordinator.replacePersistentStore(
                at: url, withPersistentStoreFrom: new, ofType: NSSQLiteStoreType)
            try coordinator.destroyPersistentStore(at: new, ofType: NSSQLiteStoreType)
            let migrated = try Stack.onDisk(NotesModel.third(), at: url)
            #expect(try migrated.viewContext.texts("headline", of: "Note") == ["first", "second"])
        }
    }

    @Test(
        "a mapping takes the objects that its source expression fetches, and functions of its policy"
    )
    func expressions() throws {
        try withTemporaryDirectory { folder in
            let (url, new) = (folder.url("Notes.sqlite"), folder.url("New.sqlite"))
            try NotesModel.fill(url)
            let mapping = mapping(policy: "ShoutingPolicy")
            let note = try #require(mapping.entityMappingsByName["NoteToNote"])
            note.sourceExpression = NSExpression(
                format:
                    #"FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Note", %@), $manager.sourceContext, NO)"#,
                argumentArray: ["title BEGINSWITH 'f'"])
            note.attributeMappings = [
                property("headline", #"FUNCTION($entityPolicy, "shout:", $source.title)"#)
            ]
            try migrate(manager(), from: url, by: mapping, to: new)
            let migrated = try Stack.onDisk(NotesModel.third(), at: new)
            #expect(try migrated.viewContext.texts("headline", of: "Note") == ["FIRST"])
        }
    }

    @Test("an inferred mapping model migrates, touched or not")
    func inferred() throws {
        try withTemporaryDirectory { folder in
            for isTouched in [false, true] {
                let url = folder.url("Notes \(isTouched).sqlite")
                let new = folder.url("New \(isTouched).sqlite")
                try NotesModel.fill(url)
                let mapping = try NSMappingModel.inferredMappingModel(
                    forSourceModel: NotesModel.first(), destinationModel: NotesModel.second())
                if isTouched {
                    #expect(mapping.entityMappings.count == 2)
                }
                let manager = NSMigrationManager(
                    sourceModel: NotesModel.first(), destinationModel: NotesModel.second())
                try migrate(manager, from: url, by: mapping, to: new)
                let migrated = try Stack.onDisk(NotesModel.second(), at: new)
                #expect(
                    try migrated.viewContext.texts("headline", of: "Note") == ["first", "second"])
            }
        }
    }

    @Test(
        "what goes wrong is an error, and there is no new store",
        arguments: [
            ("RefusingPolicy", NSEntityMigrationPolicyError),
            ("CancellingPolicy", CocoaError.userCancelled.rawValue),
            ("NoSuchPolicy", NSMigrationMissingMappingModelError),
        ])
    func errors(_ policy: String, _ code: Int) throws {
        try withTemporaryDirectory { folder in
            let (url, new) = (folder.url("Notes.sqlite"), folder.url("New.sqlite"))
            try NotesModel.fill(url)
            do {
                try migrate(manager(), from: url, by: mapping(policy: policy), to: new)
                Issue.record("the migration must fail")
            } catch {
                #expect((error as NSError).code == code)
            }
            #expect(!FileManager.default.fileExists(atPath: new.path))
            let old = try Stack.onDisk(NotesModel.first(), at: url)
            #expect(try old.viewContext.texts("title", of: "Note") == ["first", "second"])
        }
    }

    @Test(
        "a store of another version than the manager's, and a place where there is a store, are refused"
    )
    func refused() throws {
        try withTemporaryDirectory { folder in
            let (url, new) = (folder.url("Notes.sqlite"), folder.url("New.sqlite"))
            _ = try Stack.onDisk(NotesModel.second(), at: url)
            do {
                try migrate(manager(), from: url, by: mapping(), to: new)
                Issue.record("the store is of another version")
            } catch {
                #expect((error as NSError).code == NSMigrationMissingSourceModelError)
            }
            try NotesModel.fill(folder.url("First.sqlite"))
            #expect(throws: NSError.self) {
                try migrate(manager(), from: folder.url("First.sqlite"), by: mapping(), to: url)
            }
            _ = try Stack.onDisk(NotesModel.second(), at: url)
        }
    }
}

// A store that goes through three versions, with code between them.

import CairnTestSupport
import CoreData
import Foundation
import Testing

@Suite("Staged migration")
struct StagedMigrationTests {
    private func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    /// Names of authors, kept from before the attribute went until there are people.
    private final class Names: @unchecked Sendable {
        // Stages run one after the other, where the store is opened.
        var byHeadline: [String: String] = [:]
        var stages: [String] = []
    }

    private func stages(_ names: Names) -> [NSMigrationStage] {
        let first = NSCustomMigrationStage(
            migratingFrom: reference(NotesModel.first()), to: reference(NotesModel.second()))
        first.label = "headlines"
        first.didMigrateHandler = { manager, stage in
            names.stages.append(stage.label)
            let context = try #require(manager.container).newBackgroundContext()
            try context.performAndWait {
                for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
                    note.setValue(true, forKey: "isPinned")
                }
                try context.save()
            }
        }
        let second = NSCustomMigrationStage(
            migratingFrom: reference(NotesModel.second()), to: reference(NotesModel.third()))
        second.label = "writers"
        second.willMigrateHandler = { manager, stage in
            names.stages.append("before \(stage.label ?? "")")
            let context = try #require(manager.container).viewContext
            for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
                #expect(note.value(forKey: "isPinned") as? Bool == true)
                let headline = try #require(note.value(forKey: "headline") as? String)
                names.byHeadline[headline] = note.value(forKey: "author") as? String
            }
        }
        second.didMigrateHandler = { manager, stage in
            names.stages.append("after \(stage.label ?? "")")
            let context = try #require(manager.container).viewContext
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue("Ada", forKey: "name")
            for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
                let headline = note.value(forKey: "headline") as? String ?? ""
                #expect(names.byHeadline[headline] == "Ada")
                note.setValue(person, forKey: "writer")
            }
            try context.save()
        }
        return [first, second]
    }

    private func load(
        _ url: URL, _ model: NSManagedObjectModel, _ stages: [NSMigrationStage],
        isReadOnly: Bool = false
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        let description = try #require(container.persistentStoreDescriptions.first)
        description.url = url
        description.isReadOnly = isReadOnly
        description.setOption(
            NSStagedMigrationManager(stages),
            forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        var failure: Error?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }

    @Test("the code of each stage sees the store with its model, in the order of the versions")
    func threeVersions() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            try NotesModel.fill(url)
            let names = Names()
            let container = try load(url, NotesModel.third(), stages(names))
            #expect(names.stages == ["headlines", "before writers", "after writers"])
            let people = try container.viewContext.fetch(
                NSFetchRequest<NSManagedObject>(entityName: "Person"))
            #expect(people.count == 1)
            #expect((people.first?.value(forKey: "notes") as? Set<NSManagedObject>)?.count == 2)
            // The next launch has nothing to do.
            let again = Names()
            try container.persistentStoreCoordinator.remove(
                container.persistentStoreCoordinator.persistentStores[0])
            _ = try load(url, NotesModel.third(), stages(again))
            #expect(again.stages.isEmpty)
        }
    }

    @Test("a lightweight stage leads through versions that other stages have")
    func lightweight() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            try NotesModel.fill(url)
            let names = Names()
            let stage = NSLightweightMigrationStage([
                NotesModel.first().versionChecksum, NotesModel.second().versionChecksum,
            ])
            #expect(stage.versionChecksums.count == 2)
            let custom = NSCustomMigrationStage(
                migratingFrom: reference(NotesModel.second()), to: reference(NotesModel.third()))
            custom.didMigrateHandler = { _, _ in names.stages.append("third") }
            let container = try load(url, NotesModel.third(), [stage, custom])
            #expect(names.stages == ["third"])
            #expect(try container.viewContext.texts("headline", of: "Note") == ["first", "second"])
        }
    }

    @Test("a store that is opened for reading is not migrated")
    func readOnly() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            try NotesModel.fill(url)
            let names = Names()
            do {
                _ = try load(url, NotesModel.third(), stages(names), isReadOnly: true)
                Issue.record("the store is of another version, and may not become one of this")
            } catch {
                #expect((error as NSError).code == NSPersistentStoreIncompatibleVersionHashError)
            }
            #expect(names.stages.isEmpty)
            let reader = try load(url, NotesModel.first(), stages(names), isReadOnly: true)
            #expect(try reader.viewContext.texts("title", of: "Note") == ["first", "second"])
        }
    }

    @Test("an error in the code of a stage is what loading gives, and the store keeps its version")
    func failingStage() throws {
        struct Failure: Error {}
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            try NotesModel.fill(url)
            let stage = NSCustomMigrationStage(
                migratingFrom: reference(NotesModel.first()), to: reference(NotesModel.second()))
            stage.willMigrateHandler = { _, _ in throw Failure() }
            do {
                _ = try load(url, NotesModel.second(), [stage])
                Issue.record("loading must fail")
            } catch {
                #expect((error as NSError).code == NSMigrationError)
                #expect((error as NSError).userInfo[NSUnderlyingErrorKey] is Failure)
            }
            let old = try Stack.onDisk(NotesModel.first(), at: url)
            #expect(try old.viewContext.texts("title", of: "Note") == ["first", "second"])
        }
    }
}

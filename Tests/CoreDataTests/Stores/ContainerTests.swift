// Containers: how apps load their stores.

import CairnLog
import CairnTestSupport
import CoreData
import Foundation
import Testing

@Suite("Containers")
struct ContainerTests {
    @Test(
        "what is saved is there when the container is loaded again, whatever the store's file is called"
    )
    func onDisk() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            do {
                let container = try Stack.onDisk(NotesModel.first(), at: url)
                container.viewContext.insertNote("kept")
                try container.viewContext.save()
            }
            let container = try Stack.onDisk(NotesModel.first(), at: url)
            #expect(try container.viewContext.texts("title", of: "Note") == ["kept"])
            #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [url])
            #expect(
                container.persistentStoreCoordinator.persistentStores[0].type == NSSQLiteStoreType)
        }
    }

    @Test("a folder that is missing is made for the store")
    func missingFolder() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("deep/inside/Notes.sqlite")
            let container = try Stack.onDisk(NotesModel.first(), at: url)
            container.viewContext.insertNote("kept")
            try container.viewContext.save()
            #expect(FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test("a store of Core Data's own is refused with the command that brings it over")
    func sqliteFile() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Old.sqlite")
            try Data("SQLite format 3\0 and the rest".utf8).write(to: url)
            let container = NSPersistentContainer(
                name: "Old", managedObjectModel: NotesModel.first())
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            var failure: Error?
            container.loadPersistentStores { failure = $1 }
            let error = try #require(failure as NSError?)
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == NSPersistentStoreTypeMismatchError)
            #expect(error.localizedDescription.contains("cairn import-coredata"))
            #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
            #expect(try Data(contentsOf: url).starts(with: Data("SQLite".utf8)))
        }
    }

    @Test("each store is loaded once, and one that has failed can be loaded later")
    func loadedAgain() throws {
        try withTemporaryDirectory { folder in
            let container = NSPersistentContainer(
                name: "Notes", managedObjectModel: NotesModel.first())
            let blocked = folder.url("Blocked.sqlite")
            try Data("text".utf8).write(to: blocked)
            container.persistentStoreDescriptions = [
                NSPersistentStoreDescription(url: folder.url("Notes.sqlite")),
                NSPersistentStoreDescription(url: blocked),
            ]
            var calls: [(String, Bool)] = []
            func load() {
                container.loadPersistentStores { description, error in
                    calls.append((description.url?.lastPathComponent ?? "", error == nil))
                }
            }
            load()
            try FileManager.default.removeItem(at: blocked)
            load()
            #expect(calls.map(\.0) == ["Notes.sqlite", "Blocked.sqlite", "Blocked.sqlite"])
            #expect(calls.map(\.1) == [true, false, true])
            #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
        }
    }

    @Test("a store that is added asynchronously calls the handler when it is there")
    func asynchronously() async throws {
        let container = NSPersistentContainer(
            name: "Notes", managedObjectModel: NotesModel.first())
        let description = NSPersistentStoreDescription()
        description.shouldAddStoreAsynchronously = true
        container.persistentStoreDescriptions = [description]
        let failed = await withCheckedContinuation { continuation in
            container.loadPersistentStores { continuation.resume(returning: $1 != nil) }
        }
        #expect(!failed)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test("a description has Core Data's defaults, and keeps what it is told")
    func descriptions() {
        let container = NSPersistentContainer(
            name: "Notes", managedObjectModel: NotesModel.first())
        let description = container.persistentStoreDescriptions[0]
        #expect(
            description.url
                == NSPersistentContainer.defaultDirectoryURL().appendingPathComponent(
                    "Notes.sqlite"))
        #expect(description.type == NSSQLiteStoreType)
        #expect(description.shouldMigrateStoreAutomatically)
        #expect(description.shouldInferMappingModelAutomatically)
        #expect(!description.isReadOnly)
        #expect(!description.shouldAddStoreAsynchronously)
        #expect(description.configuration == nil)
        #expect(NSPersistentStoreDescription().url?.path == "/dev/null")
        description.isReadOnly = true
        description.timeout = 3
        description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
        #expect(
            (description.options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true)
        #expect(description.timeout == 3)
        #expect(description.sqlitePragmas["journal_mode"] == "DELETE" as NSString)
        description.setOption(nil, forKey: NSReadOnlyPersistentStoreOption)
        #expect(!description.isReadOnly)
    }

    @Test(
        "the pragma synchronous decides when a save returns",
        arguments: [
            (nil, .full), ("FULL", .full), ("EXTRA", .full), ("2", .full), ("normal", .relaxed),
            ("OFF", .relaxed), ("1", .relaxed),
        ] as [(String?, LogStoreOptions.Durability)])
    func durability(_ value: String?, _ durability: LogStoreOptions.Durability) throws {
        try withTemporaryDirectory { folder in
            let container = NSPersistentContainer(
                name: "Notes", managedObjectModel: NotesModel.first())
            let description = NSPersistentStoreDescription(url: folder.url("Notes.sqlite"))
            description.setValue(
                value.map { NSString(string: $0) }, forPragmaNamed: "synchronous")
            container.persistentStoreDescriptions = [description]
            var failure: Error?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            let store = try #require(
                container.persistentStoreCoordinator.persistentStores.first?.core as? LogStore)
            #expect(store.durability == durability)
        }
    }

    @Test("a task in the background saves, and gives its result")
    func backgroundTasks() async throws {
        let container = try Stack.inMemory(NotesModel.first())
        let count = try await container.performBackgroundTask { context -> Int in
            context.insertNote("one")
            context.insertNote("two")
            try context.save()
            return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
        }
        #expect(count == 2)
        await withCheckedContinuation { continuation in
            container.performBackgroundTask { context in
                context.insertNote("three")
                try? context.save()
                continuation.resume()
            }
        }
        let context = container.newBackgroundContext()
        let titles = try await context.perform { try context.texts("title", of: "Note") }
        #expect(titles == ["one", "three", "two"])
    }

    @Test("a container finds its model among the resources of the module by its name")
    func modelByName() throws {
        let container = NSPersistentContainer(name: "Catalogue")
        #expect(container.managedObjectModel.entitiesByName.keys.sorted() == ["Entry"])
        container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
        var failure: Error?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        let entry = NSEntityDescription.insertNewObject(
            forEntityName: "Entry", into: container.viewContext)
        entry.setValue("kept", forKey: "title")
        try container.viewContext.save()
        #expect(try container.viewContext.texts("title", of: "Entry") == ["kept"])
    }

    @Test("a model that is not among the resources ends the program with what to do")
    func missingModel() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = NSPersistentContainer(name: "NoSuchModel")
        }
        let words = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(words.contains("there is no model NoSuchModel.xcdatamodeld"))
    }

    @Test("stores in memory are apart from each other, unless they have a name")
    func inMemory() throws {
        let model = NotesModel.first()
        let one = try Stack.inMemory(model)
        one.viewContext.insertNote("mine")
        try one.viewContext.save()
        #expect(try Stack.inMemory(model).viewContext.texts("title", of: "Note").isEmpty)

        let name = URL(fileURLWithPath: "/dev/null").appendingPathComponent(UUID().uuidString)
        let writer = try Stack.onDisk(model, at: name)
        let reader = try Stack.onDisk(model, at: name)
        writer.viewContext.insertNote("shared")
        try writer.viewContext.save()
        #expect(try reader.viewContext.texts("title", of: "Note") == ["shared"])
        try writer.persistentStoreCoordinator.remove(
            writer.persistentStoreCoordinator.persistentStores[0])
        #expect(try reader.viewContext.texts("title", of: "Note") == ["shared"])
    }
}

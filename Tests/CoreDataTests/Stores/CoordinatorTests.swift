// Coordinators: several stores, stores as a whole, what stores say of themselves.

import CairnTestSupport
import CoreData
import Foundation
import Testing

@Suite("Coordinators")
struct CoordinatorTests {
    /// Notes in one configuration, people in another.
    private func dividedModel() -> NSManagedObjectModel {
        let model = NotesModel.first()
        model.setEntities([model.entitiesByName["Note"]!], forConfigurationName: "Own")
        model.setEntities([model.entitiesByName["Person"]!], forConfigurationName: "Shared")
        return model
    }

    private func context(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("objects go to the store of their configuration")
    func configurations() throws {
        try withTemporaryDirectory { folder in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: dividedModel())
            let own = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: "Own",
                at: folder.url("Own.sqlite"))
            let shared = try coordinator.addPersistentStore(
                type: .sqlite, configuration: "Shared", at: folder.url("Shared.sqlite"))
            let context = context(of: coordinator)
            let note = context.insertNote("mine")
            let person = NSEntityDescription.insertNewObject(
                forEntityName: "Person", into: context)
            person.setValue("Ada", forKey: "name")
            try context.save()
            #expect(note.objectID.persistentStore === own)
            #expect(person.objectID.persistentStore === shared)
            #expect(own.configurationName == "Own")
            #expect(
                coordinator.persistentStores.map(\.identifier) == [
                    own.identifier, shared.identifier,
                ])
            let uri = person.objectID.uriRepresentation()
            #expect(coordinator.managedObjectID(forURIRepresentation: uri) == person.objectID)
            try coordinator.remove(shared)
            #expect(shared.persistentStoreCoordinator == nil)
            #expect(try context.texts("name", of: "Person").isEmpty)
            #expect(try context.texts("title", of: "Note") == ["mine"])
        }
    }

    @Test("a coordinator carries out requests for a context")
    func requests() throws {
        let container = try Stack.inMemory(NotesModel.first())
        let coordinator = container.persistentStoreCoordinator
        let note = container.viewContext.insertNote("one")
        try container.viewContext.save()
        let found = try coordinator.execute(
            NSFetchRequest<NSManagedObject>(entityName: "Note"), with: container.viewContext)
        #expect(found as? [NSManagedObject] == [note])
        let deletion = NSBatchDeleteRequest(
            fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Note"))
        deletion.resultType = .resultTypeCount
        let result = try coordinator.execute(deletion, with: container.viewContext)
        #expect((result as? NSBatchDeleteResult)?.result as? Int == 1)
    }

    @Test("what cannot be opened is an error with Core Data's number")
    func errors() {
        withTemporaryDirectory { folder in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: dividedModel())
            func code(_ body: () throws -> Void) -> Int? {
                do {
                    try body()
                    return nil
                } catch {
                    return (error as NSError).code
                }
            }
            #expect(
                code {
                    try coordinator.addPersistentStore(
                        ofType: "Cloud", configurationName: nil, at: folder.url("a"))
                } == NSPersistentStoreInvalidTypeError)
            #expect(
                code {
                    try coordinator.addPersistentStore(
                        ofType: NSSQLiteStoreType, configurationName: nil, at: nil)
                } == NSPersistentStoreOpenError)
            #expect(
                code {
                    try coordinator.addPersistentStore(
                        type: .sqlite, at: folder.url("missing"),
                        options: [NSReadOnlyPersistentStoreOption: true])
                } == NSPersistentStoreOpenError)
            #expect(
                code {
                    try coordinator.addPersistentStore(
                        type: .sqlite, configuration: "Unknown", at: folder.url("b"))
                } != nil)
            #expect(coordinator.persistentStores.isEmpty)
        }
    }

    @Test("a store that is opened for reading takes no changes")
    func readOnly() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            let writer = try Stack.onDisk(NotesModel.first(), at: url)
            writer.viewContext.insertNote("kept")
            try writer.viewContext.save()
            let reader = try Stack.onDisk(
                NotesModel.first(), at: url, options: [NSReadOnlyPersistentStoreOption: true])
            #expect(reader.persistentStoreCoordinator.persistentStores[0].isReadOnly)
            #expect(try reader.viewContext.texts("title", of: "Note") == ["kept"])
            reader.viewContext.insertNote("refused")
            #expect(throws: NSError.self) { try reader.viewContext.save() }
        }
    }

    @Test("a store is saved elsewhere, and contexts go on with the copy")
    func savedElsewhere() throws {
        try withTemporaryDirectory { folder in
            let container = try Stack.inMemory(NotesModel.first())
            let coordinator = container.persistentStoreCoordinator
            let note = container.viewContext.insertNote("draft")
            try container.viewContext.save()
            let url = folder.url("Saved.sqlite")
            let draft = coordinator.persistentStores[0]
            let saved = try coordinator.migratePersistentStore(
                draft, to: url, options: nil, type: .sqlite)
            #expect(coordinator.persistentStores == [saved])
            #expect(draft.persistentStoreCoordinator == nil)
            #expect(coordinator.url(for: saved) == url)
            #expect(coordinator.persistentStore(for: url) === saved)
            note.setValue("final", forKey: "title")
            try container.viewContext.save()
            try coordinator.remove(saved)
            let again = try Stack.onDisk(NotesModel.first(), at: url)
            #expect(try again.viewContext.texts("title", of: "Note") == ["final"])
            #expect(throws: NSError.self) {
                try again.persistentStoreCoordinator.migratePersistentStore(
                    again.persistentStoreCoordinator.persistentStores[0], to: url, type: .sqlite)
            }
        }
    }

    @Test("a store can be pointed at a copy of it")
    func pointedElsewhere() throws {
        try withTemporaryDirectory { folder in
            let (url, copy) = (folder.url("Notes.sqlite"), folder.url("Copy.sqlite"))
            let container = try Stack.onDisk(NotesModel.first(), at: url)
            let coordinator = container.persistentStoreCoordinator
            container.viewContext.insertNote("kept")
            try container.viewContext.save()
            let store = coordinator.persistentStores[0]
            #expect(!coordinator.setURL(copy, for: store))
            try coordinator.replacePersistentStore(
                at: copy, withPersistentStoreFrom: url, type: .sqlite)
            #expect(coordinator.setURL(copy, for: store))
            #expect(store.url == copy)
            #expect(coordinator.persistentStores == [store])
            container.viewContext.insertNote("new")
            try container.viewContext.save()
            let before = try Stack.onDisk(NotesModel.first(), at: url)
            #expect(try before.viewContext.texts("title", of: "Note") == ["kept"])
        }
    }

    @Test("a store in memory that others have too stays theirs when it is moved to a folder")
    func movedShared() throws {
        try withTemporaryDirectory { folder in
            let url = URL(fileURLWithPath: "/dev/null/\(UUID().uuidString)")
            let mine = try Stack.onDisk(NotesModel.first(), at: url)
            let theirs = try Stack.onDisk(NotesModel.first(), at: url)
            mine.viewContext.insertNote("both")
            try mine.viewContext.save()
            let coordinator = mine.persistentStoreCoordinator
            try coordinator.migratePersistentStore(
                coordinator.persistentStores[0], to: folder.url("Notes.sqlite"), options: nil,
                withType: NSSQLiteStoreType)
            #expect(try mine.viewContext.texts("title", of: "Note") == ["both"])
            theirs.viewContext.insertNote("theirs")
            try theirs.viewContext.save()
            #expect(
                try theirs.viewContext.texts("title", of: "Note").sorted() == ["both", "theirs"])
        }
    }

    @Test("what cannot be replaced leaves the store with its coordinator")
    func refusedReplacement() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            let container = try Stack.onDisk(NotesModel.first(), at: url)
            let coordinator = container.persistentStoreCoordinator
            container.viewContext.insertNote("kept")
            #expect(throws: (any Error).self) {
                try coordinator.replacePersistentStore(
                    at: url, withPersistentStoreFrom: folder.url("None.sqlite"), type: .sqlite)
            }
            #expect(coordinator.persistentStores.count == 1)
            try container.viewContext.save()
            #expect(try container.viewContext.texts("title", of: "Note") == ["kept"])
        }
    }

    @Test("a store is reset by destroying it, also while the coordinator has it")
    func destroyed() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            let container = try Stack.onDisk(NotesModel.first(), at: url)
            let coordinator = container.persistentStoreCoordinator
            container.viewContext.insertNote("gone")
            try container.viewContext.save()
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
            #expect(coordinator.persistentStores.isEmpty)
            // As Core Data leaves an empty database, which many remove themselves.
            #expect(FileManager.default.fileExists(atPath: url.path))
            var failure: Error?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            #expect(try container.viewContext.texts("title", of: "Note").isEmpty)
            let other = try Stack.onDisk(NotesModel.first(), at: url)
            try coordinator.remove(coordinator.persistentStores[0])
            #expect(throws: NSError.self) {
                try coordinator.destroyPersistentStore(at: url, type: .sqlite)
            }
            try other.persistentStoreCoordinator.remove(
                other.persistentStoreCoordinator.persistentStores[0])
            try coordinator.destroyPersistentStore(at: url, type: .sqlite)
            #expect(throws: NSError.self) {
                try coordinator.destroyPersistentStore(
                    at: URL(fileURLWithPath: "/dev/null"), type: .sqlite)
            }
            // Where there is none it is the same, so that who removes what is left finds something.
            try FileManager.default.removeItem(at: url)
            try coordinator.destroyPersistentStore(at: url, type: .sqlite)
            #expect(FileManager.default.fileExists(atPath: url.path))
            let nowhere = folder.url("none/Notes.sqlite")
            try coordinator.destroyPersistentStore(at: nowhere, type: .sqlite)
            #expect(!FileManager.default.fileExists(atPath: nowhere.path))
        }
    }

    // MARK: Metadata

    @Test("metadata are written by the next save, or at once without a coordinator")
    func metadata() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            let list: [String: Any] = ["seen": ["a", "b"], "count": 2]
            do {
                let container = try Stack.onDisk(NotesModel.first(), at: url)
                let coordinator = container.persistentStoreCoordinator
                let store = coordinator.persistentStores[0]
                var metadata = coordinator.metadata(for: store)
                #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
                #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
                let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
                #expect(hashes == container.managedObjectModel.entityVersionHashesByName)
                metadata["token"] = "abc"
                metadata["list"] = list
                metadata["date"] = Date(timeIntervalSinceReferenceDate: 5)
                coordinator.setMetadata(metadata, for: store)
                try container.viewContext.save()
            }
            var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: url, options: nil)
            #expect(metadata["token"] as? String == "abc")
            #expect(metadata["date"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
            let kept = metadata["list"] as? [String: Any]
            #expect(kept?["seen"] as? [String] == ["a", "b"])
            #expect(kept?["count"] as? Int == 2)
            metadata["token"] = nil
            try NSPersistentStoreCoordinator.setMetadata(
                metadata, type: .sqlite, at: url)
            let again = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                type: .sqlite, at: url)
            #expect(again["token"] == nil)
            #expect(again["list"] != nil)
            #expect(throws: NSError.self) {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    type: .sqlite, at: folder.url("missing"))
            }
            #expect(throws: NSError.self) {
                try NSPersistentStoreCoordinator.setMetadata(
                    ["handle": FileManager.default], type: .sqlite, at: url)
            }
        }
    }

    @Test("a model says whether a store can be opened with it")
    func compatibility() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            _ = try Stack.onDisk(NotesModel.first(), at: url)
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                type: .sqlite, at: url)
            #expect(
                NotesModel.first().isConfiguration(
                    withName: nil, compatibleWithStoreMetadata: metadata))
            #expect(
                !NotesModel.second().isConfiguration(
                    withName: nil, compatibleWithStoreMetadata: metadata))
            let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
            #expect(
                cached.entityVersionHashesByName == NotesModel.first().entityVersionHashesByName)
        }
    }

    // MARK: Notifications

    /// What notifications of a coordinator say, in their order.
    private final class Log: @unchecked Sendable {
        // Everything here is posted on the thread of the test.
        var lines: [String] = []
    }

    @Test("who observes a coordinator is told of stores that come and go")
    func storesChange() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.first())
        let log = Log()
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        // Core Data says which store goes by the object of the notification.
        let observers = [
            (Notification.Name.NSPersistentStoreCoordinatorStoresWillChange, "will", coordinator),
            (.NSPersistentStoreCoordinatorStoresDidChange, "did", coordinator),
            (.NSPersistentStoreCoordinatorWillRemoveStore, "remove", store),
        ].map { (name: Notification.Name, word: String, object: NSObject) in
            NotificationCenter.default.addObserver(
                forName: name, object: object, queue: nil
            ) { notification in
                let added =
                    notification.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore]
                let removed =
                    notification.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore]
                log.lines.append("\(word) +\(added?.count ?? 0) -\(removed?.count ?? 0)")
            }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try coordinator.remove(store)
        #expect(log.lines == ["did +1 -0", "remove +0 -0", "did +0 -1"])
    }

    @Test("every write is told of, if the store was opened for it")
    func remoteChanges() throws {
        let container = try Stack.inMemory(
            NotesModel.first(),
            options: [
                NSPersistentHistoryTrackingKey: true,
                NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            ])
        let coordinator = container.persistentStoreCoordinator
        let log = Log()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { notification in
            let uuid = notification.userInfo?[NSStoreUUIDKey] as? String
            let url = notification.userInfo?[NSPersistentStoreURLKey] as? URL
            let token =
                notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            let isCurrent = token == coordinator.currentPersistentHistoryToken(fromStores: nil)
            log.lines.append("\(uuid ?? "") \(url?.path ?? "") \(isCurrent)")
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        container.viewContext.insertNote("one")
        try container.viewContext.save()
        let identifier = try #require(coordinator.persistentStores[0].identifier)
        #expect(log.lines == ["\(identifier) /dev/null true"])
    }
}

// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Entity
final class Note: ManagedObject {
    var title: String = ""
    var text: String = ""
}

@Suite("Starting afresh")
struct StartingAfresh {
    private func fill(_ path: String, _ titles: String...) async throws {
        let container = try PersistentContainer(at: path, for: Note.self)
        try await container.performBackgroundTask { context in
            for title in titles { context.insert(Note.self).title = title }
            try context.save()
        }
    }

    private func titles(_ path: String) async throws -> [String] {
        let container = try PersistentContainer(at: path, for: Note.self)
        return try await container.performBackgroundTask { context in
            try context.fetch(FetchRequest<Note>(sortBy: [SortKey("title")])).map(\.title)
        }
    }

    @MainActor
    @Test(
        "Refreshing all objects keeps unsaved changes and the objects that are held",
        arguments: Backend.compared)
    func refreshed(_ backend: Backend) async throws {
        let container = try backend.container(for: Note.self)
        let context = container.viewContext
        // StartingAfresh 1 begins
        let note = context.insert(Note.self)
        note.title = "list"
        try context.save()
        note.text = "milk"  // not saved

        try await container.performBackgroundTask { context in
            try context.fetch(FetchRequest<Note>())[0].title = "shopping list"
            try context.save()
        }
        context.refreshAllObjects()
        // The same object: its title is "shopping list", its text still "milk".
        // StartingAfresh 1 ends
        #expect(note.title == "shopping list" && note.text == "milk" && note.hasChanges)
        try context.save()
        #expect(try context.fetch(FetchRequest<Note>()) == [note])
    }

    @Test("A store is destroyed when nobody has it open, with every file, and begins anew")
    func destroyed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("notes.cairn")
        try await fill(path, "old")
        var refusal: StoreError?
        // StartingAfresh 2 begins
        var container: PersistentContainer? = try PersistentContainer(at: path, for: Note.self)
        do {
            try PersistentContainer.destroyPersistentStore(at: path)
        } catch {
            // error.code is .storeInUse: this container has it open.
            // StartingAfresh 2 pauses
            refusal = error
            // StartingAfresh 2 goes on
        }
        container = nil
        try PersistentContainer.destroyPersistentStore(at: path)
        // StartingAfresh 2 ends
        #expect(refusal?.code == .storeInUse && container == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        #expect(try await titles(path) == [])
    }

    @Test("A store is replaced by another, such as a backup")
    func replaced() async throws {
        let directory = try TemporaryDirectory()
        let (path, backup) = (directory.path("notes.cairn"), directory.path("backup.cairn"))
        try await fill(backup, "kept")
        try await fill(path, "lost", "too many")
        // StartingAfresh 3 begins
        try PersistentContainer.replacePersistentStore(at: path, withStoreAt: backup)
        // StartingAfresh 3 ends
        #expect(try await titles(path) == ["kept"])
        #expect(try await titles(backup) == ["kept"])
    }

    @Test("A store that is too old to be led to the model is wiped and begun anew, and no other")
    func tooOld() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("notes.cairn")
        // StartingAfresh 4 begins
        func open(_ path: String) throws -> PersistentContainer {
            do {
                return try PersistentContainer(at: path, for: Note.self)
            } catch let error as StoreError where error.code == .cannotInferMapping {
                // error.details says what would need a mapping.
                try PersistentContainer.destroyPersistentStore(at: path)
                return try PersistentContainer(at: path, for: Note.self)
            }
        }
        // StartingAfresh 4 ends
        let old = ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [.init("title", .integer64), .init("text", .string)])
        ])
        try PersistentContainer(at: path, model: old).store.close()
        try open(path).store.close()
        #expect(try await titles(path) == [])
        try await fill(path, "kept")
        try open(path).store.close()
        #expect(try await titles(path) == ["kept"])
    }
}

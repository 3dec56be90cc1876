// The history of a store, as apps that share a store with extensions consume it.

import CairnTestSupport
import CoreData
import Foundation
import Testing

@Suite("History")
struct HistoryTests {
    private static let tracked = [NSPersistentHistoryTrackingKey: true]

    /// A stack whose notes keep their titles when they are deleted.
    private func stack() throws -> NSPersistentContainer {
        let model = NotesModel.first()
        model.entitiesByName["Note"]?.attributesByName["title"]?
            .preservesValueInHistoryOnDeletion = true
        return try Stack.inMemory(model, options: Self.tracked)
    }

    private func transactions(
        _ request: NSPersistentHistoryChangeRequest, in context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return result?.result as? [NSPersistentHistoryTransaction] ?? []
    }

    /// What an app keeps between its launches, in a file.
    private struct TokenFile {
        let url: URL

        var token: NSPersistentHistoryToken? {
            get throws {
                guard let data = try? Data(contentsOf: url) else { return nil }
                return try NSKeyedUnarchiver.unarchivedObject(
                    ofClass: NSPersistentHistoryToken.self, from: data)
            }
        }

        func write(_ token: NSPersistentHistoryToken) throws {
            try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
                .write(to: url)
        }
    }

    @Test("a consumer goes on where it was, with its token in a file")
    func consumer() throws {
        try withTemporaryDirectory { folder in
            let file = TokenFile(url: folder.url("token"))
            let url = folder.url("Notes.sqlite")
            let app = try Stack.onDisk(NotesModel.first(), at: url, options: Self.tracked)
            let other = try Stack.onDisk(NotesModel.first(), at: url, options: Self.tracked)
            app.viewContext.transactionAuthor = "app"
            other.viewContext.transactionAuthor = "extension"

            func consume() throws -> [String] {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: try file.token)
                var seen: [String] = []
                for transaction in try transactions(request, in: app.viewContext) {
                    if transaction.author != "app" {
                        app.viewContext.mergeChanges(
                            fromContextDidSave: transaction.objectIDNotification())
                        for change in transaction.changes ?? [] {
                            let object = try app.viewContext.existingObject(
                                with: change.changedObjectID)
                            seen.append(object.value(forKey: "title") as? String ?? "")
                        }
                    }
                    try file.write(transaction.token)
                }
                return seen
            }

            app.viewContext.insertNote("mine")
            try app.viewContext.save()
            other.viewContext.insertNote("theirs")
            try other.viewContext.save()
            #expect(try consume() == ["theirs"])
            #expect(try consume().isEmpty)
            other.viewContext.insertNote("more")
            try other.viewContext.save()
            #expect(try consume() == ["more"])
        }
    }

    @Test("a transaction says who wrote what")
    func transaction() throws {
        let container = try stack()
        let context = container.viewContext
        context.name = "main"
        context.transactionAuthor = "tests"
        let note = context.insertNote("one")
        try context.save()
        let start = try #require(
            container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        note.setValue("two", forKey: "title")
        try context.save()
        context.delete(note)
        try context.save()

        let all = try transactions(.fetchHistory(after: start), in: context)
        #expect(all.count == 2)
        let (update, deletion) = (try #require(all.first), try #require(all.last))
        #expect(update.author == "tests")
        #expect(update.contextName == "main")
        #expect(update.processID == "\(ProcessInfo.processInfo.processIdentifier)")
        #expect(!update.bundleID.isEmpty)
        #expect(
            update.storeID == container.persistentStoreCoordinator.persistentStores[0].identifier)
        #expect(update.transactionNumber < deletion.transactionNumber)
        #expect(abs(update.timestamp.timeIntervalSinceNow) < 3600)
        let change = try #require(update.changes?.first)
        #expect(change.changeType == .update)
        #expect(change.changedObjectID == note.objectID)
        #expect(change.updatedProperties?.map(\.name) == ["title"])
        #expect(change.tombstone == nil)
        #expect(change.transaction == update)
        #expect(deletion.changes?.first?.changeType == .delete)
        #expect(deletion.changes?.first?.tombstone?["title"] as? String == "two")
        let info = deletion.objectIDNotification().userInfo
        #expect(info?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [note.objectID])
        #expect(try transactions(.fetchHistory(after: update), in: context) == [deletion])
        #expect(
            try transactions(
                .fetchHistory(after: Date(timeIntervalSinceNow: -3600)), in: context
            ).count == 3)
    }

    @Test("each kind of result is what Core Data's users cast it to")
    func results() throws {
        let container = try stack()
        let context = container.viewContext
        let notes = [context.insertNote("a"), context.insertNote("b")]
        try context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(
            after: nil as NSPersistentHistoryToken?)

        func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
            request.resultType = type
            let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
            #expect(result.resultType == type)
            return result.result
        }

        #expect(request.resultType == .transactionsAndChanges)
        #expect(try result(.statusOnly) as? Bool == true)
        #expect(try result(.count) as? Int == 2)
        #expect(
            Set(try result(.objectIDs) as? [NSManagedObjectID] ?? []) == Set(notes.map(\.objectID)))
        let alone = try result(.transactionsOnly) as? [NSPersistentHistoryTransaction]
        #expect(alone?.count == 1)
        #expect(alone?.first?.changes == nil)
        let changes = try #require(try result(.changesOnly) as? [NSPersistentHistoryChange])
        #expect(changes.count == 2)
        #expect(changes.map(\.changeType) == [.insert, .insert])
        #expect(changes.allSatisfy { $0.transaction == alone?.first })
    }

    @Test("what was seen is deleted, and a token from before has expired")
    func deletion() throws {
        let container = try stack()
        let context = container.viewContext
        for title in ["one", "two", "three"] {
            context.insertNote(title)
            try context.save()
        }
        let all = try transactions(
            .fetchHistory(after: nil as NSPersistentHistoryToken?), in: context)
        #expect(all.count == 3)
        let deleted = try context.execute(
            NSPersistentHistoryChangeRequest.deleteHistory(before: all[2]))
        #expect((deleted as? NSPersistentHistoryResult)?.result as? Bool == true)
        #expect(
            try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), in: context)
                == [all[2]])
        do {
            _ = try transactions(.fetchHistory(after: all[0].token), in: context)
            Issue.record("a token from before the deletion must have expired")
        } catch let error as NSError {
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == NSPersistentHistoryTokenExpiredError)
        }
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
        #expect(
            try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), in: context)
                .isEmpty)
    }

    @Test("conditions on transactions and on changes")
    func conditions() throws {
        let container = try stack()
        let context = container.viewContext
        context.transactionAuthor = "one"
        let note = context.insertNote("a")
        try context.save()
        context.transactionAuthor = "two"
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        note.setValue("b", forKey: "title")
        try context.save()

        let mine = try #require(NSPersistentHistoryTransaction.fetchRequest)
        mine.predicate = NSPredicate(format: "author == %@", "two")
        #expect(
            try transactions(.fetchHistory(withFetch: mine), in: context).map(\.author) == ["two"])

        func ids(_ predicate: NSPredicate) throws -> [NSManagedObjectID] {
            let condition = NSFetchRequest<NSFetchRequestResult>()
            condition.entity = NSPersistentHistoryChange.entityDescription(with: context)
            condition.predicate = predicate
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: condition)
            request.resultType = .changesOnly
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryChange] ?? []).map(\.changedObjectID)
        }
        #expect(
            try ids(NSPredicate(format: "changedObjectID == %@", note.objectID))
                == [note.objectID, note.objectID])
        // Programs take the names of keys from the entity.
        let keys = NSPersistentHistoryChange.entityDescription(with: context)?.attributesByName
        let key = try #require(keys?["changedObjectID"]?.name)
        #expect(
            try ids(NSPredicate(format: "%K == %@", key, person.objectID)) == [person.objectID])
        #expect(
            NSPersistentHistoryTransaction.entityDescription?.attributesByName["author"] != nil)
        #expect(
            try ids(NSPredicate(format: "changedEntity == %@", person.entity)) == [person.objectID])
        #expect(
            try ids(
                NSPredicate(
                    format: "changeType == %d", NSPersistentHistoryChangeType.update.rawValue))
                == [note.objectID])
    }

    @Test("the notification of a save has the point behind it")
    func savedToken() throws {
        let container = try stack()
        let context = container.viewContext
        let saves = Notices(.NSManagedObjectContextDidSave, of: context)
        context.insertNote("a")
        try context.save()
        let token = saves.all.last?.userInfo?["newChangeToken"] as? NSPersistentHistoryToken
        let coordinator = container.persistentStoreCoordinator
        #expect(token != nil && token == coordinator.currentPersistentHistoryToken(fromStores: nil))
    }

    @Test("a store without history has no tokens, and says so when it is asked")
    func withoutHistory() throws {
        let container = try Stack.inMemory(NotesModel.first())
        let saves = Notices(.NSManagedObjectContextDidSave, of: container.viewContext)
        container.viewContext.insertNote("one")
        try container.viewContext.save()
        #expect(saves.all.last?.userInfo?["newChangeToken"] == nil)
        let coordinator = container.persistentStoreCoordinator
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        #expect(throws: NSError.self) {
            try container.viewContext.execute(
                NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        }
    }

    @Test("a store goes on with its history when nobody asks for it")
    func keptHistory() throws {
        try withTemporaryDirectory { folder in
            let url = folder.url("Notes.sqlite")
            do {
                let container = try Stack.onDisk(NotesModel.first(), at: url, options: Self.tracked)
                container.viewContext.insertNote("one")
                try container.viewContext.save()
            }
            let container = try Stack.onDisk(
                NotesModel.first(), at: url, options: [NSPersistentHistoryTrackingKey: false])
            container.viewContext.insertNote("two")
            try container.viewContext.save()
            let all = try transactions(
                .fetchHistory(after: nil as NSPersistentHistoryToken?), in: container.viewContext)
            #expect(all.count == 2)
        }
    }

    @Test("a context goes on reading the state that it is pinned to")
    func queryGenerations() throws {
        let container = try stack()
        container.viewContext.insertNote("one")
        try container.viewContext.save()
        let reader = container.newBackgroundContext()
        let titles = try reader.performAndWait {
            #expect(reader.queryGenerationToken == nil)
            try reader.setQueryGenerationFrom(.current)
            #expect(reader.queryGenerationToken == .current)
            return try reader.texts("title", of: "Note")
        }
        #expect(titles == ["one"])
        container.viewContext.insertNote("two")
        try container.viewContext.save()
        try reader.performAndWait {
            #expect(try reader.texts("title", of: "Note") == ["one"])
            let token = reader.queryGenerationToken
            let other = container.newBackgroundContext()
            try other.performAndWait {
                try other.setQueryGenerationFrom(token)
                #expect(other.queryGenerationToken == token)
                #expect(try other.texts("title", of: "Note") == ["one"])
            }
            try reader.setQueryGenerationFrom(nil)
            #expect(try reader.texts("title", of: "Note") == ["one", "two"])
        }
    }
}

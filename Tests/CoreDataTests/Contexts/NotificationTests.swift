// What contexts post, by Core Data's names and keys, and what merges it.

import CoreData
import Testing

@Suite("Notifications of contexts")
struct NotificationTests {
    let shelf: Shelf
    let context: NSManagedObjectContext

    init() throws {
        shelf = try Shelf()
        context = shelf.context()
    }

    @Test("A save is told before and after, with objects and with ids")
    func saves() throws {
        let will = Notices(.NSManagedObjectContextWillSave, of: context)
        let did = Notices(.NSManagedObjectContextDidSave, of: context)
        let ids = Notices(.NSManagedObjectContextDidSaveObjectIDs, of: context)
        try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            let other = shelf.book("Persuasion", pages: 1, in: context)
            try context.save()
            #expect(
                will.all.count == 1 && will.all[0].object as? NSManagedObjectContext === context)
            #expect(did.objects(NSInsertedObjectsKey) == [emma, other])
            #expect(did.all[0].userInfo?[NSUpdatedObjectsKey] == nil)
            #expect(ids.ids(NSInsertedObjectIDsKey) == [emma.objectID, other.objectID])
            emma.setValue(2, forKey: "pages")
            context.delete(other)
            try context.save()
            #expect(did.objects(NSUpdatedObjectsKey) == [emma])
            #expect(did.objects(NSDeletedObjectsKey) == [other])
            #expect(ids.ids(NSUpdatedObjectIDsKey) == [emma.objectID])
            #expect(ids.ids(NSDeletedObjectIDsKey) == [other.objectID])
        }
    }

    @Test("A save that has nothing to do is told of, too, and what its observers do is saved")
    func emptySaves() throws {
        let will = Notices(.NSManagedObjectContextWillSave, of: context)
        let did = Notices(.NSManagedObjectContextDidSave, of: context)
        let ids = Notices(.NSManagedObjectContextDidSaveObjectIDs, of: context)
        try context.performAndWait {
            try context.save()
            for notices in [will, did, ids] {
                #expect(notices.all.count == 1)
                #expect(notices.all[0].userInfo?.isEmpty ?? true)
            }
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextWillSave, object: context, queue: nil
            ) { [shelf, context] _ in shelf.book("Emma", pages: 1, in: context) }
            defer { NotificationCenter.default.removeObserver(token) }
            try context.save()
            #expect(did.all.count == 2 && did.objects(NSInsertedObjectsKey)?.count == 1)
            #expect(!context.hasChanges)
        }
    }

    @Test("The save of a context that reads a generation names the one behind it")
    func generation() throws {
        let did = Notices(.NSManagedObjectContextDidSave, of: context)
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try shelf.all("Book", in: context).isEmpty)
            shelf.book("Emma", pages: 1, in: context)
            try context.save()
            #expect(
                did.all.last?.userInfo?[NSManagedObjectContextQueryGenerationKey]
                    is NSQueryGenerationToken)
        }
    }

    @Test("So does one that has read nothing, which is not pinned by that")
    func unreadGeneration() throws {
        let did = Notices(.NSManagedObjectContextDidSave, of: context)
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            shelf.book("Emma", pages: 1, in: context)
            try context.save()
            let token = did.all.last?.userInfo?[NSManagedObjectContextQueryGenerationKey]
            let other = shelf.context()
            try other.performAndWait {
                try other.setQueryGenerationFrom(try #require(token as? NSQueryGenerationToken))
                try shelf.change("Book", "title", to: "Persuasion")
                #expect(
                    try shelf.all("Book", in: other)[0].value(forKey: "title") as? String == "Emma")
            }
            #expect(
                try shelf.all("Book", in: context)[0].value(forKey: "title") as? String == "Emma")
            context.refreshAllObjects()
            #expect(
                try shelf.all("Book", in: context)[0].value(forKey: "title") as? String
                    == "Persuasion")
        }
    }

    @Test("Each run of edits is told once, with the objects that changed")
    func changes() throws {
        let did = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: context)
        try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            emma.setValue(2, forKey: "pages")
            context.processPendingChanges()
            #expect(did.all.count == 1 && did.objects(NSInsertedObjectsKey) == [emma])
            try context.save()
            emma.setValue(3, forKey: "pages")
            context.processPendingChanges()
            #expect(
                did.objects(NSManagedObjectContext.NotificationKey.updatedObjects.rawValue)
                    == [emma])
            context.refresh(emma, mergeChanges: false)
            context.processPendingChanges()
            #expect(did.objects(NSRefreshedObjectsKey) == [emma])
            context.delete(emma)
            context.processPendingChanges()
            #expect(did.objects(NSDeletedObjectsKey) == [emma])
            context.reset()
            let gone = did.all.last?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]
            #expect(gone == [emma.objectID])
        }
    }

    @Test("The end of a block ends a run of edits")
    func endOfBlock() {
        let did = Notices(.NSManagedObjectContextObjectsDidChange, of: context)
        context.performAndWait {
            shelf.book("Emma", pages: 1, in: context)
            #expect(did.all.isEmpty)
        }
        #expect(did.all.count == 1)
    }

    @Test("A save of another context is merged, whatever thread says so")
    func merging() throws {
        let other = shelf.context()
        let merged = Notices(.NSManagedObjectContextDidMergeChangesObjectIDs, of: other)
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { other.mergeChanges(fromContextDidSave: $0) }
        defer { NotificationCenter.default.removeObserver(token) }
        let emma = try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            try context.save()
            return emma
        }
        let copy = other.performAndWait { other.object(with: emma.objectID) }
        other.performAndWait { #expect(copy.value(forKey: "pages") as? Int == 1) }
        try context.performAndWait {
            emma.setValue(2, forKey: "pages")
            try context.save()
        }
        other.performAndWait {
            #expect(copy.value(forKey: "pages") as? Int == 2)
            #expect(merged.ids(NSUpdatedObjectIDsKey) == [copy.objectID])
        }
        try context.performAndWait {
            context.delete(emma)
            try context.save()
        }
        other.performAndWait { #expect(other.deletedObjects == [copy]) }
    }

    @Test("Ids, their URIs and objects are merged from a dictionary, by texts and by keys")
    func remoteChanges() throws {
        let emma = try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            try context.save()
            return emma
        }
        let id = emma.objectID
        let others = [shelf.context(), shelf.context()]
        let copies = others.map { other in other.performAndWait { other.object(with: id) } }
        let changes: [[AnyHashable: Any]] = [
            [NSUpdatedObjectsKey: [id]], [NSUpdatedObjectsKey: [id.uriRepresentation()]],
            [NSUpdatedObjectsKey: Set([emma])], [NSUpdatedObjectIDsKey: NSSet(object: id)],
            [NSManagedObjectContext.NotificationKey.updatedObjectIDs: Set([id])],
            [NSUpdatedObjectsKey: NSArray(object: id)],
        ]
        for (count, change) in changes.enumerated() {
            try context.performAndWait {
                emma.setValue(count + 2, forKey: "pages")
                try context.save()
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: change, into: others)
            for (other, copy) in zip(others, copies) {
                other.performAndWait { #expect(copy.value(forKey: "pages") as? Int == count + 2) }
            }
        }
    }

    @Test("A context that merges by itself has what others save, once its queue is free")
    func automaticMerging() throws {
        let other = shelf.context()
        other.automaticallyMergesChangesFromParent = true
        let emma = try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            try context.save()
            return emma
        }
        let copy = other.performAndWait {
            let copy = other.object(with: emma.objectID)
            #expect(copy.value(forKey: "pages") as? Int == 1)
            return copy
        }
        try context.performAndWait {
            emma.setValue(2, forKey: "pages")
            try context.save()
        }
        // Its merge was asked for on its queue before this.
        other.performAndWait { #expect(copy.value(forKey: "pages") as? Int == 2) }
    }

    @Test("It is told of new objects even if nobody has used it yet")
    func automaticMergingOfUnused() throws {
        let others = [shelf.context(), shelf.context()]
        others[0].automaticallyMergesChangesFromParent = true
        let late = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        late.automaticallyMergesChangesFromParent = true
        late.persistentStoreCoordinator = shelf.coordinator
        let notices = (others + [late]).map {
            Notices(.NSManagedObjectContextObjectsDidChange, of: $0)
        }
        let emma = try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            try context.save()
            return emma.objectID
        }
        for other in others + [late] { other.performAndWait {} }
        #expect(
            notices.map { $0.objects(NSInsertedObjectsKey)?.map(\.objectID) } == [
                [emma], nil, [emma],
            ])
    }

    @Test("Or if the stores are loaded later")
    func automaticMergingBeforeStores() throws {
        let container = NSPersistentContainer(name: "Early", managedObjectModel: Notes.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
        let other = container.newBackgroundContext()
        other.automaticallyMergesChangesFromParent = true
        let notices = Notices(.NSManagedObjectContextObjectsDidChange, of: other)
        container.loadPersistentStores { #expect($1 == nil) }
        let writer = container.newBackgroundContext()
        let note = try writer.performAndWait {
            let note = Note(context: writer)
            try writer.save()
            return note.objectID
        }
        other.performAndWait {}
        #expect(notices.objects(NSInsertedObjectsKey)?.map(\.objectID) == [note])
    }
}

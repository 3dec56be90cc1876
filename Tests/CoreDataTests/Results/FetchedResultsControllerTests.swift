// Lists for screens, and who is told of them.

import CoreData
import Testing

/// Writes down what it is told, as a screen would show it.
final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var events: [String] = []
    private(set) var controllers: [NSObject] = []
    private(set) var isSame: [Bool] = []
    var watched: NSFetchedResultsController<NSManagedObject>?

    func forget() { events = [] }

    func controllerWillChangeContent(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>
    ) {
        controllers.append(controller)
        isSame.append(controller == watched && controller === watched)
        events.append("will")
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        events.append("section \(sectionInfo.name) \(sectionIndex) \(type)")
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let title = (anObject as? NSManagedObject)?.value(forKey: "title") as? String ?? "?"
        switch type {
        case .insert: events.append("insert \(title) \(newIndexPath!.section).\(newIndexPath!.row)")
        case .delete: events.append("delete \(title) \(indexPath!.section).\(indexPath!.row)")
        case .move:
            events.append("move \(title) \(indexPath!.item) \(newIndexPath!.item)")
        case .update: events.append("update \(title) \(indexPath!.section).\(indexPath!.item)")
        @unknown default: break
        }
    }

    func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>
    ) {
        let titles = controller.fetchedObjects?.map {
            ($0 as! NSManagedObject).value(forKey: "title") as? String ?? "?"
        }
        events.append("did \(titles ?? [])")
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { sectionName == "2" ? "two" : nil }
}

@Suite("Fetched results controllers")
struct FetchedResultsControllerTests {
    let shelf: Shelf
    let context: NSManagedObjectContext

    init() throws {
        shelf = try Shelf()
        context = shelf.context()
    }

    private func controller(
        _ keys: String..., sections: String? = nil, cache: String? = nil
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections,
            cacheName: cache)
    }

    private func titles(
        _ controller: NSFetchedResultsController<NSManagedObject>
    ) -> [String]? {
        controller.fetchedObjects?.compactMap { $0.value(forKey: "title") as? String }
    }

    @Test("A list without sections has objects by places")
    func places() throws {
        try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            shelf.book("Beloved", pages: 2, in: context)
            let controller = controller("title")
            #expect(controller.fetchedObjects == nil && controller.sections == nil)
            #expect(controller.indexPath(forObject: emma) == nil)
            try controller.performFetch()
            #expect(titles(controller) == ["Beloved", "Emma"])
            #expect(controller.object(at: IndexPath(row: 1, section: 0)) === emma)
            #expect(controller.indexPath(forObject: emma) == IndexPath(item: 1, section: 0))
            #expect(controller.sections?.count == 1)
            #expect(controller.sections?[0].numberOfObjects == 2)
            #expect(controller.managedObjectContext === context)
            #expect(controller.sectionNameKeyPath == nil && controller.cacheName == nil)
            #expect(controller.fetchRequest.entityName == "Book")
        }
    }

    @Test("Sections have names, objects and titles")
    func sections() throws {
        try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            let beloved = shelf.book("Beloved", pages: 2, in: context)
            let sula = shelf.book("Sula", pages: 2, in: context)
            let controller = controller("pages", "title", sections: "pages", cache: #function)
            let listener = Listener()
            controller.delegate = listener
            try controller.performFetch()
            let sections = try #require(controller.sections)
            #expect(sections.map(\.name) == ["1", "2"])
            #expect(sections.map(\.numberOfObjects) == [1, 2])
            #expect(sections[0].objects as? [NSManagedObject] == [emma])
            #expect(sections[1].objects as? [NSManagedObject] == [beloved, sula])
            #expect(sections.map(\.indexTitle) == ["1", "two"])
            #expect(controller.sectionIndexTitles == ["1", "two"])
            #expect(controller.section(forSectionIndexTitle: "two", at: 1) == 1)
            #expect(controller.object(at: IndexPath(item: 1, section: 1)) === sula)
            NSFetchedResultsController<NSFetchRequestResult>.deleteCache(withName: #function)
        }
    }

    @Test("A delegate is told of every change, by a controller that is the one that was made")
    func following() throws {
        try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            let controller = controller("pages", "title", sections: "pages")
            let listener = Listener()
            listener.watched = controller
            controller.delegate = listener
            #expect(controller.delegate === listener)
            try controller.performFetch()
            let sula = shelf.book("Sula", pages: 2, in: context)
            context.processPendingChanges()
            #expect(
                listener.events == [
                    "will", "section 2 1 insert", "insert Sula 1.0", "did [\"Emma\", \"Sula\"]",
                ])
            listener.forget()
            emma.setValue("Emma!", forKey: "title")
            context.processPendingChanges()
            #expect(
                listener.events == ["will", "update Emma! 0.0", "did [\"Emma!\", \"Sula\"]"])
            listener.forget()
            context.delete(sula)
            context.processPendingChanges()
            #expect(
                listener.events == [
                    "will", "section 2 1 delete", "delete Sula 1.0", "did [\"Emma!\"]",
                ])
            #expect(listener.isSame == [true, true, true])
            #expect(listener.controllers[0] !== controller)
            #expect(listener.controllers[0].hash == controller.hash)
            let other = self.controller("title")
            #expect(controller != other && controller !== other)
            listener.watched = nil
        }
    }

    @Test("A list of NSFetchRequestResult tells of itself, and moves are told")
    func erased() throws {
        try context.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: context)
            shelf.book("Sula", pages: 2, in: context)
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
                cacheName: nil)
            let listener = Listener()
            controller.delegate = listener
            try controller.performFetch()
            emma.setValue(3, forKey: "pages")
            context.processPendingChanges()
            #expect(
                listener.events == ["will", "move Emma 0 1", "did [\"Sula\", \"Emma\"]"])
            #expect(listener.controllers[0] === controller)
            #expect(
                controller.object(at: IndexPath(row: 1, section: 0)) as? NSManagedObject === emma)
        }
    }

    @Test("What the request says later takes effect with the next fetch")
    func changedRequest() throws {
        try context.performAndWait {
            for pages in 1...3 { shelf.book("Book \(pages)", pages: pages, in: context) }
            let controller = controller("pages")
            try controller.performFetch()
            controller.fetchRequest.predicate = NSPredicate(format: "pages > %@", 1)
            controller.fetchRequest.sortDescriptors = [
                NSSortDescriptor(key: "pages", ascending: false)
            ]
            #expect(titles(controller)?.count == 3)
            try controller.performFetch()
            #expect(titles(controller) == ["Book 3", "Book 2"])
        }
    }

    /// Titles sections by itself, and is told of differences alone.
    final class Titled: NSFetchedResultsController<NSManagedObject>,
        NSFetchedResultsControllerDelegate
    {
        var differences: [CollectionDifference<NSManagedObjectID>] = []

        override func sectionIndexTitle(forSectionName sectionName: String) -> String? {
            "<\(sectionName)>"
        }

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
        ) {
            differences.append(diff)
            #expect(controller.sectionIndexTitle(forSectionName: "a") == "<a>")
        }
    }

    @Test("A subclass titles sections, and may be its own delegate; differences have ids")
    func subclass() throws {
        try context.performAndWait {
            shelf.book("Emma", pages: 1, in: context)
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let list = Titled(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
                cacheName: nil)
            list.delegate = list
            try list.performFetch()
            let beloved = shelf.book("Beloved", pages: 2, in: context)
            try context.obtainPermanentIDs(for: [beloved])
            context.processPendingChanges()
            #expect(list.sections?[0].indexTitle == "<>")
            let insertions = list.differences.flatMap(\.insertions)
            try #require(insertions.count == 1)
            guard case .insert(let offset, let id, _) = insertions[0] else { return }
            #expect(offset == 0 && id == beloved.objectID)
        }
    }

    @Test("Objects of a section that do not stand together are an error")
    func disorder() throws {
        context.performAndWait {
            for (title, pages) in [("A", 1), ("B", 2), ("C", 1)] {
                shelf.book(title, pages: pages, in: context)
            }
            do {
                try controller("title", sections: "pages").performFetch()
                Issue.record("nothing was thrown")
            } catch let error as NSError {
                #expect(error.domain == NSCocoaErrorDomain && error.code == NSCoreDataError)
            }
        }
    }

    @Test("A controller ends with its owner, also while it has a delegate")
    func lifetime() throws {
        try context.performAndWait {
            let listener = Listener()
            weak var gone: NSFetchedResultsController<NSManagedObject>?
            do {
                let controller = controller("title")
                controller.delegate = listener
                try controller.performFetch()
                gone = controller
            }
            #expect(gone == nil)
            shelf.book("Emma", pages: 1, in: context)
            context.processPendingChanges()
            #expect(listener.events.isEmpty)
        }
    }
}

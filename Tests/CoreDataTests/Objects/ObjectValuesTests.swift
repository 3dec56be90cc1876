// Values by key, and what has changed.

import CoreData
import Testing

@Suite("Values of managed objects by key")
struct ObjectValuesTests {
    @Test("numbers are cast to the types that can hold them")
    func numbers() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            note.setValue(5, forKey: "stars")
            note.setValue(NSNumber(value: true), forKey: "isDone")
            note.setValue(1.5 as Float, forKey: "ratio")
            note.setValue(NSDecimalNumber(string: "1.25"), forKey: "price")
            #expect(note.value(forKey: "stars") as? Int == 5)
            #expect(note.value(forKey: "stars") as? Int16 == 5)
            #expect(note.value(forKey: "stars") as? NSNumber == 5)
            #expect(note.value(forKey: "isDone") as? Bool == true)
            #expect(note.value(forKey: "isDone") as? NSNumber == true)
            #expect(note.value(forKey: "ratio") as? Float == 1.5)
            #expect(note.value(forKey: "ratio") as? Double == 1.5)
            #expect(note.value(forKey: "price") as? NSDecimalNumber == 1.25)
            #expect(note.value(forKey: "price") as? Decimal == 1.25)
            #expect(note.stars == 5)
            // As on Apple's platforms, where `setStars:` is the setter of both.
            note.setValue(4, forKey: "Stars")
            #expect(note.stars == 4)
        }
    }

    @Test("members come as sets of Foundation, objects as themselves")
    func members() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            let tag = Tag(context: context)
            let page = Page(context: context)
            note.setValue(NSSet(object: tag), forKey: "tags")
            note.setValue(NSOrderedSet(object: page), forKey: "pages")
            #expect(note.value(forKey: "tags") as? NSSet == [tag] as Set<Tag> as NSSet)
            #expect(note.value(forKey: "tags") as? Set<Tag> == [tag])
            #expect((note.value(forKey: "pages") as? NSOrderedSet)?.firstObject as? Page === page)
            #expect(page.value(forKey: "note") as? Note === note)
            note.setValue(Set([tag]), forKey: "labels")
            #expect(note.labels == [tag])
            #expect(note.value(forKey: "parent") == nil)
            #expect(note.value(forKey: "objectID") as? NSManagedObjectID == note.objectID)
        }
    }

    @Test("paths lead along relationships, and gather what several objects have")
    func paths() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            let child = Note(context: context)
            child.parent = note
            note.title = "parent"
            for name in ["a", "b", "b"] {
                let tag = Tag(context: context)
                tag.name = name
                note.addToTags(tag)
            }
            for number in [3, 1] as [Int32] {
                let page = Page(context: context)
                page.number = number
                note.addToPages(page)
            }
            #expect(child.value(forKeyPath: "parent.title") as? String == "parent")
            #expect(note.value(forKeyPath: "tags.name") as? Set<String> == ["a", "b"])
            #expect(child.value(forKeyPath: "parent.tags.@count") as? Int == 3)
            #expect(note.value(forKeyPath: "pages.@sum.number") as? Int == 4)
            #expect(
                (note.value(forKeyPath: "pages.number") as? NSOrderedSet)?.array as? [Int]
                    == [3, 1])
            child.setValue("renamed", forKeyPath: "parent.title")
            #expect(note.title == "renamed")
            #expect(
                note.dictionaryWithValues(forKeys: ["title", "stars", "link"]).mapValues {
                    "\($0)"
                } == ["title": "renamed", "stars": "0", "link": "<null>"]
                    || note.value(forKey: "stars") == nil)
            note.setValuesForKeys(["title": NSNull(), "views": 4])
            #expect(note.title == nil)
            #expect(note.views == 4)
        }
    }

    @Test("members are changed in place")
    func inPlace() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            let tags = (0..<3).map { _ in Tag(context: context) }
            let set = note.mutableSetValue(forKey: "tags")
            set.addObjects(from: tags)
            #expect(note.tags?.count == 3)
            set.remove(tags[0])
            #expect(set.count == 2)
            #expect(set.contains(tags[1]))
            #expect(tags[0].notes?.count == 0)
            #expect(Set(set.allObjects as? [Tag] ?? []) == Set(tags[1...]))
            #expect(note.value(forKey: "tags") as? Set<Tag> == Set(tags[1...]))
            note.addToTags(tags[0])
            #expect(set.count == 3)
            set.removeAllObjects()
            #expect(note.tags?.count == 0)

            let pages = (0..<3).map { _ in Page(context: context) }
            let list = note.mutableOrderedSetValue(forKey: "pages")
            list.addObjects(from: pages)
            list.moveObjects(at: IndexSet(integer: 0), to: 2)
            #expect(note.pages?.array as? [Page] == [pages[1], pages[2], pages[0]])
            list.exchangeObject(at: 0, withObjectAt: 1)
            list.removeObject(at: 2)
            #expect(note.pages?.array as? [Page] == [pages[2], pages[1]])
            list.intersect(NSOrderedSet(object: pages[1]))
            #expect(note.pages?.array as? [Page] == [pages[1]])
            list.insert(pages[0], at: 0)
            list[1] = pages[2]
            #expect(note.pages?.array as? [Page] == [pages[0], pages[2]])
            list.sort { one, _ in
                (one as? Page) === pages[2] ? .orderedAscending : .orderedDescending
            }
            #expect(Set(note.pages?.array as? [Page] ?? []) == [pages[0], pages[2]])
            list.removeAllObjects()
            #expect(pages.allSatisfy { $0.note == nil })
        }
    }

    @Test("changes are told with NSNull for nil")
    func changes() throws {
        let context = try Notes.context()
        try context.performAndWait {
            let note = Note(context: context)
            note.title = "old"
            note.link = URL(string: "https://example.org")
            try context.save()
            #expect(!note.hasChanges)
            #expect(note.changedValues().isEmpty)
            note.title = "new"
            note.link = nil
            #expect(note.changedValues()["title"] as? String == "new")
            #expect(note.changedValues()["link"] is NSNull)
            #expect(note.changedValues().count == 2)
            #expect(note.hasPersistentChangedValues)
            #expect(
                note.committedValues(forKeys: ["title"]) as? [String: String] == ["title": "old"])
            #expect(note.committedValues(forKeys: nil)["parent"] is NSNull)
            #expect(note.changedValuesForCurrentEvent()["title"] as? String == "old")
            context.processPendingChanges()
            #expect(note.changedValuesForCurrentEvent().isEmpty)
            context.rollback()
            #expect(note.title == "old")
        }
    }

    @Test("a value that was set as a primitive one is a change of an object that has others")
    func primitiveChanges() throws {
        let context = try Notes.context()
        try context.performAndWait {
            let note = Note(context: context)
            // Its class sets it when it awakes.
            #expect(note.changedValues()["state"] as? String == "new")
            try context.save()
            #expect(note.changedValues().isEmpty)
            note.setPrimitiveValue("quiet", forKey: "subtitle")
            #expect(note.changedValues().isEmpty)
            #expect(!note.hasChanges)
            note.title = "loud"
            #expect(
                note.changedValues() as? [String: String]
                    == ["subtitle": "quiet", "title": "loud"])
        }
    }

    @Test("relationships tell whether they are read, and whom they lead to")
    func relationships() throws {
        let context = try Notes.context()
        try context.performAndWait {
            let note = Note(context: context)
            let tag = Tag(context: context)
            note.addToTags(tag)
            try context.save()
            context.refresh(note, mergeChanges: false)
            #expect(note.hasFault(forRelationshipNamed: "tags"))
            #expect(note.objectIDs(forRelationshipNamed: "tags") == [tag.objectID])
            #expect(note.tags?.count == 1)
            #expect(!note.hasFault(forRelationshipNamed: "tags"))
        }
    }
}

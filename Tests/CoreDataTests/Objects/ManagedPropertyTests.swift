// Properties and functions that the macros write.

import CoreData
import Testing

@Suite("Properties of managed objects")
struct ManagedPropertyTests {
    @Test("a property of each type keeps its value over a save and a fault")
    func types() throws {
        let context = try Notes.context()
        try context.performAndWait {
            let note = Note(context: context)
            note.title = "title"
            note.body = "body"
            note.rate(-3)
            note.views = 70_000
            note.size = 5_000_000_000
            note.count = 7
            note.isDone = true
            note.weight = 1.5
            note.ratio = 0.25
            note.price = NSDecimalNumber(string: "12.30")
            note.cost = 4.5
            note.created = Date(timeIntervalSinceReferenceDate: 100)
            note.changed = NSDate(timeIntervalSinceReferenceDate: 200)
            note.picture = Data([1, 2, 3])
            let identifier = UUID()
            note.identifier = identifier
            note.link = URL(string: "https://example.org/a")
            note.rank = 3
            note.mood = .tense
            note.default = "usual"
            #expect(note.mood == .tense)
            try context.save()
            context.refresh(note, mergeChanges: false)
            #expect(note.isFault)
            #expect(note.title == "title")
            #expect(note.body == "body")
            #expect(note.state == "new")
            #expect(note.stars == -3)
            #expect(note.views == 70_000)
            #expect(note.size == 5_000_000_000)
            #expect(note.count == 7)
            #expect(note.isDone)
            #expect(note.weight == 1.5)
            #expect(note.ratio == 0.25)
            #expect(note.price == NSDecimalNumber(string: "12.3"))
            #expect(note.cost == 4.5)
            #expect(note.created == Date(timeIntervalSinceReferenceDate: 100))
            #expect(note.changed?.timeIntervalSinceReferenceDate == 200)
            #expect(note.picture == Data([1, 2, 3]))
            #expect(note.identifier == identifier)
            #expect(note.link?.absoluteString == "https://example.org/a")
            #expect(note.rank == 3)
            #expect(note.mood == .tense)
            #expect(note.default == "usual")
        }
    }

    @Test("a property without a value reads as nil, or as the empty value of its type")
    func empty() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            note.setValue(nil, forKey: "state")
            #expect(note.title == nil)
            #expect(note.body == "")
            #expect(note.state == nil)
            #expect(note.stars == 0)
            #expect(!note.isDone)
            #expect(note.weight == 0)
            #expect(note.cost == 0)
            #expect(note.price == nil)
            #expect(note.rank == nil)
            #expect(note.mood == .calm)
            #expect(note.tags?.count == 0)
            #expect(note.labels.isEmpty)
            #expect(note.pages?.count == 0)
            #expect(note.parent == nil)
            #expect(note.children == [])
        }
    }

    @Test("a property is set to nil")
    func unset() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            note.title = "title"
            note.price = 3
            note.rank = 4
            note.parent = Note(context: context)
            note.tags = NSSet(object: Tag(context: context))
            note.title = nil
            note.price = nil
            note.rank = nil
            note.parent = nil
            note.tags = nil
            #expect(note.title == nil)
            #expect(note.price == nil)
            #expect(note.rank == nil)
            #expect(note.parent == nil)
            #expect(note.tags?.count == 0)
        }
    }

    @Test("relationships keep their other side")
    func relationships() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            let tag = Tag(context: context)
            let child = Note(context: context)
            note.tags = [tag] as Set<Tag> as NSSet
            note.labels = [tag]
            child.parent = note
            #expect(tag.notes?.contains(note) == true)
            #expect(tag.labelled == [note])
            #expect(note.children == [child])
            #expect(note.tags as? Set<Tag> == [tag])
            let page = Page(context: context)
            note.pages = NSOrderedSet(array: [page, Page(context: context)])
            #expect(page.note === note)
            #expect(note.pages?.array.first as? Page === page)
            #expect((note.pages?.array as? [Page])?.count == 2)
        }
    }

    @Test("functions add and remove members of a set")
    func set() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            let tags = (0..<4).map { _ in Tag(context: context) }
            note.addToTags(tags[0])
            note.addToTags(NSSet(array: Array(tags[1...])))
            #expect(note.tags?.count == 4)
            #expect(tags[2].notes as? Set<Note> == [note])
            note.removeFromTags(tags[0])
            note.removeFromTags(NSSet(array: [tags[1], tags[2]]))
            #expect(note.tags as? Set<Tag> == [tags[3]])
            note.addToLabels(Set(tags))
            note.removeLabelsObject(tags[0])
            #expect(note.labels == Set(tags[1...]))
        }
    }

    @Test("functions give members of an ordered set their places")
    func orderedSet() throws {
        let context = try Notes.context()
        context.performAndWait {
            let note = Note(context: context)
            let pages = (0..<6).map { number in
                let page = Page(context: context)
                page.number = Int32(number)
                return page
            }
            func numbers() -> [Int32] { (note.pages?.array as? [Page] ?? []).map(\.number) }
            note.addToPages(pages[0])
            note.addToPages(NSOrderedSet(array: [pages[1], pages[2]]))
            #expect(numbers() == [0, 1, 2])
            note.insertIntoPages(pages[3], at: 1)
            #expect(numbers() == [0, 3, 1, 2])
            note.insertIntoPages([pages[4], pages[5]], at: NSIndexSet(indexesIn: NSRange(0..<2)))
            #expect(numbers() == [4, 5, 0, 3, 1, 2])
            note.removeFromPages(at: 0)
            note.removeFromPages(at: NSIndexSet(index: 1))
            #expect(numbers() == [5, 3, 1, 2])
            note.replacePages(at: 0, with: pages[0])
            #expect(numbers() == [0, 3, 1, 2])
            note.replacePages(
                at: NSIndexSet(indexesIn: NSRange(1..<3)), with: [pages[4], pages[5]])
            #expect(numbers() == [0, 4, 5, 2])
            note.removeFromPages(pages[4])
            note.removeFromPages(NSOrderedSet(array: [pages[0]]))
            #expect(numbers() == [5, 2])
            #expect(pages[0].note == nil)
        }
    }

    @Test("an accessor of one's own changes the object, a primitive value alone does not")
    func ownAccessors() throws {
        let context = try Notes.context()
        try context.performAndWait {
            let note = Note(context: context)
            try context.save()
            note.setPrimitiveValue("quiet", forKey: "subtitle")
            #expect(note.subtitle == "quiet")
            #expect(!note.hasChanges)
            note.subtitle = "loud"
            #expect(note.hasChanges)
            #expect(note.changedValues() as? [String: String] == ["subtitle": "loud"])
            try context.save()
            note.willChangeValue(forKey: "title")
            note.didChangeValue(forKey: "title")
            #expect(note.isUpdated)
            #expect(!note.hasPersistentChangedValues)
            try context.save()
            note.quietTitle = "primitive"
            #expect(note.title == "primitive")
            #expect(note.quietTitle == "primitive")
            #expect(!note.hasChanges)
        }
    }
}

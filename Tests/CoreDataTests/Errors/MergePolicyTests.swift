// What saves do about conflicts: the built-in policies, and policies of a program's own.

import CoreData
import Testing

@Suite("Merge policies")
struct MergePolicyTests {
    let shelf: Shelf
    let context: NSManagedObjectContext

    init() throws {
        shelf = try Shelf()
        context = shelf.context()
    }

    /// A stored book of which the context has changed the pages, and somebody else both pages and title.
    private func conflict() throws -> NSManagedObject {
        let book = try context.performAndWait {
            let book = shelf.book("Emma", pages: 1, in: context)
            try context.save()
            return book
        }
        try shelf.change("Book", "pages", to: 2)
        try shelf.change("Book", "title", to: "Persuasion")
        context.performAndWait { book.setValue(3, forKey: "pages") }
        return book
    }

    private func stored() throws -> (title: String?, pages: Int?) {
        let other = shelf.context()
        return try other.performAndWait {
            let book = try #require(try shelf.all("Book", in: other).first)
            return (book.value(forKey: "title") as? String, book.value(forKey: "pages") as? Int)
        }
    }

    @Test(
        "Each built-in one, also by its type and its old name",
        arguments: [
            (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, "Persuasion", 3),
            (.mergeByPropertyStoreTrumpMergePolicyType, "Persuasion", 2),
            (.overwriteMergePolicyType, "Emma", 3), (.rollbackMergePolicyType, "Persuasion", 2),
        ])
    func builtIn(_ type: NSMergePolicyType, _ title: String, _ pages: Int) throws {
        let policy = NSMergePolicy(merge: type)
        #expect(policy.mergeType == type)
        context.mergePolicy = policy
        #expect(context.mergePolicy as? NSMergePolicy === policy)
        _ = try conflict()
        try context.performAndWait { try context.save() }
        let result = try stored()
        #expect(result.title == title && result.pages == pages)
    }

    @Test("The constants are the policies of their names")
    func constants() {
        #expect(shelf.context().mergePolicy as? NSMergePolicy === NSMergePolicy.error)
        #expect(NSErrorMergePolicy === NSMergePolicy.error)
        #expect(NSMergeByPropertyStoreTrumpMergePolicy === NSMergePolicy.mergeByPropertyStoreTrump)
        #expect(
            NSMergeByPropertyObjectTrumpMergePolicy === NSMergePolicy.mergeByPropertyObjectTrump)
        #expect(NSOverwriteMergePolicy === NSMergePolicy.overwrite)
        #expect(NSRollbackMergePolicy === NSMergePolicy.rollback)
        #expect(NSMergePolicy.rollback.mergeType.rawValue == 4)
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        #expect(
            (context.mergePolicy as? NSMergePolicy)?.mergeType
                == .mergeByPropertyObjectTrumpMergePolicyType)
    }

    /// Adds what both have added.
    final class Adding: NSMergePolicy {
        private(set) var conflicts: [NSMergeConflict] = []

        init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            conflicts += list
            var sums: [(NSManagedObject, Int)] = []
            for conflict in list {
                let base = conflict.objectSnapshot?["pages"] as? Int ?? 0
                let theirs = conflict.cachedSnapshot?["pages"] as? Int ?? 0
                let ours = conflict.sourceObject.value(forKey: "pages") as? Int ?? 0
                sums.append((conflict.sourceObject, theirs + ours - base))
            }
            try super.resolve(optimisticLockingConflicts: list)
            for (object, sum) in sums { object.setValue(sum, forKey: "pages") }
        }
    }

    @Test("One of a program's own merges versions and calls super")
    func own() throws {
        let policy = Adding()
        context.mergePolicy = policy
        let book = try conflict()
        try context.performAndWait { try context.save() }
        #expect(policy.conflicts.map(\.sourceObject) == [book])
        let result = try stored()
        #expect(result.title == "Persuasion" && result.pages == 2 + 3 - 1)
    }

    /// Gives a stored object what a new one with its key does not have.
    final class Filling: NSMergePolicy {
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            for conflict in list {
                guard let known = conflict.databaseObject else { continue }
                for object in conflict.conflictingObjects
                where object.value(forKey: "name") == nil {
                    object.setValue(known.value(forKey: "name"), forKey: "name")
                }
            }
            try super.resolve(constraintConflicts: list)
        }
    }

    @Test("One of a program's own merges objects with one key")
    func ownConstraints() throws {
        context.mergePolicy = Filling(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try context.performAndWait {
            let old = shelf.author("Austen", code: "A", in: context)
            try context.save()
            let new = shelf.author("", code: "A", in: context)
            _ = shelf.book("Emma", pages: 1, in: context, by: new)
            try context.save()
            let all = try shelf.all("Author", in: context)
            #expect(all == [old])
            #expect((old.value(forKey: "name") as? String) == "")
            #expect((old.value(forKey: "books") as? Set<NSManagedObject>)?.count == 1)
        }
    }

    struct Refusal: Error, Equatable { let count: Int }

    /// Refuses.
    final class Refusing: NSMergePolicy {
        override func resolve(mergeConflicts list: [Any]) throws {
            throw Refusal(count: list.count { $0 is NSMergeConflict })
        }
    }

    @Test("What one throws is what the save throws")
    func throwing() throws {
        context.mergePolicy = Refusing(merge: .errorMergePolicyType)
        _ = try conflict()
        context.performAndWait {
            _ = #expect(throws: Refusal(count: 1)) { try context.save() }
        }
    }

    @Test("One that calls super of the error policy fails with its error")
    func callingError() throws {
        final class Calling: NSMergePolicy {
            var code: Int?

            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                do { try super.resolve(optimisticLockingConflicts: list) } catch let error
                    as NSError
                {
                    code = error.code
                    throw error
                }
            }
        }
        let policy = Calling(merge: .errorMergePolicyType)
        context.mergePolicy = policy
        _ = try conflict()
        context.performAndWait {
            do {
                try context.save()
                Issue.record("nothing was thrown")
            } catch {
                #expect((error as NSError).code == NSManagedObjectMergeError)
            }
        }
        #expect(policy.code == NSManagedObjectMergeError)
    }
}

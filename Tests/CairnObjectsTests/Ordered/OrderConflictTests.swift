// Two contexts change one ordered list.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Orders that two have changed")
struct OrderConflictTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let backend: Backend
        let policy: MergePolicyKind

        static let all = Backend.allCases.flatMap { backend in
            [
                MergePolicyKind.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump,
                .overwrite, .rollback,
            ].map { Case(backend: backend, policy: $0) }
        }

        var testDescription: String { "\(backend), \(policy)" }
        var mergePolicy: MergePolicy { MergePolicy(merge: policy) }
        /// Whether what is stored wins.
        var yields: Bool { policy == .mergeByPropertyStoreTrump || policy == .rollback }
    }

    /// A folder with the items a to f, known to two contexts.
    private func folder(_ test: Case) throws -> (
        Stack, mine: ManagedObject, theirs: ManagedObject
    ) {
        let stack = try Stack(Models.ordered, test.backend)
        let context = stack.context()
        let folder = context.make("Folder", ["name": "f"])
        folder["items"] = "abcdef".map { context.make("Item", ["name": String($0)]) }
        try context.save()
        let mine = stack.context(test.mergePolicy).object(with: folder.objectID)
        let theirs = stack.context().object(with: folder.objectID)
        _ = mine.list("items").map { $0.string("name") }
        _ = theirs.list("items").map { $0.string("name") }
        return (stack, mine, theirs)
    }

    private func order(_ folder: ManagedObject, _ names: String) {
        let list = folder.list("items")
        let context = folder.managedObjectContext
        folder["items"] = names.compactMap { name in
            list.first { $0.string("name") == String(name) }
                ?? context?.make("Item", ["name": String(name)])
        }
    }

    private func check(
        _ folder: ManagedObject, _ names: String, _ stack: Stack,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            folder.fresh(stack).names("items").joined() == names, "as stored",
            sourceLocation: sourceLocation)
        #expect(
            folder.names("items").joined() == names, "in memory", sourceLocation: sourceLocation)
        #expect(!folder.hasPersistentChangedValues, sourceLocation: sourceLocation)
    }

    @Test("Whom the policy lets win keeps his order", arguments: Case.all)
    func both(_ test: Case) throws {
        let (stack, mine, theirs) = try folder(test)
        order(theirs, "fedcba")
        try theirs.managedObjectContext?.save()
        order(mine, "bacdef")
        try mine.managedObjectContext?.save()
        check(mine, test.yields ? "fedcba" : "bacdef", stack)
    }

    @Test(
        "An order that only one has changed stands, and members of others come behind",
        arguments: Case.all)
    func one(_ test: Case) throws {
        let (stack, mine, theirs) = try folder(test)
        order(theirs, "xabcefy")  // two more, and d goes
        try theirs.managedObjectContext?.save()
        order(mine, "fabcde")
        try mine.managedObjectContext?.save()
        check(mine, "fabcexy", stack)
    }

    @Test("Members that both have added are there", arguments: Case.all)
    func added(_ test: Case) throws {
        let (stack, mine, theirs) = try folder(test)
        order(theirs, "fabcdexy")
        try theirs.managedObjectContext?.save()
        order(mine, "abcdefpq")
        try mine.managedObjectContext?.save()
        let folder = mine.fresh(stack)
        #expect(folder.names("items").joined() == "fabcdexypq")
        let again = try self.folder(test)
        order(again.theirs, "fabcdexy")
        try again.theirs.managedObjectContext?.save()
        order(again.mine, "pbacdefq")
        try again.mine.managedObjectContext?.save()
        check(again.mine, test.yields ? "fabcdexypq" : "pbacdefqxy", again.0)
    }

    @Test("An order stands against nobody's attributes", arguments: Case.all)
    func attributes(_ test: Case) throws {
        let (stack, mine, theirs) = try folder(test)
        // They are held: what has been read is what the save compares.
        let items = mine.list("items")
        #expect(items.map { $0.string("name") } == ["a", "b", "c", "d", "e", "f"])
        order(theirs, "fabcde")
        try theirs.managedObjectContext?.save()
        for item in items { item["name"] = (item.string("name") ?? "") + "1" }
        mine["name"] = "other"
        try mine.managedObjectContext?.save()
        let stored = mine.fresh(stack)
        #expect(stored.names("items") == ["f1", "a1", "b1", "c1", "d1", "e1"])
        #expect(stored.string("name") == "other")
        // Nor against who goes.
        let third = stack.context()
        let folder = third.object(with: mine.objectID)
        folder["items"] = Array(folder.list("items").reversed())
        try third.save()
        mine.managedObjectContext?.delete(items[0])
        try mine.managedObjectContext?.save()
        #expect(mine.fresh(stack).names("items") == ["e1", "d1", "c1", "b1", "f1"])
    }

    @Test(
        "An object that takes another one's place has the members of both",
        arguments: Backend.allCases)
    func absorbed(_ backend: Backend) throws {
        var model = Models.ordered
        let folder = try #require(model.entities.firstIndex { $0.name == "Folder" })
        model.entities[folder].uniquenessConstraints = [["name"]]
        let stack = try Stack(model, backend)
        try stack.store { context in
            let folder = context.make("Folder", ["name": "f"])
            let items = "abc".map { context.make("Item", ["name": String($0)]) }
            folder["items"] = [items[2], items[0], items[1]]
            return [folder]
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        let other = context.make("Folder", ["name": "f"])
        other["items"] = "de".map { context.make("Item", ["name": String($0)]) }
        try context.save()
        let found = try #require(try stack.context().find("Folder", "name", .string("f")).first)
        #expect(found.names("items") == ["c", "a", "b", "d", "e"])
    }

    @Test("A policy of one's own does not lose an order", arguments: Backend.allCases)
    func custom(_ backend: Backend) throws {
        final class Mine: MergePolicy {}
        let (stack, mine, theirs) = try folder(Case(backend: backend, policy: .error))
        mine.managedObjectContext?.mergePolicy = Mine(
            merge: .mergeByPropertyObjectTrump)
        theirs["name"] = "theirs"
        order(theirs, "fedcbax")
        try theirs.managedObjectContext?.save()
        mine["name"] = "mine"
        order(mine, "bacdef")
        try mine.managedObjectContext?.save()
        check(mine, "bacdefx", stack)
        #expect(mine.fresh(stack).string("name") == "mine")
    }
}

// What a program does about conflicts: looks for them, drops what stands in the way, or leaves it to the container's policy.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

/// A product whose price and stock must not both be high.
private final class Modest: ManagedObject {
    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if (self["price"] as? Double ?? 0) > 10, (int("stock") ?? 0) > 10 {
            throw StoreError(.validation, "both are high")
        }
    }
}

@Suite("Conflicts as programs handle them")
struct ConflictToolsTests {
    private func change(_ id: ObjectID, _ key: String, _ value: Any?, _ stack: Stack) throws {
        let context = stack.context()
        context.object(with: id)[key] = value
        try context.save()
    }

    // MARK: Detecting

    @Test(
        "An object that a save relies on is compared with what is stored, though it is not changed",
        arguments: Backend.allCases)
    func locked(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let context = stack.context()
        let product = context.object(with: ids[2])
        context.detectConflicts(for: context.object(with: ids[1]))
        product["price"] = 1.0
        try change(ids[1], "note", "by somebody else", stack)
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .mergeConflict && error.versions.map(\.id) == [ids[1]])
        let conflict = try #require(context.conflicts(in: error).first as? MergeConflict)
        #expect(conflict.sourceObject.objectID == ids[1])
        #expect(conflict.cachedSnapshot?["note"] as? String == "by somebody else")
        // The other policies have nothing to merge.
        context.mergePolicy = .mergeByPropertyStoreTrump
        try context.save()
        #expect(stack.context().object(with: ids[2])["price"] as? Double == 1)
        // It held for that save alone.
        context.mergePolicy = .error
        try change(ids[1], "note", "again", stack)
        product["price"] = 2.0
        try context.save()
    }

    @Test(
        "New objects are not written past what a save relies on", arguments: Backend.allCases)
    func lockedAndNew(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let context = stack.context()
        let shop = context.object(with: ids[0])
        context.detectConflicts(for: shop)
        for number in 0..<40 { context.make("Product", ["serialCode": "\(number)"]) }
        try change(ids[0], "name", "market", stack)
        #expect(storeError { try context.save() }?.code == .mergeConflict)
        #expect(try stack.context().count("Product") == 2)
        context.refresh(shop, mergeChanges: false)
        #expect(shop.string("name") == "market")
        try context.save()
        #expect(try stack.context().count("Product") == 42)
    }

    @Test(
        "A policy of one's own is told of what a save relies on; rolling back forgets it",
        arguments: Backend.allCases)
    func lockedByOwnPolicy(_ backend: Backend) throws {
        final class Noting: MergePolicy {
            var noted: [ObjectID] = []
            override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
                noted += list.map(\.sourceObject.objectID)
                try super.resolve(optimisticLockingConflicts: list)
            }
        }
        let (stack, ids) = try Stack.shop(backend)
        let policy = Noting(merge: .mergeByPropertyObjectTrump)
        let context = stack.context(policy)
        let (one, other) = (context.object(with: ids[1]), context.object(with: ids[2]))
        context.detectConflicts(for: one)
        other["price"] = 1.0
        try change(ids[1], "note", "n", stack)
        try context.save()
        #expect(policy.noted == [ids[1]] && one.string("note") == "n")
        context.detectConflicts(for: one)
        context.rollback()
        try change(ids[1], "note", "m", stack)
        other["price"] = 2.0
        try context.save()
        #expect(policy.noted == [ids[1]])
    }

    @Test("What a child relies on is compared by the parent's save", arguments: Backend.allCases)
    func lockedInChild(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        child.detectConflicts(for: child.object(with: ids[1]))
        child.object(with: ids[2])["price"] = 3.0
        try change(ids[1], "note", "n", stack)
        try child.save()
        let error = try #require(storeError { try parent.save() })
        #expect(error.code == .mergeConflict && error.versions.map(\.id) == [ids[1]])
    }

    @Test(
        "B044: A related row that is added enlists its owner in optimistic locking, if one asks for that",
        arguments: Backend.allCases)
    func enlisting(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        func attach(_ asks: Bool) throws -> StoreError? {
            let context = stack.context()
            let shop = context.object(with: ids[0])
            _ = shop.string("name")
            if asks { context.detectConflicts(for: shop) }
            context.make("Product", ["shop": shop])
            try change(ids[0], "name", asks ? "one" : "two", stack)
            return storeError { try context.save() }
        }
        #expect(try attach(true)?.code == .mergeConflict)
        #expect(try attach(false) == nil)
    }

    // MARK: Discarding

    @Test(
        "A policy of one's own gets all conflicts at once, those of versions before those of keys",
        arguments: Backend.allCases)
    func bothKinds(_ backend: Backend) throws {
        final class Noting: MergePolicy {
            var lists: [[Bool]] = []
            var calls: [String] = []
            override func resolve(mergeConflicts list: [Any]) throws {
                lists.append(list.map { $0 is MergeConflict })
                try super.resolve(mergeConflicts: list)
            }
            override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
                calls.append("versions \(list.count)")
                try super.resolve(optimisticLockingConflicts: list)
            }
            override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
                calls.append("keys \(list.count)")
                try super.resolve(constraintConflicts: list)
            }
        }
        let (stack, ids) = try Stack.shop(backend)
        let policy = Noting(merge: .mergeByPropertyObjectTrump)
        let context = stack.context(policy)
        context.object(with: ids[1])["price"] = 1.0
        context.make("Product", ["serialCode": "b", "stock": 7])
        try change(ids[1], "note", "stored", stack)
        try context.save()
        #expect(policy.lists == [[true, false]])
        #expect(policy.calls == ["versions 1", "keys 1"])
        let fresh = stack.context()
        #expect(fresh.object(with: ids[1]).string("note") == "stored")
        #expect(fresh.object(with: ids[1])["price"] as? Double == 1)
        #expect(fresh.object(with: ids[2]).int("stock") == 7)
        #expect(try fresh.count("Product") == 2)
    }

    @Test(
        "After a failed save, what stood against it can be dropped, and the rest is saved",
        arguments: Backend.allCases)
    func discarding(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let context = stack.context()
        let (one, other) = (context.object(with: ids[1]), context.object(with: ids[2]))
        let shop = context.object(with: ids[0])
        one["price"] = 1.0
        one["shop"] = nil
        other["price"] = 2.0
        let twin = context.make("Product", ["serialCode": "b", "shop": shop])
        let kept = context.make("Product", ["serialCode": "c", "shop": shop])
        try change(ids[1], "note", "stored", stack)
        let error = try #require(storeError { try context.save() })
        // One list with both kinds: versions first, then keys.
        #expect(error.code == .mergeConflict && error.conflicts.count == 2)
        guard case .version(let version) = error.conflicts.first,
            case .constraint(let violation) = error.conflicts.last
        else {
            Issue.record("conflicts of versions come before those of keys")
            return
        }
        #expect(version.id == ids[1])
        #expect(violation.objects == [ids[2], twin.objectID] && violation.stored == nil)
        #expect(context.conflicts(in: error).map { $0 is MergeConflict } == [true, false])
        #expect(context.discard(error.conflicts) == [one, twin])
        #expect(one.isFault && one.string("note") == "stored" && one["price"] as? Double == 0)
        #expect(one.object("shop") === shop && shop.members("products").contains(one))
        #expect(twin.managedObjectContext == nil && !shop.members("products").contains(twin))
        try context.save()
        #expect(!context.hasChanges)
        let fresh = stack.context()
        #expect(try fresh.count("Product") == 3)
        #expect(fresh.object(with: ids[2])["price"] as? Double == 2)
        #expect(fresh.object(with: kept.objectID).object("shop")?.objectID == ids[0])
    }

    @Test(
        "Of several new objects with one key the first is kept; a changed one goes back; a deletion is taken back",
        arguments: Backend.allCases)
    func discardingOthers(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let context = stack.context()
        let twins = (0..<3).map { context.make("Product", ["serialCode": "new", "stock": $0]) }
        try #require(storeError { try context.save() }).conflicts.forEach {
            context.discard([$0])
        }
        #expect(context.insertedObjects == [twins[0]])
        try context.save()
        let one = context.object(with: ids[1])
        one["serialCode"] = "b"
        one["note"] = "mine"
        let error = try #require(storeError { try context.save() })
        #expect(context.discard(error.conflicts) == [one])
        #expect(one.string("serialCode") == "a" && one.string("note") == nil)
        #expect(!context.hasChanges)
        // Deleted here, changed there.
        context.delete(one)
        try change(ids[1], "note", "theirs", stack)
        context.discard(try #require(storeError { try context.save() }).conflicts)
        #expect(!one.isDeleted && one.string("note") == "theirs")
        #expect(one.object("shop")?.objectID == ids[0])
        try context.save()
        #expect(try stack.context().count("Product") == 3)
        // Changed here, deleted there.
        one["price"] = 5.0
        let others = stack.context()
        others.delete(others.object(with: ids[1]))
        try others.save()
        context.discard(try #require(storeError { try context.save() }).conflicts)
        #expect(one["price"] == nil && one.isDeleted)
        try context.save()
    }

    @Test(
        "New objects that a dropped one owns go with it; others only lose it",
        arguments: Backend.allCases)
    func discardingFamilies(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let id = try stack.store { [$0.make("Person", ["name": "taken"])] }[0]
        let context = stack.context()
        let twin = context.make("Person", ["name": "taken"])
        let child = context.make("Person", ["name": "child", "parent": twin])
        let fan = context.make("Person", ["name": "fan", "mentor": twin, "spouse": twin])
        context.object(with: id)["parent"] = twin
        let error = try #require(storeError { try context.save() })
        #expect(Set(context.discard(error.conflicts)) == [twin, child])
        #expect(fan.object("mentor") == nil && fan.object("spouse") == nil)
        #expect(context.object(with: id).object("parent") == nil)
        try context.save()
        #expect(try stack.context().count("Person") == 2)
    }

    // MARK: Conflicts without objects

    @Test(
        "B034: A conflict whose other object has no values any more is resolved without an internal error",
        arguments: Backend.allCases)
    func withoutValues(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let context = stack.context()
        // Here the object is known to be gone. Somebody stores it again under its id.
        let keeper = stack.context(.mergeByPropertyObjectTrump)
        let kept = keeper.object(with: ids[1])
        kept["price"] = 8.0
        let deleter = stack.context()
        deleter.delete(deleter.object(with: ids[1]))
        try deleter.save()
        let gone = context.object(with: ids[1])
        #expect(gone.string("serialCode") == nil && gone.isDeleted)
        try keeper.save()
        let twin = context.make("Product", ["serialCode": "a", "note": "new"])
        final class Own: MergePolicy {}
        context.mergePolicy = Own(merge: .mergeByPropertyObjectTrump)
        try context.save()
        #expect(twin.absorbedInto == ids[1])
        #expect(!gone.isDeleted && gone.string("note") == "new")
        #expect(stack.context().object(with: ids[1]).string("note") == "new")
    }

    @Test(
        "B034: A list of conflicts that was kept is resolved, be it that nobody holds the objects and that the stored one is gone",
        arguments: Backend.allCases, [MergePolicyKind.mergeByPropertyObjectTrump, .rollback])
    func keptList(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let (stack, ids) = try Stack.shop(backend)
        let context = stack.context()
        context.make("Product", ["serialCode": "a"])
        let error = try #require(storeError { try context.save() })
        let other = stack.context()
        other.delete(other.object(with: ids[1]))
        try other.save()
        try MergePolicy(merge: kind).resolve(mergeConflicts: context.conflicts(in: error))
        context.mergePolicy = MergePolicy(merge: kind)
        try context.save()
        // Of a version conflict the object may have been let go, too.
        let later = stack.context()
        later.object(with: ids[2])["price"] = 1.0
        try change(ids[2], "price", 2.0, stack)
        let second = try #require(storeError { try later.save() })
        later.reset()
        let conflicts = later.conflicts(in: second).compactMap { $0 as? MergeConflict }
        #expect(conflicts.map(\.sourceObject.objectID) == [ids[2]])
        try MergePolicy(merge: kind).resolve(mergeConflicts: conflicts)
        try later.save()
        #expect(later.object(with: ids[2])["price"] as? Double == 2)
    }

    // MARK: Policies

    @Test(
        "A container's policy is that of all its contexts, each with one of its own",
        arguments: Backend.allCases)
    @MainActor func containerPolicy(_ backend: Backend) async throws {
        final class Own: MergePolicy {}
        let (stack, _) = try Stack.shop(backend)
        let container = PersistentContainer(
            store: stack.store, mergePolicy: .mergeByPropertyObjectTrump)
        container.viewContext.make("Product", ["serialCode": "a", "note": "view"])
        try container.viewContext.save()
        try await container.performBackgroundTask { context in
            context.make("Product", ["serialCode": "a", "note": "task"])
            try context.save()
        }
        let background = container.newBackgroundContext()
        try await background.perform { context in
            context.make("Product", ["serialCode": "a", "note": "background"])
            try context.save()
        }
        #expect(
            try stack.context().find("Product", "serialCode", .string("a")).map {
                $0.string("note")
            } == ["background"])
        container.setMergePolicy(Own(merge: .rollback))
        #expect(container.viewContext.mergePolicy is Own)
        let isOwn = await container.performBackgroundTask { $0.mergePolicy is Own }
        #expect(isOwn)
        let still = await background.perform { $0.mergePolicy.mergeType }
        #expect(still == .mergeByPropertyObjectTrump)
        // Without: the error policy.
        #expect(stack.container.viewContext.mergePolicy.mergeType == .error)
    }

    @Test(
        "What a built-in policy puts together is validated before it is stored",
        arguments: Backend.allCases,
        [MergePolicyKind.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
    func survivors(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let (stack, ids) = try Stack.shop(backend, classes: ObjectClasses(["Product": Modest.self]))
        let context = stack.context(MergePolicy(merge: kind))
        let mine = context.object(with: ids[1])
        mine["price"] = 20.0
        try change(ids[1], "stock", 20, stack)
        let error = try #require(storeError { try context.save() })
        #expect(error.message == "both are high")
        #expect(stack.context().object(with: ids[1])["price"] as? Double == 0)
        #expect(mine["price"] as? Double == 20 && mine.int("stock") == 20)
        mine["price"] = 9.0
        try context.save()
        #expect(stack.context().object(with: ids[1])["price"] as? Double == 9)
    }

    @Test("The number of members is looked at after a merge too", arguments: Backend.allCases)
    func counts(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        let ids = try stack.store { context in
            let box = context.make("Box", ["name": "box"])
            let parts = (0..<3).map { context.make("Part", ["name": "\($0)"]) }
            box["parts"] = Set([parts[0]])
            box["legs"] = Set([parts[0]])
            return [box] + parts
        }
        func add(_ number: Int, _ policy: MergePolicy) throws -> ManagedObjectContext {
            let context = stack.context(policy)
            let box = context.object(with: ids[0])
            box["name"] = "with \(number)"
            box.add(context.object(with: ids[number]), to: "parts")
            return context
        }
        let (one, other) = (
            try add(2, .error), try add(3, .mergeByPropertyObjectTrump)
        )
        try one.save()
        #expect(storeError { try other.save() }?.code == .tooManyMembers)
        #expect(stack.context().object(with: ids[0]).members("parts").count == 2)
    }
}

// Two contexts change one object.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("An object that somebody else has changed")
struct VersionConflictTests {
    /// A product; a context that has changed name and price of it; and another that has then stored name and
    /// note.
    private struct Scene {
        let stack: Stack
        let id: ObjectID
        let context: ManagedObjectContext
        let object: ManagedObject

        init(_ backend: Backend, _ policy: MergePolicy) throws {
            stack = try Stack(Models.shop, backend)
            id = try stack.store {
                [$0.make("Product", ["serialCode": "A", "name": "n", "price": 1.0, "note": "x"])]
            }[0]
            context = stack.context(policy)
            object = context.object(with: id)
            object["name"] = "ours"
            object["price"] = 2.0
            let other = stack.context()
            let theirs = other.object(with: id)
            theirs["name"] = "theirs"
            theirs["note"] = "their note"
            try other.save()
        }

        func stored() throws -> [String?] {
            let object = try stack.context().existingObject(with: id)
            return [
                object.string("name"), (object["price"] as? Double).map { "\($0)" },
                object.string("note"),
            ]
        }

        func shown() -> [String?] {
            [
                object.string("name"), (object["price"] as? Double).map { "\($0)" },
                object.string("note"),
            ]
        }
    }

    @Test("A new context has the error policy (B035)", arguments: Backend.allCases)
    func defaultPolicy(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        #expect(ManagedObjectContext(store: stack.store).mergePolicy === MergePolicy.error)
    }

    @Test("The built-in policies are one object each")
    func shared() {
        #expect(MergePolicy.overwrite === MergePolicy.overwrite)
        #expect(MergePolicy.overwrite !== MergePolicy.rollback)
    }

    @Test(
        "Under the error policy the save fails with 133020 and keeps the changes",
        arguments: Backend.allCases)
    func error(_ backend: Backend) throws {
        let scene = try Scene(backend, .error)
        let error = try #require(storeError { try scene.context.save() })
        #expect(error.code == .mergeConflict && error.versions.count == 1)
        let conflict = try #require(
            scene.context.conflicts(in: error).first as? MergeConflict)
        #expect(conflict.sourceObject === scene.object)
        #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
        #expect(conflict.objectSnapshot?["name"] as? String == "n")
        #expect(conflict.cachedSnapshot?["name"] as? String == "theirs")
        #expect(conflict.persistedSnapshot == nil)
        #expect(scene.shown() == ["ours", "2.0", "x"])
        #expect(try scene.stored() == ["theirs", "1.0", "their note"])
    }

    @Test(
        "The conflicts of an error can be given to a policy and the save be tried again",
        arguments: Backend.allCases)
    func retry(_ backend: Backend) throws {
        let scene = try Scene(backend, .error)
        let error = try #require(storeError { try scene.context.save() })
        try MergePolicy.mergeByPropertyObjectTrump.resolve(
            mergeConflicts: scene.context.conflicts(in: error))
        try scene.context.save()
        #expect(try scene.stored() == ["ours", "2.0", "their note"])
    }

    @Test(
        "Each policy merges as its table says (B037, B038, B040)",
        arguments: Backend.allCases,
        [
            (MergePolicyKind.mergeByPropertyStoreTrump, ["theirs", "2.0", "their note"]),
            (.mergeByPropertyObjectTrump, ["ours", "2.0", "their note"]),
            (.overwrite, ["ours", "2.0", "x"]),
            (.rollback, ["theirs", "1.0", "their note"]),
        ])
    func merging(_ backend: Backend, _ expected: (MergePolicyKind, [String])) throws {
        for policy in [MergePolicy(merge: expected.0), PlainSubclass(merge: expected.0)] {
            let scene = try Scene(backend, policy)
            try scene.context.save()
            #expect(try scene.stored() == expected.1)
            #expect(scene.shown() == expected.1, "the object shows the merged state")
            #expect(scene.object.changedValues().isEmpty)
            #expect(!scene.context.hasChanges)
            scene.object["note"] = "again"
            try scene.context.save()
        }
    }

    @Test("Changes to different objects never conflict (B041)", arguments: Backend.allCases)
    func different(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { [$0.make("Product"), $0.make("Product")] }
        let (one, other) = (stack.context(), stack.context())
        one.object(with: ids[0])["name"] = "1"
        other.object(with: ids[1])["name"] = "2"
        try one.save()
        try other.save()
    }

    @Test("Attaching a child does not enlist the parent's attributes", arguments: Backend.allCases)
    func attaching(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let shop = try stack.store { [$0.make("Shop", ["name": "s"])] }[0]
        let (one, other) = (stack.context(), stack.context())
        for context in [one, other] {
            context.make("Product", ["shop": context.object(with: shop)])
        }
        try one.save()
        try other.save()
        let fresh = stack.context()
        #expect(fresh.object(with: shop).members("products").count == 2)
    }

    @Test("Both writers' additions and removals of a to-many apply", arguments: Backend.allCases)
    func members(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let tags = ["a", "b", "c"].map { context.make("Tag", ["label": $0]) }
            return [context.make("Product", ["tags": [tags[0], tags[1]]])] + tags
        }
        let (one, other) = (stack.context(), stack.context())
        one.object(with: ids[0]).remove(one.object(with: ids[1]), from: "tags")
        other.object(with: ids[0]).add(other.object(with: ids[3]), to: "tags")
        try one.save()
        try other.save()
        let fresh = stack.context()
        let labels = fresh.object(with: ids[0]).members("tags").compactMap { $0.string("label") }
        #expect(labels.sorted() == ["b", "c"])
    }

    // MARK: Deleting

    @Test(
        "Deleted elsewhere, changed here", arguments: Backend.allCases, MergePolicyKind.allCases)
    func deletedElsewhere(_ backend: Backend, _ kind: MergePolicyKind) throws {
        for policy in [MergePolicy(merge: kind), PlainSubclass(merge: kind)] {
            let stack = try Stack(Models.shop, backend)
            let id = try stack.store { [$0.make("Product", ["serialCode": "A", "note": "x"])] }[0]
            let context = stack.context(policy)
            let object = context.object(with: id)
            object["name"] = "ours"
            let other = stack.context()
            other.delete(other.object(with: id))
            try other.save()
            let error = storeError { try context.save() }
            let fresh = stack.context()
            let rows = try fresh.all("Product")
            switch kind {
            case .error:
                #expect(error?.code == .mergeConflict)
                let conflict = try #require(
                    error.flatMap { context.conflicts(in: $0).first } as? MergeConflict)
                #expect(conflict.newVersionNumber == 0 && conflict.cachedSnapshot == nil)
            case .mergeByPropertyStoreTrump, .rollback:
                #expect(error == nil && rows.isEmpty && object.isDeleted)
            case .mergeByPropertyObjectTrump, .overwrite, .declared:
                #expect(error == nil && rows.map(\.objectID) == [id])
                #expect(rows.first?.string("name") == "ours" && rows.first?.string("note") == "x")
                #expect(!object.hasChanges)
            }
        }
    }

    @Test(
        "Deleted here, changed elsewhere", arguments: Backend.allCases, MergePolicyKind.allCases)
    func deletedHere(_ backend: Backend, _ kind: MergePolicyKind) throws {
        for policy in [MergePolicy(merge: kind), PlainSubclass(merge: kind)] {
            let stack = try Stack(Models.shop, backend)
            let id = try stack.store { [$0.make("Product", ["serialCode": "A"])] }[0]
            let context = stack.context(policy)
            let object = context.object(with: id)
            _ = object["name"]
            let other = stack.context()
            other.object(with: id)["name"] = "theirs"
            try other.save()
            context.delete(object)
            let error = storeError { try context.save() }
            let count = try stack.context().count("Product")
            switch kind {
            case .error: #expect(error?.code == .mergeConflict && count == 1)
            case .mergeByPropertyObjectTrump, .overwrite, .declared:
                #expect(error == nil && count == 0)
            case .mergeByPropertyStoreTrump, .rollback:
                #expect(error == nil && count == 1 && !object.isDeleted)
                #expect(object.string("name") == "theirs")
            }
        }
    }

    @Test("Deleted on both sides is no conflict", arguments: Backend.allCases)
    func deletedTwice(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product")] }[0]
        let (one, other) = (stack.context(), stack.context())
        for context in [one, other] {
            let object = context.object(with: id)
            _ = object["name"]
            context.delete(object)
        }
        try one.save()
        try other.save()
        #expect(try stack.context().count("Product") == 0)
    }

    @Test(
        "After a rollback the object shows what is stored and can be changed",
        arguments: Backend.allCases)
    func rollback(_ backend: Backend) throws {
        let scene = try Scene(backend, .error)
        #expect(storeError { try scene.context.save() } != nil)
        scene.context.rollback()
        #expect(scene.shown() == ["theirs", "1.0", "their note"])
        scene.object["name"] = "again"
        try scene.context.save()
        #expect(try scene.stored() == ["again", "1.0", "their note"])
    }

    @Test("A refresh that merges puts the edits on the newest row", arguments: Backend.allCases)
    func refresh(_ backend: Backend) throws {
        let scene = try Scene(backend, .error)
        scene.context.refresh(scene.object, mergeChanges: true)
        #expect(scene.shown() == ["ours", "2.0", "their note"])
        try scene.context.save()
        #expect(try scene.stored() == ["ours", "2.0", "their note"])
    }

    @Test("A refresh that does not merge drops the edits", arguments: Backend.allCases)
    func drop(_ backend: Backend) throws {
        let scene = try Scene(backend, .error)
        scene.context.refresh(scene.object, mergeChanges: false)
        #expect(scene.object.isFault && !scene.context.hasChanges)
        #expect(scene.shown() == ["theirs", "1.0", "their note"])
    }
}

/// Does what a built-in policy does, but on the objects.
final class PlainSubclass: MergePolicy {}

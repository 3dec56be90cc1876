// Relating objects to others that a save has folded into stored ones, and to those that are no more.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Relating to objects that have left the context")
struct LostTargetTests {
    /// A new shop and a new tag that a save has made those which are stored.
    private struct Absorbed {
        let stack: Stack
        let context: ManagedObjectContext
        let ids: [ObjectID]
        let shop: ManagedObject
        let tag: ManagedObject

        init(_ backend: Backend, _ policy: MergePolicy) throws {
            stack = try Stack(Models.shop, backend)
            ids = try stack.store {
                [$0.make("Shop", ["name": "VW"]), $0.make("Tag", ["label": "red"])]
            }
            context = stack.context(policy)
            shop = context.make("Shop", ["name": "VW"])
            tag = context.make("Tag", ["label": "red"])
            try context.save()
            #expect(shop.absorbedInto == ids[0] && tag.absorbedInto == ids[1])
        }
    }

    @Test(
        "A reference to an object that a save has made part of a stored one leads to that one",
        arguments: Backend.allCases, MergePlace.allCases)
    func absorbed(_ backend: Backend, _ place: MergePlace) throws {
        for kind in [MergePolicyKind.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump] {
            let scene = try Absorbed(backend, place.policy(kind))
            let context = scene.context
            let product = context.make("Product", ["shop": scene.shop])
            product["tags"] = Set([scene.tag, context.make("Tag", ["label": "blue"])])
            #expect(product.object("shop")?.objectID == scene.ids[0])
            #expect(product.members("tags").contains { $0.objectID == scene.ids[1] })
            let other = context.make("Product")
            #expect(other.mutableSetValue(forKey: "tags").insert(scene.tag))
            #expect(!other.mutableSetValue(forKey: "tags").insert(scene.tag))
            #expect(other.members("tags").map(\.objectID) == [scene.ids[1]])
            try context.save()
            let stored = scene.stack.context().object(with: product.objectID)
            #expect(stored.object("shop")?.objectID == scene.ids[0])
            #expect(Set(stored.members("tags").map { $0.string("label") }) == ["red", "blue"])
            #expect(other.mutableSetValue(forKey: "tags").remove(scene.tag))
            #expect(other.members("tags").isEmpty)
        }
    }

    @Test(
        "In an ordered relationship the survivor stands where the object was put",
        arguments: Backend.allCases)
    func ordered(_ backend: Backend) throws {
        var model = Models.ordered
        var entities = Array(model.entities)
        let index = try #require(entities.firstIndex { $0.name == "Node" })
        entities[index].uniquenessConstraints = [["name"]]
        model = ManagedObjectModel(entities: entities)
        let stack = try Stack(model, backend)
        let ids = try stack.store { [$0.make("Item", ["name": "b"])] }
        let context = stack.context(.mergeByPropertyObjectTrump)
        let item = context.make("Item", ["name": "b"])
        let others = ["a", "c"].map { context.make("Item", ["name": $0]) }
        try context.save()
        #expect(item.absorbedInto == ids[0])
        let list = context.make("Playlist", ["items": [others[0], item, others[1]]])
        #expect(list.names("items") == ["a", "b", "c"])
        let second = context.make("Playlist", ["items": [others[0]]])
        let members = second.mutableOrderedSetValue(forKey: "items")
        #expect(members.insert(item, at: 0) && !members.append(item))
        members[1] = others[1]
        #expect(second.names("items") == ["b", "c"])
        try context.save()
        #expect(list.fresh(stack).names("items") == ["a", "b", "c"])
        #expect(second.fresh(stack).names("items") == ["b", "c"])
    }

    @Test(
        "A child context relates to what its parent's save has made part of another object",
        arguments: Backend.allCases)
    func child(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { [$0.make("Shop", ["name": "VW"])] }
        let parent = stack.context(.mergeByPropertyObjectTrump)
        let child = parent.newChildContext()
        let shop = child.make("Shop", ["name": "VW"])
        try child.save()
        try parent.save()
        let product = child.make("Product", ["name": "Golf", "shop": shop])
        #expect(product.object("shop")?.objectID == ids[0])
        try child.save()
        try parent.save()
        let stored = try #require(stack.context().all("Product").first)
        #expect(stored.object("shop")?.objectID == ids[0])
    }

    @Test(
        "A reference to an object whose deletion was saved is an error of the save, with entity, key and id",
        arguments: Backend.allCases)
    func deleted(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let shop = context.make("Shop", ["name": "VW"])
        let tags = ["red", "blue"].map { context.make("Tag", ["label": $0]) }
        let product = context.make("Product", ["name": "Golf"])
        try context.save()
        let id = shop.objectID
        let tag = tags[0].objectID
        for object in [shop, tags[0]] { context.delete(object) }
        try context.save()
        product["shop"] = shop
        product["tags"] = Set(tags)
        #expect(product["shop"] == nil && product.members("tags") == [tags[1]])
        #expect(context.hasChanges && product.hasPersistentChangedValues)
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .multiple)
        let details = error.details.sorted { ($0.context.key ?? "") < ($1.context.key ?? "") }
        #expect(details.map(\.code) == [.validation, .validation])
        #expect(details.map(\.context.entity) == ["Product", "Product"])
        #expect(details.map(\.context.key) == ["shop", "tags"])
        #expect(details.map(\.context.objectID) == [product.objectID, product.objectID])
        #expect(details.map(\.context.value) == [.objectID(id), .objectID(tag)])
        #expect(details.allSatisfy { $0.message.contains("no longer exists") })
        // Setting it anew, or taking it out, makes the object valid.
        product["shop"] = nil
        #expect(storeError { try context.save() }?.context.key == "tags")
        #expect(product.mutableSetValue(forKey: "tags").remove(tags[0]))
        try context.save()
        #expect(try stack.context().all("Product").first?.members("tags").count == 1)
    }

    @Test(
        "A member that somebody else has deleted does not keep others from being added to those that were read",
        arguments: Backend.allCases)
    func shownStill(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let tags = ["red", "blue"].map { context.make("Tag", ["label": $0]) }
            return [context.make("Product", ["name": "Golf", "tags": Set(tags)])] + tags
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        let product = context.object(with: ids[0])
        let red = try #require(product.members("tags").first { $0.objectID == ids[1] })
        let other = stack.context()
        other.delete(other.object(with: ids[1]))
        try other.save()
        // A store may have read its row along with the members.
        context.refresh(red, mergeChanges: false)
        #expect(red["label"] == nil && red.isDeleted)
        #expect(product.members("tags").contains(red))
        product["tags"] = product.members("tags").union([context.make("Tag", ["label": "new"])])
        #expect(product.members("tags").contains(red))
        try product.setValue(
            product.members("tags").union([context.make("Tag", ["label": "newer"])]), forKey: "tags"
        )
        try context.save()
        let stored = stack.context().object(with: ids[0])
        #expect(Set(stored.members("tags").map { $0.string("label") }) == ["blue", "new", "newer"])
    }

    @Test(
        "A member that somebody else has deleted can be taken out", arguments: Backend.allCases)
    func takenOut(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let tags = ["red", "blue"].map { context.make("Tag", ["label": $0]) }
            return [context.make("Product", ["name": "Golf", "tags": Set(tags)])] + tags
        }
        let context = stack.context()
        let product = context.object(with: ids[0])
        let red = try #require(product.members("tags").first { $0.objectID == ids[1] })
        let other = stack.context()
        other.delete(other.object(with: ids[1]))
        try other.save()
        // A store may have read its row along with the members.
        context.refresh(red, mergeChanges: false)
        #expect(red["label"] == nil && red.isDeleted)
        #expect(product.mutableSetValue(forKey: "tags").remove(red))
        #expect(product.members("tags").map(\.objectID) == [ids[2]])
    }

    @Test(
        "A reference by the id of a deleted object is an error of the save too",
        arguments: Backend.allCases)
    func deletedByID(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            [
                context.make("Shop", ["name": "VW"]), context.make("Tag", ["label": "red"]),
                context.make("Tag", ["label": "blue"]), context.make("Product", ["name": "Golf"]),
            ]
        }
        let other = stack.context()
        for id in ids[...1] { other.delete(other.object(with: id)) }
        try other.save()
        let context = stack.context()
        let product = context.object(with: ids[3])
        product["shop"] = ids[0]
        product["tags"] = [ids[1], ids[2]]
        #expect(product["shop"] == nil)
        #expect(product.members("tags").map(\.objectID) == [ids[2]])
        let error = try #require(storeError { try context.save() })
        #expect(error.details.map(\.code) == [.validation, .validation])
        #expect(Set(error.details.map(\.context.key)) == ["shop", "tags"])
        #expect(Set(error.details.map(\.context.value)) == [.objectID(ids[0]), .objectID(ids[1])])
        for key in ["shop", "tags"] { product[key] = nil }
        try context.save()
    }

    @Test(
        "What was never saved, and what a rollback took back, can be no target either",
        arguments: Backend.allCases)
    func neverSaved(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let deleted = context.make("Shop")
        context.delete(deleted)
        context.processPendingChanges()
        let dropped = context.make("Shop")
        context.rollback()
        let product = context.make("Product", ["name": "Golf"])
        for shop in [deleted, dropped] {
            product["shop"] = shop
            #expect(storeError { try context.save() }?.context.key == "shop")
        }
        context.delete(dropped)
        context.detectConflicts(for: deleted)
        product["shop"] = nil
        try context.save()
    }

    @Test(
        "Of an object that a reset put out of the context the row is meant",
        arguments: Backend.allCases)
    func reset(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let shop = context.make("Shop", ["name": "VW"])
        try context.save()
        context.reset()
        let product = context.make("Product", ["shop": shop])
        #expect(product.object("shop")?.string("name") == "VW")
        try context.save()
    }

    @Test("Undo takes the reference to a deleted object back, and redo sets it again")
    func undo() throws {
        let stack = try Stack(Models.shop, .log)
        let context = stack.context()
        let shop = context.make("Shop", ["name": "VW"])
        let product = context.make("Product", ["name": "Golf"])
        try context.save()
        context.delete(shop)
        try context.save()
        context.undoHistory = UndoHistory()
        product["shop"] = shop
        context.undo()
        #expect(!context.hasChanges)
        context.redo()
        #expect(storeError { try context.save() }?.context.key == "shop")
        context.rollback()
        try context.save()
        #expect(product["shop"] == nil && !context.hasChanges)
    }

    @Test(
        "Batches follow the ids of objects that were folded, and refuse those of deleted ones")
    func batches() throws {
        let stack = try Stack(Models.shop, .log)
        let ids = try stack.store { context in
            ["A", "B"].map { context.make("Shop", ["name": $0]) }
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        try context.existingObject(with: ids[1])["name"] = "A"
        try context.save()
        try context.execute(
            BatchInsertRequest(
                entityName: "Product", objects: [["serialCode": "1", "shop": ids[1]]]))
        var update = BatchUpdateRequest(entityName: "Product")
        update.propertiesToUpdate = ["shop": .value(.objectID(ids[1]))]
        try context.execute(update)
        let products = try stack.context().all("Product")
        #expect(products.map { $0.object("shop")?.objectID } == [ids[0]])
        context.delete(try context.existingObject(with: ids[0]))
        try context.save()
        let insert = BatchInsertRequest(
            entityName: "Product", objects: [["serialCode": "2", "shop": ids[1]]])
        #expect(storeError { try context.execute(insert) }?.context.key == "shop")
        #expect(storeError { try context.execute(update) }?.context.key == "shop")
    }
}

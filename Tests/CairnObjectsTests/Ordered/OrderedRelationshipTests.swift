// Ordered relationships: in memory and stored, members stand as they were put.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Ordered relationships")
struct OrderedRelationshipTests {
    private func items(_ backend: Backend, _ names: String) throws -> (
        Stack, ManagedObjectContext, [ManagedObject]
    ) {
        let stack = try Stack(Models.ordered, backend)
        let context = stack.context()
        return (stack, context, names.map { context.make("Item", ["name": String($0)]) })
    }

    /// Checks the names in memory, after a save, and as they are read.
    private func expect(
        _ owner: ManagedObject, _ key: String, _ names: String, _ stack: Stack,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let wanted = names.map(String.init)
        #expect(owner.names(key) == wanted, "in memory", sourceLocation: sourceLocation)
        try owner.managedObjectContext?.save()
        #expect(owner.names(key) == wanted, "after the save", sourceLocation: sourceLocation)
        let fresh = owner.fresh(stack)
        #expect(fresh.names(key) == wanted, "as stored", sourceLocation: sourceLocation)
        #expect(fresh.names(key) == wanted, "asked once more", sourceLocation: sourceLocation)
        #expect(
            fresh.objectIDs(forRelationshipNamed: key) == owner.list(key).map(\.objectID),
            sourceLocation: sourceLocation)
        let entity = owner.entity
        let index = try #require(entity.relationshipIndex(named: key))
        let snapshot = try stack.store.snapshot()
        #expect(
            try snapshot.members(
                ofRelationship: index, entity: entity.index, owners: [owner.objectID])[0]
                == owner.list(key).map(\.objectID), sourceLocation: sourceLocation)
        let related = try StoreRelated(entity, key, in: stack.store.schema)
        var read: [ObjectID] = []
        try snapshot.read(related, of: [owner.objectID]) { read.append($0.objectID) }
        #expect(read == owner.list(key).map(\.objectID), sourceLocation: sourceLocation)
    }

    @Test("An array is kept as it is given", arguments: Backend.allCases, ["items", "extras"])
    func array(_ backend: Backend, _ key: String) throws {
        let (stack, context, i) = try items(backend, "abcdef")
        let owner = context.make(key == "items" ? "Folder" : "Playlist")
        owner[key] = [i[3], i[1], i[4]]
        try expect(owner, key, "dbe", stack)
        owner[key] = [i[4], i[0], i[1], i[3], i[5]]
        try expect(owner, key, "eabdf", stack)
        owner[key] = [i[4], i[0], i[3], i[1], i[5]]
        #expect(owner.hasPersistentChangedValues)
        #expect(owner.changedValues().keys.sorted() == [key])
        try expect(owner, key, "eadbf", stack)
        owner[key] = [i[4], i[0], i[3], i[1], i[5]]
        #expect(!owner.hasPersistentChangedValues, "nothing is another way round")
        owner[key] = [i[2], i[2], i[0], i[2]]
        try expect(owner, key, "ca", stack)
        owner[key] = nil
        try expect(owner, key, "", stack)
    }

    @Test("Both sides of many-to-many have an order of their own", arguments: Backend.allCases)
    func bothSides(_ backend: Backend) throws {
        let (stack, context, i) = try items(backend, "abc")
        let lists = "xyz".map { context.make("Playlist", ["name": String($0)]) }
        lists[0]["items"] = [i[2], i[0]]
        lists[1]["items"] = [i[0], i[2], i[1]]
        lists[2]["items"] = [i[1], i[0]]
        i[0]["lists"] = [lists[2], lists[0], lists[1]]
        try expect(i[0], "lists", "zxy", stack)
        try expect(lists[0], "items", "ca", stack)
        try expect(lists[1], "items", "acb", stack)
        try expect(lists[2], "items", "ba", stack)
        i[1]["lists"] = [lists[1], lists[0], lists[2]]
        try expect(i[1], "lists", "yxz", stack)
        try expect(lists[0], "items", "cab", stack)
        lists[0].mutableOrderedSetValue(forKey: "items").move(from: 2, to: 0)
        try expect(lists[0], "items", "bca", stack)
        try expect(i[1], "lists", "yxz", stack)
        context.delete(lists[1])
        context.processPendingChanges()
        try expect(i[1], "lists", "xz", stack)
        try expect(i[0], "lists", "zx", stack)
    }

    @Test(
        "A relationship that is its own inverse has an order at each end",
        arguments: Backend.allCases)
    func ownInverse(_ backend: Backend) throws {
        let (stack, context, i) = try items(backend, "abcd")
        _ = context
        i[0]["partners"] = [i[3], i[0], i[1]]
        i[1]["partners"] = [i[2], i[0], i[3]]
        try expect(i[0], "partners", "dab", stack)
        try expect(i[1], "partners", "cad", stack)
        try expect(i[3], "partners", "ab", stack)
        i[3]["partners"] = [i[1], i[2], i[0]]
        i[0]["partners"] = [i[1], i[3], i[0]]
        try expect(i[3], "partners", "bca", stack)
        try expect(i[0], "partners", "bda", stack)
        try expect(i[1], "partners", "cad", stack)
    }

    @Test("Who is given an owner comes to the end of his list", arguments: Backend.allCases)
    func inverse(_ backend: Backend) throws {
        let (stack, context, i) = try items(backend, "abcdef")
        let (one, other) = (context.make("Folder"), context.make("Folder"))
        for item in [i[4], i[1], i[3]] { item["folder"] = one }
        try expect(one, "items", "ebd", stack)
        i[0]["folder"] = one
        i[2]["folder"] = other
        try expect(one, "items", "ebda", stack)
        i[4]["folder"] = other
        i[1]["folder"] = other
        #expect(one.names("items") == ["d", "a"])
        try expect(other, "items", "ceb", stack)
        i[3]["folder"] = nil
        i[3]["folder"] = one
        try expect(one, "items", "ad", stack)
        context.delete(i[0])
        context.processPendingChanges()
        try expect(one, "items", "d", stack)
        let later = context.make("Item", ["name": "g"])
        later["folder"] = other
        try expect(other, "items", "cebg", stack)
    }

    @Test("A list that was not read takes who comes", arguments: Backend.allCases)
    func unread(_ backend: Backend) throws {
        let (stack, context, i) = try items(backend, "abcdefgh")
        let folder = context.make("Folder")
        folder["items"] = [i[2], i[1], i[0]]
        try context.save()
        let second = stack.context()
        func mine(_ object: ManagedObject) -> ManagedObject { second.object(with: object.objectID) }
        mine(i[5])["folder"] = mine(folder)
        try second.save()
        mine(i[4])["folder"] = mine(folder)
        mine(i[3])["folder"] = mine(folder)
        try second.save()
        try expect(mine(folder), "items", "cbafed", stack)
        mine(i[7])["folder"] = mine(folder)
        second.refresh(mine(folder), mergeChanges: true)
        mine(i[6])["folder"] = mine(folder)
        try expect(mine(folder), "items", "cbafedhg", stack)
    }

    @Test(
        "Members are inserted, moved, exchanged and taken out by their places",
        arguments: Backend.allCases)
    func places(_ backend: Backend) throws {
        let (stack, context, i) = try items(backend, "abcdef")
        let folder = context.make("Folder")
        let list = folder.mutableOrderedSetValue(forKey: "items")
        list.append(contentsOf: [i[0], i[1], i[2]])
        list.insert(i[3], at: 1)
        try expect(folder, "items", "adbc", stack)
        list.move(from: 3, to: 0)
        try expect(folder, "items", "cadb", stack)
        list.swapAt(1, 3)
        #expect(list.remove(at: 2) === i[3])
        #expect(i[3]["folder"] == nil)
        try expect(folder, "items", "cba", stack)
        #expect(!list.insert(i[1], at: 0) && !list.append(i[1]) && list.contains(i[1]))
        list[1] = i[5]
        try expect(folder, "items", "cfa", stack)
        list[0] = i[0]
        try expect(folder, "items", "af", stack)
        list.replaceAll(with: [i[4], i[5], i[0]])
        list.sort { $0.string("name") ?? "" < $1.string("name") ?? "" }
        #expect(list.firstIndex(of: i[5]) == 2 && list.count == 3 && list[1] === i[4])
        try expect(folder, "items", "aef", stack)
        list[2] = i[0]
        try expect(folder, "items", "ea", stack)
        #expect(list.remove(i[4]) && !list.remove(i[4]))
        list.removeAll()
        #expect(list.isEmpty && folder.hasPersistentChangedValues)
        try expect(folder, "items", "", stack)
    }

    @Test("An order that is not saved goes with rollback and refresh", arguments: Backend.allCases)
    func undone(_ backend: Backend) throws {
        let (stack, context, i) = try items(backend, "abcde")
        let (folder, other) = (context.make("Folder"), context.make("Folder"))
        folder["items"] = [i[3], i[2], i[1]]
        try context.save()
        folder["items"] = [i[1], i[0], i[3]]
        context.rollback()
        #expect(folder.names("items") == ["d", "c", "b"] && i[2].object("folder") === folder)
        folder["items"] = [i[1], i[2], i[3]]
        context.refresh(folder, mergeChanges: false)
        #expect(folder.names("items") == ["d", "c", "b"])
        // One side goes back: the other has him where he was.
        _ = other.names("items")
        i[2]["folder"] = other
        #expect(folder.names("items") == ["d", "b"])
        context.refresh(i[2], mergeChanges: false)
        #expect(folder.names("items") == ["d", "c", "b"] && other.names("items").isEmpty)
        #expect(!folder.hasPersistentChangedValues)
        // What was changed stays on top of what is read anew.
        folder["items"] = [i[1], i[3], i[2]]
        try stack.store { second in
            let folder = second.object(with: folder.objectID)
            let item = second.object(with: i[4].objectID)
            item["folder"] = folder
            return [item]
        }
        context.refresh(folder, mergeChanges: true)
        #expect(folder.hasPersistentChangedValues)
        try expect(folder, "items", "bdce", stack)
    }

    @Test(
        "Several members that came at once stand as they did once that is done again",
        arguments: Backend.allCases)
    func redone(_ backend: Backend) throws {
        let (_, context, i) = try items(backend, "abcdef")
        let folder = context.make("Folder")
        try context.save()
        context.undoHistory = UndoHistory()
        // It is the first that has changed, and so the first that changes again.
        folder["name"] = "folder"
        folder["items"] = [i[5], i[3], i[1], i[0], i[2], i[4]]
        context.undo()
        #expect(folder.names("items").isEmpty)
        context.redo()
        #expect(folder.names("items").joined() == "fdbace")
    }

    @Test("A failed save keeps the order that is wanted", arguments: Backend.allCases)
    func failing(_ backend: Backend) throws {
        var model = Models.ordered
        model.entities[0].attributes[0].isOptional = false
        let stack = try Stack(model, backend)
        let context = stack.context()
        let i = "abc".map { context.make("Item", ["name": String($0)]) }
        let folder = context.make("Folder", ["name": "f"])
        folder["items"] = i
        try context.save()
        folder["items"] = [i[2], i[0], i[1]]
        i[0]["name"] = nil
        #expect(throws: StoreError.self) { try context.save() }
        #expect(folder.names("items") == ["c", "", "b"])
        i[0]["name"] = "a"
        try expect(folder, "items", "cab", stack)
    }

    @Test("Predicates and counts do not care for the order", arguments: Backend.allCases)
    func predicates(_ backend: Backend) throws {
        let (_, context, i) = try items(backend, "abcd")
        let folder = context.make("Folder", ["name": "one"])
        folder["items"] = [i[2], i[0], i[3]]
        try context.save()
        folder["items"] = [i[3], i[2], i[0]]
        for _ in 0..<2 {
            for (text, count) in [
                ("ANY items.name == 'a'", 1), ("ANY items.name == 'b'", 0),
                ("items.@count == 3", 1), ("ALL items.name != 'b'", 1),
                ("SUBQUERY(items, $x, $x.name > 'b').@count == 2", 1),
            ] {
                let request = FetchRequest<ManagedObject>(
                    entityName: "Folder", predicate: try PredicateNode(format: text))
                #expect(try context.count(for: request) == count, "\(text)")
                #expect(try context.fetch(request).count == count, "\(text)")
            }
            try context.save()
        }
        #expect(folder.value(forKeyPath: "items.@count") as? Int == 3)
        #expect(folder.value(forKeyPath: "items.name") as? [String?] == ["d", "c", "a"])
    }

    @Test("What is read ahead comes in order", arguments: Backend.allCases)
    func prefetching(_ backend: Backend) throws {
        let (stack, context, i) = try items(backend, "abcd")
        let folder = context.make("Folder")
        let list = context.make("Playlist")
        folder["items"] = [i[2], i[0], i[3]]
        list["items"] = [i[3], i[1]]
        try context.save()
        let fresh = stack.context()
        for (entity, names) in [("Folder", ["c", "a", "d"]), ("Playlist", ["d", "b"])] {
            var request = FetchRequest<ManagedObject>(entityName: entity)
            request.relationshipKeyPathsForPrefetching = ["items"]
            let object = try #require(try fresh.fetch(request).first)
            #expect(object.names("items") == names)
        }
    }

    @Test(
        "The store is told of an order only if it does not make it by itself",
        arguments: Backend.allCases)
    func requests(_ backend: Backend) throws {
        let counting = CountingStore(try backend.makeStore(Schema(Models.ordered)))
        let context = Stack(store: counting).context()
        let folder = context.make("Folder")
        let i = "abcd".map { context.make("Item", ["name": String($0)]) }
        for item in i { item["folder"] = folder }
        try context.save()
        #expect(counting.lastSave?.orderChanges.isEmpty != false)
        let another = context.make("Item", ["name": "e"])
        folder.mutableOrderedSetValue(forKey: "items").append(another)
        try context.save()
        #expect(counting.lastSave?.orderChanges.isEmpty != false)
        folder.mutableOrderedSetValue(forKey: "items").move(from: 0, to: 2)
        try context.save()
        #expect(counting.lastSave?.orderChanges.count == 1)
        folder["name"] = "x"
        try context.save()
        #expect(counting.lastSave?.orderChanges.isEmpty == true)
    }

    @Test(
        "Many new members in the order of their creation go as columns, and stand in it",
        arguments: Backend.allCases)
    func manyNew(_ backend: Backend) throws {
        let stack = try Stack(Models.ordered, backend)
        let context = stack.context()
        let folder = context.make("Folder")
        try context.save()
        var names: [String] = []
        for round in 0..<3 {
            for index in 0..<40 {
                let item = context.make(
                    index % 3 == 0 ? "Song" : "Item", ["name": "\(round).\(index)"])
                if round == 1 {
                    folder.mutableOrderedSetValue(forKey: "items").insert(item, at: 0)
                    names.insert("\(round).\(index)", at: 0)
                } else {
                    item["folder"] = folder
                    names.append("\(round).\(index)")
                }
            }
            try context.save()
            #expect(folder.names("items") == names)
            #expect(folder.fresh(stack).names("items") == names)
        }
    }

    @Test(
        "Who was taken out and put in again stands at the end of a list that was not read, though nobody holds its owner",
        arguments: Backend.allCases)
    func returned(_ backend: Backend) throws {
        let (stack, context, items) = try items(backend, "i")
        let playlists = ["a", "b"].map { context.make("Playlist", ["name": $0]) }
        items[0]["lists"] = [playlists[1], playlists[0]]
        try context.save()
        let (id, list) = (items[0].objectID, playlists[1].objectID)
        let other = stack.context()
        let second = other.object(with: list)
        #expect(second.names("items") == ["i"])
        second["items"] = [ManagedObject]()
        second["items"] = [other.object(with: id)]
        #expect(other.object(with: id).names("lists") == ["a", "b"])
        try other.save()
        #expect(stack.context().object(with: id).names("lists") == ["a", "b"])
    }

    @Test("An event tells the order as it was before", arguments: Backend.allCases)
    func events(_ backend: Backend) throws {
        let (_, context, i) = try items(backend, "abc")
        let folder = context.make("Folder")
        folder["items"] = i
        try context.save()
        folder["items"] = [i[1], i[0], i[2]]
        let old = folder.changedValuesForCurrentEvent()["items"] as? [ManagedObject]
        #expect(old == i)
        context.processPendingChanges()
        #expect(folder.changedValuesForCurrentEvent().isEmpty)
    }
}

// Random changes of ordered lists, by several contexts one after the other, compared with plain arrays.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Random ordered lists")
struct RandomOrderTests {
    /// What the lists are to be, by the ids of their owners.
    private struct Lists {
        var items: [ObjectID: [ObjectID]] = [:]
        var songs: [ObjectID: [ObjectID]] = [:]
        var lists: [ObjectID: [ObjectID]] = [:]
        var partners: [ObjectID: [ObjectID]] = [:]
        var folderOfItem: [ObjectID: ObjectID] = [:]

        mutating func take(_ item: ObjectID, outOf folder: ObjectID?) {
            guard let folder else { return }
            items[folder]?.removeAll { $0 == item }
            folderOfItem[item] = nil
        }

        mutating func delete(_ item: ObjectID) {
            take(item, outOf: folderOfItem[item])
            for list in lists[item] ?? [] { songs[list]?.removeAll { $0 == item } }
            for partner in partners[item] ?? [] { partners[partner]?.removeAll { $0 == item } }
            lists[item] = nil
            partners[item] = nil
        }
    }

    @Test(
        "Lists are as arrays to which the same was done, through saves, reopening and compaction",
        arguments: Backend.allCases, RandomSource.seeds(1, whole: 100))
    func random(_ backend: Backend, _ seed: UInt64) throws {
        print("seed of RandomOrderTests: CAIRN_SEED=\(seed)")
        var random = RandomSource(seed: seed)
        let disk = MemoryFileSystem()
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.durability = .relaxed
        options.sizes.rowsPerBlock = 8
        options.sizes.mergedBlocks = 4
        options.sizes.segmentBytes = 20_000
        options.sizes.askedCompactionFloor = 1
        options.sizes.closingCheckpointBytes = random.chance(50) ? 1 : .max
        let schema = try Schema(Models.ordered)
        func open() throws -> any PersistentStore {
            backend == .log
                ? try LogStore.open(at: "/store", schema: schema, options: options)
                : try backend.makeStore(schema)
        }
        var stack = Stack(store: try open())
        var lists = Lists()
        let owners = try stack.store { context in
            (0..<4).map { context.make($0 < 2 ? "Folder" : "Playlist", ["name": "\($0)"]) }
        }
        for owner in owners[..<2] { lists.items[owner] = [] }
        for owner in owners[2...] { lists.songs[owner] = [] }
        for _ in 0..<40 {
            let context = stack.context()
            for _ in 0..<1 + random.below(6) {
                try change(&lists, Array(owners), context, &random)
                if random.chance(10) { try save(context, &lists) }
            }
            try compare(lists, context, "in memory")
            try save(context, &lists)
            try compare(lists, context, "saved")
            if random.chance(20), let log = stack.store as? LogStore {
                if random.chance(50) { _ = try log.compact() }
                #expect(try log.check().findings.isEmpty)
                try log.close()
                stack = Stack(store: try open())
            }
            try compare(lists, stack.context(), "as stored")
        }
        try stack.store.close()
    }

    /// Saving gives ids that the lists do not know yet.
    private func save(_ context: ManagedObjectContext, _ lists: inout Lists) throws {
        let old = context.insertedObjects.map { ($0.objectID, $0) }
        try context.save()
        rename(&lists, Dictionary(uniqueKeysWithValues: old).mapValues(\.objectID))
    }

    private func rename(_ lists: inout Lists, _ names: [ObjectID: ObjectID]) {
        func renamed(_ id: ObjectID) -> ObjectID { names[id] ?? id }
        func renamed(_ table: [ObjectID: [ObjectID]]) -> [ObjectID: [ObjectID]] {
            Dictionary(
                uniqueKeysWithValues: table.map { (renamed($0.key), $0.value.map(renamed)) })
        }
        lists.items = renamed(lists.items)
        lists.songs = renamed(lists.songs)
        lists.lists = renamed(lists.lists)
        lists.partners = renamed(lists.partners)
        lists.folderOfItem = Dictionary(
            uniqueKeysWithValues: lists.folderOfItem.map { (renamed($0.key), renamed($0.value)) })
    }

    private func compare(_ lists: Lists, _ context: ManagedObjectContext, _ moment: Comment) throws
    {
        for (table, key) in [
            (lists.items, "items"), (lists.songs, "items"), (lists.lists, "lists"),
            (lists.partners, "partners"),
        ] {
            for (owner, members) in table {
                let found = context.object(with: owner).list(key).map(\.objectID)
                #expect(found == members, moment)
            }
        }
    }

    /// One change, done to an object and to the arrays.
    private func change(
        _ lists: inout Lists, _ owners: [ObjectID], _ context: ManagedObjectContext,
        _ random: inout RandomSource
    ) throws {
        func object(_ id: ObjectID) -> ManagedObject { context.object(with: id) }
        let items = lists.lists.keys.sorted { $0.reference < $1.reference }
        let folder = owners[random.below(2)]
        let playlist = owners[2 + random.below(2)]
        switch random.below(12) {
        case 0...2:
            let item = context.make(random.chance(30) ? "Song" : "Item", ["name": "i"])
            if random.chance(30) { try context.obtainPermanentIDs(for: [item]) }
            lists.lists[item.objectID] = []
            lists.partners[item.objectID] = []
            if random.chance(70) {
                item["folder"] = object(folder)
                lists.items[folder]?.append(item.objectID)
                lists.folderOfItem[item.objectID] = folder
            }
        case 3:
            guard let item = random.pick(items) else { return }
            let old = lists.folderOfItem[item]
            object(item)["folder"] = object(folder)
            if old == folder { return }
            lists.take(item, outOf: old)
            lists.items[folder]?.append(item)
            lists.folderOfItem[item] = folder
        case 4:
            guard let item = random.pick(items) else { return }
            object(item)["folder"] = nil
            lists.take(item, outOf: lists.folderOfItem[item])
        case 5, 6:
            guard var list = lists.items[folder], list.count > 1 else { return }
            let (from, to) = (random.below(list.count), random.below(list.count))
            list.insert(list.remove(at: from), at: to)
            object(folder).mutableOrderedSetValue(forKey: "items").move(from: from, to: to)
            lists.items[folder] = list
        case 7:
            let chosen = items.shuffled(using: &random).prefix(random.below(6))
            object(folder)["items"] = chosen.map(object)
            for item in lists.items[folder] ?? [] { lists.folderOfItem[item] = nil }
            for item in chosen { lists.take(item, outOf: lists.folderOfItem[item]) }
            lists.items[folder] = Array(chosen)
            for item in chosen { lists.folderOfItem[item] = folder }
        case 8:
            let chosen = items.shuffled(using: &random).prefix(random.below(6))
            object(playlist)["items"] = chosen.map(object)
            let old = lists.songs[playlist] ?? []
            for item in old where !chosen.contains(item) {
                lists.lists[item]?.removeAll { $0 == playlist }
            }
            for item in chosen where !old.contains(item) { lists.lists[item]?.append(playlist) }
            lists.songs[playlist] = Array(chosen)
        case 9:
            guard let item = random.pick(items) else { return }
            let chosen = owners[2...].shuffled(using: &random).prefix(random.below(3))
            object(item)["lists"] = chosen.map(object)
            let old = lists.lists[item] ?? []
            for list in old where !chosen.contains(list) {
                lists.songs[list]?.removeAll { $0 == item }
            }
            for list in chosen where !old.contains(list) { lists.songs[list]?.append(item) }
            lists.lists[item] = Array(chosen)
        case 10:
            guard let item = random.pick(items) else { return }
            let chosen = items.shuffled(using: &random).prefix(random.below(4))
            object(item)["partners"] = chosen.map(object)
            let old = lists.partners[item] ?? []
            for other in old where !chosen.contains(other) && other != item {
                lists.partners[other]?.removeAll { $0 == item }
            }
            for other in chosen where !old.contains(other) && other != item {
                lists.partners[other]?.append(item)
            }
            lists.partners[item] = Array(chosen)
        default:
            guard random.chance(40), let item = random.pick(items) else { return }
            context.delete(object(item))
            context.processPendingChanges()
            lists.delete(item)
        }
    }
}

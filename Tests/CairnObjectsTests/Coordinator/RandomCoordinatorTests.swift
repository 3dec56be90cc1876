// Two stores behind a coordinator, beside one store of their kind that knows nothing of them.
//
// The same random edits are made in contexts of a coordinator and in those of one store alone, called naive here: objects,
// relationships of each kind and their orders, deletions, undoing, children, saves that are in conflict, merging, stores that
// are taken away and given back. Whatever a context shows, and whatever is stored, must be the same. Objects are told apart by
// names that are never given twice, and every one has its home: it is related to objects of its own store alone.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Random graphs in two stores at once")
struct RandomCoordinatorTests {
    /// The same context twice.
    private struct Pair {
        let divided: ManagedObjectContext
        let naive: ManagedObjectContext
        /// Whether it works on another one.
        var isChild = false

        var both: [ManagedObjectContext] { [divided, naive] }
    }

    private final class Bench {
        let stores: TwoStores
        let naive: any PersistentStore
        var pairs: [Pair] = []
        var random: RandomSource
        /// The homes of objects by their names, as indexes of the stores.
        var homes: [String: Int] = [:]

        init(_ backend: Backend, _ seed: UInt64) throws {
            random = RandomSource(seed: seed)
            stores = try TwoStores(Models.ordered, backend, [nil, nil])
            naive = try backend.makeStore(stores.coordinator.schema)
            for policy in [MergePolicy.error, .mergeByPropertyObjectTrump] {
                let pair = Pair(
                    divided: stores.context(policy), naive: ManagedObjectContext(store: naive))
                pair.naive.mergePolicy = policy
                for context in pair.both { context.undoHistory = UndoHistory() }
                pairs.append(pair)
            }
            pairs.append(
                Pair(
                    divided: pairs[0].divided.newChildContext(),
                    naive: pairs[0].naive.newChildContext(), isChild: true))
        }

        func fresh() -> Pair {
            Pair(divided: stores.context(), naive: ManagedObjectContext(store: naive))
        }

        // MARK: What is shown

        /// Everything that a context shows, by names.
        func text(_ context: ManagedObjectContext) throws -> [String] {
            try context.all("Node", sortedBy: "name").map { node in
                let entity = node.entity.name
                var line = "\(entity) \(node.string("name") ?? "-")"
                if entity == "Folder" {
                    line += " in \(node.object("parent")?.string("name") ?? "-")"
                    line += " children \(node.names("children")) items \(node.names("items"))"
                } else if entity != "Node" {
                    line += " in \(node.object("folder")?.string("name") ?? "-")"
                    line += " lists \(node.names("lists")) partners \(node.names("partners"))"
                }
                return line
            }
                + context.all("Playlist", sortedBy: "name").map { list in
                    let fans = list.members("fans").compactMap { $0.string("name") }.sorted()
                    return "Playlist \(list.string("name") ?? "-") \(list.names("items"))"
                        + " extras \(list.names("extras")) fans \(fans)"
                }
        }

        func compare(_ pair: Pair, _ what: String) throws {
            let (divided, naive) = (try text(pair.divided), try text(pair.naive))
            #expect(divided == naive, "\(what), CAIRN_SEED=\(random.seed)")
        }

        // MARK: Editing

        /// Runs the same with the objects of names in both contexts.
        func edit(
            _ pair: Pair, _ body: (ManagedObjectContext, (String) -> ManagedObject?) throws -> Void
        )
            throws
        {
            for context in pair.both {
                try body(context) { name in
                    for entity in ["Node", "Playlist"] {
                        let found = try? context.find(entity, "name", .string(name))
                        if let object = found?.first { return object }
                    }
                    return nil
                }
            }
        }

        /// The names of what a context shows of an entity, of one home. Both are asked: what one of them has read, and shows
        /// from then on, the other has to have read as well.
        func names(_ pair: Pair, _ entity: String, of home: Int) throws -> [String] {
            let names = try pair.both.map { context in
                try context.all(entity, sortedBy: "name").compactMap { $0.string("name") }
            }
            #expect(names[0] == names[1], "CAIRN_SEED=\(random.seed)")
            return names[1].filter { homes[$0] == home }
        }

        func step(_ pair: Pair) throws {
            // In both it is a run of edits of its own.
            defer { for context in pair.both { context.processPendingChanges() } }
            let home = random.below(2)
            let folders = try names(pair, "Folder", of: home)
            let items = try names(pair, "Item", of: home)
            let lists = try names(pair, "Playlist", of: home)
            guard folders.count > 1, items.count > 3, lists.count > 1, !random.chance(10) else {
                return try make(pair, home)
            }
            let (folder, item, list) = (
                random.pick(folders) ?? "", random.pick(items) ?? "", random.pick(lists) ?? ""
            )
            let some = Array(items.shuffled(using: &random).prefix(random.below(5)))
            switch random.below(12) {
            case 0: try set(pair, item, "folder", random.chance(80) ? folder : nil)
            case 1, 2: try set(pair, folder, "items", some)
            case 3: try set(pair, list, "items", some)
            case 4: try set(pair, list, "extras", some)
            case 5: try set(pair, item, "partners", some)
            case 6: try set(pair, item, "lists", Array(lists.shuffled(using: &random).prefix(2)))
            case 7:
                let other = random.pick(folders) ?? ""
                // A folder in itself would be deleted with itself, by whichever is first.
                if other < folder { try set(pair, folder, "parent", other) }
            case 8:
                let fans = Set(some)
                try edit(pair) { _, find in
                    find(list)?["fans"] = Set(fans.compactMap(find))
                }
            case 9: try rename(pair, random.pick([folder, item, list]) ?? "")
            case 10:
                let gone = random.pick([folder, item, list]) ?? ""
                try edit(pair) { context, find in
                    if let object = find(gone) { context.delete(object) }
                }
            default:
                // Turned around: nobody comes and nobody goes.
                try edit(pair) { _, find in
                    guard let folder = find(folder) else { return }
                    folder["items"] = Array(folder.list("items").reversed())
                }
            }
        }

        private func make(_ pair: Pair, _ home: Int) throws {
            let entity = random.pick(["Folder", "Item", "Song", "Playlist"]) ?? ""
            let name = newName(home)
            try edit(pair) { context, _ in
                if context === pair.divided {
                    try context.make(entity, in: stores.stores[home], ["name": name])
                } else {
                    context.make(entity, ["name": name])
                }
            }
        }

        private func newName(_ home: Int) -> String {
            let number = homes.count + 1000
            homes["\(number)"] = home
            return "\(number)"
        }

        private func rename(_ pair: Pair, _ name: String) throws {
            guard let home = homes[name] else { return }
            let new = newName(home)
            try edit(pair) { _, find in find(name)?["name"] = new }
        }

        private func set(_ pair: Pair, _ name: String, _ key: String, _ value: String?) throws {
            try edit(pair) { _, find in
                let target = value.flatMap(find)
                find(name)?[key] = target
            }
        }

        private func set(_ pair: Pair, _ name: String, _ key: String, _ values: [String]) throws {
            try edit(pair) { _, find in
                let targets = values.compactMap(find)
                find(name)?[key] = targets
            }
        }

        // MARK: All else

        func save(_ pair: Pair) throws {
            var codes: [StoreError.Code?] = []
            for context in pair.both { codes.append(storeError { try context.save() }?.code) }
            #expect(codes[0] == codes[1], "CAIRN_SEED=\(random.seed)")
            if codes[0] != nil {
                for context in pair.both {
                    context.rollback()
                    context.refreshAllObjects()
                }
            }
        }

        /// Shows a context what is stored.
        func refresh(_ pair: Pair) {
            for context in pair.both {
                context.rollback()
                context.undoHistory?.removeAllActions()
                context.refreshAllObjects()
            }
        }

        /// Takes a store away and gives it back: nothing has changed but that unsaved edits of its objects are lost.
        func takeAway() throws {
            for pair in pairs.reversed() { refresh(pair) }
            let store = stores.stores[random.below(2)]
            try stores.coordinator.remove(store, closes: false)
            for pair in pairs {
                let rest = try pair.divided.all("Node")
                #expect(rest.allSatisfy { $0.objectID.store != store.identity.identifier })
            }
            try stores.coordinator.add(store)
        }
    }

    @Test(
        "Whatever is done, two stores show and keep what one does",
        arguments: Backend.allCases, RandomSource.seeds(4))
    func agreement(_ backend: Backend, _ seed: UInt64) throws {
        print("random coordinator, CAIRN_SEED=\(seed)")
        let bench = try Bench(backend, seed)
        for _ in 0..<Campaign.count(80, whole: 5_000) {
            let pair = bench.pairs[bench.random.below(bench.pairs.count)]
            switch bench.random.below(20) {
            case 0..<12: try bench.step(pair)
            case 12, 13: try bench.save(pair)
            case 14 where !pair.isChild:
                for context in pair.both { context.undo() }
            case 15 where !pair.isChild:
                for context in pair.both { context.redo() }
            case 16: bench.refresh(pair)
            case 17: if bench.random.chance(20) { try bench.takeAway() }
            case 18: try bench.compare(bench.fresh(), "what is stored")
            default: try bench.compare(pair, "what a context shows")
            }
        }
        for pair in bench.pairs.reversed() { try bench.save(pair) }
        try bench.compare(bench.fresh(), "what is stored in the end")
        // Each object is where it belongs.
        for index in bench.stores.stores.indices {
            let names = try bench.stores.alone(index).all("Node").compactMap { $0.string("name") }
            #expect(names.allSatisfy { bench.homes[$0] == index })
        }
    }
}

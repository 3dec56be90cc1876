// Ordered lists in migrations by mappings: whatever numbers their members had, and get.

import Cairn
import CairnFileSystem
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnLog
@testable import CairnObjects

@Suite("Ordered lists in migrations by mappings")
struct MappedOrderTests {
    /// Lists of tracks, each of which is in one list and may be among the favourites of several.
    private static func model(_ modifier: String?) -> ManagedObjectModel {
        func relationship(
            _ name: String, to entity: String, many: Bool = true, ordered: Bool = true,
            inverse: String
        ) -> RelationshipDescription {
            var relationship = RelationshipDescription(
                name, to: entity, toMany: many, inverse: inverse)
            relationship.isOrdered = many && ordered
            return relationship
        }
        var track = EntityDescription(
            "Track", attributes: [.init("name", .string)],
            relationships: [
                relationship("list", to: "List", many: false, inverse: "tracks"),
                relationship("favoriteOf", to: "List", ordered: false, inverse: "favorites"),
                relationship("praisedBy", to: "List", inverse: "praised"),
            ])
        track.versionHashModifier = modifier
        // Their objects are brought over one entity after the other.
        let below = ["Talk", "Song"].map { name in
            var entity = EntityDescription(name, attributes: [.init(name + "s", .integer16)])
            entity.superentityName = "Track"
            return entity
        }
        let list = EntityDescription(
            "List", attributes: [.init("name", .string)],
            relationships: [
                relationship("tracks", to: "Track", inverse: "list"),
                relationship("favorites", to: "Track", inverse: "favoriteOf"),
                relationship("praised", to: "Track", inverse: "praisedBy"),
            ])
        return ManagedObjectModel(entities: [track] + below + [list])
    }

    /// Some lists, of whose members every third or so is gone.
    private static func fill(_ context: ManagedObjectContext, _ random: inout RandomSource) throws {
        let lists = (0..<5).map { context.make("List", ["name": "l\($0)"]) }
        var tracks = (0..<60).map { number in
            context.make(
                random.pick(["Track", "Song", "Talk"]) ?? "Track", ["name": "t\(number)"])
        }
        try context.save()
        for track in tracks where random.chance(30) { context.delete(track) }
        tracks.removeAll(where: \.isDeleted)
        for (index, list) in lists.enumerated() {
            let own = tracks.enumerated().filter { $0.offset % 5 == index }.map(\.element)
            list["tracks"] = own.shuffled(using: &random)
            list["favorites"] = Array(tracks.shuffled(using: &random).prefix(9))
            list["praised"] = Array(tracks.shuffled(using: &random).prefix(7))
        }
        try context.save()
    }

    private static func lists(_ store: any PersistentStore) throws -> [String] {
        let context = Stack(store: store).context()
        func line(_ object: ManagedObject, _ keys: [String]) -> String {
            let lists = keys.map { key in
                let members = object[key] as? [ManagedObject] ?? []
                return key + ": " + members.compactMap { $0.string("name") }.joined(separator: " ")
            }
            return "\(object.string("name") ?? ""): \(lists)"
        }
        return try context.all("List", sortedBy: "name").map {
            line($0, ["tracks", "favorites", "praised"])
        } + context.all("Track", sortedBy: "name").map { line($0, ["praisedBy"]) }
    }

    @Test(
        "Lists keep their order, though numbers have gaps and entities are brought over one by one")
    func order() throws {
        for seed in RandomSource.seeds(6) {
            var random = RandomSource(seed: seed)
            var options = LogStoreOptions()
            options.fileSystem = MemoryFileSystem()
            let (old, new) = (Self.model(nil), Self.model("2"))
            func open(_ model: ManagedObjectModel) throws -> LogStore {
                try LogStore.open(at: "/store", schema: Schema(model), options: options)
            }
            let before = try open(old)
            try Self.fill(Stack(store: before).context(), &random)
            let expected = try Self.lists(before)
            try before.close()
            let migration = try LogStore.beginMigration(
                at: "/store", to: Schema(new), options: options)
            let mapping = MappingModel(drafting: try ModelMigrationPlan(from: old, to: new))
            try MigrationManager(migration, mapping: mapping).migrate()
            let after = try open(new)
            #expect(try Self.lists(after) == expected, "seed \(seed)")
            // Whoever is added comes last.
            try Stack(store: after).store { context in
                let list = try #require(context.all("List", sortedBy: "name").first)
                let added = context.make("Song", ["name": "new"])
                for key in ["tracks", "favorites", "praised"] {
                    list[key] = (list[key] as? [ManagedObject] ?? []) + [added]
                }
                return [list]
            }
            let more = try Self.lists(after)[0]
            #expect(
                more
                    == expected[0].replacingOccurrences(of: "\",", with: " new\",")
                    .replacingOccurrences(of: "\"]", with: " new\"]"), "seed \(seed)")
            #expect(try after.check().findings.isEmpty)
            _ = try after.compact()
            #expect(try Self.lists(after)[0] == more, "seed \(seed)")
            try after.close()
        }
    }
}

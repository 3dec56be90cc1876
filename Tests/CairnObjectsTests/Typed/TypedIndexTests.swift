// Indexes that classes declare, and what they do to a fetch.

import Cairn
import CairnTestSupport
import Testing

/// A class as it was shipped first, and as it is with an index. Its entity is the same.
enum WithoutIndex {
    @Entity
    final class Recipe: ManagedObject {
        var source: String = ""
        var externalID: Int = 0
        var title: String = ""
    }
}

enum WithIndex {
    @Entity
    final class Recipe: ManagedObject {
        #Index<Recipe>([\.source, \.externalID])
        var source: String = ""
        var externalID: Int = 0
        var title: String = ""
    }
}

@Entity
class IndexedSight: ManagedObject {
    #Index<IndexedSight>([\.spot.latitude, \.name])
    #Index<IndexedSight>([.ascending(\.region), .descending(\.visitors)])
    var name: String = ""
    var visitors: Int = 0
    var spot: Place = Place()
    var region: IndexedRegion?
}

@Entity
final class IndexedMuseum: IndexedSight {
    #Index<IndexedMuseum>([\.name], [\.aB], [\.a.level], [\.aLevel])
    var rooms: Int = 0
    var aB: Int = 0
    var a: Address = Address()
    var aLevel: Int = 0
}

@Entity
final class IndexedRegion: ManagedObject {
    var name: String = ""
    @Relationship(inverse: \IndexedSight.region) var sights: Set<IndexedSight>
}

@Suite("Indexes of classes")
struct TypedIndexTests {
    // MARK: The story

    private func titles(
        _ container: PersistentContainer
    ) async throws -> (plan: String, titles: [String]) {
        try await container.performBackgroundTask { context in
            var request = FetchRequest(
                entityName: "Recipe",
                predicate: try PredicateNode(format: "source == 'site 7'"))
            request.sortDescriptors = [SortKey("externalID")]
            let titles = try context.fetch(request).compactMap { $0["title"] as? String }
            return (try context.explain(request).steps, titles)
        }
    }

    @Test("Why is the list slow: a scan and a sort become the search of a compound index (S4)")
    func story() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("recipes.cairn")
        let scan = """
            scan of Recipe
              filter: source == 'site 7'
              sorted by externalID
            """
        let wanted = (0..<100).map { "recipe \($0 * 30 + 7)" }

        // As it was shipped: every recipe is asked, and what matches is sorted.
        var container = try PersistentContainer(at: path, for: WithoutIndex.Recipe.self)
        try await container.performBackgroundTask { context in
            let result = try context.execute(
                BatchInsertRequest(WithoutIndex.Recipe.self, from: (0..<3000).reversed()) {
                    row, number in
                    row.source = "site \(number % 30)"
                    row.externalID = number
                    row.title = "recipe \(number)"
                })
            #expect(result.insertedCount == 3000)
        }
        var found = try await titles(container)
        #expect(found.plan == scan)
        #expect(found.titles == wanted)
        try container.store.close()

        // With the index in the class: its entries are all that is looked at, and they lie in the order of the list.
        container = try PersistentContainer(at: path, for: WithIndex.Recipe.self)
        found = try await titles(container)
        #expect(
            found.plan == """
                index bySourceAndExternalID (source, externalID) for source = "site 7", in its order
                """)
        #expect(found.titles == wanted)
        let counts = try await container.performBackgroundTask { context in
            var request = try FetchRequest<WithIndex.Recipe>(
                #Predicate { $0.source == "site 7" }, sortBy: [.init(\.externalID)])
            var plan = try context.explain(request)
            #expect(plan.sort == nil && plan.condition == nil)
            var counts = [plan.estimatedRows, plan.rowsLooked, plan.allRows, plan.results]
            request.fetchLimit = 5
            plan = try context.explain(request)
            counts += [plan.rowsLooked, plan.results]
            return counts
        }
        #expect(counts == [100, 100, 3000, 100, 5, 5])
        try container.store.close()

        // And without it again.
        container = try PersistentContainer(at: path, for: WithoutIndex.Recipe.self)
        found = try await titles(container)
        #expect(found.plan == scan)
        #expect(found.titles == wanted)
        try container.store.close()
    }

    // MARK: What can be indexed

    @Test(
        "Elements of composites, to-one relationships and inherited properties are indexed, up and down"
    )
    func declared() throws {
        let model = ManagedObjectModel(for: IndexedMuseum.self)
        let sight = try #require(model.entity(named: "IndexedSight"))
        #expect(
            sight.indexes == [
                FetchIndexDescription(
                    "bySpotLatitudeAndName", elements: [.init("spot.latitude"), .init("name")]),
                FetchIndexDescription(
                    "byRegionAndVisitorsDescending",
                    elements: [.init("region"), .init("visitors", ascending: false)]),
            ])
        let museum = try #require(model.entity(named: "IndexedMuseum"))
        // No two have one name.
        #expect(museum.indexes.map(\.name) == ["byName", "byAB", "byALevel", "byALevel2"])
        #expect(
            museum.indexes.map { $0.elements.map(\.propertyName) } == [
                ["name"], ["aB"], ["a.level"], ["aLevel"],
            ])
        _ = try Schema(model)
    }

    @Test("Indexes of a class find objects of its descendants")
    func used() throws {
        let container = try PersistentContainer(
            inMemoryFor: IndexedSight.self, IndexedMuseum.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let regions = (0..<20).map { number in
            let region = context.insert(IndexedRegion.self)
            region.name = "region \(number)"
            return region
        }
        for number in 0..<600 {
            let sight =
                number % 3 == 0
                ? context.insert(IndexedMuseum.self) : context.insert(IndexedSight.self)
            sight.name = "sight \(number % 200)"
            sight.visitors = number * 7 % 101
            sight.spot.latitude = Double(number % 50)
            sight.region = regions[number % 20]
        }
        try context.save()

        func explained<T>(_ request: FetchRequest<T>) throws -> String {
            try context.explain(request).steps
        }
        let byLatitude = try FetchRequest<IndexedSight>(
            predicate: PredicateNode(format: "spot.latitude == 7 AND name < 'sight 2'"))
        #expect(
            try explained(byLatitude)
                == #"index bySpotLatitudeAndName (spot.latitude, name) for spot.latitude = 7.0, name < "sight 2""#
        )
        #expect(
            try Set(context.fetch(byLatitude).map(\.name)) == ["sight 107", "sight 157"])
        let byRegion = FetchRequest<IndexedSight>(
            predicate: .compare("region", .equal, .objectID(regions[3].objectID)),
            sortBy: [SortKey("visitors", ascending: false)])
        let plan = try explained(byRegion)
        #expect(
            plan.hasPrefix("index byRegionAndVisitorsDescending (region, visitors) for region = ")
                && plan.hasSuffix(", in its order"), "\(plan)")
        let visitors = try context.fetch(byRegion).map(\.visitors)
        #expect(visitors.count == 30 && visitors == visitors.sorted(by: >))
        let byName = FetchRequest<IndexedMuseum>(
            predicate: .compare("name", .equal, .string("sight 6")))
        #expect(try explained(byName) == #"index byName (name) for name = "sight 6""#)
        #expect(try context.fetch(byName).count == 1)
        // The museums' index has not all sights.
        let allByName = FetchRequest<IndexedSight>(
            predicate: .compare("name", .equal, .string("sight 6")))
        #expect(try explained(allByName).hasPrefix("scan of IndexedSight, IndexedMuseum"))
        #expect(try context.fetch(allByName).count == 3)
    }
}

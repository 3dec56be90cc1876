// Stores that Core Data wrote in other people's projects, brought over and led to later versions of their models, by the ids
// of the behaviours.

import CairnMigration
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog
@testable import CairnTool

@Suite("Stores that Core Data wrote, and later versions", .enabled(if: Corpus.isAvailable))
struct CorpusMigrationTests {
    private static func model(_ name: String) -> String { CorpusStep.url("\(name).xml").path }

    private static let bookmarks = "duckduckgo+BrowserServicesKit__BookmarksModel__BookmarksModel"
    private static let cars = "alemar11+CoreDataPlus__SampleModel__SampleModel"

    /// A store of the corpus, brought over.
    private static func bring(_ name: String) throws -> CoreDataWorkplace {
        let work = try CoreDataWorkplace()
        let path = Corpus.url("coredata-sqlite/\(name).sqlite").path
        let run = run(["import-coredata", path, work.new])
        #expect(run.code == 0, "\(run.errors)")
        return work
    }

    private static func migrate(_ work: borrowing CoreDataWorkplace, to model: String) {
        let run = cairn("migrate", work.new, "--to", Self.model(model))
        #expect(run.code == 0, "\(run.errors)")
        #expect(cairn("check", work.new).code == 0)
    }

    // MARK: Bookmarks

    /// The titles of a folder's members, those of folders in parentheses behind them.
    private static func tree(_ folder: ManagedObject) -> String {
        let members = folder["children"] as? [ManagedObject] ?? []
        return members.map { member in
            let title = member["title"] as? String ?? ""
            return member["isFolder"] as? Bool == true ? "\(title)(\(tree(member)))" : title
        }.joined(separator: " ")
    }

    private static func titles(_ value: Any?) -> [String] {
        (value as? [ManagedObject] ?? []).compactMap { $0["title"] as? String }
    }

    private static func folder(_ uuid: String, _ context: ManagedObjectContext) throws
        -> ManagedObject
    {
        try #require(
            try context.fetch(
                FetchRequest(
                    entityName: "BookmarkEntity",
                    predicate: .compare("uuid", .equal, .string(uuid)))
            ).first)
    }

    @Test(
        "B161: stores of versions 1, 3 and 5 end in the same tree, and favourites keep their order, which Core Data loses",
        arguments: ["Bookmarks_V1", "Bookmarks_V3", "Bookmarks_V5"], [false, true])
    func bookmarks(_ name: String, _ isDirect: Bool) throws {
        Corpus.noteUse("bookmarks_\(name)_\(isDirect)")
        let work = try Self.bring(name)
        let first = try #require(Int(name.suffix(1)))
        for version in isDirect ? [6] : Array(first + 1...6) {
            Self.migrate(work, to: Self.bookmarks + "_\(version)")
        }
        let store = try LogStore.open(at: work.new)
        let context = ManagedObjectContext(store: store)
        let root = try Self.folder("bookmarks_root", context)
        #expect(Self.tree(root) == "1 2 3(31() 32 33) 4 5")
        let favorites = try Self.folder("favorites_root", context)
        #expect(Self.titles(favorites["favorites"]) == ["5", "4", "33", "32", "2"])
        let all = FetchRequest<ManagedObject>(entityName: "BookmarkEntity")
        for bookmark in try context.fetch(all) {
            // What is new in version 3 and later has its initial values.
            #expect(bookmark["isPendingDeletion"] as? Bool == false)
            #expect(bookmark["isStub"] == nil)
            let date = bookmark["modifiedAt"] as? Date
            let title = try #require(bookmark["title"] as? String)
            #expect((date == nil) == (first == 1 || title.hasSuffix("_root")))
            let folders = bookmark["favoriteFolders"] as? Set<ManagedObject>
            let isFavorite = ["5", "4", "33", "32", "2"].contains(title)
            #expect(folders == (isFavorite ? [favorites] : []))
        }
        // What the app does afterwards by itself: a folder of favourites for each kind of device.
        let mobile = context.insert("BookmarkEntity")
        for (key, value) in ["uuid": "mobile_favorites_root", "title": "mobile_favorites_root"] {
            mobile[key] = value
        }
        mobile["isFolder"] = true
        mobile["favorites"] = favorites["favorites"]
        try context.save()
        let again = ManagedObjectContext(store: store)
        let copy = try Self.folder("mobile_favorites_root", again)
        #expect(Self.titles(copy["favorites"]) == ["5", "4", "33", "32", "2"])
        let second = try Self.folder("2", again)
        #expect((second["favoriteFolders"] as? Set<ManagedObject>)?.count == 2)
        #expect(Self.tree(try Self.folder("bookmarks_root", again)) == "1 2 3(31() 32 33) 4 5")
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    // MARK: Cars

    /// By number plate: what there is of a car that stays in all versions.
    private static func cars(_ context: ManagedObjectContext) throws -> [String: [String]] {
        var cars: [String: [String]] = [:]
        for car in try context.fetch(FetchRequest<ManagedObject>(entityName: "Car")) {
            let plate = try #require(car["numberPlate"] as? String)
            let owner = car["owner"] as? ManagedObject
            cars[plate] = [
                car.entity.name == "ExpensiveSportCar" ? "LuxuryCar" : car.entity.name,
                "\(car["model"] ?? "")", "\(owner?["firstName"] ?? "")",
                "\(owner?["lastName"] ?? "")", "\(owner?["updatedAt"] ?? "")",
            ]
        }
        return cars
    }

    @Test(
        "B157: inferred, on the real store: 5 luxury cars that were expensive sport cars, 125 cars in all, an index of 2 elements"
    )
    func luxuryCars() throws {
        Corpus.noteUse()
        let work = try Self.bring("SampleModel_V1")
        let old = try LogStore.open(at: work.new)
        let before = try Self.cars(ManagedObjectContext(store: old))
        let makers = try Self.makers(ManagedObjectContext(store: old))
        try old.close()
        let run = cairn("migrate", work.new, "--to", Self.model(Self.cars + "2"), "--json")
        #expect(run.code == 0, "\(run.errors)")
        #expect(cairn("count", work.new, "Car").output == "125\n")
        #expect(cairn("count", work.new, "SportCar").output == "10\n")
        #expect(cairn("count", work.new, "LuxuryCar").output == "5\n")
        #expect(cairn("count", work.new, "ExpensiveSportCar").code != 0)
        let store = try LogStore.open(at: work.new)
        let context = ManagedObjectContext(store: store)
        #expect(try Self.cars(context) == before)
        #expect(try Self.makers(context) == makers)
        let car = try #require(store.schema.entity(named: "Car"))
        let index = try #require(car.description.indexes.first)
        #expect(index.name == "byMakerAndNumberPlate")
        #expect(index.elements.compactMap(\.propertyName) == ["maker", "numberPlate"])
        // It is there, and answers.
        let maker = PredicateNode.compare("maker", .equal, .string("Lamborghini"))
        let found = try store.snapshot().fetch(StoreFetch(entity: car.index, predicate: maker))
        #expect(found.ids.count == 2)
        #expect(found.plan.contains("byMakerAndNumberPlate"), "\(found.plan)")
        let stored = store.engine.registry.read { $0.catalog.fetchIndexes }
        #expect(stored.map(\.parts.count) == [2])
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    private static func makers(_ context: ManagedObjectContext) throws -> [String: String] {
        let cars = try context.fetch(FetchRequest<ManagedObject>(entityName: "Car"))
        return Dictionary(
            uniqueKeysWithValues: cars.map {
                ($0["numberPlate"] as? String ?? "", $0["maker"] as? String ?? "")
            })
    }

    /// Makes a maker of the text that a car had, once for all cars of whatever entity, as that of `BehavioursOfMapping` does.
    private final class MakerPolicy: EntityMigrationPolicy {
        private final class Makers { var known: [String: ManagedObject] = [:] }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(
                forSource: sInstance, in: mapping, manager: manager)
            guard let name = sInstance["maker"] as? String else { return }
            let makers = manager.userInfo["makers"] as? Makers ?? Makers()
            manager.userInfo["makers"] = makers
            let maker = makers.known[name] ?? manager.destinationContext.insert("Maker")
            maker["name"] = name
            makers.known[name] = maker
            let car = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            car.first?["createdBy"] = maker
        }
    }

    @Test(
        "B158: mapped, on the real store: 125 cars give 10 makers, and owners keep their cars, also as previous ones",
        arguments: ["SampleModel_V1", "SampleModel_V2"])
    func makers(_ name: String) throws {
        Corpus.noteUse("makers_\(name)")
        let work = try Self.bring(name)
        if name.hasSuffix("1") { Self.migrate(work, to: Self.cars + "2") }
        let old = try LogStore.open(at: work.new)
        let source = old.schema.model
        let before = try Self.cars(ManagedObjectContext(store: old))
        let makers = try Self.makers(ManagedObjectContext(store: old))
        try old.close()
        let new = try ModelFile(contentsOfFile: Self.model(Self.cars + "3")).model
        var mapping = MappingModel(drafting: try ModelMigrationPlan(from: source, to: new))
        for name in ["CarToCar", "SportCarToSportCar", "LuxuryCarToLuxuryCar"] {
            mapping[name]?.entityMigrationPolicy = MakerPolicy.self
            // Who has a car now has had it.
            mapping[name]?["previousOwners"] = PropertyMapping(
                "previousOwners", relationship: "owner")
        }
        let migration = try LogStore.beginMigration(at: work.new, to: Schema(new))
        try MigrationManager(migration, mapping: mapping).migrate()

        let store = try LogStore.open(at: work.new, schema: Schema(new))
        let context = ManagedObjectContext(store: store)
        #expect(try Self.cars(context) == before && before.count == 125)
        let all = try context.fetch(FetchRequest<ManagedObject>(entityName: "Maker"))
        #expect(all.count == 10)
        var found: [String: String] = [:]
        for maker in all {
            for car in maker["cars"] as? Set<ManagedObject> ?? [] {
                found[car["numberPlate"] as? String ?? ""] = maker["name"] as? String
            }
        }
        #expect(found == makers)
        let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
        #expect(people.count == 20)
        var owned = 0
        for person in people {
            let cars = person["cars"] as? Set<ManagedObject> ?? []
            #expect(person["previousCars"] as? Set<ManagedObject> == cars)
            owned += cars.count
        }
        #expect(owned == 118)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }
}

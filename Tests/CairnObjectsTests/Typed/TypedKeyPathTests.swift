// Key paths across relationships and into composite values, as keys.

import Cairn
import CairnTestSupport
import Testing

@Entity
class PathNamed: ManagedObject {
    var title: String = ""
    var land: PathLand?
}

@Entity
final class PathMaker: PathNamed {
    var size: Int?
    var home: Address = Address()
    var boss: PathMaker?
}

@Entity
final class PathLand: ManagedObject {
    var code: String = ""
    var place: Place?
    var shade: Shade
    var settings: Money?
}

@Entity
class PathProduct: ManagedObject {
    var name: String = ""
    var maker: PathMaker?
    var other: PathMaker?
    var spot: Place = Place()
    var settings: Money?
    var length: Int { name.count }
}

@Entity
final class PathToy: PathProduct {
    var age: Int = 0
}

@Suite("Key paths as keys")
struct TypedKeyPathTests {
    @Test("A path across to-one relationships and into composite values is a dotted key")
    func keys() {
        let keys: [(SortKey, String)] = [
            (SortKey(\PathProduct.name), "name"), (SortKey(\PathProduct.maker), "maker"),
            (SortKey(\PathProduct.maker?.title), "maker.title"),
            (SortKey(\PathProduct.maker!.title), "maker.title"),
            (SortKey(\PathProduct.other?.title), "other.title"),
            (SortKey(\PathProduct.other?.size), "other.size"),
            (SortKey(\PathProduct.other!.size), "other.size"),
            (SortKey(\PathProduct.maker?.land), "maker.land"),
            (SortKey(\PathProduct.maker?.land?.code), "maker.land.code"),
            (SortKey(\PathProduct.maker!.land?.code), "maker.land.code"),
            (SortKey(\PathProduct.maker!.land!.code), "maker.land.code"),
            (SortKey(\PathProduct.maker?.land?.shade), "maker.land.shade"),
            (SortKey(\PathToy.age), "age"), (SortKey(\PathToy.maker?.size), "maker.size"),
            (SortKey(\PathToy.maker?.boss?.title), "maker.boss.title"),
            (
                SortKey(\PathToy.maker?.boss?.boss?.land?.code), "maker.boss.boss.land.code"
            ),
            (SortKey(\PathMaker.boss?.land?.code), "boss.land.code"),
            (SortKey(\PathProduct.spot.latitude), "spot.latitude"),
            (SortKey(\PathProduct.spot.address.city), "spot.address.city"),
            (SortKey(\PathProduct.spot.second?.city), "spot.second.city"),
            (SortKey(\PathToy.maker!.home.city), "maker.home.city"),
            (SortKey(\PathProduct.maker?.land?.place?.latitude), "maker.land.place.latitude"),
        ]
        for (key, name) in keys {
            #expect(key.key == name)
            #expect(key.isAscending && key.comparison == .binary)
        }
        // What was found once is known.
        #expect(SortKey(\PathProduct.maker?.title, ascending: false).key == "maker.title")
    }

    @Test("What is sorted and compared by such a path is what the key says")
    func fetching() throws {
        let container = try PersistentContainer(inMemoryFor: PathToy.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let makers = ["b", "a", "c"].enumerated().map { number, title in
            let maker = context.insert(PathMaker.self)
            maker.title = title
            maker.size = number
            return maker
        }
        for number in 0..<8 {
            let toy = context.insert(PathToy.self)
            toy.name = "toy \(number)"
            toy.maker = number < 6 ? makers[number % 3] : nil
            toy.spot.latitude = Double(number % 2)
        }
        try context.save()
        let sorted = FetchRequest<PathToy>(sortBy: [
            SortKey(\PathToy.maker?.title), SortKey(\PathToy.spot.latitude, ascending: false),
        ])
        #expect(try context.fetch(sorted).map(\.name).map(\.last) == Array("76143052"))
        #expect(
            try context.fetch(FetchRequest<PathToy>(sortBy: [.init(\.maker?.title)])).map {
                $0.maker?.title
            } == [nil, nil, "a", "a", "b", "b", "c", "c"])
        let large = FetchRequest<PathToy>(
            predicate: .compare(\PathToy.maker?.size, .greaterOrEqual, 1))
        #expect(try context.count(for: large) == 4)
        let homeless = FetchRequest<PathToy>(
            predicate: .compare(\PathToy.maker?.title, .equal, nil))
        #expect(try context.count(for: homeless) == 2)
    }

    @Test("A path that cannot be followed is an error of the request, and says so")
    func refusals() throws {
        let container = try PersistentContainer(inMemoryFor: PathToy.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        for key in [
            SortKey(\PathToy.length), SortKey(\PathToy.maker?.title.count),
            SortKey(\PathToy.maker?.home.city), SortKey(\PathToy.maker?.boss!.title),
            SortKey(\PathToy.maker?.land?.code.isEmpty), SortKey(\PathToy.objectID),
        ] {
            let error = storeError {
                _ = try context.fetch(FetchRequest<PathToy>(sortBy: [key]))
            }
            #expect(error?.code == .invalidRequest)
            #expect(
                error?.message.contains(
                    "leads from PathToy to no stored property, or in a way that cannot be followed: write the key as text"
                ) == true, "\(error as Any)")
            var values = FetchRequest<DictionaryResult>(entityName: "PathToy")
            values.sortDescriptors = [key]
            #expect(storeError { _ = try context.fetch(values) }?.code == .invalidRequest)
        }
        let conditions: [(PredicateNode, String)] = [
            (
                .compare(\PathToy.spot, .equal, Place()),
                "spot of PathToy: a store cannot compare Place"
            ),
            (
                .compare(\PathToy.settings, .equal, Money(amount: 1, currency: "EUR")),
                "settings of PathToy: a store cannot compare Optional<Money>"
            ), (.compare(\PathToy.length, .greater, 3), "to no stored property"),
        ]
        for (condition, words) in conditions {
            for predicate in [condition, .not(condition), .and([condition, condition])] {
                let error = storeError {
                    _ = try context.fetch(FetchRequest<PathToy>(predicate: predicate))
                }
                #expect(error?.code == .invalidRequest)
                #expect(error?.message.contains(words) == true, "\(error as Any)")
            }
        }
    }
}

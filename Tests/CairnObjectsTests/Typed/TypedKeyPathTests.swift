// Key paths across relationships and into composite values, as keys.

import Cairn
import CairnTestSupport
import Testing

@testable import CairnObjects

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
    var shade: Shade = .light
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
    subscript(place: Int) -> Character { Array(name)[place] }
}

/// Has no key paths of its elements.
struct HandMade: CompositeValue, Equatable {
    var width = 0
    var height = 0

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    static var _compositeName: String { "HandMade" }
    static var _elements: [CompositeElement] {
        [
            CompositeElement("width", TypedKind.of(Int.self)),
            CompositeElement("height", TypedKind.of(Int.self)),
        ]
    }
    init?(_from reader: inout CompositeReader) {
        guard let width = reader.next(TypedKind.of(Int.self)),
            let height = reader.next(TypedKind.of(Int.self))
        else { return nil }
        self.init(width: width, height: height)
    }
    func _write(to writer: inout CompositeWriter) {
        writer.put(TypedKind.of(Int.self), width)
        writer.put(TypedKind.of(Int.self), height)
    }
    static func _key(for path: AnyKeyPath) -> String? {
        path == \HandMade.width ? "width" : path == \HandMade.height ? "height" : nil
    }
}

@Entity
final class PathCrate: ManagedObject {
    var size: HandMade = HandMade(width: 1, height: 2)
    var label: String = ""
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
                    "does not lead from PathToy to a stored property, or cannot be followed: write the key as text"
                ) == true, "\(error as Any)")
            #expect(error?.message.contains("0x") == false, "\(error as Any)")
            var values = FetchRequest<DictionaryResult>(entityName: "PathToy")
            values.sortDescriptors = [key]
            #expect(storeError { _ = try context.fetch(values) }?.code == .invalidRequest)
            values.propertiesToFetch = ["name"]
            values.propertiesToGroupBy = ["name"]
            let grouped = storeError { _ = try context.fetch(values) }
            #expect(grouped?.code == .invalidRequest)
            #expect(
                grouped?.message.hasSuffix("write the key as text") == true, "\(grouped as Any)")
        }
        let conditions: [(PredicateNode, String)] = [
            (
                .compare(\PathToy.spot, .equal, Place()),
                "spot of PathToy: a store cannot compare Place"
            ),
            (
                .compare(\PathToy.settings, .equal, Money(amount: 1, currency: "EUR")),
                "settings of PathToy: a store cannot compare Optional<Money>"
            ), (.compare(\PathToy.length, .greater, 3), "to a stored property"),
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

    @Test("A composite value without key paths of its elements is stored, and its keys are text")
    func handMade() throws {
        let container = try PersistentContainer(inMemoryFor: PathCrate.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        for width in [3, 1, 2] {
            let crate = context.insert(PathCrate.self)
            crate.size = HandMade(width: width, height: 0)
            crate.label = "\(width)"
        }
        try context.save()
        let sorted = FetchRequest<PathCrate>(sortBy: [SortKey("size.width")])
        #expect(try context.fetch(sorted).map(\.label) == ["1", "2", "3"])
        let other = FetchRequest<PathCrate>(sortBy: [SortKey(\PathCrate.size.width)])
        let error = storeError { _ = try context.fetch(other) }
        #expect(error?.message.hasSuffix("write the key as text") == true)
    }

    @Test("Of paths that capture values no more are kept than there is room for")
    func captured() {
        let known = KnownPaths<Int?>()
        for number in 0..<3000 {
            #expect(known.answer(for: \[Int].[number]) { number } == number)
            #expect(known.answer(for: \[Int].[number]) { -1 } == number)
            #expect(known.count <= KnownPaths<Int?>.room)
        }
        // Nothing is an answer as well.
        #expect(known.answer(for: \[Int].count) { nil } == nil)
        #expect(known.answer(for: \[Int].count) { 1 } == nil)
        let entity = TypedEntity.of(PathProduct.self)
        for number in 0..<3000 { #expect(entity.number(of: \PathProduct.[number]) == nil) }
        #expect(entity.known.count <= KnownPaths<Int?>.room)
        #expect(entity.key(of: \PathProduct.name) == "name")
    }
}

// Values of every type that a property can have: what is read is what was set, before and after a save.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

/// A composite value with raw values in it.
@Composite
struct Room: Equatable {
    var shade: Shade = .dark
    var other: Shade?
    var name: String = ""
}

/// A composite value with another one in it that may be nil.
@Composite
struct Flat: Equatable {
    var number: Int = 0
    var shade: Shade = .dark
    var cellar: Room?
}

@Entity
final class TypedHome: ManagedObject {
    var room: Room = Room()
    var spare: Room?
    var flat: Flat = Flat()
}

@Suite("Values of typed properties")
struct TypedValueTests {
    private func context(_ types: any PersistentEntity.Type...) throws -> ManagedObjectContext {
        let model = ManagedObjectModel(for: types)
        let store = try LogStore.inMemory(schema: try Schema(model))
        return ManagedObjectContext(store: store, classes: ObjectClasses(for: types))
    }

    /// Saves and gives the object a second life in a new context.
    private func reread<T: ManagedObject>(_ object: T) throws -> (ManagedObjectContext, T) {
        let context = try #require(object.managedObjectContext)
        try context.save()
        let other = ManagedObjectContext(store: context.store, classes: context.classes)
        return (other, try other.fetch(FetchRequest<T>(entityName: object.entity.name))[0])
    }

    @Test("A new object has its defaults, and keeps them over a save")
    func defaults() throws {
        let context = try context(TypedSample.self)
        func check(_ sample: TypedSample) {
            #expect(sample.integer == 1 && sample.integer64 == -2 && sample.integer32 == 3)
            #expect(sample.integer16 == 4 && sample.integer8 == 5 && sample.byte == 6)
            #expect(sample.word == 7 && sample.double == 8 && sample.flag)
            #expect(sample.ratio == 0.5 && sample.short == 0.25 && sample.exact == 1.5)
            #expect(sample.text == "text" && sample.bytes == Data() && sample.identifier == nil)
            #expect(sample.moment == Date(timeIntervalSinceReferenceDate: 1))
            #expect(sample.link.absoluteString == "https://example.org")
            #expect(sample.optionalInteger == nil && sample.optionalFlag == true)
            #expect(sample.optionalText == nil && sample.optionalMoment == nil)
            #expect(sample.optionalBytes == nil && sample.optionalExact == nil)
        }
        let sample = context.insert(TypedSample.self)
        check(sample)
        let (_, again) = try reread(sample)
        check(again)
    }

    @Test("Values that are set are read, at once and after a save")
    func set() throws {
        let context = try context(TypedSample.self)
        let identifier = UUID()
        func check(_ sample: TypedSample) {
            #expect(sample.integer == .max && sample.integer64 == .min && sample.integer32 == .min)
            #expect(sample.integer16 == .max && sample.integer8 == .min && sample.byte == .max)
            #expect(sample.word == .max && sample.double == .max && !sample.flag)
            #expect(sample.ratio == -0.0 && sample.short == .infinity && sample.exact == 12.25)
            #expect(sample.text == "é" && sample.bytes == Data([1, 2]))
            #expect(sample.identifier == identifier && sample.link.absoluteString == "a:b")
            #expect(sample.moment == Date(timeIntervalSinceReferenceDate: -5))
            #expect(sample.optionalInteger == 9 && sample.optionalFlag == nil)
            #expect(sample.optionalText == "" && sample.optionalExact == 0)
            #expect(sample.optionalMoment == .distantPast && sample.optionalBytes == Data())
        }
        let sample = context.insert(TypedSample.self)
        sample.integer = .max
        sample.integer64 = .min
        sample.integer32 = .min
        sample.integer16 = .max
        sample.integer8 = .min
        sample.byte = .max
        sample.word = .max
        sample.double = .max
        sample.flag = false
        sample.ratio = -0.0
        sample.short = .infinity
        sample.exact = 12.25
        sample.text = "é"
        sample.moment = Date(timeIntervalSinceReferenceDate: -5)
        sample.bytes = Data([1, 2])
        sample.identifier = identifier
        sample.link = try #require(URL(string: "a:b"))
        sample.optionalInteger = 9
        sample.optionalFlag = nil
        sample.optionalText = ""
        sample.optionalMoment = .distantPast
        sample.optionalBytes = Data()
        sample.optionalExact = 0
        check(sample)
        let (_, again) = try reread(sample)
        check(again)
    }

    @Test("A property without value or default reads as its type's empty value")
    func blank() throws {
        let context = try context(TypedBlank.self)
        func check(_ blank: TypedBlank) {
            #expect(blank.integer == 0 && blank.integer32 == 0 && blank.byte == 0 && !blank.flag)
            #expect(blank.ratio == 0 && blank.short == 0 && blank.exact == 0 && blank.text == "")
            #expect(
                blank.moment == Date(timeIntervalSinceReferenceDate: 0) && blank.bytes == Data())
            #expect(blank.identifier.uuidString == "00000000-0000-0000-0000-000000000000")
            #expect(blank.link.absoluteString == "about:blank")
        }
        let blank = context.insert(TypedBlank.self)
        check(blank)
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .multiple)
        #expect(error?.details.map(\.code) == Array(repeating: .missingMandatory, count: 12))
        // Outside a context as well.
        let entity = try #require(context.schema.entity(named: "TypedBlank"))
        check(TypedBlank(entity: entity, insertInto: nil))
    }

    @Test("An object whose row is gone reads as its defaults and empty values")
    func gone() throws {
        let context = try context(TypedSample.self)
        let stored = context.insert(TypedSample.self)
        try context.save()
        let other = ManagedObjectContext(store: context.store, classes: context.classes)
        let sample = try #require(other.object(with: stored.objectID) as? TypedSample)
        context.delete(stored)
        try context.save()
        #expect(sample.integer == 1 && sample.text == "text" && sample.optionalFlag == nil)
        #expect(sample.flag && sample.ratio == 0.5 && sample.isDeleted)
        withExtendedLifetime(other) {}
    }

    @Test("A change inside a value that others can hold is not seen, but setting it anew is (B101)")
    func changeInside() throws {
        let context = try context(TypedAlbum.self)
        let album = context.insert(TypedAlbum.self)
        let sketch = Sketch([1])
        album.sketch = sketch
        try context.save()
        sketch.lines.append(2)
        let held = try #require(album.sketch)
        held.lines.append(3)
        #expect(!album.hasChanges && !context.hasChanges)
        #expect(try reread(album).1.sketch?.lines == [1])
        album.sketch = sketch
        #expect(album.hasChanges && context.hasChanges)
        #expect(try reread(album).1.sketch?.lines == [1, 2])
        #expect(!context.hasChanges)
    }

    @Test("Raw values, JSON and composite values come back")
    func converted() throws {
        let context = try context(TypedThing.self)
        let thing = context.insert(TypedThing.self)
        #expect(thing.shade == .light && thing.otherShade == nil && thing.level == .low)
        #expect(thing.otherLevel == nil && thing.cost == nil)
        #expect(thing.price == Money(amount: 1, currency: "EUR"))
        #expect(thing.words == [] && thing.scores == ["a": 1])
        #expect(thing.home == Address(street: "Main") && thing.work == nil && thing.place == nil)
        thing.unit = .dark
        thing.shade = .dark
        thing.otherShade = .light
        thing.level = Level(rawValue: 7)
        thing.otherLevel = Level(rawValue: 8)
        thing.cost = Money(amount: .infinity, currency: "USD")
        thing.words.append("a")
        thing.words.append("b")
        thing.scores["b"] = 2
        thing.home.city = "Town"
        thing.work = Address(street: "Side", city: nil, level: Level(rawValue: 3), notes: ["n"])
        thing.place = Place(
            address: Address(street: "Deep"), second: Address(street: "Deeper", city: "C"),
            latitude: 4)
        func check(_ thing: TypedThing) {
            #expect(thing.unit == .dark && thing.shade == .dark && thing.otherShade == .light)
            #expect(thing.level.rawValue == 7 && thing.otherLevel?.rawValue == 8)
            #expect(thing.cost == Money(amount: .infinity, currency: "USD"))
            #expect(thing.price == Money(amount: 1, currency: "EUR"))
            #expect(thing.words == ["a", "b"] && thing.scores == ["a": 1, "b": 2])
            #expect(thing.home == Address(street: "Main", city: "Town"))
            #expect(
                thing.work
                    == Address(
                        street: "Side", city: nil, level: Level(rawValue: 3), notes: ["n"]))
            #expect(thing.place?.address.street == "Deep" && thing.place?.latitude == 4)
            #expect(thing.place?.second == Address(street: "Deeper", city: "C"))
        }
        check(thing)
        let (other, again) = try reread(thing)
        check(again)
        #expect(again["home.city"] as? String == "Town")
        #expect(
            try other.count(
                for: FetchRequest<TypedThing>(
                    predicate: .compare("place.second.city", .equal, .string("C")))) == 1)
        again.otherShade = nil
        again.otherLevel = nil
        again.cost = nil
        again.work = nil
        again.place?.second = nil
        let (_, third) = try reread(again)
        #expect(third.otherShade == nil && third.otherLevel == nil && third.cost == nil)
        #expect(third.work == nil && third.place?.second == nil && third.place?.latitude == 4)
    }

    @Test("Setting an equal value as JSON is no change")
    func equalJSON() throws {
        let context = try context(TypedThing.self)
        let thing = context.insert(TypedThing.self)
        thing.unit = .dark
        thing.scores = ["x": 1, "y": 2, "z": 3, "a": 4]
        let (_, again) = try reread(thing)
        again.scores = ["a": 4, "z": 3, "y": 2, "x": 1]
        #expect(!again.hasPersistentChangedValues)
        again.scores = [:]
        #expect(again.hasPersistentChangedValues)
    }

    @Test("A stored raw value that is none any more reads as the default, or as nil")
    func unknownRawValue() throws {
        let context = try context(TypedThing.self)
        let thing = context.insert(TypedThing.self)
        thing["shade"] = "blue"
        thing["otherShade"] = "blue"
        #expect(thing.shade == .light && thing.otherShade == nil)
    }

    @Test("Bytes that are no JSON of the type read as the default, and the next fetch throws")
    func unreadableJSON() throws {
        let context = try context(TypedThing.self)
        let thing = context.insert(TypedThing.self)
        thing["words"] = Data("{".utf8)
        thing["cost"] = Data("[]".utf8)
        #expect(thing.words == [])
        let first = #expect(throws: StoreError.self) {
            try context.fetch(FetchRequest<TypedThing>())
        }
        #expect(first?.context.key == "words")
        #expect(thing.cost == nil)
        let second = #expect(throws: StoreError.self) {
            try context.fetch(FetchRequest<TypedThing>())
        }
        #expect(second?.context.key == "cost")
        #expect(try context.fetch(FetchRequest<TypedThing>()).count == 1)
    }

    @Test(
        "What is no value of the type is read as the default, and stays stored when the object is saved",
        arguments: Backend.allCases)
    func unknownValues(_ backend: Backend) throws {
        let stack = try Stack(
            ManagedObjectModel(for: TypedThing.self, TypedHome.self), backend,
            classes: ObjectClasses(for: TypedThing.self, TypedHome.self))
        let ids = try stack.store { context in
            let thing = context.make("TypedThing", ["shade": "blue", "otherShade": "green"])
            thing["cost"] = Data("{}".utf8)
            let home = context.make("TypedHome")
            home["room"] = ["room.shade": "blue", "room.other": "green", "room.name": "hall"]
            home["spare"] = ["spare.shade": "blue"]
            return [thing, home]
        }
        let context = stack.context()
        let thing = try #require(context.object(with: ids[0]) as? TypedThing)
        #expect(thing.shade == .light && thing.otherShade == nil && thing.cost == nil)
        _ = storeError { _ = try context.all("TypedThing") }
        thing.level = Level(rawValue: 3)
        let home = try #require(context.object(with: ids[1]) as? TypedHome)
        #expect(home.room == Room(shade: .dark, other: nil, name: "hall"))
        home.room.name = "kitchen"
        home.spare?.name = "attic"
        try context.save()
        let stored = stack.context()
        let (again, other) = (stored.object(with: ids[0]), stored.object(with: ids[1]))
        #expect(again.string("shade") == "blue" && again.string("otherShade") == "green")
        #expect(again["cost"] as? Data == Data("{}".utf8) && again.int("level") == 3)
        #expect(other.string("room.shade") == "blue" && other.string("room.other") == "green")
        #expect(other.string("room.name") == "kitchen" && other.string("spare.name") == "attic")
        #expect(other.string("spare.shade") == "blue")
        home.room.shade = .light
        try context.save()
        #expect(stack.context().object(with: ids[1]).string("room.shade") == "light")
    }

    @Test(
        "A composite value that is set to nil is nil, whatever is stored of it",
        arguments: Backend.allCases)
    func nilOverUnknownValues(_ backend: Backend) throws {
        let stack = try Stack(
            ManagedObjectModel(for: TypedHome.self), backend,
            classes: ObjectClasses(for: TypedHome.self))
        let id = try stack.store { context in
            let home = context.make("TypedHome")
            home["spare"] = ["spare.other": "green", "spare.name": "attic"]
            home["flat"] = [
                "flat.number": 1, "flat.shade": "blue", "flat.cellar.other": "green",
                "flat.cellar.name": "cellar",
            ]
            return [home]
        }[0]
        let context = stack.context()
        let home = try #require(context.object(with: id) as? TypedHome)
        #expect(home.spare == Room(name: "attic") && home.flat.cellar == Room(name: "cellar"))
        home.spare = nil
        home.flat.cellar = nil
        #expect(home.spare == nil && home.flat.cellar == nil)
        try context.save()
        let stored = stack.context().object(with: id)
        #expect(stored["spare.other"] == nil && stored["flat.cellar.other"] == nil)
        // What stands beside it stays.
        #expect(stored.string("flat.shade") == "blue")
    }

    @Test("An object that somebody else has deleted has its defaults", arguments: Backend.allCases)
    func deletedElsewhere(_ backend: Backend) throws {
        let stack = try Stack(
            ManagedObjectModel(for: TypedThing.self, TypedHome.self), backend,
            classes: ObjectClasses(for: TypedThing.self, TypedHome.self))
        let ids = try stack.store { [$0.make("TypedThing"), $0.make("TypedHome")] }
        let context = stack.context()
        let objects = ids.map { context.object(with: $0) }
        let other = stack.context()
        for id in ids { other.delete(other.object(with: id)) }
        try other.save()
        let thing = try #require(objects[0] as? TypedThing)
        let home = try #require(objects[1] as? TypedHome)
        #expect(thing.unit == .light && thing.price.currency == "EUR" && thing.words.isEmpty)
        #expect(home.room == Room() && home.spare == nil && thing.isDeleted)
        #expect(thing.snapshot().unit == .light && home.snapshot().room == Room())
    }
}

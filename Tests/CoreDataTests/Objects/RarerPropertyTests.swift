// Properties that few models have: transformed values, composite and transient ones, fetched properties; and inheritance.

import CoreData
import Testing

@Suite("Rarer properties of managed objects")
struct RarerPropertyTests {
    @Test("transformed and composite values keep what they are")
    func values() throws {
        let context = try Stack.inMemory(Place.model()).newBackgroundContext()
        try context.performAndWait {
            let place = Place(context: context)
            #expect(place.nicknames == nil)
            #expect(place.position?["latitude"] == nil)
            place.nicknames = ["a", "b"]
            place.position = ["latitude": 1.5, "names": ["short": "x"]]
            place.cached = 4
            place.kind = .town
            try context.save()
            context.refresh(place, mergeChanges: false)
            #expect(place.nicknames == ["a", "b"])
            #expect(place.position?["latitude"] as? Double == 1.5)
            #expect((place.position?["names"] as? [String: Any])?["short"] as? String == "x")
            #expect(place.kind == .town)
            place.setValue("elsewhere", forKey: "kind")
            #expect(place.kind == .village)
        }
    }

    @Test("an element of a composite attribute is a text as any other")
    func elements() throws {
        let context = try Stack.inMemory(Place.model()).newBackgroundContext()
        try context.performAndWait {
            let place = Place(context: context)
            place.position = ["names": ["short": "5"]]
            let neighbour = Place(context: context)
            neighbour.mutableSetValue(forKey: "near").add(place)
            try context.save()
            func count(_ format: String) throws -> Int {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
                request.predicate = NSPredicate(format: format)
                return try context.count(for: request)
            }
            #expect(try count("position.names.short == 5") == 1)
            #expect(try count("ANY position.names.short == '5'") == 1)
            #expect(try count("ANY near.position.names.short == 5") == 1)
        }
    }

    @Test("numbers are read as another type than the attribute's")
    func conversions() throws {
        let context = try Stack.inMemory(Place.model()).newBackgroundContext()
        context.performAndWait {
            let place = Place(context: context)
            place.inhabitants = true
            #expect(place.inhabitants)
            #expect(place.value(forKey: "inhabitants") as? Int == 1)
            place.height = 7
            #expect(place.height == 7)
            #expect(place.value(forKey: "height") as? Double == 7)
            place.setValue(Date(timeIntervalSinceReferenceDate: 30), forKey: "founded")
            #expect(place.founded == 30)
            place.founded = 40
            #expect(
                place.value(forKey: "founded") as? Date == Date(timeIntervalSinceReferenceDate: 40))
        }
    }

    @Test("a class inherits properties and functions")
    func inheritance() throws {
        let context = try Stack.inMemory(Place.model()).newBackgroundContext()
        try context.performAndWait {
            let city = City(context: context)
            let place = Place(context: context)
            city.nicknames = ["c"]
            city.mayor = "m"
            city.addToNear(place)
            try context.save()
            context.reset()
            let found = try context.fetch(NSFetchRequest<Place>(entityName: "Place"))
            #expect(found.count == 2)
            let again = try #require(found.compactMap { $0 as? City }.first)
            #expect(again.nicknames == ["c"])
            #expect(again.mayor == "m")
            #expect(again.near.count == 1)
            #expect(again.entity.name == "City")
        }
    }

    @Test("a set that can be changed changes the object")
    func changeable() throws {
        let context = try Stack.inMemory(Place.model()).newBackgroundContext()
        context.performAndWait {
            let place = Place(context: context)
            let other = Place(context: context)
            place.nearTo.add(other)
            #expect(other.near == [place])
            place.nearTo = NSMutableSet()
            #expect(other.near.isEmpty)
        }
    }

    @Test("a property without a type holds any value, and a class may have a subscript of its own")
    func anything() throws {
        let context = try Stack.inMemory(Place.model()).newBackgroundContext()
        try context.performAndWait {
            let place = Place(context: context)
            #expect(place.note == nil)
            #expect(place.cargo == nil)
            place.remark = "r"
            place.note = ["a": 1]
            place.cargo = NSNumber(value: 3)
            place["x"] = "y"
            try context.save()
            context.refresh(place, mergeChanges: false)
            #expect(place.remark as? String == "r")
            #expect(place.note as? [String: Int] == ["a": 1])
            #expect((place.cargo as? NSNumber)?.intValue == 3)
            #expect(place["x"] as? String == "y of r")
            place.note = nil
            #expect(place.value(forKey: "note") == nil)
        }
    }

    @Test("a predicate that is asked of an object compares what its transformable properties are")
    func comparedInMemory() throws {
        let context = try Stack.inMemory(Place.model()).newBackgroundContext()
        try context.performAndWait {
            let (place, other) = (Place(context: context), Place(context: context))
            place.note = "Emma"
            place.cargo = NSNumber(value: 3)
            place.nicknames = ["a", "b"]
            place.remark = ["a": 1]
            other.near = [place]
            for isStored in [false, true] {
                for format in [
                    "note == 'Emma'", "note LIKE[cd] 'em*'", "cargo > 2 AND cargo == 3",
                    "ANY nicknames == 'b'", "nicknames.@count == 2", "note != nil", "remark != nil",
                    "remark.a == 1", "remark != nil AND remark.a == 1",
                    "remark == remark AND note == 'Emma'",
                    "NOT note == 'x'", "NOT cargo < 3",
                ] { #expect(NSPredicate(format: format).evaluate(with: place), "\(format)") }
                for format in [
                    "ANY near.note == 'Emma'", "note == nil", "NOT note LIKE 'E*'",
                    "SUBQUERY(near, $n, $n.note BEGINSWITH 'E' AND $n.cargo IN {3, 4}).@count > 0",
                ] { #expect(NSPredicate(format: format).evaluate(with: other), "\(format)") }
                if isStored { continue }
                try context.save()
                context.refreshAllObjects()
            }
        }
    }

    @Test("a fetched property finds objects")
    func fetched() throws {
        let context = try Stack.inMemory(Place.model()).newBackgroundContext()
        try context.performAndWait {
            let place = Place(context: context)
            City(context: context).mayor = "m"
            try context.save()
            #expect(place.cities.map(\.mayor) == ["m"])
            #expect((place.value(forKey: "cities") as? [City])?.count == 1)
        }
    }
}

class Place: NSManagedObject {
    enum Kind: String {
        case village = ""
        case town
    }

    @CoreData.NSManaged var nicknames: [String]?
    @CoreData.NSManaged var position: [String: Any]?
    @CoreData.NSManaged var cached: Int32
    @CoreData.NSManaged var kind: Kind
    @CoreData.NSManaged var inhabitants: Bool
    @CoreData.NSManaged var height: Int16
    @CoreData.NSManaged var founded: TimeInterval
    @CoreData.NSManaged var near: Set<Place>
    @CoreData.NSManaged var nearTo: NSMutableSet
    @CoreData.NSManaged var cities: [City]
    @CoreData.NSManaged var remark: Any
    @CoreData.NSManaged var note: Any?
    @CoreData.NSManaged var cargo: AnyObject?
    private var own: [String: String] = [:]

    subscript(name: String) -> Any? {
        get { own[name].map { "\($0) of \(remark)" } }
        set { own[name] = newValue as? String }
    }

    @CoreData.NSManagedAccessor func addToNear(_ value: Place)

    static func model() -> NSManagedObjectModel {
        let place = Notes.entity("Place", Place.self)
        let city = Notes.entity("City", City.self)
        let position = NSCompositeAttributeDescription()
        position.name = "position"
        position.isOptional = true
        let names = NSCompositeAttributeDescription()
        names.name = "names"
        names.isOptional = true
        names.elements = [Notes.attribute("short", .stringAttributeType)]
        position.elements = [Notes.attribute("latitude", .doubleAttributeType), names]
        let cached = Notes.attribute("cached", .integer32AttributeType)
        cached.isTransient = true
        let nicknames = Notes.attribute("nicknames", .transformableAttributeType)
        nicknames.valueTransformerName = "NSSecureUnarchiveFromData"
        let untyped = ["remark", "note", "cargo"].map { name in
            let attribute = Notes.attribute(name, .transformableAttributeType)
            attribute.valueTransformerName = "NSSecureUnarchiveFromData"
            return attribute
        }
        let cities = NSFetchedPropertyDescription()
        cities.name = "cities"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = city
        request.predicate = NSPredicate(format: "mayor != nil")
        cities.fetchRequest = request
        place.properties =
            untyped + [
                nicknames, position, cached, Notes.attribute("kind", .stringAttributeType),
                Notes.attribute("inhabitants", .integer32AttributeType),
                Notes.attribute("height", .doubleAttributeType),
                Notes.attribute("founded", .dateAttributeType), cities,
            ]
        city.properties = [Notes.attribute("mayor", .stringAttributeType)]
        place.subentities = [city]
        Notes.relate(place, "near", .many, place, "nearTo", .many)
        let model = NSManagedObjectModel()
        model.entities = [place, city]
        return model
    }
}

class City: Place {
    @CoreData.NSManaged var mayor: String?
}

// Fetching by all that a predicate can say: what each form finds, and what is refused.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import SystemPackage
import Testing

@Suite("Fetching by predicate")
struct FetchingByPredicateTests {
    private static let model: ManagedObjectModel = {
        var payload = AttributeDescription("payload", .transformable)
        payload.isOptional = true
        var mood = AttributeDescription("mood", .string)
        mood.isTransient = true
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("city", .string), .init("level", .integer16)]
        var person = EntityDescription(
            "Person",
            attributes: [
                .init("name", .string), .init("nick", .string), .init("age", .integer16),
                .init("height", .double), .init("wealth", .decimal), .init("born", .date), payload,
                mood, place,
            ])
        person.relationships = [
            .init("cars", to: "Car", toMany: true, inverse: "owner"),
            .init("boss", to: "Person", inverse: "staff"),
            .init("staff", to: "Person", toMany: true, inverse: "boss"),
            .init("friends", to: "Person", toMany: true, inverse: "friends"),
        ]
        var pilot = EntityDescription("Pilot", attributes: [.init("licence", .string)])
        pilot.superentityName = "Person"
        var car = EntityDescription(
            "Car", attributes: [.init("maker", .string), .init("price", .double)])
        car.relationships = [.init("owner", to: "Person", inverse: "cars")]
        return ManagedObjectModel(entities: [person, pilot, car])
    }()

    private func context() throws -> ManagedObjectContext { try stocked().context }

    private func stocked() throws -> (context: ManagedObjectContext, store: LogStore) {
        let store = try LogStore.inMemory(schema: Schema(Self.model))
        let context = ManagedObjectContext(store: store)
        func person(_ name: String?, _ age: Int?, _ entity: String = "Person") -> ManagedObject {
            let person = context.insert(entity)
            person["name"] = name
            person["age"] = age
            return person
        }
        let anna = person("Anna", 40)
        let bob = person("Bob", 17)
        let cleo = person("Cleo", 65, "Pilot")
        let nobody = person(nil, nil)
        anna["nick"] = "anna"
        bob["nick"] = "Bob"
        anna["height"] = 1.75
        bob["height"] = 17.0
        cleo["wealth"] = Decimal(string: "0.1")
        anna["wealth"] = Decimal(3)
        bob["boss"] = anna
        cleo["boss"] = anna
        anna["boss"] = cleo
        cleo["licence"] = "A"
        anna["place.city"] = "Córdoba"
        anna["place.level"] = 3
        anna["friends"] = Set([bob, cleo])
        for (owner, maker, price) in [
            (anna, "FIAT", 10.0), (anna, "FIAT", 20), (anna, "FIAT", 30), (anna, "Škoda", 5),
            (bob, "FIAT", 1), (bob, "Škoda", 2),
        ] {
            let car = context.insert("Car")
            car["maker"] = maker
            car["price"] = price
            car["owner"] = owner
        }
        _ = nobody
        try context.save()
        return (ManagedObjectContext(store: store), store)
    }

    private func names(
        _ format: String, _ context: ManagedObjectContext, _ entity: String = "Person"
    )
        throws -> String
    {
        let request = FetchRequest(
            entityName: entity, predicate: try PredicateNode(format: format))
        let found = try context.fetch(request)
        #expect(try context.count(for: request) == found.count, "\(format)")
        // The same in memory.
        let all = try context.fetch(FetchRequest(entityName: entity))
        #expect(try PredicateNode(format: format).filter(all) == found, "\(format)")
        return found.map { ($0["name"] as? String).map { String($0.prefix(1)) } ?? "-" }.joined()
    }

    /// Conditions, and who fulfils them.
    private static let cases: [(String, String)] = [
        // Composites
        ("place == NULL", "BC-"), ("place != NULL", "A"), ("NULL == place", "BC-"),
        ("NOT place == NULL", "A"), ("boss.place == NULL", "A-"),
        ("boss.place != NULL", "BC"),
        ("SUBQUERY(staff, $s, $s.place != NULL).@count > 0", "C"),
        // Texts
        ("name BEGINSWITH 'A'", "A"), ("name BEGINSWITH[c] 'a'", "A"),
        ("name ENDSWITH 'b'", "B"),
        ("name CONTAINS 'o'", "BC"), ("NOT name CONTAINS 'o'", "A-"), ("name LIKE '?ob'", "B"),
        ("name LIKE[c] '*O*'", "BC"), ("name MATCHES '[A-B].*'", "AB"),
        ("name MATCHES[c] 'ANNA'", "A"), ("name ==[c] 'ANNA'", "A"),
        ("name !=[c] 'ANNA'", "BC-"),
        ("name IN {'Anna', 'Bob', 'X'}", "AB"), ("name IN[c] {'ANNA', 'cleo'}", "AC"),
        ("name IN 'Anna and Bob'", "AB"), ("name BETWEEN {'Anna', 'Bob'}", "AB"),
        ("name <[c] 'bob'", "A"), ("name == NULL", "-"), ("name != NULL", "ABC"),
        ("name == nick", "B-"), ("name ==[c] nick", "AB-"), ("name != nick", "AC"),
        ("place.city CONTAINS[cd] 'CORDOBA'", "A"), ("place.level > 2", "A"),
        ("length:(name) == 3", "B"), ("uppercase:(name) == 'CLEO'", "C"),
        ("name.length > 3", "AC"),
        // Numbers
        ("age > 16.5", "ABC"), ("age < 17.5", "B"), ("age == 17.0", "B"),
        ("age != 17.5", "ABC-"),
        ("age IN {17, 65, 1000000}", "BC"), ("age BETWEEN {17, 40.5}", "AB"),
        ("height == 17", "B"),
        ("height == age", "B-"), ("height < age", "A"), ("wealth == 0.1", "C"),
        ("wealth > 1", "A"),
        ("age + 1 == 18", "B"), ("age * 2 > 100 OR age / 2 == 8", "BC"), ("age == NULL", "-"),
        ("age > -9223372036854775808", "ABC"), ("age < 1e300", "ABC"),
        ("born < now() OR born == NULL", "ABC-"), ("age IN {}", ""), ("NOT age IN {}", "ABC-"),
        ("TERNARY(age > 20, name, 'x') == 'x'", "B-"), ("CAST(age, 'NSString') == '17'", "B"),
        ("{name, nick} CONTAINS 'anna'", "A"), ("ANYKEY == 'Bob'", "B"),
        // To one
        ("boss.name == 'Anna'", "BC"), ("boss.name != 'Anna'", "A-"),
        ("boss.name == NULL", "-"),
        ("boss.boss.name == 'Cleo'", "BC"), ("boss == NULL", "-"), ("boss.age > 50", "A"),
        ("boss.name CONTAINS[c] 'AN'", "BC"), ("boss.boss == SELF", "AC"),
        ("boss.cars.@count == 4", "BC"), ("boss.place.city BEGINSWITH 'C'", "BC"),
        // To many
        ("ANY cars.price < 2", "B"), ("ALL cars.price > 1", "AC-"),
        ("NONE cars.maker == 'FIAT'", "C-"),
        ("ANY cars.maker LIKE[cd] 'skoda'", "AB"), ("ANY cars.owner.name == 'Bob'", "B"),
        ("cars.@count > 0", "AB"), ("cars.@sum.price > 10", "A"), ("cars.@max.price == 2", "B"),
        ("cars.@avg.price > 10", "A"), ("cars.@min.price == NULL", "C-"),
        ("cars[SIZE] == 2", "B"),
        ("cars[FIRST].maker == 'FIAT'", "AB"), ("ANY friends.name == 'Anna'", "BC"),
        ("ALL friends.name == 'Anna'", "BC-"), ("ANY staff.age < 18", "A"),
        ("ANY staff.cars.price == 1", "A"), ("friends.@count == 2", "A"),
        ("SUBQUERY(staff, $s, $s.age >= boss.age).@count == 0", "B-"),
        ("SUBQUERY(friends, $f, ANY $f.cars.price < 2).@count > 0", "A"),
        ("cars.@distinctUnionOfObjects.maker.@count == 2", "AB"),
        // All of it
        ("entity.name == 'Pilot'", "C"), ("entity != 'Pilot'", "AB-"), ("licence == 'A'", ""),
        ("age > 20 AND ANY cars.price > 20 AND NOT boss.name == 'Bob'", "A"),
        ("NOT (boss.name == 'Anna' OR ANY cars.price > 20)", "-"),
        ("NOT (NOT (age + 0 > 20) AND name != NULL)", "AC-"),
        ("($n := name) != NULL AND length:($n) == 4", "AC"), ("TRUEPREDICATE", "ABC-"),
    ]

    @Test("Each form finds what it says", arguments: cases)
    func forms(_ format: String, _ expected: String) throws {
        let context = try context()
        if format.hasPrefix("licence") {
            #expect(try names(format, context, "Pilot") == "C")
            #expect(throws: StoreError.self) { try names(format, context) }
        } else {
            #expect(try names(format, context) == expected)
        }
    }

    @Test(
        "ANY is true of an object if one of its members matches, and never without members (B094)")
    func anyMember() throws {
        let context = try context()
        #expect(try names("ANY cars.price >= 0", context) == "AB")
        #expect(try names("ANY cars.price == NULL", context) == "")
        #expect(try names("ANY cars.maker == 'Škoda'", context) == "AB")
        #expect(try names("SOME cars.price > 15", context) == "A")
    }

    @Test("Case and accents are passed over where that is asked for (B095)")
    func caseAndAccents() throws {
        let context = try context()
        for name in ["Café con Leche", "CAFE\u{301} SOLO", "Cafeteria", "tea"] {
            context.insert("Person")["name"] = name
        }
        try context.save()
        func found(_ format: String) throws -> [String] {
            try context.fetch(
                FetchRequest(entityName: "Person", predicate: try PredicateNode(format: format))
            ).compactMap { $0["name"] as? String }
        }
        let three = ["Café con Leche", "CAFE\u{301} SOLO", "Cafeteria"]
        #expect(try found("name CONTAINS[cd] 'CAFE'") == three)
        #expect(try found("name CONTAINS[c] 'café'") == Array(three.prefix(2)))
        #expect(try found("name BEGINSWITH[d] 'Cafe'") == ["Café con Leche", "Cafeteria"])
        #expect(try found("name CONTAINS 'CAFE'") == ["CAFE\u{301} SOLO"])
    }

    @Test("A subquery that is counted finds the same people as counting in memory (B097)")
    func subquery() throws {
        let context = try context()
        for limit in 0..<4 {
            let format = "SUBQUERY(cars, $car, $car.maker == 'FIAT').@count > \(limit)"
            let counted = try context.fetch(FetchRequest(entityName: "Person")).filter { person in
                (person["cars"] as? Set<ManagedObject> ?? [])
                    .count { $0["maker"] as? String == "FIAT" } > limit
            }.map { $0["name"] as? String }
            let found = try context.fetch(
                FetchRequest(entityName: "Person", predicate: try PredicateNode(format: format)))
            #expect(found.map { $0["name"] as? String } == counted, "\(format)")
        }
    }

    @Test(
        "What a store does not keep or cannot call is refused with entity and key (B100)",
        arguments: [
            ("payload == 'x'", "payload"), ("payload IN {'x'}", "payload"),
            ("mood == 'good'", "mood"),
            ("boss.mood == 'good'", "mood"), ("ANY staff.mood == 'good'", "mood"),
            ("SUBQUERY(staff, $s, $s.mood == 'x').@count > 0", "mood"), ("nothing == 1", "nothing"),
            ("boss.nothing == 1", "nothing"), ("cars.price > 1", "cars.price"),
            ("age == 'old'", "age"),
            ("FUNCTION(age, 'double:') == 1", "double:"), ("name MATCHES '('", nil),
            ("ANY cars.maker MATCHES '['", nil), ("place == 'x'", "place"),
            ("ANY staff.place == NULL", "place"), ("place > NULL", "place"),
        ] as [(String, String?)])
    func refused(_ format: String, _ key: String?) throws {
        let context = try context()
        let error = storeError {
            _ = try context.fetch(
                FetchRequest(entityName: "Person", predicate: try PredicateNode(format: format)))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.context.entity == "Person")
        if let key { #expect(error?.context.key == key) }
        // That it is nil can be asked.
        #expect(try names("payload == NULL", context) == "ABC-")
    }

    @Test("Deleting many takes the same predicates")
    func deleting() throws {
        let store = try stocked().store
        let schema = try store.snapshot().schema
        let node = try PredicateNode(format: "ANY cars.price < 2 OR boss.name CONTAINS[c] 'LEO'")
        let entity = try #require(schema.entity(named: "Person"))
        let request = BatchDeleteRequest(
            .fetch(
                StoreFetch(
                    entity: entity.index, predicate: try node.bound(to: entity, in: schema))))
        #expect(try store.execute(request).deletedCount == 2)
        #expect(try names("TRUEPREDICATE", ManagedObjectContext(store: store)) == "C-")
    }

    @Test("A relationship that leads nowhere has an object of which everything is nil")
    func dangling() throws {
        var one = EntityDescription("One", attributes: [.init("name", .string)])
        one.relationships = [.init("other", to: "Other", inverse: "ones")]
        var other = EntityDescription("Other", attributes: [.init("name", .string)])
        other.relationships = [
            .init("ones", to: "One", toMany: true, inverse: "other", deleteRule: .noAction)
        ]
        let store = try LogStore.inMemory(
            schema: Schema(ManagedObjectModel(entities: [one, other])))
        let context = ManagedObjectContext(store: store)
        let target = context.insert("Other")
        target["name"] = "x"
        context.insert("One")["other"] = target
        context.insert("One")["name"] = "free"
        try context.save()
        let id = target.objectID
        let schema = try store.snapshot().schema
        _ = try store.execute(
            BatchDeleteRequest(
                .ids([id], entity: try #require(schema.entity(named: "Other")).index)))
        func count(_ format: String, _ arguments: [Value] = []) throws -> Int {
            let entity = schema.entities[0]
            let node = try PredicateNode(format: format, arguments).bound(to: entity, in: schema)
            return try store.snapshot().count(StoreFetch(entity: 0, predicate: node))
        }
        #expect(try count("other != NULL") == 1)
        #expect(try count("other == %@", [.objectID(id)]) == 1)
        #expect(try count("other.objectID == %@", [.objectID(id)]) == 1)
        #expect(try count("other.name == 'x'") == 0)
        #expect(try count("other.name == NULL") == 2)
        #expect(try count("other.name == NULL AND uppercase:(other.name) == NULL") == 2)
        // Nobody counted where an object is led to that is gone, and no count at all where none is.
        #expect(try count("other.ones.@count == 0") == 1)
        #expect(try count("other.ones.@count == NULL") == 1)
    }

    @Test("What cannot be read of another object is an error, and no answer")
    func unreadable() throws {
        let disk = FaultInjectingFileSystem(over: MemoryFileSystem())
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.cacheBytes = 0
        let schema = try Schema(Self.model)
        let store = try LogStore.open(at: "/store", schema: schema, options: options)
        let context = ManagedObjectContext(store: store)
        let person = context.insert("Person")
        person["name"] = "Anna"
        let car = context.insert("Car")
        car["owner"] = person
        try context.save()
        let snapshot = try store.snapshot()
        let entity = try #require(schema.entity(named: "Car"))
        for format in [
            "owner.name == 'Anna'", "uppercase:(owner.name) == 'ANNA'",
            "TERNARY(owner.age == NULL, owner.name, 'x') == 'Anna'",
        ] {
            let node = try PredicateNode(format: format).bound(to: entity, in: schema)
            let fetch = StoreFetch(entity: entity.index, predicate: node)
            #expect(try snapshot.count(fetch) == 1, "\(format)")
            // How many reads there are depends on which block is still in memory.
            var failures = 0
            for number in 1...4 {
                disk.fail(.read, number: number, with: .ioError)
                do {
                    #expect(try snapshot.count(fetch) == 1, "\(format)")
                } catch {
                    failures += 1
                }
                disk.clearFaults()
            }
            #expect(failures > 0, "\(format)")
            #expect(try snapshot.count(fetch) == 1)
        }
        try store.close()
    }
}

// Behaviours of migrations that need a mapping, by their ids, and the story of the constraint that is added.

import CairnModel
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Behaviours of migrations by mappings")
struct BehavioursOfMapping {
    // MARK: Makers

    /// Makes a maker of the text that a car had, once for all cars of whatever entity.
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
            let maker =
                makers.known[name] ?? manager.destinationContext.make("Maker", ["name": name])
            makers.known[name] = maker
            let car = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            car.first?["createdBy"] = maker
        }
    }

    private static func cars(_ isNew: Bool) -> ManagedObjectModel {
        var car = EntityDescription(
            "Car",
            attributes: [.init("numberPlate", .string)],
            relationships: [
                .init("owner", to: "Person", inverse: "cars"),
                .init("previousOwners", to: "Person", toMany: true, inverse: "previousCars"),
            ], uniquenessConstraints: [["numberPlate"]])
        var sport = EntityDescription("SportCar", attributes: [.init("team", .string)])
        sport.superentityName = "Car"
        var luxury = EntityDescription(
            isNew ? "LuxuryCar" : "ExpensiveSportCar", attributes: [.init("insurance", .string)])
        luxury.superentityName = "SportCar"
        luxury.renamingIdentifier = isNew ? "ExpensiveSportCar" : nil
        let person = EntityDescription(
            "Person", attributes: [.init("name", .string)],
            relationships: [
                .init("cars", to: "Car", toMany: true, inverse: "owner"),
                .init("previousCars", to: "Car", toMany: true, inverse: "previousOwners"),
            ])
        guard isNew else {
            car.attributes.append(.init("maker", .string))
            return ManagedObjectModel(entities: [car, sport, luxury, person])
        }
        car.relationships.append(.init("createdBy", to: "Maker", inverse: "cars"))
        let maker = EntityDescription(
            "Maker", attributes: [.init("name", .string, optional: false)],
            relationships: [.init("cars", to: "Car", toMany: true, inverse: "createdBy")],
            uniquenessConstraints: [["name"]])
        return ManagedObjectModel(entities: [car, sport, luxury, person, maker])
    }

    @Test(
        "Mapped: 125 cars give 10 Maker objects, and previous owners keep their cars (B158)",
        arguments: Backend.allCases)
    func makers(_ backend: Backend) throws {
        let (old, new) = (Self.cars(false), Self.cars(true))
        let stack = try Stack(old, backend)
        try stack.store { context in
            let people = (0..<20).map { context.make("Person", ["name": "p\($0)"]) }
            return (0..<125).map { number in
                let entity =
                    number < 5 ? "ExpensiveSportCar" : number < 30 ? "SportCar" : "Car"
                return context.make(
                    entity,
                    [
                        "numberPlate": "n\(number)", "maker": "m\(number % 10)",
                        "owner": people[number % 7],
                        "previousOwners": Set([people[number % 20], people[(number * 3) % 20]]),
                    ])
            }
        }
        func owners(_ stack: Stack, _ entity: String) throws -> [String] {
            try stack.context().all(entity, sortedBy: "numberPlate").map { car in
                let names = car.members("previousOwners").compactMap { $0.string("name") }.sorted()
                return
                    "\(car.string("numberPlate") ?? "") \(car.object("owner")?.string("name") ?? "") \(names)"
            }
        }
        let mayBeInferred = try ModelMigrationPlan(from: old, to: new)
        var mapping = MappingModel(drafting: mayBeInferred)
        for name in ["CarToCar", "SportCarToSportCar", "ExpensiveSportCarToLuxuryCar"] {
            mapping[name]?.entityMigrationPolicy = MakerPolicy.self
        }
        let migration = try MigrationBetweenStores(stack, to: new, backend)
        try MigrationManager(migration, mapping: mapping).migrate()
        let context = migration.stack.context()
        #expect(try context.count("Car") == 125 && context.count("LuxuryCar") == 5)
        let makers = try context.all("Maker", sortedBy: "name")
        #expect(makers.map { $0.string("name") } == (0..<10).map { "m\($0)" })
        for (number, maker) in makers.enumerated() {
            let plates = maker.members("cars").compactMap { $0.string("numberPlate") }
            #expect(
                Set(plates)
                    == Set((0..<125).filter { $0 % 10 == number }.map { "n\($0)" }))
        }
        #expect(try owners(stack, "Car") == owners(migration.stack, "Car"))
    }

    // MARK: The constraint that is added

    /// Two with the id "a", three with "b", one with "c", two without.
    private static func fill(_ stack: Stack) throws {
        try stack.store { context in
            let ids: [String?] = ["a", "b", nil, "a", "b", "c", "b", nil]
            return ids.enumerated().map { number, id in
                let user = context.make("User", ["uniqueId": id, "age": number])
                context.make("Note", ["text": "n\(number)", "user": user])
                return user
            }
        }
    }

    @Test(
        "A mapping without a policy moves duplicates as they are: 134111 naming entity, attribute and objects"
    )
    func violation() throws {
        let old = UsersWithDuplicates.model(unique: false)
        let new = UsersWithDuplicates.model(unique: true)
        let stack = try Stack(old, .log)
        try Self.fill(stack)
        let migration = try MigrationBetweenStores(stack, to: new, .log)
        let mapping = MappingModel(drafting: try ModelMigrationPlan(from: old, to: new))
        let error = storeError {
            try MigrationManager(migration, mapping: mapping).migrate()
        }
        #expect(error?.code.rawValue == 134_111)
        #expect(error?.context.entity == "User" && error?.context.key == "uniqueId")
        #expect(
            error?.message.contains("User(uniqueId): at least 2 keys that 5 objects share") == true)
        #expect(migration.ending == "cancelled")
    }

    @Test(
        "With a policy whose begin deletes duplicates it goes through: survivors by its rule, nil keys all, notes of survivors",
        arguments: Backend.allCases)
    func deduplication(_ backend: Backend) throws {
        let old = UsersWithDuplicates.model(unique: false)
        let new = UsersWithDuplicates.model(unique: true)
        let stack = try Stack(old, backend)
        try Self.fill(stack)
        var mapping = MappingModel(drafting: try ModelMigrationPlan(from: old, to: new))
        mapping["UserToUser"]?.entityMigrationPolicy = UsersWithDuplicates.KeepFirst.self
        #expect(mapping["UserToUser"]?.mappingType == .custom)
        let migration = try MigrationBetweenStores(stack, to: new, backend)
        try MigrationManager(migration, mapping: mapping).migrate()
        let users = try migration.stack.context().all("User", sortedBy: "age")
        #expect(users.map { $0.int("age") } == [0, 1, 2, 5, 7])
        for user in users {
            let notes = user.members("notes").compactMap { $0.string("text") }
            #expect(notes == ["n\(user.int("age") ?? -1)"])
        }
        #expect(
            try migration.stack.context().count("Note") == 8, "notes of the others have no user")
        #expect(try stack.context().count("User") == 8)
        let error = storeError {
            try migration.stack.store { [$0.make("User", ["uniqueId": "a"])] }
        }
        #expect(error?.code == .constraintConflict)
    }
}

// A new object has the unique key of a stored one, or of another new one.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("A new object with a key that is stored")
struct UniquenessTests {
    private func stock(_ stack: Stack) throws -> ObjectID {
        try stack.store { context in
            [
                context.make(
                    "Product",
                    [
                        "serialCode": "A", "name": "old", "price": 5.0, "note": "kept?",
                        "isFavorite": true,
                    ])
            ]
        }[0]
    }

    @Test(
        "Under the error policy the save fails with 133021 and lists both objects",
        arguments: Backend.allCases)
    func error(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stock(stack)
        let context = stack.context()
        let new = context.make("Product", ["serialCode": "A", "name": "new"])
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .constraintConflict)
        #expect(error.violations.map(\.constraint) == [["serialCode"]])
        #expect(error.violations.first?.values == [.string("A")])
        #expect(error.violations.first?.stored?.id == old)
        #expect(error.violations.first?.objects == [new.objectID])
        let conflicts = context.conflicts(in: error).compactMap { $0 as? ConstraintConflict }
        #expect(conflicts.first?.databaseObject?.objectID == old)
        #expect(conflicts.first?.databaseSnapshot?["note"] as? String == "kept?")
        #expect(conflicts.first?.conflictingObjects == [new])
        #expect(context.insertedObjects == [new], "the new object stays pending")
        context.rollback()
        context.make("Product", ["serialCode": "B"])
        try context.save()
        #expect(try stack.context().count("Product") == 2)
    }

    @Test("One duplicate among many rejects the whole save (B007)", arguments: Backend.allCases)
    func allOrNothing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try stock(stack)
        let context = stack.context()
        for code in ["X", "A", "Y"] { context.make("Product", ["serialCode": code]) }
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        #expect(try stack.context().count("Product") == 1)
    }

    @Test(
        "Object trump leaves one row with the new values, also those nobody set (B004, B013, B017)",
        arguments: Backend.allCases)
    func objectTrump(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stock(stack)
        let context = stack.context(.mergeByPropertyObjectTrump)
        let new = context.make("Product", ["serialCode": "A", "price": 7.0])
        try context.save()
        let rows = try stack.context().all("Product")
        #expect(rows.map(\.objectID) == [old], "the stored row survives")
        #expect(rows[0].string("name") == "")
        #expect(rows[0]["price"] as? Double == 7)
        #expect(rows[0]["note"] == nil)
        #expect(rows[0]["isFavorite"] as? Bool == false)
        #expect(new.isDeleted && new.absorbedInto == old)
        #expect(!context.hasChanges)
    }

    @Test(
        "What was not set stays as it is stored if only assigned values are merged",
        arguments: Backend.allCases)
    func setOnly(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stock(stack)
        let context = stack.context(MergePolicy(merge: .mergeByPropertyObjectTrump, setOnly: true))
        context.make("Product", ["serialCode": "A", "price": 7.0, "note": nil])
        try context.save()
        let row = try #require(try stack.context().all("Product").first)
        #expect(row.objectID == old)
        #expect(row.string("name") == "old")
        #expect(row["price"] as? Double == 7)
        #expect(row["isFavorite"] as? Bool == true)
        #expect(row["note"] == nil, "nil was set")
    }

    @Test(
        "Store trump and rollback keep the stored values and drop the new object (B013)",
        arguments: Backend.allCases, [MergePolicyKind.mergeByPropertyStoreTrump, .rollback])
    func storeWins(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stock(stack)
        let context = stack.context(MergePolicy(merge: kind))
        let new = context.make("Product", ["serialCode": "A", "price": 7.0])
        try context.save()
        let row = try #require(try stack.context().all("Product").first)
        #expect(row.objectID == old && row["price"] as? Double == 5)
        #expect(new.absorbedInto == old && new.isDeleted)
        #expect(context.registeredObject(for: new.objectID) == nil)
    }

    @Test("Overwrite replaces the stored object by the new one (B013)", arguments: Backend.allCases)
    func overwrite(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stock(stack)
        let context = stack.context(.overwrite)
        let held = context.object(with: old)
        let new = context.make("Product", ["serialCode": "A", "price": 7.0])
        try context.save()
        let rows = try stack.context().all("Product")
        #expect(rows.map(\.objectID) == [new.objectID])
        #expect(rows[0].objectID != old)
        #expect(held.isDeleted)
        #expect(!new.isDeleted && !new.hasChanges)
    }

    @Test("nil never collides; an empty text is a value", arguments: Backend.allCases)
    func nilAndEmpty(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        for _ in 0..<3 { context.make("Product") }
        context.make("Product", ["serialCode": ""])
        try context.save()
        context.make("Product", ["serialCode": ""])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
    }

    @Test(
        "Keys are compared by their bytes: case and composition matter", arguments: Backend.allCases
    )
    func bytes(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        for code in ["cafe\u{301}", "caf\u{e9}", "CAF\u{c9}"] {
            context.make("Product", ["serialCode": code])
        }
        try context.save()
        #expect(try stack.context().count("Product") == 3)
    }

    @Test(
        "A compound key collides only as a whole, and never with a nil part (B025)",
        arguments: Backend.allCases)
    func compound(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        context.make("Recipe", ["source": "web", "externalID": "1"])
        context.make("Recipe", ["source": "web", "externalID": "2"])
        context.make("Recipe", ["source": "web"])
        context.make("Recipe", ["source": "web"])
        try context.save()
        context.make("Recipe", ["source": "web", "externalID": "2"])
        let error = storeError { try context.save() }
        #expect(error?.violations.first?.constraint == ["source", "externalID"])
        #expect(error?.violations.first?.values == [.string("web"), .string("2")])
    }

    @Test(
        "A parent's constraint holds over all its subentities (B023)", arguments: Backend.allCases)
    func inherited(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        try stack.store {
            [$0.make("SportCar", ["numberPlate": "X", "racingNumber": 1, "team": "t"])]
        }
        for entity in ["Car", "SportCar", "ExpensiveSportCar", "Truck"] {
            let context = stack.context()
            context.make(entity, ["numberPlate": "X"])
            #expect(storeError { try context.save() }?.code == .constraintConflict, "\(entity)")
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        let truck = context.make("Truck", ["numberPlate": "X", "maker": "M", "permit": "P"])
        // What a sports car cannot have would be lost.
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        truck["permit"] = nil
        try context.save()
        let rows = try stack.context().all("Car")
        #expect(rows.count == 1 && rows[0].objectID == truck.absorbedInto)
        #expect(rows[0].entity.name == "SportCar", "the stored object keeps its entity")
        #expect(rows[0].string("maker") == "M")
        #expect(rows[0].string("team") == "t", "what the two entities do not share is not touched")
        #expect(rows[0].int("racingNumber") == 1)
    }

    @Test(
        "A constraint of one sibling is no matter for another (B022)", arguments: Backend.allCases)
    func siblings(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let context = stack.context()
        context.make("Truck", ["permit": "1"])
        context.make("SportCar", ["racingNumber": 1])
        context.make("Car")
        try context.save()
        context.make("Truck", ["permit": "1"])
        context.make("SportCar", ["racingNumber": 2])
        let error = storeError { try context.save() }
        #expect(error?.violations.map(\.constraint) == [["permit"]])
        // Conflicts of both are resolved at once, each by the attributes that its entity has.
        for (policy, given, kept) in [
            (MergePolicy.mergeByPropertyObjectTrump, "trump", "trump"),
            (.mergeByPropertyStoreTrump, "store", "trump"), (.overwrite, "over", "over"),
            (.rollback, "back", "over"),
        ] {
            let other = stack.context(policy)
            let values: [String: Any?] = ["maker": given]
            let objects = [
                other.make("Truck", values.merging(["permit": "1"]) { $1 }),
                other.make("SportCar", values.merging(["racingNumber": 1]) { $1 }),
                other.make("Car"),
            ]
            try other.save()
            for entity in ["Truck", "SportCar"] {
                #expect(try stack.context().all(entity).map { $0.string("maker") } == [kept])
            }
            #expect(
                try ["Truck", "SportCar"].map { try stack.context().count($0) } == [1, 1],
                "\(policy): \(objects.count) objects, two of them there already")
        }
    }

    @Test(
        "A key goes over from a deleted object to a new one in one save (B028)",
        arguments: Backend.allCases)
    func handOver(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stock(stack)
        let context = stack.context()
        context.delete(context.object(with: old))
        let new = context.make("Product", ["serialCode": "A"])
        try context.save()
        #expect(try stack.context().all("Product").map(\.objectID) == [new.objectID])
    }

    @Test("Two objects swap their keys in one save (B029)", arguments: Backend.allCases)
    func swap(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store {
            [$0.make("Product", ["serialCode": "A"]), $0.make("Product", ["serialCode": "B"])]
        }
        let context = stack.context()
        context.object(with: ids[0])["serialCode"] = "B"
        context.object(with: ids[1])["serialCode"] = "A"
        try context.save()
        let fresh = stack.context()
        #expect(fresh.object(with: ids[0]).string("serialCode") == "B")
        #expect(fresh.object(with: ids[1]).string("serialCode") == "A")
    }

    @Test(
        "An object with the keys of two others is refused, or displaces both",
        arguments: Backend.allCases)
    func twoRows(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let ids = try stack.store {
            [
                $0.make("Car", ["numberPlate": "X"]),
                $0.make("SportCar", ["numberPlate": "Y", "racingNumber": 1]),
            ]
        }
        func attempt(_ kind: MergePolicyKind) -> (ManagedObjectContext, ManagedObject, StoreError?)
        {
            let context = stack.context(MergePolicy(merge: kind))
            let car = context.make("SportCar", ["numberPlate": "X", "racingNumber": 1])
            return (context, car, storeError { try context.save() })
        }
        let (_, _, refused) = attempt(.error)
        #expect(refused?.violations.count == 2)
        let (_, _, ambiguous) = attempt(.mergeByPropertyObjectTrump)
        #expect(ambiguous?.code == .constraintConflict)
        for kind in [MergePolicyKind.mergeByPropertyStoreTrump, .rollback] {
            // The car has no racing number, which would be lost.
            let (_, kept, error) = attempt(kind)
            #expect(error?.code == .constraintConflict && !kept.isDeleted)
            #expect(try stack.context().count("Car") == 2)
        }
        let (_, winner, error) = attempt(.overwrite)
        #expect(error == nil)
        #expect(try stack.context().all("Car").map(\.objectID) == [winner.objectID])
        #expect(!ids.contains(winner.objectID))
    }
}

@Suite("Two new objects with one key")
struct NewAgainstNewTests {
    @Test(
        "Under the error policy the save fails with one conflict, in the order of creation (B031)",
        arguments: Backend.allCases)
    func error(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let objects = (0..<3).map { context.make("Product", ["serialCode": "A", "stock": $0]) }
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .constraintConflict)
        #expect(error.violations.count == 1)
        #expect(error.violations[0].stored == nil)
        #expect(error.violations[0].objects == objects.map(\.objectID))
        #expect(context.insertedObjects == objects)
    }

    @Test(
        "The one created first survives with its own values, and everything leads to it",
        arguments: Backend.allCases,
        [
            MergePolicyKind.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
            .rollback,
        ])
    func firstSurvives(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context(MergePolicy(merge: kind))
        let (red, blue) = (
            context.make("Tag", ["label": "red"]), context.make("Tag", ["label": "blue"])
        )
        let first = context.make("Product", ["serialCode": "A", "price": 1.0])
        let second = context.make("Product", ["serialCode": "A", "price": 2.0, "note": "second"])
        first["tags"] = [red]
        second["tags"] = [blue]
        try context.save()
        #expect(second.isDeleted && second.absorbedInto == first.objectID)
        #expect(first.members("tags") == [red, blue])
        let rows = try stack.context().all("Product")
        #expect(rows.map(\.objectID) == [first.objectID])
        #expect(rows[0]["price"] as? Double == 1 && rows[0]["note"] == nil)
        #expect(Set(rows[0].members("tags").map { $0.string("label") }) == ["red", "blue"])
    }

    @Test(
        "With assigned values only, each gives what was set on it and the last one counts",
        arguments: Backend.allCases)
    func folding(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context(MergePolicy(merge: .mergeByPropertyObjectTrump, setOnly: true))
        let first = context.make("Product", ["serialCode": "A", "price": 1.0, "name": "n"])
        context.make("Product", ["serialCode": "A", "price": 2.0])
        context.make("Product", ["serialCode": "A", "stock": 3])
        try context.save()
        let rows = try stack.context().all("Product")
        #expect(rows.map(\.objectID) == [first.objectID])
        #expect(rows[0]["price"] as? Double == 2)
        #expect(rows[0].string("name") == "n" && rows[0].int("stock") == 3)
        #expect(first["price"] as? Double == 2, "the object shows what is stored")
    }

    @Test("They are folded before they meet a stored one", arguments: Backend.allCases)
    func threeWays(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stack.store { [$0.make("Product", ["serialCode": "A", "price": 9.0])] }[0]
        let context = stack.context(.mergeByPropertyObjectTrump)
        let first = context.make("Product", ["serialCode": "A", "price": 1.0])
        let second = context.make("Product", ["serialCode": "A", "price": 2.0])
        try context.save()
        #expect(first.absorbedInto == old && second.absorbedInto == old)
        #expect(try stack.context().all("Product").map { $0["price"] as? Double } == [1])
    }
}

// Merge policies of one's own.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("A merge policy of one's own")
struct CustomPolicyTests {
    /// Fills what the new object does not know from the stored one.
    private final class Filling: MergePolicy {
        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            for conflict in list {
                guard let known = conflict.databaseObject else { continue }
                for object in conflict.conflictingObjects {
                    for key in ["name", "price", "note", "isFavorite"]
                    where object.changedValues()[key] == nil {
                        object[key] = known[key]
                    }
                }
            }
            try super.resolve(constraintConflicts: list)
        }
    }

    @Test(
        "It fills what is missing from the stored object, then lets object trump do the rest (B005)",
        arguments: Backend.allCases)
    func filling(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stack.store {
            [
                $0.make(
                    "Product",
                    ["serialCode": "A", "name": "known", "note": "kept", "isFavorite": true])
            ]
        }[0]
        let context = stack.context(Filling(merge: .mergeByPropertyObjectTrump))
        let new = context.make("Product", ["serialCode": "A", "price": 3.0])
        try context.save()
        #expect(new.isDeleted && new.absorbedInto == old)
        let rows = try stack.context().all("Product")
        #expect(rows.map(\.objectID) == [old])
        #expect(rows[0].string("name") == "known" && rows[0].string("note") == "kept")
        #expect(rows[0]["isFavorite"] as? Bool == true && rows[0]["price"] as? Double == 3)
    }

    /// Throws the conflicts that it meets, as stores of one's own in Core Data do.
    private final class ThrowingStore: PersistentStore {
        private let base: any PersistentStore

        init(_ base: any PersistentStore) { self.base = base }

        var identity: StoreIdentity { base.identity }
        var schema: Schema { base.schema }
        var isReadOnly: Bool { base.isReadOnly }
        func snapshot() throws(StoreError) -> any StoreSnapshot { try base.snapshot() }
        func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
            let outcome = try base.save(request)
            guard case .conflicts(let conflicts) = outcome else { return outcome }
            throw StoreError(.saveConflicts, "there are conflicts", conflicts: conflicts)
        }
        func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
            try base.execute(request)
        }
        func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
            try base.execute(request)
        }
        func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
            try base.execute(request)
        }
        func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
            try base.obtainPermanentIDs(forEntities: entities)
        }
        func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation
        {
            base.observeChanges(receive)
        }
        func close() throws(StoreError) { try base.close() }
    }

    @Test("Conflicts that a store throws as 134050 are brought to the policy")
    func thrownConflicts() throws {
        #expect(StoreError.Code.saveConflicts.rawValue == 134_050)
        let stack = try Stack(Models.shop, .log)
        try stack.store {
            [$0.make("Product", ["serialCode": "A", "name": "known", "note": "kept"])]
        }
        let context = ManagedObjectContext(store: ThrowingStore(stack.store))
        context.mergePolicy = Filling(merge: .mergeByPropertyObjectTrump)
        context.make("Product", ["serialCode": "A", "price": 3.0])
        try context.save()
        let rows = try stack.context().all("Product")
        #expect(rows.map { $0.string("note") } == ["kept"])
        #expect(rows[0]["price"] as? Double == 3)
        // Without conflicts it is an error as any other.
        let error = StoreError(.saveConflicts, "there are conflicts")
        #expect(error.conflicts.isEmpty && error.description.contains("134050"))
    }

    private final class Idle: MergePolicy {
        override func resolve(mergeConflicts list: [Any]) throws {}
    }

    @Test("One that neither cures nor calls super fails the save", arguments: Backend.allCases)
    func idle(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A"])] }
        let context = stack.context(Idle(merge: .mergeByPropertyObjectTrump))
        let new = context.make("Product", ["serialCode": "A"])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        #expect(context.insertedObjects == [new])
    }

    private final class Restless: MergePolicy {
        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            for object in list.flatMap(\.conflictingObjects) {
                object["stock"] = (object.int("stock") ?? 0) + 1
            }
        }
    }

    @Test(
        "One that changes something each time, but cures nothing, is asked ten times",
        arguments: Backend.allCases)
    func bounded(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A"])] }
        let context = stack.context(Restless(merge: .rollback))
        let new = context.make("Product", ["serialCode": "A"])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        #expect(new.int("stock") == 10)
    }

    private struct Refusal: Error {}

    private final class Refusing: MergePolicy {
        override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
            throw Refusal()
        }
    }

    @Test("What it throws aborts the save", arguments: Backend.allCases)
    func throwing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["serialCode": "A"])] }[0]
        let context = stack.context(Refusing(merge: .overwrite))
        context.object(with: id)["name"] = "ours"
        let other = stack.context()
        other.object(with: id)["name"] = "theirs"
        try other.save()
        #expect(throws: Refusal.self) { try context.save() }
        #expect(context.hasChanges)
    }

    private final class Renaming: MergePolicy {
        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            for (index, object) in list.flatMap(\.conflictingObjects).enumerated() {
                object["serialCode"] = "renamed \(index)"
            }
        }
    }

    /// Saves another context of the same store while it is asked.
    private final class Saving: MergePolicy {
        let other: ManagedObjectContext
        init(_ other: ManagedObjectContext) {
            self.other = other
            super.init(merge: .mergeByPropertyObjectTrump)
        }
        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            other.make("Product", ["serialCode": "other"])
            try other.save()
            try super.resolve(constraintConflicts: list)
        }
    }

    @Test(
        "It may save another context to the same store, which waits for nobody (CM3, MP2)",
        arguments: Backend.allCases)
    func saving(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A", "name": "old"])] }
        let context = stack.context(Saving(stack.context()))
        context.make("Product", ["serialCode": "A", "name": "new"])
        try context.save()
        let names = try stack.context().all("Product").map {
            ($0.string("serialCode"), $0.string("name"))
        }
        #expect(Set(names.map(\.0)) == ["A", "other"])
        #expect(names.first { $0.0 == "A" }?.1 == "new")
    }

    @Test("It may cure the conflict itself, without super", arguments: Backend.allCases)
    func curing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A"])] }
        let context = stack.context(Renaming(merge: .error))
        context.make("Product", ["serialCode": "A"])
        try context.save()
        let codes = try stack.context().all("Product").map { $0.string("serialCode") }
        #expect(codes == ["A", "renamed 0"])
    }

    @Test("Validation sees what a merge has made (1570)", arguments: Backend.allCases)
    func validation(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A"])] }
        final class Blanking: MergePolicy {
            override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
                try super.resolve(constraintConflicts: list)
                list[0].databaseObject?["name"] = nil
            }
        }
        let context = stack.context(Blanking(merge: .mergeByPropertyObjectTrump))
        context.make("Product", ["serialCode": "A"])
        let error = storeError { try context.save() }
        #expect(error?.code == .missingMandatory && error?.context.key == "name")
    }

    @Test(
        "Done to the objects, a built-in policy gives what the store makes of it",
        arguments: Backend.allCases,
        [
            MergePolicyKind.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
            .rollback,
        ])
    func agreement(_ backend: Backend, _ kind: MergePolicyKind) throws {
        for setOnly in [false, true] {
            func run(_ policy: MergePolicy) throws -> [String] {
                let stack = try Stack(Models.people, backend)
                let ids = try stack.store { context in
                    let (anna, ben) = (
                        context.make("Person", ["name": "Anna"]),
                        context.make("Person", ["name": "Ben"])
                    )
                    let cleo = context.make("Person", ["name": "Cleo"])
                    anna["spouse"] = ben
                    anna["children"] = [cleo]
                    ben["friends"] = [cleo]
                    cleo["mentor"] = ben
                    cleo["heroes"] = [ben]
                    ben["passport"] = context.make("Passport", ["number": 1])
                    return [anna, ben, cleo]
                }
                let context = stack.context(policy)
                // A new Anna, twice, with relations of her own; and Ben is renamed to Cleo.
                let dora = context.make("Person", ["name": "Dora"])
                let first = context.make("Person", ["name": "Anna", "spouse": dora])
                let second = context.make("Person", ["name": "Anna"])
                second["friends"] = [dora]
                dora["mentor"] = second
                dora["heroes"] = [first]
                first["passport"] = context.make("Passport", ["number": 2])
                context.object(with: ids[1])["name"] = "Cleo"
                try context.save()
                #expect(!context.hasChanges)
                return try describePeople(stack.context())
            }
            let (byStore, byObjects) = (
                try run(MergePolicy(merge: kind, setOnly: setOnly)),
                try run(PlainSubclass(merge: kind, setOnly: setOnly))
            )
            #expect(byStore == byObjects, "setOnly \(setOnly)")
        }
    }
}

/// Every person with all relations, as text; checks that both sides agree.
func describePeople(_ context: ManagedObjectContext) throws -> [String] {
    func names(_ objects: Set<ManagedObject>) -> String {
        objects.map { $0.string("name") ?? "?" }.sorted().joined(separator: ",")
    }
    return try context.all("Person").map { person in
        if let spouse = person.object("spouse") { #expect(spouse.object("spouse") === person) }
        for friend in person.members("friends") {
            #expect(friend.members("friends").contains(person))
        }
        if let passport = person.object("passport") {
            #expect(passport.object("holder") === person)
        }
        return
            "\(person.string("name") ?? "?") spouse \(person.object("spouse")?.string("name") ?? "-") "
            + "friends \(names(person.members("friends"))) mentor "
            + "\(person.object("mentor")?.string("name") ?? "-") heroes \(names(person.members("heroes"))) "
            + "parent \(person.object("parent")?.string("name") ?? "-") "
            + "children \(names(person.members("children"))) "
            + "passport \(person.object("passport")?.int("number").map(String.init) ?? "-")"
    }.sorted()
}

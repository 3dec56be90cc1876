// Objects of different entities with one key, which an ancestor of both declares: what one cannot keep of the other is never lost.

import Cairn
import CairnFileSystem
import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Testing

@testable import CairnLog

@Suite("Objects of different entities with one key")
struct UnlikeEntitiesTests {
    /// Animals of one family. Dogs lead to others, and others to them, in every way.
    private static func model(unique: [[String]] = [["tag"]]) -> ManagedObjectModel {
        let animal = EntityDescription(
            "Animal", attributes: [.init("tag", .string), .init("name", .string)],
            relationships: [.init("owner", to: "Owner", inverse: "pets")],
            uniquenessConstraints: unique)
        var dog = EntityDescription(
            "Dog",
            attributes: [
                .init("trick", .string),
                .init("legs", .integer16, optional: false, default: .integer(4)),
            ],
            relationships: [
                .init("kennel", to: "Kennel", inverse: "dogs"),
                .init("bones", to: "Bone", toMany: true, inverse: "dog"),
                .init("walks", to: "Walk", toMany: true, inverse: "dogs"),
                .init("toys", to: "Bone", toMany: true),
            ])
        dog.superentityName = "Animal"
        var cat = EntityDescription("Cat", attributes: [.init("lives", .integer16)])
        cat.superentityName = "Animal"
        return ManagedObjectModel(entities: [
            animal, dog, cat,
            EntityDescription(
                "Owner", attributes: [.init("name", .string)],
                relationships: [.init("pets", to: "Animal", toMany: true, inverse: "owner")]),
            EntityDescription(
                "Kennel", attributes: [.init("name", .string)],
                relationships: [
                    .init("dogs", to: "Dog", toMany: true, inverse: "kennel"),
                    .init("guard", to: "Dog"), .init("pack", to: "Dog", toMany: true),
                ]),
            EntityDescription(
                "Bone", attributes: [.init("size", .integer16)],
                relationships: [.init("dog", to: "Dog", inverse: "bones")]),
            EntityDescription(
                "Walk", attributes: [.init("name", .string)],
                relationships: [.init("dogs", to: "Dog", toMany: true, inverse: "walks")]),
        ])
    }

    /// A store with a cat that has the tag "2".
    private static func stack(_ backend: Backend, _ model: ManagedObjectModel = model()) throws
        -> (Stack, cat: ObjectID)
    {
        let stack = try Stack(model, backend)
        let ids = try stack.store { context in
            let owner = context.make("Owner", ["name": "Ann"])
            return [
                context.make("Cat", ["tag": "2", "name": "Tom", "lives": 9, "owner": owner])
            ]
        }
        return (stack, ids[0])
    }

    /// All that is stored, as text.
    private static func content(_ stack: Stack) throws -> [String] {
        let context = stack.context()
        var lines: [String] = []
        for entity in ["Animal", "Owner", "Kennel", "Bone", "Walk"] {
            for object in try context.all(entity) {
                let values = object.entity.columns.map { column -> String in
                    let value = object[column.name]
                    let text = (value as? ManagedObject).map { "\($0.objectID)" }
                    return "\(column.name) \(text ?? value.map { "\($0)" } ?? "-")"
                }
                lines.append(([object.entity.name] + values).joined(separator: " "))
            }
        }
        return lines
    }

    enum Way: String, CaseIterable, Sendable {
        case attribute, toOne, inverseOfToOne, toMany, inverseOfToMany, pairs, inverseOfPairs
        case oneWayPairs, oneWayToOne, oneWayToMany

        /// Gives a dog something that a cat cannot have.
        func give(_ dog: ManagedObject, _ context: ManagedObjectContext) {
            switch self {
            case .attribute: dog["trick"] = "roll"
            case .toOne: dog["kennel"] = context.make("Kennel")
            case .inverseOfToOne: context.make("Kennel").add(dog, to: "dogs")
            case .toMany: dog.add(context.make("Bone"), to: "bones")
            case .inverseOfToMany: context.make("Bone", ["dog": dog])
            case .pairs: dog.add(context.make("Walk"), to: "walks")
            case .inverseOfPairs: context.make("Walk").add(dog, to: "dogs")
            case .oneWayPairs: dog.add(context.make("Bone"), to: "toys")
            case .oneWayToOne: context.make("Kennel", ["guard": dog])
            case .oneWayToMany: context.make("Kennel").add(dog, to: "pack")
            }
        }
    }

    /// The policies that merge objects, as the store and as the objects carry them out.
    private static var merging: [MergePolicy] {
        [
            MergePolicyKind.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback,
            .declared,
        ].flatMap { kind in
            [false, true].flatMap { setOnly in
                [
                    MergePolicy(merge: kind, setOnly: setOnly),
                    PlainSubclass(merge: kind, setOnly: setOnly),
                ]
            }
        }
    }

    private func expectRefusal(
        _ error: StoreError?, of entity: String, by other: String, _ ids: [ObjectID],
        _ note: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(error?.code == .constraintConflict, "\(note)", sourceLocation: sourceLocation)
        // The plain store says no more than that.
        if error?.message.hasPrefix("the object cannot become one of") == true { return }
        let text = error?.fullDescription ?? ""
        for part in [entity, other, "tag", "\"2\""] + ids.map({ "\($0)" }) {
            #expect(
                text.contains(part), "\(note): \(part) in \(text)", sourceLocation: sourceLocation)
        }
        for id in ids {
            #expect(
                error?.affectedObjectIDs.contains(id) == true, "\(note)",
                sourceLocation: sourceLocation)
        }
        #expect(error?.description.contains("\"2\"") == false, "no value in what is logged")
    }

    @Test(
        "A new dog is not merged into a stored cat that cannot keep what was set on it, nor what leads to it",
        arguments: Backend.allCases, Way.allCases)
    func newIntoStored(_ backend: Backend, _ way: Way) throws {
        for policy in Self.merging {
            let (stack, cat) = try Self.stack(backend)
            let before = try Self.content(stack)
            let context = stack.context(policy)
            let dog = context.make("Dog", ["tag": "2", "name": "Rex"])
            way.give(dog, context)
            let error = storeError { try context.save() }
            let note = "\(policy.mergeType) \(policy.setOnly) \(type(of: policy)) \(way)"
            expectRefusal(error, of: "Dog", by: "Cat", [dog.objectID, cat], note)
            #expect(try Self.content(stack) == before, "\(note)")
            #expect(dog.isInserted && !dog.isDeleted, "\(note): the dog is there to be mended")
            dog["tag"] = "3"
            try context.save()
            #expect(try stack.context().count("Animal") == 2, "\(note)")
        }
    }

    @Test(
        "An object with nothing but what both entities have is merged: a dog into a cat, an animal into a dog, a dog into an animal",
        arguments: Backend.allCases,
        [("Cat", "Dog"), ("Dog", "Animal"), ("Animal", "Dog"), ("Dog", "Cat")])
    func onlyShared(_ backend: Backend, _ pair: (stored: String, new: String)) throws {
        for policy in [
            MergePolicy(merge: .mergeByPropertyObjectTrump),
            PlainSubclass(merge: .mergeByPropertyObjectTrump),
        ] {
            let stack = try Stack(Self.model(), backend)
            let id = try stack.store { [$0.make(pair.stored, ["tag": "2", "name": "Tom"])] }[0]
            let context = stack.context(policy)
            let owner = context.make("Owner", ["name": "Ann"])
            let new = context.make(pair.new, ["tag": "2", "name": "Rex", "owner": owner])
            try context.save()
            #expect(new.absorbedInto == id)
            let all = try stack.context().all("Animal")
            #expect(all.map(\.objectID) == [id] && all[0].entity.name == pair.stored)
            #expect(all[0].string("name") == "Rex")
            #expect(all[0].object("owner")?.members("pets") == Set(all))
        }
    }

    @Test("A dog is not merged into an animal that has not its trick", arguments: Backend.allCases)
    func intoAncestor(_ backend: Backend) throws {
        for policy in Self.merging {
            let stack = try Stack(Self.model(), backend)
            let id = try stack.store { [$0.make("Animal", ["tag": "2"])] }[0]
            let context = stack.context(policy)
            let dog = context.make("Dog", ["tag": "2", "trick": "roll"])
            expectRefusal(
                storeError { try context.save() }, of: "Dog", by: "Animal", [dog.objectID, id],
                "\(policy.mergeType)")
        }
    }

    @Test(
        "Under the overwrite policy the new object takes the place of the stored one",
        arguments: Backend.allCases)
    func overwriting(_ backend: Backend) throws {
        for policy in [MergePolicy.overwrite, PlainSubclass(merge: .overwrite)] {
            let (stack, cat) = try Self.stack(backend)
            let context = stack.context(policy)
            let kennel = context.make("Kennel")
            let dog = context.make("Dog", ["tag": "2", "trick": "roll", "kennel": kennel])
            try context.save()
            let all = try stack.context().all("Animal")
            #expect(all.map(\.objectID) == [dog.objectID] && all[0].string("trick") == "roll")
            #expect(all[0].object("kennel")?.members("dogs") == Set(all))
            #expect(try stack.context().redirectedObjectID(for: cat) == dog.objectID)
            #expect(try stack.context().all("Owner")[0].members("pets").isEmpty)
        }
    }

    @Test(
        "Of two new objects in one save none is merged into one that cannot keep all of it, under any policy",
        arguments: Backend.allCases, Way.allCases)
    func amongNew(_ backend: Backend, _ way: Way) throws {
        for policy in Self.merging + [MergePolicy.overwrite, PlainSubclass(merge: .overwrite)] {
            let stack = try Stack(Self.model(), backend)
            let context = stack.context(policy)
            let cat = context.make("Cat", ["tag": "2"])
            let dog = context.make("Dog", ["tag": "2"])
            way.give(dog, context)
            let error = storeError { try context.save() }
            expectRefusal(
                error, of: "Dog", by: "Cat", [cat.objectID, dog.objectID],
                "\(policy.mergeType) \(type(of: policy)) \(way)")
            #expect(error?.message.contains("overwrite") == false, "it would not help")
            #expect(try Self.content(stack).isEmpty)
        }
    }

    @Test(
        "A stored dog that is given a cat's key is not merged into the cat, if it has what that cannot keep",
        arguments: Backend.allCases, Way.allCases)
    func storedIntoStored(_ backend: Backend, _ way: Way) throws {
        for policy in Self.merging
        where policy.mergeType == .declared || policy.mergeType == .mergeByPropertyObjectTrump {
            let (stack, cat) = try Self.stack(backend)
            let id = try stack.store { context in
                let dog = context.make("Dog", ["tag": "3", "name": "Rex"])
                way.give(dog, context)
                return [dog]
            }[0]
            let before = try Self.content(stack)
            let context = stack.context(policy)
            context.object(with: id)["tag"] = "2"
            let error = storeError { try context.save() }
            expectRefusal(
                error, of: "Dog", by: "Cat", [id, cat],
                "\(policy.mergeType) \(type(of: policy)) \(way)")
            #expect(try Self.content(stack) == before)
        }
    }

    @Test("What a stored dog has by default only is nothing to lose", arguments: Backend.allCases)
    func storedDefaults(_ backend: Backend) throws {
        for policy in [
            MergePolicy(merge: .mergeByPropertyObjectTrump),
            PlainSubclass(merge: .mergeByPropertyObjectTrump),
        ] {
            let (stack, cat) = try Self.stack(backend)
            let id = try stack.store { [$0.make("Dog", ["tag": "3", "name": "Rex"])] }[0]
            let context = stack.context(policy)
            context.object(with: id)["tag"] = "2"
            try context.save()
            #expect(try stack.context().all("Animal").map(\.objectID) == [cat])
            #expect(try stack.context().redirectedObjectID(for: id) == cat)
        }
    }

    @Test(
        "What one new object is given by another cannot be lost in the next step either",
        arguments: Backend.allCases)
    func inTwoSteps(_ backend: Backend) throws {
        for policy in Self.merging where policy.setOnly || policy.mergeType == .declared {
            if policy.mergeType == .mergeByPropertyStoreTrump || policy.mergeType == .rollback {
                continue
            }
            let (stack, _) = try Self.stack(backend)
            let before = try Self.content(stack)
            let context = stack.context(policy)
            context.make("Dog", ["tag": "2"])
            context.make("Dog", ["tag": "2", "trick": "roll"])
            #expect(storeError { try context.save() }?.code == .constraintConflict)
            #expect(try Self.content(stack) == before)
        }
    }

    @Test(
        "A save that leads to an object of a wrong entity is refused, also if that object is merged"
    )
    func wrongTarget() throws {
        let (stack, cat) = try Self.stack(.log)
        let before = try Self.content(stack)
        let store = stack.store
        func inserted(_ number: UInt64, _ name: String, _ values: [String: Value]) throws
            -> SaveRequest.Inserted
        {
            let entity = try #require(store.schema.entity(named: name))
            let columns = entity.columns.indices.filter {
                values[entity.columns[$0].name] != nil
            }
            return SaveRequest.Inserted(
                id: ObjectID(
                    temporary: number, hierarchy: store.identity.hierarchies[entity.index],
                    context: store.identity.identifier),
                entity: entity.index,
                values: entity.columns.map { values[$0.name] ?? $0.defaultValue },
                assigned: ColumnSet(columns))
        }
        for isNew in [true, false] {
            var request = SaveRequest()
            request.resolution = .policy(.mergeByPropertyObjectTrump)
            // The new cat becomes the stored one. A kennel's guard is a dog.
            let new = try inserted(1, "Cat", ["tag": .string("2")])
            request.inserted = [
                new, try inserted(2, "Kennel", ["guard": .objectID(isNew ? new.id : cat)]),
            ]
            let error = storeError { _ = try store.save(request) }
            #expect(error?.code == .foreignObject && error?.context.key == "guard", "\(isNew)")
            #expect(try Self.content(stack) == before)
        }
    }

    // MARK: Other doors

    @Test(
        "The save of a child context changes nothing of it: the parent's save refuses",
        arguments: Backend.allCases)
    func child(_ backend: Backend) throws {
        let (stack, cat) = try Self.stack(backend)
        let parent = stack.context(MergePolicy(merge: .mergeByPropertyObjectTrump, setOnly: true))
        let child = parent.newChildContext()
        let dog = child.make("Dog", ["tag": "2", "trick": "roll"])
        try child.save()
        let error = storeError { try parent.save() }
        expectRefusal(error, of: "Dog", by: "Cat", [cat], "child")
        #expect(!dog.isDeleted && dog.absorbedInto == nil)
    }

    @Test(
        "findOrInsert makes a dog where a cat has the key, and the save decides by the same rule",
        arguments: Backend.allCases)
    func finding(_ backend: Backend) throws {
        let (stack, cat) = try Self.stack(backend)
        let context = stack.context(MergePolicy(merge: .mergeByPropertyObjectTrump, setOnly: true))
        let (dog, isNew) = try context.findOrInsert(entityName: "Dog", key: ["tag": "2"])
        #expect(isNew && dog.entity.name == "Dog")
        dog["trick"] = "roll"
        expectRefusal(
            storeError { try context.save() }, of: "Dog", by: "Cat", [dog.objectID, cat], "found")
        context.delete(context.object(with: cat))
        try context.save()
        #expect(try stack.context().all("Animal").map(\.objectID) == [dog.objectID])
    }

    @Test(
        "A row of a batch updates an object of another entity with what both have, and is refused with more",
        arguments: Backend.allCases, [false, true])
    func batches(_ backend: Backend, _ setOnly: Bool) throws {
        for policy in [MergePolicyKind.mergeByPropertyObjectTrump, .overwrite] {
            for (stored, given) in [("Cat", "Dog"), ("Animal", "Dog"), ("Dog", "Animal")] {
                let stack = try Stack(Self.model(), backend)
                let id = try stack.store { [$0.make(stored, ["tag": "2", "name": "Tom"])] }[0]
                var request = BatchInsertRequest(
                    entityName: given, objects: [["tag": "2", "name": "Rex"]])
                request.mergePolicy = policy
                request.setOnly = setOnly
                #expect(try stack.store.execute(request).updatedCount == 1, "\(stored) \(given)")
                let all = try stack.context().all("Animal")
                #expect(all.map(\.objectID) == [id] && all[0].string("name") == "Rex")
                if given == "Animal" { continue }
                let kennel = try stack.store { [$0.make("Kennel")] }[0]
                let more: [(String, any Sendable)] = [("trick", "roll"), ("kennel", kennel)]
                for (name, value) in more {
                    request = BatchInsertRequest(
                        entityName: given, objects: [["tag": "5"], ["tag": "2", name: value]])
                    request.mergePolicy = policy
                    request.setOnly = setOnly
                    let error = storeError { _ = try stack.store.execute(request) }
                    let single = error.map { $0.details.first ?? $0 }
                    #expect(single?.code == .constraintConflict && single?.context.row == 1)
                    #expect(single?.context.key == name && single?.context.entity == given)
                    #expect(single?.affectedObjectIDs == [id])
                    #expect(try stack.context().count("Animal") == 1)
                }
            }
        }
    }

    @Test("A row of a dog does not touch what a cat has of its own, under declared rules either")
    func declaredBatch() throws {
        var model = Self.model()
        model.entities[0].attributes.append(.init("age", .integer16))
        model.entities[2].attributes.append(.init("seen", .integer16))
        model.entities[2].mergeRule = .newest(by: "seen")
        let stack = try Stack(model, .log)
        try stack.store { [$0.make("Cat", ["tag": "2", "name": "Tom", "lives": 9, "seen": 3])] }
        var request = BatchInsertRequest(
            entityName: "Dog", objects: [["tag": "2", "name": "Zoe", "age": 1]])
        request.mergePolicy = .declared
        _ = try stack.store.execute(request)
        let cat = try stack.context().all("Animal")[0]
        #expect(cat.int("lives") == 9 && cat.int("seen") == 3)
        #expect(cat.string("name") == "Tom", "nil is older than any time that the cat was seen")
    }

    @Test("What is computed of a cat, and from it, follows the row of a dog")
    func derivedBatch() throws {
        var model = Self.model()
        var shout = AttributeDescription("shout", .string)
        shout.derivationExpression = "uppercase:(name)"
        model.entities[2].attributes.append(shout)
        var sponsor = AttributeDescription("sponsor", .string)
        sponsor.derivationExpression = "owner.name"
        model.entities[2].attributes.append(sponsor)
        let stack = try Stack(model, .log)
        let owners = try stack.store { context in
            let owner = context.make("Owner", ["name": "Bob"])
            context.make("Cat", ["tag": "2", "name": "Tom", "owner": owner])
            return [owner, context.make("Owner", ["name": "Ann"])]
        }
        func put(_ entity: String, _ objects: [[String: Any]]) throws -> [String?] {
            var request = BatchInsertRequest(entityName: entity, objects: objects)
            request.mergePolicy = .mergeByPropertyObjectTrump
            _ = try stack.store.execute(request)
            return try stack.context().all("Cat", sortedBy: "tag").flatMap { cat in
                [cat.string("shout"), cat.string("sponsor")]
            }
        }
        #expect(
            try put("Dog", [["tag": "2", "name": "Rex", "owner": owners[1]]]) == ["REX", "Ann"])
        // Rows of its own entity: one that is stored, and a new one.
        #expect(
            try put(
                "Cat",
                [
                    ["tag": "2", "name": "Tom", "owner": owners[0]],
                    ["tag": "3", "name": "Mia", "owner": owners[1]],
                ]) == ["TOM", "Bob", "MIA", "Ann"])
        #expect(
            try put("Cat", [["tag": "2", "name": "Tom", "owner": NSNull()]])
                == ["TOM", nil, "MIA", "Ann"])
    }

    @Test(
        "De-duplication does not delete a dog in favour of a cat that cannot keep what it has",
        arguments: Backend.allCases, Way.allCases)
    func deduplication(_ backend: Backend, _ way: Way) throws {
        let rules: [DeduplicationRule] = [.first, .merge([:], into: .first), .last]
        for rule in rules {
            let (stack, cat) = try Self.stack(backend, Self.model(unique: []))
            let dog = try stack.store { context in
                let dog = context.make("Dog", ["tag": "2", "name": "Rex"])
                if rule != .last { way.give(dog, context) }
                return [dog]
            }[0]
            let before = try Self.content(stack)
            let request = DeduplicationRequest(entityName: "Animal", by: ["tag"], keeping: rule)
            let error = storeError { _ = try stack.context().execute(request) }
            #expect(error?.code == .constraintConflict, "\(rule)")
            let (loser, winner) = rule == .last ? ("Cat", "Dog") : ("Dog", "Cat")
            let text = error?.fullDescription ?? ""
            for part in [loser, winner, "tag", "\(dog)", "\(cat)", "\"2\""] {
                #expect(text.contains(part), "\(rule): \(part) in \(text)")
            }
            #expect(try Self.content(stack) == before)
        }
    }

    @Test(
        "De-duplication of entities with the same properties set goes on",
        arguments: Backend.allCases)
    func deduplicationOfShared(_ backend: Backend) throws {
        let (stack, cat) = try Self.stack(backend, Self.model(unique: []))
        try stack.store {
            [$0.make("Dog", ["tag": "2", "name": "Rex"]), $0.make("Animal", ["tag": "2"])]
        }
        let request = DeduplicationRequest(entityName: "Animal", by: ["tag"], keeping: .first)
        #expect(try stack.context().execute(request).deletedCount == 2)
        #expect(try stack.context().all("Animal").map(\.objectID) == [cat])
    }

    @Test(
        "A migration that adds the constraint is refused, and the store stays as it was, if its rule would lose something"
    )
    func migration() throws {
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        let old = try Schema(Self.model(unique: []))
        let new = try Schema(Self.model())
        let store = try LogStore.open(at: "/store", schema: old, options: options)
        let stack = Stack(store: store)
        try stack.store {
            [
                $0.make("Cat", ["tag": "2", "lives": 9]),
                $0.make("Dog", ["tag": "2", "trick": "roll"]),
            ]
        }
        let before = try Self.content(stack)
        try store.close()
        options.deduplicateWhenMigrating([
            DeduplicationRequest(entityName: "Animal", by: ["tag"], keeping: .first)
        ])
        let error = storeError {
            _ = try LogStore.migrate(at: "/store", to: new, options: options)
        }
        let text = error?.fullDescription ?? ""
        for part in ["Dog", "Cat", "trick", "\"2\""] { #expect(text.contains(part), "\(text)") }
        let again = try LogStore.open(at: "/store", schema: old, options: options)
        #expect(try Self.content(Stack(store: again)) == before)
        try again.close()
    }
}

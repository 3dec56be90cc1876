// Random conflicts: the store carries out a built-in policy by itself, and a subclass that only calls super has
// it done to the objects. Both must come to the same, on every backend, and the context must show what is
// stored.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Random conflicts")
struct RandomConflictTests {
    /// What a scene leaves behind, as text.
    private struct Outcome: Equatable {
        var lines: [String]
        var error: StoreError.Code?
        /// Whether one conflict's outcome decides what another one meets: then only the order of steps says
        /// what comes out, and all that can be asked for is a consistent state.
        var isChained: Bool

        static func == (left: Outcome, right: Outcome) -> Bool {
            left.lines == right.lines && left.error == right.error
        }
    }

    /// Whether a stored object leaves a key to another one: if it goes back, the key is in dispute.
    private func handsOverKeys(_ objects: [ManagedObject]) -> Bool {
        let keys = ["name", "numberPlate", "racingNumber", "permit"]
        func text(_ value: Any??) -> String? { (value ?? nil).map { "\($0)" } }
        return objects.contains { object in
            let old = object.committedValues(forKeys: keys)
            return keys.contains { key in
                guard object.entity.columnIndex(named: key) != nil, let left = text(old[key]),
                    object.isDeleted || text(object[key]) != left
                else { return false }
                return objects.contains { other in
                    other !== object && other.entity.columnIndex(named: key) != nil
                        && text(other[key]) == left
                }
            }
        }
    }

    private func run(
        _ backend: Backend, _ policy: MergePolicy, seed: UInt64, withSpouses: Bool = false
    ) throws -> Outcome {
        var random = RandomSource(seed: seed)
        let stack = try Stack(Models.people, backend)
        let names = ["A", "B", "C", "D", "E"]
        func relate(_ people: [ManagedObject], _ random: inout RandomSource) {
            for person in people {
                guard let other = random.pick(people) else { continue }
                switch random.below(withSpouses ? 7 : 5) {
                case 6: person["spouse"] = other
                case 1: person.add(other, to: "friends")
                case 2: person["mentor"] = other
                case 3: person.add(other, to: "heroes")
                case 0: person["parent"] = other
                case 5: person["spouse"] = nil
                default: break
                }
            }
        }
        let ids = try stack.store { context in
            let people = names.map { context.make("Person", ["name": $0]) }
            relate(people, &random)
            return people
        }
        let context = stack.context(policy)
        var people = ids.filter { _ in random.chance(60) }.map { context.object(with: $0) }
        for _ in 0..<random.below(4) {
            if random.chance(70) {
                people.append(context.make("Person", ["name": random.pick(names)]))
            } else {
                people.append(context.make("Person"))
            }
        }
        for person in people where !person.isInserted && random.chance(20) {
            person["name"] = random.pick(names + ["F"])
        }
        relate(people, &random)
        let isChained = handsOverKeys(people)
        if let error = storeError({ try context.save() }) {
            context.rollback()
            return Outcome(
                lines: try describePeople(stack.context()), error: error.code, isChained: isChained)
        }
        #expect(!context.hasChanges)
        let (shown, stored) = (try describePeople(context), try describePeople(stack.context()))
        #expect(shown == stored, "the context shows what is stored, seed \(seed)")
        return Outcome(lines: stored, isChained: isChained)
    }

    @Test(
        "After any conflict the context shows what is stored, and both sides of every relationship agree",
        arguments: Backend.allCases, RandomSource.seeds(5, whole: 300))
    func consistency(_ backend: Backend, _ seed: UInt64) throws {
        for kind in MergePolicyKind.allCases {
            for policy in [MergePolicy(merge: kind), PlainSubclass(merge: kind)] {
                _ = try run(backend, policy, seed: seed, withSpouses: true)
            }
        }
    }

    @Test(
        "The store and the objects resolve conflicts alike (MP1)", arguments: Backend.allCases,
        RandomSource.seeds(3, whole: 300))
    func agreement(_ backend: Backend, _ seed: UInt64) throws {
        for kind in MergePolicyKind.allCases {
            for setOnly in [false, true] {
                let policy = MergePolicy(merge: kind, setOnly: setOnly)
                let byStore = try run(backend, policy, seed: seed)
                let byObjects = try run(
                    backend, PlainSubclass(merge: kind, setOnly: setOnly), seed: seed)
                if byStore.isChained { continue }
                let plain = try run(.dictionary, policy, seed: seed)
                #expect(
                    byStore == plain, "as the plain store, CAIRN_SEED=\(seed) \(kind) \(setOnly)")
                #expect(byStore == byObjects, "CAIRN_SEED=\(seed) \(kind) setOnly \(setOnly)")
            }
        }
    }

    // MARK: Versions, values and several constraints

    /// Whether an object stands in two conflicts.
    private func isChained(_ error: StoreError) -> Bool {
        if !error.versions.isEmpty && !error.violations.isEmpty { return true }
        var keys: [ObjectID: Set<[String]>] = [:]
        for violation in error.violations {
            let key = violation.constraint + violation.values.map(\.description)
            for id in violation.objects + (violation.stored.map { [$0.id] } ?? []) {
                keys[id, default: []].insert(key)
            }
        }
        return keys.values.contains { $0.count > 1 }
    }

    /// The vehicles with merge rules that the seed says, and some more properties for them.
    private static func ruledModel(_ seed: UInt64) -> ManagedObjectModel {
        var random = RandomSource(seed: seed &+ 1)
        var model = Models.vehicles
        let newest = MergeRule.newest(by: "age")
        let numbers: [MergeRule?] = [nil, .store, .fillNil, .maximum, .minimum, .sum, newest]
        model.entities[0].attributes += [.init("age", .integer16), .init("wins", .integer64)]
        model.entities[0].attributes[3].mergeRule = random.pick(numbers) ?? nil
        let texts: [MergeRule?] = [nil, .store, .object, .fillNil, .maximum, newest]
        model.entities[0].attributes[1].mergeRule = random.pick(texts) ?? nil
        model.entities[1].attributes[1].mergeRule = random.pick(texts) ?? nil
        let standards: [MergeRule?] = [nil, .store, .object, .fillNil, newest]
        model.entities[0].mergeRule = random.pick(standards) ?? nil
        model.entities[2].mergeRule = random.pick(standards) ?? nil
        return model
    }

    /// Cars of several entities, changed by two contexts at once.
    private func race(
        _ backend: Backend, _ policy: MergePolicy, seed: UInt64,
        _ model: ManagedObjectModel = Models.vehicles
    ) throws -> Outcome {
        var random = RandomSource(seed: seed)
        let stack = try Stack(model, backend)
        let entities = ["Car", "SportCar", "ExpensiveSportCar", "Truck"]
        func make(_ context: ManagedObjectContext, _ random: inout RandomSource) -> ManagedObject {
            let object = context.insert(random.pick(entities) ?? "Car")
            change(object, &random)
            return object
        }
        // Conflicts of versions alone, of keys alone, or both at once.
        let (hasVersions, hasKeys) = [(true, false), (false, true), (true, true)][Int(seed % 3)]
        func change(_ object: ManagedObject, _ random: inout RandomSource) {
            for column in object.entity.columns where random.chance(50) {
                let isKey = ["numberPlate", "racingNumber", "permit"].contains(column.name)
                if isKey && !hasKeys { continue }
                let number = random.below(4)
                let isText = column.kind == .attribute(.string)
                object[column.name] = number == 0 ? nil : isText ? "\(number)" as Any : number
            }
        }
        var ids: [ObjectID] = []
        for _ in 0..<6 {
            let context = stack.context()
            let object = make(context, &random)
            if storeError({ try context.save() }) == nil { ids.append(object.objectID) }
        }
        let (mine, other) = (stack.context(policy), stack.context())
        let own = ids.filter { _ in random.chance(60) }.map { mine.object(with: $0) }
        for object in own { _ = object["maker"] }
        for id in ids where hasVersions && random.chance(40) {
            let object = other.object(with: id)
            if random.chance(30) { other.delete(object) } else { change(object, &random) }
            if storeError({ try other.save() }) != nil { other.rollback() }
        }
        for object in own {
            if random.chance(20) { mine.delete(object) } else { change(object, &random) }
        }
        for _ in 0..<random.below(4) { _ = make(mine, &random) }
        func describe(_ context: ManagedObjectContext) throws -> [String] {
            try context.all("Car").map { car in
                let values = car.entity.columns.map { column in
                    "\(column.name) \(car[column.name].map { "\($0)" } ?? "-")"
                }
                return ([car.entity.name] + values).joined(separator: " ")
            }.sorted()
        }
        let handsOver = handsOverKeys(
            mine.insertedObjects + mine.updatedObjects + mine.deletedObjects)
        if let error = storeError({ try mine.save() }) {
            mine.rollback()
            return Outcome(
                lines: try describe(stack.context()), error: error.code,
                isChained: handsOver || isChained(error))
        }
        let stored = try describe(stack.context())
        #expect(!mine.hasChanges)
        mine.refreshAllObjects()
        #expect(try describe(mine) == stored)
        return Outcome(lines: stored, isChained: handsOver)
    }

    @Test(
        "Versions, inherited and several constraints: the store and the objects resolve alike",
        arguments: Backend.allCases, RandomSource.seeds(3, whole: 300))
    func races(_ backend: Backend, _ seed: UInt64) throws {
        let isChained = try seed % 3 == 2 || race(backend, .error, seed: seed).isChained
        for kind in MergePolicyKind.allCases {
            for setOnly in [false, true] {
                let policy = MergePolicy(merge: kind, setOnly: setOnly)
                let byStore = try race(backend, policy, seed: seed)
                let byObjects = try race(
                    backend, PlainSubclass(merge: kind, setOnly: setOnly), seed: seed)
                if isChained { continue }
                let plain = try race(.dictionary, policy, seed: seed)
                #expect(
                    byStore == plain, "as the plain store, CAIRN_SEED=\(seed) \(kind) \(setOnly)")
                #expect(byStore == byObjects, "CAIRN_SEED=\(seed) \(kind) setOnly \(setOnly)")
            }
        }
    }

    @Test(
        "The rules of the model: the store and the objects come to the same with them",
        arguments: Backend.allCases, RandomSource.seeds(12, whole: 600))
    func declaredRaces(_ backend: Backend, _ seed: UInt64) throws {
        let model = Self.ruledModel(seed)
        let isChained =
            try seed % 3 == 2 || race(backend, .error, seed: seed, model).isChained
        let byStore = try race(backend, .declared, seed: seed, model)
        let byObjects = try race(backend, PlainSubclass(merge: .declared), seed: seed, model)
        if isChained { return }
        let plain = try race(.dictionary, .declared, seed: seed, model)
        #expect(byStore == plain, "as the plain store, CAIRN_SEED=\(seed)")
        #expect(byStore == byObjects, "CAIRN_SEED=\(seed)")
    }
}

// Random graphs in two contexts against a naive model.
//
// The model is one set of people with their relations, changed by the same operations in the plainest way.
// Only one of the two contexts has changes at a time; after each save the other one refreshes. So everything
// both contexts show, and what a fresh one reads, must be the model at every step.

import CairnModel
import CairnObjects
import CairnStore
import Testing

/// A person in the plainest form.
private struct PlainPerson: Equatable {
    var spouse: Int?
    var friends: Set<Int> = []
    var mentor: Int?
    var heroes: Set<Int> = []
    var parent: Int?
}

/// The plain world: people by number.
private struct PlainWorld: Equatable {
    var people: [Int: PlainPerson] = [:]

    func children(_ id: Int) -> Set<Int> { Set(people.filter { $0.value.parent == id }.keys) }

    mutating func marry(_ a: Int, _ b: Int?) {
        for id in people.keys where people[id]?.spouse == a || (b != nil && people[id]?.spouse == b)
        {
            people[id]?.spouse = nil
        }
        people[a]?.spouse = b
        if let b { people[b]?.spouse = a }
    }

    mutating func befriend(_ a: Int, _ friends: Set<Int>) {
        for id in people.keys where id != a { people[id]?.friends.remove(a) }
        people[a]?.friends = friends
        for id in friends { people[id]?.friends.insert(a) }
    }

    mutating func delete(_ id: Int) {
        guard people[id] != nil else { return }
        let children = children(id)
        people[id] = nil
        for other in people.keys {
            people[other]?.friends.remove(id)
            people[other]?.heroes.remove(id)
            if people[other]?.spouse == id { people[other]?.spouse = nil }
            if people[other]?.mentor == id { people[other]?.mentor = nil }
        }
        for child in children { delete(child) }
        for child in children where people[child]?.parent == id { people[child]?.parent = nil }
    }
}

@Suite("Random graphs")
struct RandomGraphTests {
    private func describe(_ context: ManagedObjectContext) throws -> PlainWorld {
        var world = PlainWorld()
        func number(_ object: ManagedObject?) -> Int? { object?.string("name").flatMap { Int($0) } }
        func numbers(_ objects: Set<ManagedObject>) -> Set<Int> {
            Set(objects.compactMap { number($0) })
        }
        for person in try context.all("Person") {
            guard let id = number(person) else { continue }
            world.people[id] = PlainPerson(
                spouse: number(person.object("spouse")),
                friends: numbers(person.members("friends")),
                mentor: number(person.object("mentor")), heroes: numbers(person.members("heroes")),
                parent: number(person.object("parent")))
        }
        for person in try context.all("Person") {
            guard let id = number(person) else { continue }
            #expect(numbers(person.members("children")) == world.children(id), "children of \(id)")
        }
        return world
    }

    @Test(
        "Two contexts and a fresh one show what the plain model says", arguments: Backend.allCases,
        SeededRandom.seeds(6))
    func graphs(_ backend: Backend, _ seed: UInt64) throws {
        print("random graph, CAIRN_SEED=\(seed)")
        var random = SeededRandom(seed: seed)
        let stack = try Stack(Models.people, backend)
        let contexts = [stack.context(), stack.context()]
        var saved = PlainWorld()
        var world = PlainWorld()
        var nextNumber = 0
        for round in 0..<40 {
            let context = contexts[random.below(2)]
            for _ in 0..<(1 + random.below(12)) {
                try step(context, &world, &nextNumber, &random)
                if random.chance(20) {
                    let shown = try describe(context)
                    try #require(shown == world, "seed \(seed), round \(round), unsaved")
                }
            }
            if random.chance(15) {
                context.rollback()
                world = saved
            } else {
                try context.save()
                saved = world
            }
            #expect(!context.hasChanges)
            if random.chance(50) { for context in contexts { context.refreshAllObjects() } }
            for (name, context) in [("same", context), ("fresh", stack.context())] {
                let shown = try describe(context)
                try #require(shown == world, "seed \(seed), round \(round), \(name)")
            }
            for context in contexts { context.refreshAllObjects() }
        }
    }

    private func step(
        _ context: ManagedObjectContext, _ world: inout PlainWorld, _ nextNumber: inout Int,
        _ random: inout SeededRandom
    ) throws {
        func object(_ number: Int) throws -> ManagedObject {
            try #require(try context.find("Person", "name", .string("\(number)")).first)
        }
        let numbers = world.people.keys.sorted()
        guard numbers.count > 2, !random.chance(25) else {
            context.make("Person", ["name": "\(nextNumber)"])
            world.people[nextNumber] = PlainPerson()
            nextNumber += 1
            return
        }
        guard let a = random.pick(numbers), let b = random.pick(numbers) else { return }
        let isNil = random.chance(25)
        let some = Set(numbers.filter { _ in random.chance(30) })
        let (one, other) = (try object(a), try object(b))
        switch random.below(9) {
        case 0:
            one["spouse"] = isNil ? nil : other
            world.marry(a, isNil ? nil : b)
        case 1:
            one["friends"] = Set(try some.map(object))
            world.befriend(a, some)
        case 2:
            one["mentor"] = isNil ? nil : other
            world.people[a]?.mentor = isNil ? nil : b
        case 3:
            one["heroes"] = Set(try some.map(object))
            world.people[a]?.heroes = some
        case 4:
            one["parent"] = isNil ? nil : other
            world.people[a]?.parent = isNil ? nil : b
        case 5:
            one["children"] = Set(try some.map(object))
            for id in numbers where world.people[id]?.parent == a { world.people[id]?.parent = nil }
            for id in some { world.people[id]?.parent = a }
        case 6:
            one.add(other, to: "friends")
            world.befriend(a, (world.people[a]?.friends ?? []).union([b]))
        case 7:
            one.remove(other, from: "children")
            if world.people[b]?.parent == a { world.people[b]?.parent = nil }
        default:
            guard random.chance(40) else { return }
            context.delete(one)
            world.delete(a)
        }
    }
}

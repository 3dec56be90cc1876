// Random steps in a context, taken back and done again in random order, with saves in between: after each, everything the
// context shows must be what it showed when that step was done first; and what was saved must be what it showed.

import CairnModel
import CairnObjects
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Random undo")
struct RandomUndoTests {
    private static let model: ManagedObjectModel = {
        var cache = AttributeDescription("cache", .string)
        cache.isTransient = true
        let node = EntityDescription(
            "Node",
            attributes: [
                AttributeDescription("number", .integer64), AttributeDescription("text", .string),
                cache,
            ],
            relationships: [
                RelationshipDescription("spouse", to: "Node", inverse: "spouse"),
                RelationshipDescription("friends", to: "Node", toMany: true, inverse: "friends"),
                RelationshipDescription("mentor", to: "Node"),
                RelationshipDescription("heroes", to: "Node", toMany: true),
                RelationshipDescription("parent", to: "Node", inverse: "children"),
                RelationshipDescription(
                    "children", to: "Node", toMany: true, inverse: "parent", deleteRule: .cascade),
            ])
        return ManagedObjectModel(entities: [node])
    }()

    private typealias World = [Int: [String: String]]

    /// What a context shows; what is not stored only if that is wanted.
    private func describe(_ context: ManagedObjectContext, _ isAll: Bool = true) throws -> World {
        var world: World = [:]
        func numbers(_ objects: [ManagedObject?]) -> String {
            objects.compactMap { $0?.int("number") }.sorted().description
        }
        for node in try context.all("Node") {
            var shown: [String: String] = ["text": node.string("text") ?? "nil"]
            if isAll { shown["cache"] = node.string("cache") ?? "nil" }
            for key in ["spouse", "mentor", "parent"] { shown[key] = numbers([node.object(key)]) }
            for key in ["friends", "heroes", "children"] {
                shown[key] = numbers(Array(node.members(key)))
            }
            world[try #require(node.int("number"))] = shown
        }
        return world
    }

    /// What is shown otherwise than it should be, in words.
    private func difference(_ shown: World, _ expected: World) -> [String] {
        Set(shown.keys).union(expected.keys).sorted().flatMap { number -> [String] in
            guard let node = shown[number] else { return ["\(number) is missing"] }
            guard let other = expected[number] else { return ["\(number) is there"] }
            return node.keys.sorted().filter { node[$0] != other[$0] }.map { key in
                "\(number).\(key) is \(node[key] ?? ""), not \(other[key] ?? "")"
            }
        }
    }

    @Test(
        "Every state comes back, and is saved as it is shown", arguments: Backend.allCases,
        RandomSource.seeds(2, whole: 200))
    func steps(_ backend: Backend, _ seed: UInt64) throws {
        print("random undo, CAIRN_SEED=\(seed)")
        var random = RandomSource(seed: seed)
        let stack = try Stack(Self.model, backend)
        let context = stack.context()
        let history = UndoHistory()
        context.undoHistory = history
        var states = [try describe(context)]
        var place = 0
        var next = 0
        var undone = 0
        // Objects that nobody holds lose their transient values.
        var held: Set<ManagedObject> = []
        for round in 0..<120 {
            if random.chance(60) || (place == 0 && states.count == 1) {
                // Edits look for objects, which ends a run.
                let isGroup = random.chance(40)
                if isGroup { history.beginUndoGrouping() }
                for _ in 0..<(1 + (isGroup ? random.below(8) : 0)) {
                    try edit(context, &next, &random)
                }
                if isGroup { history.endUndoGrouping() }
                context.processPendingChanges()
                // The steps before have names.
                if history.canUndo, history.undoActionName.isEmpty {
                    states.removeSubrange((place + 1)...)
                    states.append(try describe(context))
                    place += 1
                    history.setActionName("\(place)")
                    #expect(!history.canRedo)
                }
            } else if random.chance(60), place > 0 {
                #expect(history.undoActionName == "\(place)")
                context.undo()
                place -= 1
                undone += 1
            } else if place + 1 < states.count {
                #expect(history.redoActionName == "\(place + 1)")
                context.redo()
                place += 1
            }
            held.formUnion(try context.all("Node"))
            let shown = try describe(context)
            let expected = states[place]
            try #require(
                difference(shown, expected) == [], "seed \(seed), round \(round), step \(place)")
            if random.chance(20) {
                try context.save()
                #expect(!context.hasChanges)
                let stored = try describe(stack.context(), false)
                let kept = expected.mapValues { node in node.filter { $0.key != "cache" } }
                try #require(difference(stored, kept) == [], "seed \(seed), round \(round), stored")
            }
        }
        #expect(undone > 5)
    }

    private func edit(
        _ context: ManagedObjectContext, _ next: inout Int, _ random: inout RandomSource
    ) throws {
        let nodes = try context.all("Node", sortedBy: "number")
        guard nodes.count > 2, !random.chance(25), let one = random.pick(nodes),
            let other = random.pick(nodes)
        else {
            context.make("Node", ["number": next])
            next += 1
            return
        }
        let isNil = random.chance(25)
        let some = Set(nodes.filter { _ in random.chance(30) })
        switch random.below(9) {
        case 0: one["spouse"] = isNil ? nil : other
        case 1: one["friends"] = some
        case 2: one["mentor"] = isNil ? nil : other
        case 3: one["heroes"] = some
        case 4: one["parent"] = isNil ? nil : other
        case 5: one["children"] = some
        case 6: one["text"] = isNil ? nil : "text \(random.below(5))"
        case 7: one["cache"] = isNil ? nil : "cache \(random.below(5))"
        default: context.delete(one)
        }
    }
}

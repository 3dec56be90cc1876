// Finding by keys against a look at all objects, with edits, saves and rollbacks in between, in a context and one above it.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Random finding by key")
struct RandomFindingTests {
    private static let names: [String?] = [nil, "a", "b", "c", "d", "e"]

    @Test(
        "What is found is what a fetch finds",
        arguments: RandomSource.seeds(2, whole: 200))
    func againstFetches(_ seed: UInt64) throws {
        var random = RandomSource(seed: seed)
        print("seed \(seed)")
        for backend in Backend.allCases {
            let stack = try Stack(Models.shop, backend)
            let parent = stack.context(.mergeByPropertyObjectTrump)
            let child = ManagedObjectContext(parent: parent)
            for round in 0..<120 {
                let context = random.chance(50) ? parent : child
                try Self.step(context, parent, child, &random)
                if round.isMultiple(of: 3) { try Self.check(context, &random) }
            }
        }
    }

    private static func step(
        _ context: ManagedObjectContext, _ parent: ManagedObjectContext,
        _ child: ManagedObjectContext, _ random: inout RandomSource
    ) throws {
        let products = try context.all("Product")
        switch random.below(12) {
        case 0...2:
            context.make("Product", ["name": random.pick(names).flatMap { $0 } ?? "a"])
        case 3...6:
            guard let product = random.pick(products) else { return }
            product["name"] = random.pick(names).flatMap { $0 } ?? "b"
            product["note"] = random.pick(names) ?? nil
        case 7: if let product = random.pick(products) { context.delete(product) }
        case 8:
            // A change of the other side alone.
            guard let product = random.pick(products) else { return }
            context.make("Tag", ["products": Set([product])])
        case 9:
            if let product = random.pick(products) { context.refresh(product, mergeChanges: true) }
        case 10: if random.chance(30) { context.rollback() }
        default:
            try child.save()
            if random.chance(50) { try parent.save() }
        }
    }

    /// Compares with fetches; for what is not there, nothing is left behind.
    private static func check(_ context: ManagedObjectContext, _ random: inout RandomSource) throws
    {
        let keys: [[String: Any]] = names.flatMap { note in
            names.compactMap { $0 }.map { ["name": $0, "note": note as Any] }
        }
        let single = random.chance(50)
        let asked = single ? names.compactMap { $0 }.map { ["name": $0 as Any] } : keys
        var expected: [Set<ManagedObject>] = []
        for key in asked {
            let parts = key.map { name, value in
                PredicateNode.compare(
                    name, .equal, (value as? String).map { .string($0) } ?? .null)
            }
            let request = FetchRequest(entityName: "Product", predicate: .and(parts))
            expected.append(Set(try context.fetch(request)))
        }
        let found = try context.findOrInsert(entityName: "Product", keys: asked)
        for (place, (object, isNew)) in found.enumerated() {
            #expect(isNew == expected[place].isEmpty)
            if isNew {
                context.delete(object)
            } else {
                #expect(expected[place].contains(object))
            }
        }
        context.processPendingChanges()
    }
}

// Somebody else has moved a reference, and a save merges that in: both of its ends must show it.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("References that a save merges in")
struct MergedReferencesTests {
    private final class OwnPolicy: MergePolicy {}

    private static let kinds = [
        MergePolicyKind.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
        .rollback,
    ]

    /// Built in: the store merges. One's own: the objects are merged before they are stored.
    private func policies(_ kind: MergePolicyKind) -> [MergePolicy] {
        [MergePolicy(merge: kind), OwnPolicy(merge: kind)]
    }

    /// An object that leads to the first of three; in one context it is changed, or led to the second, while
    /// another one leads it to the third. Checks both ends in the first context and in a new one.
    private func check(
        _ policy: MergePolicy, _ backend: Backend, _ model: ManagedObjectModel, owner: String,
        key: String, target: String, inverse: String, movesHere: Bool
    ) throws {
        let stack = try Stack(model, backend)
        let ids = try stack.store { context in
            let targets = (0..<3).map { _ in context.make(target) }
            return [context.make(owner, [key: targets[0]])] + targets
        }
        let context = stack.context(policy)
        let objects = ids.map(context.object(with:))
        for object in objects.dropFirst() { _ = object[inverse] }
        if movesHere { objects[0][key] = objects[2] } else { objects[0]["name"] = "ours" }
        let other = stack.context()
        other.object(with: ids[0])[key] = other.object(with: ids[3])
        try other.save()
        try context.save()
        for context in [context, stack.context()] {
            let object = context.object(with: ids[0])
            let end = object.object(key)
            for target in ids.dropFirst().map(context.object(with:)) {
                let leadsBack =
                    target.object(inverse) === object || target.members(inverse).contains(object)
                #expect(leadsBack == (end === target))
            }
        }
    }

    @Test(
        "The members of a to-many are those that lead to it", arguments: Backend.allCases,
        kinds)
    func toMany(_ backend: Backend, _ kind: MergePolicyKind) throws {
        for policy in policies(kind) {
            for movesHere in [false, true] {
                try check(
                    policy, backend, Models.shop, owner: "Product", key: "shop", target: "Shop",
                    inverse: "products", movesHere: movesHere)
            }
        }
    }

    @Test("Both sides of a one-to-one lead to each other", arguments: Backend.allCases, kinds)
    func oneToOne(_ backend: Backend, _ kind: MergePolicyKind) throws {
        for policy in policies(kind) {
            for movesHere in [false, true] {
                try check(
                    policy, backend, Models.people, owner: "Person", key: "passport",
                    target: "Passport", inverse: "holder", movesHere: movesHere)
            }
        }
    }
}

// Behaviours of merge policies and optimistic locking that have no better place, by their ids.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Behaviours of merging")
struct BehavioursOfMerging {
    /// Countries that know how many moods they have.
    private static let moods: ManagedObjectModel = {
        let country = EntityDescription(
            "Country",
            attributes: [
                AttributeDescription("code", .string),
                AttributeDescription(
                    "moodCount", .integer64, optional: false, default: .integer(0)),
            ],
            relationships: [
                RelationshipDescription("moods", to: "Mood", toMany: true, inverse: "country")
            ], uniquenessConstraints: [["code"]])
        let mood = EntityDescription(
            "Mood", attributes: [AttributeDescription("color", .integer64)],
            relationships: [RelationshipDescription("country", to: "Country", inverse: "moods")])
        return ManagedObjectModel(entities: [country, mood])
    }()

    /// Counts again what it has merged.
    private final class Counting: MergePolicy {
        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            try super.resolve(constraintConflicts: list)
            for conflict in list { conflict.databaseObject.map(count) }
        }
        override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
            try super.resolve(optimisticLockingConflicts: list)
            for conflict in list {
                // Who has joined elsewhere is in the store, not here.
                conflict.sourceObject.managedObjectContext?.refresh(
                    conflict.sourceObject, mergeChanges: true)
                count(conflict.sourceObject)
            }
        }
        private func count(_ country: ManagedObject) {
            country["moodCount"] = country.members("moods").count
        }
    }

    @Test(
        "A denormalised count is recomputed from the relationship after a conflict (B043)",
        arguments: Backend.allCases)
    func recount(_ backend: Backend) throws {
        let stack = try Stack(Self.moods, backend)
        func add(_ context: ManagedObjectContext, to country: ManagedObject, _ color: Int) {
            context.make("Mood", ["color": color, "country": country])
            country["moodCount"] = (country.int("moodCount") ?? 0) + 1
        }
        // Two contexts make the country: a conflict over its code.
        let (one, other) = (
            stack.context(Counting(merge: .mergeByPropertyStoreTrump)),
            stack.context(Counting(merge: .mergeByPropertyStoreTrump))
        )
        for (context, color) in [(one, 1), (other, 2)] {
            add(context, to: context.make("Country", ["code": "IT"]), color)
        }
        try one.save()
        try other.save()
        /// The count that is kept, and the number of moods.
        func stored() throws -> [Int?] {
            let countries = try stack.context().all("Country")
            #expect(countries.count == 1)
            return countries.flatMap { [$0.int("moodCount"), $0.members("moods").count] }
        }
        #expect(try stored() == [2, 2])
        // Two contexts count on: a conflict of versions.
        let id = try #require(try stack.context().all("Country").first).objectID
        let (third, fourth) = (
            stack.context(), stack.context(Counting(merge: .mergeByPropertyObjectTrump))
        )
        for (context, color) in [(third, 3), (fourth, 4)] {
            add(context, to: context.object(with: id), color)
        }
        try third.save()
        try fourth.save()
        #expect(try stored() == [4, 4])
    }

    @Test(
        "Attaching a child does not enlist its parent, unlike in B044: our rule is that a member which comes or goes changes no attribute of the owner",
        arguments: Backend.allCases)
    func attaching(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Shop", ["name": "s"])] }[0]
        // The parent was changed elsewhere since it was read: the child is saved all the same.
        let context = stack.context()
        let shop = try context.existingObject(with: id)
        context.make("Product", ["name": "first", "shop": shop])
        #expect(shop.hasChanges && shop.members("products").count == 1)
        let other = stack.context()
        other.object(with: id)["name"] = "renamed"
        try other.save()
        try context.save()
        #expect(try stack.context().existingObject(with: id).string("name") == "renamed")
        // And a child that came meanwhile is no reason to refuse a change of the parent.
        let third = stack.context()
        try third.existingObject(with: id)["name"] = "again"
        try stack.store { [$0.make("Product", ["name": "second", "shop": $0.object(with: id)])] }
        try third.save()
        let stored = try stack.context().existingObject(with: id)
        #expect(stored.string("name") == "again" && stored.members("products").count == 2)
    }
}

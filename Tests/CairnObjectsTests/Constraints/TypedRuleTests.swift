// Constraints with options of typed classes.

import Cairn
import Foundation
import Testing

@Entity
final class Membership: ManagedObject {
    #Unique<Membership>([\.number])
    #Unique<Membership>(
        [\.club, \.member], where: "endedAt == nil", nilsAreEqual: true, caseInsensitive: true)
    var number: Int
    var club: String?
    var member: String?
    var endedAt: Date?

    convenience init(
        _ context: ManagedObjectContext, _ number: Int, _ club: String?, _ member: String?
    ) {
        self.init(context: context)
        self.number = number
        self.club = club
        self.member = member
    }
}

@Entity
final class Misruled: ManagedObject {
    #Unique<Misruled>([\.name], where: "owner.name ==")
    var name: String?
}

@Suite("Typed constraints with options")
struct TypedRuleTests {
    @Test("The macro's options are those of the model, and the store keeps them")
    func model() throws {
        let model = ManagedObjectModel(for: [Membership.self])
        let entity = try #require(model.entities.first)
        #expect(entity.uniquenessConstraints == [["number"]])
        #expect(
            entity.uniquenessRules == [
                UniquenessRule(
                    ["club", "member"], where: try PredicateNode(format: "endedAt == nil"),
                    nilsAreEqual: true, caseInsensitive: true)
            ])
        let store = try LogStore.inMemory(schema: try Schema(model))
        let context = ManagedObjectContext(
            store: store, classes: ObjectClasses(for: [Membership.self]))
        let first = Membership(context, 1, nil, "Anna")
        try context.save()
        let second = Membership(context, 2, nil, "ANNA")
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .constraintConflict)
        first.endedAt = Date(timeIntervalSinceReferenceDate: 0)
        try context.save()
        #expect(!second.isInserted && context.conflicts(in: error!).isEmpty == false)
    }

    @Test("A condition that is no predicate is an error of the schema, with its words")
    func misread() throws {
        let error = #expect(throws: ModelError.self) {
            try Schema(ManagedObjectModel(for: [Misruled.self]))
        }
        #expect(error?.code == .invalidConstraint)
        #expect(error?.element == "Misruled, uniqueness constraint (name)")
    }
}

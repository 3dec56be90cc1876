import CairnModel
import CairnStore
import Foundation
import Testing

@Suite("The rules of the merge policies")
struct ConflictRulesTests {
    typealias Rules = ConflictRules
    static let all: [MergePolicyKind] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        .declared,
    ]

    // MARK: Semantics 2.3

    @Test(
        "2.3: deleted by one side, changed by the other",
        arguments: zip(all, [false, false, true, true, false, true]))
    func deletions(policy: MergePolicyKind, keepsOurs: Bool) throws {
        for rule in [nil, MergeRule.object, .store] {
            var description = EntityDescription("A", attributes: [.init("a", .string)])
            description.mergeRule = rule
            let schema = try Schema(ManagedObjectModel(entities: [description]))
            let entity = try #require(schema.entity(named: "A"))
            let yields = policy == .declared && rule == .store
            #expect(Rules.keepsOurs(policy, ofDeleted: entity) == (keepsOurs && !yields))
        }
    }

    @Test("own arrivals keep the order that they were placed in, behind a stored order that wins")
    func arrivals() {
        for policy in Self.all {
            let yields = policy == .mergeByPropertyStoreTrump || policy == .rollback
            #expect(
                Rules.mergedOrder(
                    members: ["q", "a", "b", "p"], base: ["a", "b"], now: ["b", "a", "p", "q"],
                    arrivals: 2, policy)
                    == (yields ? ["b", "a", "q", "p"] : ["q", "a", "b", "p"]))
        }
    }

    @Test("what an object leads to would be lost where its new entity has no such relationship")
    func lostReferences() throws {
        var dog = EntityDescription(
            "Dog", relationships: [RelationshipDescription("kennel", to: "Kennel")])
        dog.superentityName = "Animal"
        var cat = EntityDescription("Cat")
        cat.superentityName = "Animal"
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription("Animal", attributes: [.init("name", .string)]), dog, cat,
                EntityDescription("Kennel", attributes: [.init("name", .string)]),
            ]))
        let (one, other) = (
            try #require(schema.entity(named: "Dog")), try #require(schema.entity(named: "Cat"))
        )
        let column = try #require(one.columnIndex(named: "kennel"))
        let target = ObjectID(store: UUID(), hierarchy: 1, reference: 1)
        // It was set from the other side, so it is none of those that were assigned.
        for assigned in [nil, ColumnSet()] as [ColumnSet?] {
            for value in [Value.null, .objectID(target)] {
                var values = one.columns.map { _ in Value.null }
                values[column] = value
                #expect(
                    Rules.lostColumn(of: one, values: values, assigned: assigned, in: other, schema)
                        == (value == .null ? nil : column))
            }
        }
    }

    // MARK: Semantics 2.4

    @Test(
        "2.4 (b): a new object meets a stored row, without and with setOnly",
        arguments: zip(
            all,
            [
                (.fail, .fail), (.merge(.nothing), .merge(.nothing)),
                (.merge(.everything), .merge(.edits)), (.displace, .displace),
                (.merge(.nothing), .merge(.nothing)), (.merge(.declared), .merge(.declared)),
            ] as [(Rules.KeyOutcome, Rules.KeyOutcome)]))
    func newMeetsRow(policy: MergePolicyKind, outcomes: (Rules.KeyOutcome, Rules.KeyOutcome)) {
        #expect(Rules.objectMeetsRow(policy, isNew: true, setOnly: false) == outcomes.0)
        #expect(Rules.objectMeetsRow(policy, isNew: true, setOnly: true) == outcomes.1)
    }

    @Test(
        "2.4 (c): new objects meet one another, without and with setOnly",
        arguments: zip(
            all,
            [
                (.nothing, .nothing), (.nothing, .nothing), (.nothing, .edits),
                (.nothing, .edits), (.nothing, .nothing), (.declared, .declared),
            ] as [(Rules.Gift, Rules.Gift)]))
    func newMeetsNew(policy: MergePolicyKind, gifts: (Rules.Gift, Rules.Gift)) {
        #expect(Rules.newObjectsMeet(policy, setOnly: false) == gifts.0)
        #expect(Rules.newObjectsMeet(policy, setOnly: true) == gifts.1)
    }

    @Test(
        "2.4 (d): a changed object meets another row",
        arguments: zip(
            all,
            [
                .fail, .revert, .merge(.edits), .displace, .revert, .merge(.declared),
            ] as [Rules.KeyOutcome]))
    func updatedMeetsRow(policy: MergePolicyKind, outcome: Rules.KeyOutcome) {
        for setOnly in [false, true] {
            #expect(Rules.objectMeetsRow(policy, isNew: false, setOnly: setOnly) == outcome)
        }
    }

    // MARK: Semantics 2.8

    @Test(
        "2.8: a row of a batch meets a stored row",
        arguments: zip(
            all,
            [
                .skip, .skip, .update, .update, .skip, .update,
            ] as [Rules.BatchRowRule]))
    func batchRow(policy: MergePolicyKind, rule: Rules.BatchRowRule) {
        #expect(Rules.batchRowMeetsRow(policy) == rule)
    }
}

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@Suite("The rules of the merge policies")
struct ConflictRulesTests {
    typealias Rules = ConflictRules
    static let all: [MergePolicyKind] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    // MARK: (a) Semantics 2.3

    /// Ours: columns 0 and 1. Theirs: 1 and 2. So 0 changed only locally, 2 only externally, 1 both.
    @Test(
        "2.3: changed here and elsewhere",
        arguments: zip(
            all,
            [
                .fail, .write([0]), .write([0, 1]), .writeWhole, .revert,
            ] as [Rules.UpdateOutcome]))
    func changedBoth(policy: MergePolicyKind, outcome: Rules.UpdateOutcome) {
        #expect(Rules.updateMeetsVersion(policy, changed: [0, 1], theirs: [1, 2]) == outcome)
    }

    @Test(
        "2.3: changed elsewhere with the same values: the version alone is a conflict for error",
        arguments: zip(
            all,
            [
                .fail, .write([0, 1]), .write([0, 1]), .writeWhole, .revert,
            ] as [Rules.UpdateOutcome]))
    func sameValues(policy: MergePolicyKind, outcome: Rules.UpdateOutcome) {
        #expect(Rules.updateMeetsVersion(policy, changed: [0, 1], theirs: []) == outcome)
    }

    @Test(
        "2.3: deleted elsewhere, edited here",
        arguments: zip(
            all,
            [
                .fail, .becomeDeleted, .recreate, .recreate, .becomeDeleted,
            ] as [Rules.UpdateOutcome]))
    func deletedThere(policy: MergePolicyKind, outcome: Rules.UpdateOutcome) {
        #expect(Rules.updateMeetsVersion(policy, changed: [0], theirs: nil) == outcome)
    }

    @Test(
        "2.3: deleted here, edited elsewhere; deleted on both sides is done",
        arguments: zip(
            all,
            [
                .fail, .undelete, .delete, .delete, .undelete,
            ] as [Rules.DeletionOutcome]))
    func deletedHere(policy: MergePolicyKind, outcome: Rules.DeletionOutcome) {
        #expect(Rules.deletionMeetsVersion(policy, rowExists: true) == outcome)
        #expect(Rules.deletionMeetsVersion(policy, rowExists: false) == .done)
    }

    @Test("the columns in which rows differ are found")
    func differences() throws {
        let entity = try Samples.entity(Samples.everyType)
        var random = RandomSource()
        for _ in 0..<100 {
            var builder = RowCellsBuilder(columns: entity.columns.count)
            let values = Samples.everyType.map { Samples.value($0.type, using: &random) }
            for (index, value) in values.enumerated() { builder.set(index, value: value) }
            let base = builder.finish()
            var expected = ColumnSet()
            for (index, attribute) in Samples.everyType.enumerated() {
                let other =
                    Bool.random(using: &random)
                    ? values[index] : Samples.value(attribute.type, using: &random)
                if other != values[index] { expected.insert(index) }
                builder.set(index, value: other)
            }
            #expect(
                Rules.differences(base, builder.finish(), of: entity) == expected,
                "seed \(random.seed)")
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
        // It was set from the other side, so it is none of those that were assigned.
        for assigned in [nil, ColumnSet()] as [ColumnSet?] {
            for value in [Value.null, .objectID(Self.target)] {
                var values = one.columns.map { _ in Value.null }
                values[column] = value
                #expect(
                    Rules.lostColumn(of: one, values: values, assigned: assigned, in: other, schema)
                        == (value == .null ? nil : column))
            }
        }
    }

    // MARK: (b) Semantics 2.4

    @Test(
        "2.4 (b): a new object meets a stored row",
        arguments: zip(
            all,
            [
                .fail, .keepStored, .updateStored, .displaceStored, .keepStored,
            ] as [Rules.NewObjectOutcome]))
    func newMeetsRow(policy: MergePolicyKind, outcome: Rules.NewObjectOutcome) {
        #expect(Rules.newObjectMeetsRow(policy) == outcome)
    }

    @Test(
        "2.4: one object hits two different rows through two constraints",
        arguments: zip(
            all,
            [
                .fail, .keepStored, .fail, .displaceStored, .keepStored,
            ] as [Rules.NewObjectOutcome]))
    func newMeetsRows(policy: MergePolicyKind, outcome: Rules.NewObjectOutcome) {
        #expect(Rules.newObjectMeetsSeveralRows(policy) == outcome)
    }

    struct Merge: Sendable {
        var isReference = false
        var new: Value
        var isAssigned: Bool
        var assignedOnly = false
        var targetIsUsable = true
        var result: Value
    }

    static let stored = Value.integer(1)
    static let target = ObjectID(store: UUID(), hierarchy: 1, reference: 1)
    static let newTarget = ObjectID(store: UUID(), hierarchy: 1, reference: 2)

    @Test(
        "2.4: attributes under object trump",
        arguments: [
            // "new object's values, including nil and default values never set by the app"
            Merge(new: .integer(2), isAssigned: true, result: .integer(2)),
            Merge(new: .integer(2), isAssigned: false, result: .integer(2)),
            Merge(new: .null, isAssigned: true, result: .null),
            Merge(new: .null, isAssigned: false, result: .null),
            // "setOnly: overwrite only attributes explicitly assigned; defaults do not count"
            Merge(new: .integer(2), isAssigned: true, assignedOnly: true, result: .integer(2)),
            Merge(new: .integer(2), isAssigned: false, assignedOnly: true, result: stored),
            Merge(new: .null, isAssigned: true, assignedOnly: true, result: .null),
            Merge(new: .null, isAssigned: false, assignedOnly: true, result: stored),
        ])
    func attributes(merge: Merge) throws {
        try check(merge, stored: Self.stored)
    }

    @Test(
        "2.4: to-one relationships under object trump, with and without setOnly",
        arguments: [
            // "not touched: keep store's; explicitly nil: nil; both: the new target, unless deleted or foreign"
            Merge(isReference: true, new: .null, isAssigned: false, result: .objectID(target)),
            Merge(isReference: true, new: .null, isAssigned: true, result: .null),
            Merge(
                isReference: true, new: .objectID(newTarget), isAssigned: true,
                result: .objectID(newTarget)),
            Merge(
                isReference: true, new: .objectID(newTarget), isAssigned: true,
                targetIsUsable: false, result: .objectID(target)),
            Merge(
                isReference: true, new: .null, isAssigned: true, targetIsUsable: false,
                result: .null),
        ], [false, true])
    func references(merge: Merge, assignedOnly: Bool) throws {
        var merge = merge
        merge.assignedOnly = assignedOnly
        try check(merge, stored: .objectID(Self.target))
    }

    private func check(_ merge: Merge, stored: Value) throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "A", attributes: [.init("a", .integer64)], relationships: [.init("b", to: "A")])
        ])
        let entity = try #require(try Schema(model).entity(named: "A"))
        let column = try #require(
            entity.columns.first { ($0.attribute == nil) == merge.isReference })
        #expect(
            Rules.mergedValue(
                column: column, new: merge.new, isAssigned: merge.isAssigned, stored: stored,
                assignedOnly: merge.assignedOnly, targetIsUsable: merge.targetIsUsable)
                == merge.result)
    }

    // MARK: (c) Semantics 2.4

    @Test(
        "2.4 (c): new objects meet one another",
        arguments: zip(
            all,
            [
                (.fail, .fail), (.keepFirst, .keepFirst), (.keepFirst, .foldAssigned),
                (.keepFirst, .foldAssigned), (.keepFirst, .keepFirst),
            ] as [(Rules.FoldOutcome, Rules.FoldOutcome)]))
    func newMeetsNew(policy: MergePolicyKind, outcomes: (Rules.FoldOutcome, Rules.FoldOutcome)) {
        #expect(Rules.newObjectsMeet(policy, assignedOnly: false) == outcomes.0)
        #expect(Rules.newObjectsMeet(policy, assignedOnly: true) == outcomes.1)
    }

    @Test(
        "2.4 (c): the first created survives; with setOnly the last writer of each attribute wins")
    func fold() {
        func object(_ number: UInt64, _ values: [Value], _ assigned: ColumnSet)
            -> SaveRequest.Inserted
        {
            .init(
                id: ObjectID(temporary: number, hierarchy: 1, context: Self.target.store),
                entity: 0,
                values: values, assigned: assigned)
        }
        let objects = [
            object(1, [.integer(1), .string("first"), .null, .string("default")], [0, 1]),
            object(
                2, [.integer(1), .string("second"), .string("b"), .string("default")], [0, 1, 2]),
            object(3, [.integer(1), .null, .string("ignored"), .null], [0, 1]),
        ]
        let kept = Rules.fold(objects, .keepFirst)
        #expect(kept.id == objects[0].id && kept.values == objects[0].values)
        #expect(kept.assigned == [0, 1])
        let folded = Rules.fold(objects, .foldAssigned)
        #expect(folded.id == objects[0].id)
        #expect(folded.values == [.integer(1), .null, .string("b"), .string("default")])
        #expect(folded.assigned == [0, 1, 2])
        #expect(Rules.fold([objects[1]], .foldAssigned).values == objects[1].values)
    }

    // MARK: (d) Semantics 2.4

    @Test(
        "2.4 (d): a changed object meets another row",
        arguments: zip(
            all,
            [
                .fail, .revert, .mergeIntoOther, .displaceOther, .revert,
            ] as [Rules.UpdatedObjectOutcome]))
    func updatedMeetsRow(policy: MergePolicyKind, outcome: Rules.UpdatedObjectOutcome) {
        #expect(Rules.updatedObjectMeetsRow(policy) == outcome)
    }

    @Test(
        "2.4 (d): a changed object meets several other rows",
        arguments: zip(
            all,
            [
                .fail, .revert, .fail, .displaceOther, .revert,
            ] as [Rules.UpdatedObjectOutcome]))
    func updatedMeetsRows(policy: MergePolicyKind, outcome: Rules.UpdatedObjectOutcome) {
        #expect(Rules.updatedObjectMeetsSeveralRows(policy) == outcome)
    }

    // MARK: (e) Semantics 2.8

    @Test(
        "2.8: a row of a batch meets a stored row",
        arguments: zip(
            all,
            [
                .skip, .skip, .update, .update, .skip,
            ] as [Rules.BatchRowRule]))
    func batchRow(policy: MergePolicyKind, rule: Rules.BatchRowRule) {
        #expect(Rules.batchRowMeetsRow(policy) == rule)
    }
}

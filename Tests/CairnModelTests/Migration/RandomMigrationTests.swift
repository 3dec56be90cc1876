// Random models that change at random: what holds of every plan.

import CairnTestSupport
import Testing

@testable import CairnModel

@Suite("Random migration plans")
struct RandomMigrationTests {
    @Test("A model has no change to itself, in whatever order it is said")
    func itself() throws {
        try Rounds.run("plans of a model and itself", everyDay: 60, whole: 100_000) { random in
            let model = RandomModel(&random).model
            let plan = try ModelMigrationPlan(
                from: model, to: RandomModel.shuffled(model, &random))
            #expect(plan.changes.isEmpty, "\(plan.changes)")
            #expect(plan.hasSameVersion && plan.cost == .nothing && plan.droppedEntities.isEmpty)
            for entity in plan.entities {
                #expect(entity.source == entity.name && entity.droppedColumns.isEmpty)
                #expect(
                    entity.columns.allSatisfy { $0.origin == .column($0.name) && $0.keepsValues })
            }
            #expect(plan.pairs.allSatisfy { $0.kept != nil })
            #expect(plan.constraints.allSatisfy { !$0.mayFail })
            #expect(plan.hierarchies.allSatisfy { !$0.isSplitOff && $0.source != nil })
        }
    }

    @Test("Renamings are followed there and back, those in circles too, and cost metadata only")
    func renamings() throws {
        try Rounds.run("plans of renamings", everyDay: 50, whole: 100_000) { random in
            let old = RandomModel(&random)
            var new = old
            new.rename(&random)
            let there = try ModelMigrationPlan(from: old.model, to: new.model)
            let back = try ModelMigrationPlan(from: new.model, to: old.model)
            for plan in [there, back] {
                #expect(plan.changes.allSatisfy { $0.action == .renamed }, "\(plan.changes)")
                #expect(plan.inferability == .yes && plan.cost <= .metadata)
                #expect(plan.pairs.allSatisfy { $0.kept != nil })
                #expect(plan.constraints.allSatisfy { $0.source != nil || !$0.mayFail })
            }
            #expect(there.changes.count == back.changes.count)
            // Properties that are alike and change names leave the hashes as they are; other renamings do not.
            let fresh = there.changes.contains { ($0.property ?? $0.entity).hasSuffix("new") }
            if fresh || there.changes.isEmpty { #expect(there.hasSameVersion != fresh) }
            for entity in there.entities {
                let origin = try #require(entity.source)
                #expect(back.entity(named: origin)?.source == entity.name)
                for column in entity.columns {
                    guard case .column(let name) = column.origin, column.keepsValues else {
                        Issue.record("\(column) is not kept")
                        continue
                    }
                    let again = back.entity(named: origin)?.columns.first { $0.name == name }
                    #expect(again?.origin == .column(column.name))
                }
            }
            // A later version that says the first names still is the same as the second.
            let none = try ModelMigrationPlan(from: new.model, to: new.model)
            #expect(none.changes.isEmpty)
        }
    }

    @Test(
        "Whatever changes, the orders of the models mean nothing, and each old column is used once or dropped"
    )
    func changes() throws {
        try Rounds.run("plans of random changes", everyDay: 70, whole: 200_000) { random in
            let old = RandomModel(&random)
            var new = old
            if random.oneIn(2) { new.rename(&random) }
            for _ in 0..<Int.random(in: 1...4, using: &random) { new.change(&random) }
            // Some changes contradict each other; such a model is none.
            guard (try? Schema(new.model)) != nil, (try? Schema(old.model)) != nil else { return }
            let plan = try ModelMigrationPlan(from: old.model, to: new.model)
            let turned = try ModelMigrationPlan(
                from: RandomModel.shuffled(old.model, &random),
                to: RandomModel.shuffled(new.model, &random))
            #expect(plan.changes == turned.changes)
            #expect(plan.conclusion == turned.conclusion)
            #expect(plan.inferability == turned.inferability)
            for entity in plan.entities {
                let other = try #require(turned.entity(named: entity.name))
                #expect(Set(entity.columns.map(Self.words)) == Set(other.columns.map(Self.words)))
                #expect(Set(entity.droppedColumns) == Set(other.droppedColumns))
                guard let source = entity.source.flatMap({ plan.oldSchema.entity(named: $0) })
                else { continue }
                let used = entity.columns.compactMap(\.sourceIndex)
                #expect(Set(used).count == used.count)
                #expect(
                    Set(used.map { source.columns[$0].name }).union(entity.droppedColumns)
                        == Set(source.columns.map(\.name)))
                for column in entity.columns where column.origin == .initial {
                    let described = plan.newSchema.entity(named: entity.name)?
                        .columnIndex(named: column.name)
                    #expect(described != nil)
                }
            }
            for change in plan.changes {
                #expect((change.inferability == .no) == (change.cost == .mapping))
                #expect((change.reason == nil) == (change.inferability == .yes), "\(change)")
            }
            if plan.changes.allSatisfy({ $0.cost == .nothing }) { #expect(plan.hasSameVersion) }
            // A plan knows as many constraints as the schema.
            let declared = plan.newSchema.entities.reduce(0) { sum, entity in
                sum + entity.constraints.count { $0.declaringEntity == entity.index }
            }
            #expect(plan.constraints.count == declared)
        }
    }

    /// A column's plan without what depends on orders.
    private static func words(_ column: ColumnMigration) -> String {
        "\(column.name) \(column.origin) \(column.conversion.map(\.rawValue) ?? "") "
            + "\(column.initialValue) \(column.nilValue)"
    }
}

// Entities that move in the hierarchy, and properties that move with them or without.

import Testing

@testable import CairnModel

@Suite("Migration plans of hierarchies")
struct HierarchyMigrationTests {
    private static func entity(_ name: String, _ parent: String? = nil, _ attributes: String...)
        -> EntityDescription
    {
        var entity = EntityDescription(
            name, attributes: attributes.map { .init($0, .string) })
        entity.superentityName = parent
        return entity
    }

    private static func plan(_ old: [EntityDescription], _ new: [EntityDescription]) throws
        -> ModelMigrationPlan
    {
        let plan = try ModelMigrationPlan(
            from: ManagedObjectModel(entities: old), to: ManagedObjectModel(entities: new))
        let turned = try ModelMigrationPlan(
            from: ManagedObjectModel(entities: old.reversed()),
            to: ManagedObjectModel(entities: new.reversed()))
        #expect(plan.changes == turned.changes)
        return plan
    }

    @Test("A root gets a new parent: nothing but metadata, and the same number space")
    func parent() throws {
        let plan = try Self.plan(
            [Self.entity("Car", nil, "name", "doors")],
            [Self.entity("Vehicle", nil, "name"), Self.entity("Car", "Vehicle", "doors")])
        #expect(
            plan.changes.map(\.description) == [
                "Car: parent changed from nothing to Vehicle", "Vehicle: new",
                "Vehicle.name: attribute moved here from Car",
            ])
        #expect(plan.cost == .metadata && plan.inferability == .yes)
        #expect(plan.hierarchies == [.init(root: 0, source: 0, isSplitOff: false)])
        #expect(plan.entities[1].columns.map(\.origin) == [.column("name"), .column("doors")])
    }

    @Test("An attribute of several entities moves up into one, and down again")
    func upAndDown() throws {
        let low = [
            Self.entity("Base"), Self.entity("A", "Base", "x"), Self.entity("B", "Base", "x"),
        ]
        let high = [
            Self.entity("Base", nil, "x"), Self.entity("A", "Base"), Self.entity("B", "Base"),
        ]
        let up = try Self.plan(low, high)
        #expect(
            up.changes.map(\.description) == [
                "Base.x: attribute added to Base: string", "Base.x: attribute moved here from A",
                "Base.x: attribute moved here from B",
            ])
        #expect(up.entities.map { $0.columns[0].origin } == [.initial, .column("x"), .column("x")])
        let down = try Self.plan(high, low)
        #expect(
            down.changes.map(\.description) == [
                "A.x: attribute moved here from Base", "B.x: attribute moved here from Base",
                "Base.x: attribute removed from Base",
            ])
        #expect(down.inferability == .yes && down.cost == .metadata)
        #expect(down.entities[0].droppedColumns == ["x"] && down.entities[1].droppedColumns.isEmpty)
    }

    @Test("What is abstract neither lacks an attribute nor loses one")
    func abstract() throws {
        var base = Self.entity("Base")
        base.isAbstract = true
        var whole = Self.entity("Base", nil, "x")
        whole.isAbstract = true
        let (low, high) = (
            [base, Self.entity("A", "Base", "x")], [whole, Self.entity("A", "Base")]
        )
        #expect(
            try Self.plan(low, high).changes.map(\.description) == [
                "Base.x: attribute moved here from A"
            ])
        #expect(
            try Self.plan(high, low).changes.map(\.description) == [
                "A.x: attribute moved here from Base"
            ])
    }

    @Test("A required attribute that moves up needs a value for those that lack it")
    func required() throws {
        var low = [Self.entity("Base"), Self.entity("A", "Base", "x")]
        var high = [Self.entity("Base", nil, "x"), Self.entity("A", "Base")]
        low[1].attributes[0].isOptional = false
        high[0].attributes[0].isOptional = false
        let plan = try Self.plan(low, high)
        #expect(plan.inferability == .no && plan.conclusion == "needs a mapping for Base.x")
        low[0].isAbstract = true
        high[0].isAbstract = true
        #expect(try Self.plan(low, high).inferability == .yes)
    }

    @Test("Two hierarchies do not become one")
    func merged() throws {
        let plan = try Self.plan(
            [Self.entity("A", nil, "x"), Self.entity("B", nil, "x")],
            [Self.entity("Base", nil, "x"), Self.entity("A", "Base"), Self.entity("B", "Base")])
        #expect(plan.inferability == .no)
        let no = plan.changes.filter { $0.inferability == .no }
        #expect(
            no.map(\.description) == [
                "B: parent changed from nothing to Base "
                    + "(no: its objects would join the hierarchy of A)"
            ])
        // What is below moves with it, and is not told.
        let deep = try Self.plan(
            [Self.entity("A"), Self.entity("B"), Self.entity("C", "B")],
            [Self.entity("A"), Self.entity("B", "A"), Self.entity("C", "B")])
        #expect(deep.changes.map(\.place) == ["B"] && deep.inferability == .no)
    }

    @Test("A hierarchy falls apart, and one part keeps the number space")
    func split() throws {
        let plan = try Self.plan(
            [
                Self.entity("Region", nil, "x"), Self.entity("A", "Region"),
                Self.entity("B", "Region"),
            ],
            [Self.entity("A", nil, "x"), Self.entity("B", nil, "x")])
        #expect(plan.inferability == .yes && plan.cost == .rowPass)
        #expect(plan.hierarchies.map(\.isSplitOff) == [false, true])
        #expect(
            plan.changes.map(\.description) == [
                "A: parent changed from Region to nothing",
                "A.x: attribute moved here from Region",
                "B: parent changed from Region to nothing",
                "B.x: attribute moved here from Region", "Region: removed",
            ])
        #expect(plan.entities.allSatisfy { $0.columns.allSatisfy(\.keepsValues) })
    }

    @Test("A constraint over more entities than before may fail, over fewer it cannot")
    func constraints() throws {
        var low = [
            Self.entity("Base"), Self.entity("A", "Base", "x"), Self.entity("B", "Base", "x"),
        ]
        var high = [
            Self.entity("Base", nil, "x"), Self.entity("A", "Base"), Self.entity("B", "Base"),
        ]
        low[1].uniquenessConstraints = [["x"]]
        low[2].uniquenessConstraints = [["x"]]
        high[0].uniquenessConstraints = [["x"]]
        let up = try Self.plan(low, high)
        let constraints = up.changes.filter { $0.subject == .constraint }
        #expect(
            constraints.map(\.description) == [
                "Base(x): constraint changed: applies to different objects "
                    + "(if no duplicates: no two objects may have the same (x))"
            ])
        let down = try Self.plan(high, low)
        #expect(down.inferability == .yes && down.cost == .keyPass)
        #expect(down.constraints.map(\.mayFail) == [false, false])
    }

    @Test("A constraint of an abstract entity without heirs is no change to itself")
    func abstractConstraint() throws {
        var base = Self.entity("Base", nil, "x")
        base.isAbstract = true
        base.uniquenessConstraints = [["x"]]
        #expect(try Self.plan([base], [base]).changes.isEmpty)
    }

    @Test("Pairs of a relationship that moves up come from all that had it")
    func pairs() throws {
        func many(_ entity: EntityDescription) -> EntityDescription {
            var entity = entity
            entity.relationships = [.init("tags", to: "Tag", toMany: true)]
            return entity
        }
        let low = [
            Self.entity("Base"), many(Self.entity("A", "Base")), many(Self.entity("B", "Base")),
            Self.entity("Tag"),
        ]
        let high = [
            many(Self.entity("Base")), Self.entity("A", "Base"), Self.entity("B", "Base"),
            Self.entity("Tag"),
        ]
        let up = try Self.plan(low, high)
        #expect(up.pairs.map(\.kept) == [nil] && up.pairs[0].origins.count == 2)
        let down = try Self.plan(high, low)
        // The rows of one cannot be those of two.
        #expect(down.pairs.map(\.kept) == [nil, nil])
        #expect(down.inferability == .yes)
    }
}

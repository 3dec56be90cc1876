// What is said of the changes between two versions of a model, one at a time.

import Foundation
import Testing

@testable import CairnModel

@Suite("Migration plans")
struct ModelMigrationPlanTests {
    /// People and things, the names of which are told in the changes below.
    private static let model: ManagedObjectModel = {
        var thing = EntityDescription(
            "Thing",
            attributes: [
                .init("name", .string),
                .init("code", .integer32, optional: false, default: .integer(0)),
                .init("weight", .float), .init("url", .uri),
            ],
            relationships: [
                .init("owner", to: "Person", inverse: "things"),
                .init("tags", to: "Tag", toMany: true, inverse: "things"),
            ], uniquenessConstraints: [["code"]])
        thing.indexes = [.init("byName", elements: [.init("name")])]
        var tool = EntityDescription("Tool", attributes: [.init("power", .integer16)])
        tool.superentityName = "Thing"
        return ManagedObjectModel(entities: [
            thing, tool,
            EntityDescription(
                "Person", attributes: [.init("name", .string)],
                relationships: [.init("things", to: "Thing", toMany: true, inverse: "owner")]),
            EntityDescription(
                "Tag", attributes: [.init("name", .string)],
                relationships: [.init("things", to: "Thing", toMany: true, inverse: "tags")]),
        ])
    }()

    private static func plan(_ change: (inout [String: EntityDescription]) -> Void) throws
        -> ModelMigrationPlan
    {
        var entities = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0) })
        change(&entities)
        let changed = ManagedObjectModel(entities: entities.sorted { $0.key < $1.key }.map(\.value))
        return try ModelMigrationPlan(from: model, to: changed)
    }

    /// One change, and what is said of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let cost: MigrationCost
        let change: @Sendable (inout [String: EntityDescription]) -> Void

        init(
            _ description: String, _ cost: MigrationCost,
            _ change: @escaping @Sendable (inout [String: EntityDescription]) -> Void
        ) {
            testDescription = description
            self.cost = cost
            self.change = change
        }
    }

    private static let cases: [Case] = [
        Case("Place: new", .metadata) { $0["Place"] = EntityDescription("Place") },
        Case("Tool: removed", .keyPass) { $0["Tool"] = nil },
        Case("Gadget: renamed from Tool", .metadata) {
            $0["Tool"]?.name = "Gadget"
            $0["Tool"]?.renamingIdentifier = "Tool"
        },
        Case("Tool: now abstract (no: its own objects would have no entity)", .mapping) {
            $0["Tool"]?.isAbstract = true
        },
        Case("Tool: hash modifier changed to 2", .metadata) {
            $0["Tool"]?.versionHashModifier = "2"
        },
        Case("Tag.colour: attribute added: string", .metadata) {
            $0["Tag"]?.attributes.append(.init("colour", .string))
        },
        Case("Tag.rank: attribute added: integer16, required, default 3", .metadata) {
            $0["Tag"]?.attributes.append(
                .init("rank", .integer16, optional: false, default: .integer(3)))
        },
        Case(
            "Tag.rank: attribute added: integer16, required (no: it is required, but stored objects have no value: make it optional, give it a constant default (a computed one, like UUID(), only applies to new objects), or set it in a mapping or migration stage)",
            .mapping
        ) { $0["Tag"]?.attributes.append(.init("rank", .integer16, optional: false)) },
        Case("Tag.size: attribute added: integer64, derived from things.@count", .columnPass) {
            var size = AttributeDescription("size", .integer64)
            size.derivationExpression = "things.@count"
            $0["Tag"]?.attributes.append(size)
        },
        Case("Tag.cache: attribute added: undefined, transient", .metadata) {
            var cache = AttributeDescription("cache", .undefined)
            cache.isTransient = true
            $0["Tag"]?.attributes.append(cache)
        },
        Case("Thing.url: attribute removed", .metadata) { $0["Thing"]?.attributes.removeLast() },
        Case("Thing.address: attribute renamed from url", .metadata) {
            $0["Thing"]?.attributes[3].name = "address"
            $0["Thing"]?.attributes[3].renamingIdentifier = "url"
        },
        Case("Tool.power: attribute changed from integer16 to integer64", .metadata) {
            $0["Tool"]?.attributes[0].type = .integer64
        },
        Case("Thing.weight: attribute changed from float to double", .metadata) {
            $0["Thing"]?.attributes[2].type = .double
        },
        Case(
            "Thing.url: attribute changed from uri to string (no: there is no conversion from uri to string)",
            .mapping
        ) { $0["Thing"]?.attributes[3].type = .string },
        Case("Thing.code: attribute now optional", .metadata) {
            $0["Thing"]?.attributes[1].isOptional = true
        },
        Case(
            "Tag.name: attribute now required (no: stored objects may have no value: make it optional, give it a constant default (a computed one, like UUID(), only applies to new objects), or set it in a mapping or migration stage)",
            .mapping
        ) { $0["Tag"]?.attributes[0].isOptional = false },
        Case("Thing.code: attribute default for new objects changed to 7", .metadata) {
            $0["Thing"]?.attributes[1].defaultValue = .integer(7)
        },
        Case(
            "Thing.name: attribute validation changed; stored values are not checked",
            .nothing
        ) { $0["Thing"]?.attributes[0].maximumLength = 9 },
        Case("Thing.url: attribute now transient", .metadata) {
            $0["Thing"]?.attributes[3].isTransient = true
        },
        Case(
            "Thing.owner: relationship now required (if none is missing: objects may have no target)",
            .keyPass
        ) {
            $0["Thing"]?.relationships[0].isOptional = false
        },
        Case("Person.things: relationship now required", .metadata) {
            $0["Person"]?.relationships[0].isOptional = false
        },
        Case("Person.things: relationship now ordered", .metadata) {
            $0["Person"]?.relationships[0].isOrdered = true
        },
        Case("Thing.owner: relationship delete rule changed from nullify to cascade", .metadata) {
            $0["Thing"]?.relationships[0].deleteRule = .cascade
        },
        Case(
            "Person.things: relationship now allows 1 to 5 members; stored ones are not checked",
            .metadata
        ) {
            $0["Person"]?.relationships[0].minimumCount = 1
            $0["Person"]?.relationships[0].maximumCount = 5
        },
        Case("Thing.owner: relationship changed from to-one to to-many", .columnPass) {
            $0["Thing"]?.relationships[0].isToMany = true
            $0["Thing"]?.relationships[0].maximumCount = 0
        },
        Case("Tag.things: relationship changed from to-many to to-one", .columnPass) {
            $0["Tag"]?.relationships[0].isToMany = false
            $0["Tag"]?.relationships[0].maximumCount = 1
        },
        Case("Tag.friends: relationship added: to many Person", .metadata) {
            $0["Tag"]?.relationships.append(.init("friends", to: "Person", toMany: true))
        },
        Case("Tag.friend: relationship added: to one Person", .metadata) {
            $0["Tag"]?.relationships.append(.init("friend", to: "Person"))
        },
        Case(
            "Tag.friend: relationship added: to one Person, required (no: it is required, but objects have no target)",
            .mapping
        ) {
            var friend = RelationshipDescription("friend", to: "Person")
            friend.isOptional = false
            $0["Tag"]?.relationships.append(friend)
        },
        Case("Thing(code): constraint removed", .metadata) {
            $0["Thing"]?.uniquenessConstraints = []
        },
        Case(
            "Person(name): constraint added (if no duplicates: no two objects may have the same (name))",
            .keyPass
        ) { $0["Person"]?.uniquenessConstraints = [["name"]] },
        Case("Thing(code, name): constraint added: it follows from the old one of (code)", .keyPass)
        {
            $0["Thing"]?.uniquenessConstraints = [["code"], ["name", "code"]]
        },
        Case("Person, index byName: index added", .keyPass) {
            $0["Person"]?.indexes = [.init("byName", elements: [.init("name")])]
        },
        Case("Thing, index byName: index removed", .nothing) { $0["Thing"]?.indexes = [] },
    ]

    @Test("A single change is told in words, with its cost", arguments: cases)
    func single(_ expected: Case) throws {
        let plan = try Self.plan(expected.change)
        // A change of entities, and of one end of a relationship, is one of the other end as well.
        #expect(plan.changes.map(\.description) == [expected.testDescription])
        #expect(plan.cost == expected.cost)
        let worst = plan.changes.map(\.inferability).max()
        #expect(plan.inferability == worst)
        #expect((plan.changes.first?.reason == nil) == (plan.inferability == .yes))
    }

    @Test("What Core Data would want a mapping for, and what is lost, is marked")
    func marks() throws {
        let widened = try Self.plan { $0["Tool"]?.attributes[0].type = .integer32 }
        #expect(widened.changes.map(\.isBeyondCoreData) == [true])
        let gone = try Self.plan {
            $0["Thing"]?.attributes.removeLast()
            $0["Tag"]?.attributes.append(.init("colour", .string))
        }
        #expect(gone.changes.map(\.loss) == [nil, "its values"])
        #expect(gone.changes.map(\.isBeyondCoreData) == [false, false])
        let ordered = try Self.plan {
            $0["Tag"]?.relationships[0].isToMany = false
            $0["Tag"]?.relationships[0].maximumCount = 1
        }
        #expect(ordered.changes.map(\.loss) == ["all members except the oldest"])
    }

    @Test("The last line says what it comes to")
    func conclusions() throws {
        #expect(
            try Self.plan { _ in }.conclusion == "no difference requires a migration"
        )
        let limits = try Self.plan { $0["Thing"]?.attributes[0].maximumLength = 9 }
        #expect(limits.conclusion == "no difference affects stored data" && limits.hasSameVersion)
        let standard = try Self.plan { $0["Thing"]?.attributes[1].defaultValue = .integer(7) }
        #expect(standard.conclusion == "can be inferred, and the version stays the same")
        let added = try Self.plan { $0["Tag"]?.attributes.append(.init("colour", .string)) }
        #expect(added.conclusion == "can be inferred: metadata only" && !added.hasSameVersion)
        let unique = try Self.plan { $0["Person"]?.uniquenessConstraints = [["name"]] }
        #expect(unique.conclusion == "can be inferred if there are no duplicates of Person(name)")
        let missing = try Self.plan { $0["Thing"]?.relationships[0].isOptional = false }
        #expect(missing.conclusion == "can be inferred if every object has Thing.owner")
        let mapped = try Self.plan {
            $0["Thing"]?.attributes[3].type = .string
            $0["Thing"]?.attributes[2].type = .string
            $0["Person"]?.uniquenessConstraints = [["name"]]
        }
        #expect(mapped.conclusion == "needs a mapping for Thing.url and Thing.weight")
        #expect(mapped.inferability == .no && mapped.cost == .mapping)
    }

    @Test(
        "Two alike that change names are renamed, but only a hash modifier makes that another version"
    )
    func swap() throws {
        func swapped(_ modifier: String?) throws -> ModelMigrationPlan {
            var old = EntityDescription(
                "A", attributes: [.init("x", .string), .init("y", .string)])
            let model = ManagedObjectModel(entities: [old])
            old.attributes[0].renamingIdentifier = "y"
            old.attributes[1].renamingIdentifier = "x"
            old.versionHashModifier = modifier
            return try ModelMigrationPlan(from: model, to: ManagedObjectModel(entities: [old]))
        }
        let plan = try swapped(nil)
        #expect(
            plan.changes.map(\.description) == [
                "A.x: attribute renamed from y", "A.y: attribute renamed from x",
            ])
        #expect(plan.entities[0].columns.map(\.origin) == [.column("y"), .column("x")])
        #expect(plan.hasSameVersion)
        #expect(plan.conclusion == "can be inferred, and the version stays the same")
        #expect(try !swapped("2").hasSameVersion)
    }

    @Test("Two that say they were the same are no renaming")
    func rivals() throws {
        let plan = try Self.plan {
            $0["Tool"]?.attributes = [.init("force", .integer16), .init("might", .integer16)]
            $0["Tool"]?.attributes[0].renamingIdentifier = "power"
            $0["Tool"]?.attributes[1].renamingIdentifier = "power"
        }
        #expect(
            plan.changes.map(\.description) == [
                "Tool.force: attribute renamed from power",
                "Tool.might: attribute added, although its renaming identifier is power "
                    + "(no: another attribute has the same renaming identifier)",
            ])
    }

    // MARK: Columns

    @Test("Columns come from where they were, with conversions, initial and nil values")
    func columns() throws {
        let plan = try Self.plan {
            $0["Thing"]?.attributes = [
                .init("title", .string, optional: false, default: .string("-")),
                .init("code", .integer64, optional: false), .init("weight", .double),
                .init("size", .integer16, default: .integer(4)),
            ]
            $0["Thing"]?.attributes[0].renamingIdentifier = "name"
            $0["Thing"]?.indexes = []
        }
        let tool = try #require(plan.entity(named: "Tool"))
        #expect(tool.source == "Tool" && tool.droppedColumns == ["url"])
        func column(_ name: String) throws -> ColumnMigration {
            try #require(tool.columns.first { $0.name == name })
        }
        #expect(try column("title").origin == .column("name"))
        #expect(try column("title").nilValue == .string("-"))
        #expect(try column("code").conversion == .widenedInteger)
        #expect(try column("weight").conversion == .floatToDouble)
        #expect(try column("size").origin == .initial)
        #expect(try column("size").initialValue == .integer(4))
        #expect(try column("power").keepsValues && column("owner").keepsValues)
        // Its key is another one now: the index has to be made anew, and cannot fail.
        let change = try #require(plan.changes.first { $0.subject == .constraint })
        #expect(change.inferability == .yes && change.cost == .keyPass)
        #expect(plan.constraints.map(\.mayFail) == [false] && plan.constraints[0].source == nil)
        #expect(ValueConversion.floatToDouble.convert(.float(0.5)) == .double(0.5))
        #expect(ValueConversion.widenedInteger.convert(.integer(5)) == .integer(5))
        #expect(ValueConversion.floatToDouble.convert(.null) == .null)
        #expect(ValueConversion.booleanToInteger.convert(.boolean(true)) == .integer(1))
        #expect(ValueConversion(from: .integer32, to: .integer16) == nil)
        #expect(ValueConversion(from: .integer16, to: .boolean) == nil)
    }

    @Test("A constraint over values that become a default may fail, and one over nothing cannot")
    func defaultedKeys() throws {
        let same = try Self.plan {
            $0["Person"]?.attributes[0].isOptional = false
            $0["Person"]?.attributes[0].defaultValue = .string("nobody")
            $0["Person"]?.uniquenessConstraints = [["name"]]
        }
        let change = try #require(same.changes.first { $0.subject == .constraint })
        #expect(change.inferability == .ifNoDuplicates)
        #expect(change.reason?.contains("the default") == true)
        let fresh = try Self.plan {
            $0["Person"]?.attributes.append(.init("number", .integer32))
            $0["Person"]?.uniquenessConstraints = [["number"]]
        }
        #expect(fresh.inferability == .yes && fresh.cost == .metadata)
        let defaulted = try Self.plan {
            $0["Person"]?.attributes.append(.init("number", .integer32, default: .integer(1)))
            $0["Person"]?.uniquenessConstraints = [["number"]]
        }
        #expect(defaulted.inferability == .ifNoDuplicates)
        // With nil as a value, two objects without one are the same.
        let nils = try Self.plan {
            $0["Person"]?.attributes.append(.init("number", .integer32))
            $0["Person"]?.uniquenessRules = [UniquenessRule(["number"], nilsAreEqual: true)]
        }
        #expect(nils.inferability == .ifNoDuplicates)
    }

    @Test("A constraint that is renamed with its attribute is the same one")
    func renamedKey() throws {
        let plan = try Self.plan {
            $0["Thing"]?.attributes[1].name = "number"
            $0["Thing"]?.attributes[1].renamingIdentifier = "code"
            $0["Thing"]?.uniquenessConstraints = [["number"]]
        }
        #expect(plan.changes.map(\.action) == [.renamed] && plan.cost == .metadata)
        #expect(plan.constraints[0].source == .init(entity: 0, constraint: 0))
    }

    // MARK: Relationships

    @Test("A to-one that becomes to-many makes pairs of its column, and back")
    func numbers() throws {
        let plan = try Self.plan {
            $0["Thing"]?.relationships[0].isToMany = true
            $0["Thing"]?.relationships[0].maximumCount = 0
        }
        let pairs = try #require(
            zip(plan.newSchema.pairs, plan.pairs).first { $0.1.kept == nil }?.1)
        #expect(pairs.origins.count == 1)
        let column = try #require(
            plan.oldSchema.entity(named: "Thing")?.columnIndex(named: "owner"))
        #expect(pairs.origins[0].form == .column(entity: 0, column: column))
        #expect(plan.entity(named: "Tool")?.droppedColumns == ["owner"])
        // The other relationship of Thing keeps its pairs, whatever side they begin at.
        #expect(plan.pairs.count { $0.kept == 0 } == 1)
        let back = ModelMigrationPlan(from: plan.newSchema, to: plan.oldSchema)
        let owner = try #require(back.entity(named: "Tool")?.columns.first { $0.name == "owner" })
        #expect(owner.origin == .links && owner.links.count == 1)
        #expect(back.inferability == .yes && back.cost == .columnPass)
    }

    @Test("Pairs that begin at the other side are turned")
    func turned() throws {
        var other = Self.model
        other.entities.reverse()
        let plan = try ModelMigrationPlan(from: Self.model, to: other)
        #expect(plan.changes.isEmpty)
        #expect(
            plan.pairs == [PairsMigration(origins: plan.pairs[0].origins, kept: 0, isTurned: true)])
        let same = try ModelMigrationPlan(from: Self.model, to: Self.model)
        #expect(same.pairs.map(\.isTurned) == [false] && same.pairs.map(\.kept) == [0])
    }

    @Test(
        "A relationship to what was another entity needs a mapping, one to its new parent does not")
    func destinations() throws {
        let other = try Self.plan {
            $0["Person"] = nil
            $0["Human"] = EntityDescription(
                "Human",
                relationships: [.init("things", to: "Thing", toMany: true, inverse: "owner")])
            $0["Thing"]?.relationships[0].destinationEntityName = "Human"
        }
        let change = try #require(other.changes.first { $0.inferability == .no })
        #expect(
            change.place == "Thing.owner" && other.conclusion == "needs a mapping for Thing.owner")
        let parent = try Self.plan {
            $0["Being"] = EntityDescription(
                "Being",
                relationships: [.init("things", to: "Thing", toMany: true, inverse: "owner")])
            $0["Person"]?.superentityName = "Being"
            $0["Person"]?.relationships = []
            $0["Thing"]?.relationships[0].destinationEntityName = "Being"
        }
        #expect(parent.inferability == .yes && parent.cost == .metadata, "\(parent.changes)")
        #expect(parent.changes.contains { $0.isBeyondCoreData && $0.place == "Thing.owner" })
        #expect(parent.changes.contains { $0.action == .moved && $0.place == "Being.things" })
    }

    @Test("Relationships that become each other's inverse, and were not, need a mapping")
    func strangers() throws {
        let old = ManagedObjectModel(entities: [
            EntityDescription("A", relationships: [.init("b", to: "B")]),
            EntityDescription("B", relationships: [.init("a", to: "A")]),
        ])
        var new = old
        new.entities[0].relationships[0].inverseName = "a"
        new.entities[1].relationships[0].inverseName = "b"
        let plan = try ModelMigrationPlan(from: old, to: new)
        #expect(plan.changes.map(\.place) == ["A.b", "B.a"] && plan.inferability == .no)
        let back = try ModelMigrationPlan(from: new, to: old)
        #expect(back.inferability == .yes)
    }

    @Test("Where both ends are to-one now, the plan says who may lose his target")
    func matched() throws {
        func model(_ isMany: Bool, isOptional: Bool) -> ManagedObjectModel {
            var employer = RelationshipDescription("employer", to: "B", inverse: "a")
            employer.isOptional = isOptional
            return ManagedObjectModel(entities: [
                EntityDescription("A", relationships: [employer]),
                EntityDescription(
                    "B",
                    relationships: [.init("a", to: "A", toMany: isMany, inverse: "employer")]),
            ])
        }
        for isOptional in [true, false] {
            let (many, one) = (
                model(true, isOptional: isOptional), model(false, isOptional: isOptional)
            )
            let plan = try ModelMigrationPlan(from: many, to: one)
            #expect(plan.changes.map(\.place) == ["A.employer", "B.a"])
            #expect(plan.changes.allSatisfy { $0.loss != nil })
            #expect(plan.cost == .columnPass)
            #expect(plan.inferability == (isOptional ? .yes : .ifNoneMissing))
            // One that they had before is what it was.
            var renamed = one
            renamed.entities[1].relationships[0].name = "staff"
            renamed.entities[1].relationships[0].renamingIdentifier = "a"
            renamed.entities[0].relationships[0].inverseName = "staff"
            let same = try ModelMigrationPlan(from: one, to: renamed)
            #expect(same.cost == .metadata && same.changes.allSatisfy { $0.loss == nil })
        }
    }

    @Test("An inverse that is added to a relationship kept as pairs is filled from them")
    func inverseAdded() throws {
        let old = ManagedObjectModel(entities: [
            EntityDescription("A", relationships: [.init("bs", to: "B", toMany: true)]),
            EntityDescription("B"),
        ])
        var new = old
        new.entities[0].relationships[0].inverseName = "a"
        new.entities[1].relationships = [.init("a", to: "A", inverse: "bs")]
        let plan = try ModelMigrationPlan(from: old, to: new)
        #expect(plan.inferability == .yes && plan.cost == .columnPass)
        #expect(plan.entities[1].columns[0].origin == .links)
        new.entities[1].relationships[0].isOptional = false
        #expect(try ModelMigrationPlan(from: old, to: new).inferability == .ifNoneMissing)
        // Taken away again, nothing is lost.
        let back = try ModelMigrationPlan(from: new, to: old)
        #expect(back.inferability == .yes && back.changes.allSatisfy { $0.loss == nil })
        #expect(back.pairs[0].origins.count == 1 && back.pairs[0].kept == nil)
    }
}

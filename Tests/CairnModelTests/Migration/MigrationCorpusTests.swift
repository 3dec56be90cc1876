// Whether real apps' steps from one version of a model to the next are judged as Core Data judges them.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnModel

@Suite("Steps between versions of real models", .enabled(if: Corpus.isAvailable))
struct MigrationCorpusTests {
    private struct Step {
        let from: String
        let to: String
        let inferable: String
        let reasons: [String]
        let plan: ModelMigrationPlan
    }

    /// The steps of today, which all tests share: plans of large models take a tenth of a second each.
    private static let made = Result { () throws -> [Step] in
        var random = RandomSource("steps between versions")
        var models: [String: ManagedObjectModel] = [:]
        func model(_ file: String) throws -> ManagedObjectModel {
            if let model = models[file] { return model }
            let model = try Self.model(file)
            models[file] = model
            return model
        }
        return try CorpusStep.sample(CorpusStep.all(), oneIn: 4, using: &random).map { step in
            Step(
                from: step.from, to: step.to, inferable: step.inferable, reasons: step.reasons,
                plan: try ModelMigrationPlan(from: model(step.from), to: model(step.to)))
        }
    }

    private static func steps() throws -> [Step] { try made.get() }

    private static func model(_ file: String) throws -> ManagedObjectModel {
        try ManagedObjectModel(contentsOf: CorpusStep.url(file))
    }

    @Test("The 101 steps are judged as the list has it")
    func verdicts() throws {
        Corpus.noteUse()
        #expect(try CorpusStep.all().count == 101)
        let steps = try Self.steps()
        for step in steps {
            let expected: Inferability
            switch step.inferable {
            case "yes", "yes (app maps values itself)": expected = .yes
            case "no" where step.to == Self.moody:
                // The list asks for values that both entities have: their parent goes, and they inherited them from it.
                // That an entity leaves its hierarchy and takes along what it inherited Core Data's documentation allows.
                expected = .yes
                #expect(step.plan.cost == .rowPass)
            case "no": expected = .no
            case "if no duplicates": expected = .ifNoDuplicates
            case "same":
                expected = .yes
                #expect(step.plan.hasSameVersion && step.plan.cost <= .nothing, "\(step.to)")
            case "unsure (integer width)":
                // A widened integer loses nothing, whatever Core Data does: the app shipped it without a mapping.
                expected = .yes
                #expect(step.plan.changes.contains { $0.isBeyondCoreData }, "\(step.to)")
            default: throw UnknownVerdict(text: step.inferable)
            }
            let reasons = step.plan.changes.filter { $0.inferability == step.plan.inferability }
            #expect(
                step.plan.inferability == expected,
                "\(step.from) to \(step.to): \(reasons.map(\.description))")
            if step.inferable != "same" {
                #expect(!step.plan.hasSameVersion && !step.plan.changes.isEmpty, "\(step.to)")
            }
        }
    }

    /// Two entities leave the hierarchy of a parent that goes.
    private static let moody = "objcio+core-data__Moody__Moody_4.xml"

    private struct UnknownVerdict: Error { let text: String }

    @Test("What the list gives as a reason is one here, at the same place")
    func reasons() throws {
        Corpus.noteUse()
        var seen = 0
        for step in try Self.steps() where step.inferable != "unsure (integer width)" {
            let no = Set(step.plan.changes.filter { $0.inferability == .no }.map(\.place))
            for reason in step.reasons {
                let parts = reason.components(separatedBy: ": ")
                let all = step.plan.changes.filter {
                    $0.place.replacingOccurrences(of: ", ", with: ",") == parts.last
                }
                switch parts[0] {
                case "required attribute without default" where step.to == Self.moody:
                    #expect(all.contains { $0.action == .moved && $0.loss == nil }, "\(reason)")
                case "attribute type changed", "required attribute without default",
                    "optional->required without default":
                    #expect(no.contains(parts[1]), "\(step.to): \(reason)")
                case "unique added (fails on duplicates)":
                    let change = try #require(all.first, "\(step.to): \(reason)")
                    #expect(change.subject == .constraint)
                    // One on an attribute as new as itself holds, for nobody has a value; and one that was inherited
                    // holds for a part of the objects if it held for all.
                    let holds =
                        change.words.contains("no object has such a key")
                        || step.to == Self.moody && change.words.contains("follows from")
                    #expect(
                        change.inferability == (holds ? .yes : .ifNoDuplicates),
                        "\(step.to): \(reason)")
                case "destination changed":
                    // One that leads to the new parent of what it led to keeps all its members: that needs no mapping.
                    #expect(
                        no.contains(parts[1]) || all.contains { $0.isBeyondCoreData },
                        "\(step.to): \(reason)")
                case "to-many->to-one":
                    // Core Data's documentation has it as inferable ("and vice versa"); the loss is said.
                    #expect(all.contains { $0.loss != nil }, "\(step.to): \(reason)")
                case "hierarchy":
                    // An entity that leaves its hierarchy gets a number space of its own.
                    #expect(
                        step.plan.changes.contains { $0.subject == .entity && $0.action == .moved })
                default: Issue.record("unknown reason \(reason)")
                }
                seen += 1
            }
        }
        #expect(seen > (Campaign.isLong ? 20 : 0))
    }

    @Test("No step changes the model that it leads to, and each is known backwards")
    func directions() throws {
        Corpus.noteUse()
        var random = RandomSource()
        for step in Campaign.sample(try Self.steps(), oneIn: 4, using: &random) {
            for model in [step.plan.source, step.plan.destination] {
                let none = try ModelMigrationPlan(from: model, to: model)
                #expect(none.changes.isEmpty, "\(step.to): \(none.changes.map(\.description))")
                #expect(none.hasSameVersion && none.cost == .nothing)
            }
            // What was renamed on the way there is on the way back.
            let back = try ModelMigrationPlan(from: step.plan.destination, to: step.plan.source)
            func renamed(_ plan: ModelMigrationPlan) -> Int {
                plan.changes.count { $0.action == .renamed }
            }
            #expect(renamed(back) == renamed(step.plan), "\(step.to)")
        }
    }

    @Test(
        "B157: a renamed entity keeps its objects, and those of what it is part of; an index has other elements"
    )
    func luxuryCar() throws {
        Corpus.noteUse()
        let start = "alemar11+CoreDataPlus__SampleModel__SampleModel"
        let plan = try ModelMigrationPlan(
            from: Self.model(start + ".xml"), to: Self.model(start + "2.xml"))
        #expect(plan.inferability == .yes && !plan.hasSameVersion)
        #expect(plan.entity(named: "LuxuryCar")?.source == "ExpensiveSportCar")
        #expect(plan.droppedEntities.isEmpty)
        let cars = try #require(plan.entity(named: "LuxuryCar"))
        #expect(cars.columns.allSatisfy { $0.keepsValues })
        let places = plan.changes.filter { $0.subject == .index }.map(\.place)
        #expect(places.contains { $0.hasPrefix("Car, index ") }, "\(plan.changes)")
    }

    @Test(
        "B154: an unordered relationship becomes ordered without a mapping, and without a pass over anything"
    )
    func ordered() throws {
        Corpus.noteUse()
        let start = "woocommerce+woocommerce-ios__WooCommerce__Model_"
        let plan = try ModelMigrationPlan(
            from: Self.model(start + "30.xml"), to: Self.model(start + "31.xml"))
        let change = try #require(plan.changes.first { $0.words == "now ordered" })
        #expect(change.place == "Product.downloads" && change.inferability == .yes)
        #expect(plan.cost == .metadata)
    }
}

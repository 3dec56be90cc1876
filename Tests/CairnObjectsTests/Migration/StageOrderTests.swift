// The order in which stages put versions, and the steps between them.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnObjects

@Suite("Stages of a migration")
struct StageOrderTests {
    /// Versions of one entity.
    private static let models = (1...6).map { number in
        ManagedObjectModel(entities: [
            EntityDescription(
                "Thing", attributes: (0..<number).map { .init("a\($0)", .string) })
        ])
    }
    private static let references = models.map { ModelReference($0) }
    private static var sums: [String] { models.map(\.versionChecksum) }

    private static func custom(_ from: Int, _ to: Int) -> MigrationStage {
        .custom(
            CustomMigrationStage(
                currentModel: references[from], nextModel: references[to],
                label: "\(from) to \(to)"))
    }

    private static func light(_ numbers: Int...) -> MigrationStage {
        .lightweight(LightweightMigrationStage(numbers.map { sums[$0] }, label: "\(numbers)"))
    }

    private static func order(_ stages: [MigrationStage], to last: Int) throws(StoreError)
        -> StageOrder
    {
        try StageOrder(stages, models: references, to: models[last])
    }

    private static func steps(_ stages: [MigrationStage], _ first: Int, _ last: Int)
        throws(StoreError) -> [String]
    {
        try order(stages, to: last).steps(from: sums[first], to: sums[last]).map { step in
            let number = sums.firstIndex(of: step.model.versionChecksum) ?? -1
            return "\(number) \(step.stage == nil ? "inferred" : step.label)"
        }
    }

    @Test("Versions come in the order of the stages, and what is between two stages is inferred")
    func order() throws {
        let stages = [Self.light(0, 1), Self.custom(1, 2), Self.light(3, 4)]
        #expect(try Self.order(stages, to: 5).versions == Self.sums)
        #expect(
            try Self.steps(stages, 0, 5) == [
                "1 inferred", "2 1 to 2", "3 inferred", "4 inferred", "5 inferred",
            ])
        #expect(try Self.steps(stages, 2, 4) == ["3 inferred", "4 inferred"])
        #expect(try Self.steps(stages, 1, 2) == ["2 1 to 2"])
        #expect(try Self.steps(stages, 3, 3).isEmpty)
    }

    @Test("A later store, one of an unknown version, and stages that turn back are refused")
    func refusals() throws {
        let stages = [Self.light(0, 1), Self.custom(1, 2)]
        #expect(storeError { _ = try Self.steps(stages, 2, 1) }?.code.rawValue == 134_506)
        #expect(storeError { _ = try Self.steps(stages, 4, 2) }?.code.rawValue == 134_505)
        let back = storeError {
            _ = try Self.order([Self.light(0, 1, 2), Self.custom(2, 0)], to: 0)
        }
        #expect(back?.code == .invalidRequest)
        let still = storeError { _ = try Self.order([Self.custom(2, 2)], to: 2) }
        #expect(still?.code == .invalidRequest && still?.message.contains("2 to 2") == true)
    }

    @Test(
        "In a plan a stage may lead over versions between, and a store of one of them goes on from there"
    )
    func planned() throws {
        func steps(_ stages: [MigrationStage], _ first: Int, _ last: Int = 2) throws -> [String] {
            let order = try StageOrder(
                stages, models: Self.references, planned: Array(Self.sums.prefix(3)),
                to: Self.models[last])
            return try order.steps(from: Self.sums[first], to: Self.sums[last]).map { step in
                let number = Self.sums.firstIndex(of: step.model.versionChecksum) ?? -1
                return "\(number) \(step.stage == nil ? "inferred" : step.label)"
            }
        }
        for stage in [Self.custom(0, 2), Self.light(0, 2)] {
            let over = try steps([stage], 0)
            #expect(over.count == 1 && over[0].hasPrefix("2"))
            #expect(try steps([stage], 1) == ["2 inferred"])
            // It would lead too far.
            #expect(try steps([stage], 0, 1) == ["1 inferred"])
        }
        let both = [Self.custom(0, 2), Self.custom(1, 2)]
        #expect(try steps(both, 0) == ["2 0 to 2"])
        #expect(try steps(both, 1) == ["2 1 to 2"])
        #expect(try steps([Self.light(0, 1, 2)], 0) == ["1 inferred", "2 inferred"])
        #expect(try steps([], 0) == ["1 inferred", "2 inferred"])
        for wrong in [
            [Self.custom(2, 0)], [Self.custom(0, 4)], [Self.custom(0, 1), Self.custom(0, 2)],
        ] {
            #expect(storeError { _ = try steps(wrong, 0) }?.code == .invalidRequest)
        }
    }

    @Test("A version whose model nobody knows is told: 134504")
    func unknownModel() throws {
        let stage = LightweightMigrationStage([Self.sums[0], Self.sums[1], Self.sums[2]])
        let order = try StageOrder([.lightweight(stage)], models: [], to: Self.models[2])
        #expect(
            storeError { _ = try order.steps(from: Self.sums[0], to: Self.sums[2]) }?.code.rawValue
                == 134_504)
        // What lies behind the store is not needed.
        #expect(try order.steps(from: Self.sums[1], to: Self.sums[2]).count == 1)
    }

    @Test(
        "A reference gives the model of its checksum, also out of a folder of versions, and nothing else"
    )
    func references() throws {
        let model = Self.models[1]
        #expect(try ModelReference(model).resolvedModel() == model)
        let wrong = ModelReference(model, versionChecksum: Self.sums[2])
        #expect(storeError { _ = try wrong.resolvedModel() }?.code == .modelReferenceNotFound)
        try withTemporaryDirectory { folder in
            let path = folder.path("Shop.xcdatamodeld")
            let files = FileManager.default
            for number in 1...2 {
                let version = "\(path)/Shop\(number == 1 ? "" : " 2").xcdatamodel"
                try files.createDirectory(atPath: version, withIntermediateDirectories: true)
                let attributes = (0..<number).map {
                    "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"String\"/>"
                }
                try """
                <?xml version="1.0" encoding="UTF-8"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Thing">\(attributes.joined())</entity></model>
                """.write(toFile: version + "/contents", atomically: true, encoding: .utf8)
            }
            for number in 0..<2 {
                let reference = ModelReference(
                    contentsOf: URL(filePath: path), versionChecksum: Self.sums[number])
                #expect(try reference.resolvedModel().versionChecksum == Self.sums[number])
            }
            let none = ModelReference(contentsOfFile: path, versionChecksum: Self.sums[4])
            let error = storeError { _ = try none.resolvedModel() }
            #expect(error?.code == .modelReferenceNotFound && error?.context.path == path)
            let nowhere = ModelReference(
                contentsOfFile: path + "x", versionChecksum: Self.sums[0])
            #expect(storeError { _ = try nowhere.resolvedModel() }?.cause is ModelError)
        }
    }

    @Test("Versions of schemas are ordered by their numbers")
    func versions() {
        let versions = [
            Schema.Version(1, 0, 0), Schema.Version(1, 0, 2), Schema.Version(1, 1, 0),
            Schema.Version(2, 0, 0),
        ]
        #expect(versions.shuffled().sorted() == versions)
        #expect("\(Schema.Version(1, 10, 3))" == "1.10.3")
    }
}

// Models of real apps: all of them load, and hold what the corpus's own index says.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

/// One line of the index of the model corpus.
struct CorpusModel: Sendable, CustomTestStringConvertible {
    let file: String
    let entities: Int
    let attributes: Int
    let relationships: Int
    let features: [String: Int]
    let types: Set<String>
    let deleteRules: Set<String>

    var testDescription: String { file }

    static let all: [CorpusModel] = {
        guard Corpus.isAvailable,
            let text = try? String(
                contentsOf: Corpus.url("xcdatamodel/INDEX.tsv"), encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
                .map(String.init)
            var features: [String: Int] = [:]
            for feature in cells[9].split(separator: ",") {
                let parts = feature.split(separator: "=")
                features[String(parts[0])] = Int(parts[1])
            }
            return CorpusModel(
                file: cells[0], entities: Int(cells[6]) ?? -1, attributes: Int(cells[7]) ?? -1,
                relationships: Int(cells[8]) ?? -1, features: features,
                types: Set(cells[10].split(separator: ",").map(String.init)),
                deleteRules: Set(cells[11].split(separator: ",").map(String.init)))
        }
    }()

    /// Those that what takes long is tried with: every day some, in a campaign all.
    static let today: [CorpusModel] = {
        var random = RandomSource("models of real apps")
        return Campaign.sample(all, oneIn: 5, using: &random)
    }()

    func read() throws -> ModelFile {
        try ModelFile(contentsOf: Corpus.url("xcdatamodel/\(file)"))
    }
}

@Suite("Models of real apps", .enabled(if: Corpus.isAvailable))
struct CorpusModelTests {
    @Test("The corpus has 155 models")
    func count() {
        Corpus.noteUse()
        #expect(CorpusModel.all.count == 155)
    }

    @Test(
        "A model loads, makes a schema, and holds what the index counts", arguments: CorpusModel.all
    )
    func counts(_ expected: CorpusModel) throws {
        if expected.file == CorpusModel.all[0].file { Corpus.noteUse() }
        let file = try expected.read()
        #expect(file.warnings.isEmpty)
        let model = file.model
        let attributes =
            model.entities.flatMap(\.attributes) + model.composites.flatMap(\.elements)
        let relationships = model.entities.flatMap(\.relationships)
        #expect(model.entities.count == expected.entities)
        #expect(attributes.count == expected.attributes)
        #expect(relationships.count == expected.relationships)
        #expect(Self.features(of: file) == expected.features)
        #expect(Set(attributes.map { Self.name(of: $0.type) }) == expected.types)
        #expect(Set(relationships.map { Self.name(of: $0.deleteRule) }) == expected.deleteRules)
        #expect(file.schema.entities.count == expected.entities)
    }

    @Test("A model is the same after it was written as JSON and read", arguments: CorpusModel.today)
    func json(_ source: CorpusModel) throws {
        if source.file == CorpusModel.today[0].file { Corpus.noteUse() }
        let model = try source.read().model
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let first = try encoder.encode(model)
        let copy = try JSONDecoder().decode(ManagedObjectModel.self, from: first)
        #expect(copy == model)
        #expect(try encoder.encode(copy) == first)
    }

    private static func features(of file: ModelFile) -> [String: Int] {
        let model = file.model
        let entities = model.entities
        let attributes = entities.flatMap(\.attributes) + model.composites.flatMap(\.elements)
        let relationships = entities.flatMap(\.relationships)
        let constraints = entities.flatMap(\.uniquenessConstraints)
        let indexes = entities.flatMap(\.indexes)
        let fetched = entities.flatMap(\.fetchedProperties)
        var counts: [String: Int] = [:]
        counts["ordered"] = relationships.count { $0.isOrdered }
        counts["parent"] = entities.count { $0.superentityName != nil }
        counts["abstract"] = entities.count { $0.isAbstract }
        counts["fetchedProperty"] = fetched.count
        // The index counts the request inside a fetched property as well.
        counts["fetchRequest"] = model.fetchRequestTemplates.count + fetched.count
        counts["transient"] =
            attributes.count { $0.isTransient } + relationships.count { $0.isTransient }
        counts["transformable"] = attributes.count { $0.type == .transformable }
        counts["renaming"] =
            entities.count { $0.renamingIdentifier != nil }
            + attributes.count { $0.renamingIdentifier != nil }
            + relationships.count { $0.renamingIdentifier != nil }
        counts["regex"] = attributes.count { $0.regularExpression != nil }
        counts["minmax"] = attributes.count {
            $0.minimumValue != nil || $0.maximumValue != nil || $0.minimumLength != nil
                || $0.maximumLength != nil
        }
        counts["m2m"] = file.schema.entities.reduce(0) { sum, entity in
            sum
                + entity.relationships.count { relationship in
                    guard relationship.declaringEntity == entity.index,
                        relationship.description.isToMany, let inverse = relationship.inverse
                    else { return false }
                    let destination = file.schema.entities[relationship.destination]
                    return destination.relationships[inverse].description.isToMany
                }
        }
        counts["unique"] = constraints.count
        counts["compoundUnique"] = constraints.count { $0.count > 1 }
        counts["fetchIndex"] = indexes.count { $0.form == .fetchIndex }
        counts["compoundIndexes"] = indexes.count { $0.form == .compoundIndex }
        counts["noInverse"] = relationships.count { $0.inverseName == nil }
        // Composites, and attributes that are made of one.
        counts["composite"] =
            model.composites.count + attributes.count { $0.type == .composite }
        counts["derived"] = attributes.count { $0.derivationExpression != nil }
        counts["external"] = attributes.count { $0.allowsExternalBinaryDataStorage }
        counts["configuration"] = model.configurations.count
        return counts.filter { $0.value != 0 }
    }

    private static func name(of type: AttributeType) -> String {
        switch type {
        case .undefined: "-"
        case .integer16: "Integer 16"
        case .integer32: "Integer 32"
        case .integer64: "Integer 64"
        case .uuid: "UUID"
        case .uri: "URI"
        case .objectID: "ObjectID"
        default: type.rawValue.prefix(1).uppercased() + type.rawValue.dropFirst()
        }
    }

    private static func name(of rule: DeleteRule) -> String {
        rule == .noAction
            ? "No Action" : rule.rawValue.prefix(1).uppercased() + rule.rawValue.dropFirst()
    }
}

// Stores of real apps' models, filled at random, that follow them from version to version.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnLog

@Suite("Stores that follow real models", .enabled(if: Corpus.isAvailable))
struct CorpusStoreTests {
    private static let known = Mutex<[String: Schema]>([:])

    /// The schema of a model's file, which is read once.
    private static func schema(_ file: String) throws -> Schema {
        if let schema = known.withLock({ $0[file] }) { return schema }
        let schema = try Schema(ManagedObjectModel(contentsOf: CorpusStep.url(file)))
        known.withLock { $0[file] = schema }
        return schema
    }

    /// Every day one in so many steps of a long sequence.
    private static let share = 10

    /// The steps of a sequence that a store can follow by itself: all of them, or a stretch of very many.
    private static func inferredSteps(_ sequence: String, _ random: inout RandomSource) throws
        -> [CorpusStep]
    {
        let steps = try CorpusStep.all().filter { $0.sequence == sequence }
        return try CorpusStep.sample(steps, oneIn: share, using: &random).filter { step in
            ModelMigrationPlan(from: try schema(step.from), to: try schema(step.to))
                .inferability < .no
        }
    }

    /// How many objects of each entity: more where there are few entities.
    private static func counts(_ schema: Schema) -> ClosedRange<Int> {
        schema.entities.count < 6 ? 6...12 : 2...4
    }

    /// What a store holds: the same before it is compacted and after; and whole.
    private static func content(_ store: MigratedStore, _ schema: Schema, _ place: Comment) throws
        -> MigratedStore.Content
    {
        let log = try store.open(schema.model)
        let content = try MigratedStore.content(log)
        let findings = try log.check().findings
        #expect(findings.isEmpty, place)
        _ = try log.compact()
        let compacted = try MigratedStore.content(log)
        #expect(compacted == content, place)
        try log.close()
        let report = try LogStore.check(at: "/store", depth: .all, options: store.options)
        #expect(report.findings.isEmpty, "\(place): \(report.findings)")
        return content
    }

    @Test(
        "Each step that can be inferred: all objects are there with their values and relationships, before compaction and after",
        arguments: CorpusStep.sequences)
    func steps(_ sequence: String) throws {
        Corpus.noteUse("corpusSteps_\(sequence.filter { $0.isLetter || $0.isNumber })")
        var random = RandomSource("steps of \(sequence)")
        for step in try Self.inferredSteps(sequence, &random) {
            let (old, new) = (try Self.schema(step.from), try Self.schema(step.to))
            let store = MigratedStore()
            var objects = RandomObjects(agreeingWith: [old.model, new.model])
            let before = try store.with(old.model) { log in
                // Blocks of several commits.
                for _ in 0..<2 { try objects.fill(log, ofEach: Self.counts(old), &random) }
                return try MigratedStore.content(log)
            }
            try store.migrate(to: new.model)
            let after = try Self.content(store, new, "\(step.to)")
            let problems = ExpectedContent(from: old, to: new, before: before).problems(after)
            #expect(problems.isEmpty, "\(step.to): \(problems.prefix(5))")
        }
    }

    // MARK: Several steps

    /// The longest rows of steps that follow each other.
    private static func walks(_ steps: [CorpusStep]) -> [[CorpusStep]] {
        var walks: [[CorpusStep]] = []
        for step in steps {
            if walks.last?.last?.to == step.from {
                walks[walks.count - 1].append(step)
            } else {
                walks.append([step])
            }
        }
        return walks.filter { $0.count > 1 }
    }

    /// What a store has lost that was led from version to version, and one that was led to the last version at once has not; as
    /// Core Data has it.
    private static let lost: [String: Set<String>] = [
        // Continents go in version 5, and others come in version 6.
        "objcio/core-data:Moody.xcdatamodeld": [
            "Continent", "Continent.countries", "Continent.numericISO3166Code",
            "Country.continent",
        ],
        // Here it is the other way round: isSilenced says what it will be called just before it is, so that only who goes through
        // version 2.53 knows it again.
        "wireapp/wire-ios-data-model:zmessaging.xcdatamodeld": ["Conversation.mutedStatus"],
    ]

    /// The entities and properties of objects that were there first which differ.
    private static func differences(
        _ walked: MigratedStore.Content, _ direct: MigratedStore.Content
    ) -> Set<String> {
        var differences: Set<String> = []
        for (entity, objects) in direct {
            for (number, values) in objects {
                guard let others = walked[entity]?[number] else {
                    differences.insert(entity)
                    continue
                }
                for (name, value) in values where others[name] != value {
                    differences.insert("\(entity).\(name)")
                }
            }
        }
        return differences
    }

    /// The entities and properties of a model.
    private static func names(_ schema: Schema) -> Set<String> {
        Set(
            schema.entities.flatMap { entity in
                [entity.name] + entity.columns.map { "\(entity.name).\($0.name)" }
                    + entity.relationships.map { "\(entity.name).\($0.description.name)" }
            })
    }

    @Test(
        "Step by step with objects of each version: they are followed each time, and the way there at once ends in the same, but for what was lost on the way",
        arguments: CorpusStep.sequences)
    func walks(_ sequence: String) throws {
        var random = RandomSource("walks of \(sequence)")
        let walks = Self.walks(try Self.inferredSteps(sequence, &random))
        if walks.isEmpty { return }
        Corpus.noteUse("corpusWalks_\(sequence.filter { $0.isLetter || $0.isNumber })")
        for walk in walks {
            let files = [walk[0].from] + walk.map(\.to)
            let schemas = try files.map { try Self.schema($0) }
            var objects = RandomObjects(agreeingWith: schemas.map(\.model))
            let (store, direct) = (MigratedStore(), MigratedStore())
            var content: MigratedStore.Content = [:]
            var first: MigratedStore.Content = [:]
            for (place, schema) in schemas.enumerated() {
                if place > 0 {
                    try store.migrate(to: schema.model)
                    let after = try store.with(schema.model) { try MigratedStore.content($0) }
                    let problems = ExpectedContent(
                        from: schemas[place - 1], to: schema, before: content
                    ).problems(after)
                    #expect(problems.isEmpty, "\(files[place]): \(problems.prefix(5))")
                }
                let start = random
                content = try store.with(schema.model) { log in
                    try objects.fill(log, ofEach: place == 0 ? 2...4 : 1...1, &random)
                    return try MigratedStore.content(log)
                }
                if place > 0 { continue }
                // The same objects in another store.
                var (same, again) = (start, RandomObjects(agreeingWith: schemas.map(\.model)))
                first = try direct.with(schema.model) { log in
                    try again.fill(log, ofEach: 2...4, &same)
                    return try MigratedStore.content(log)
                }
                #expect(first == content)
            }
            let last = schemas[schemas.count - 1]
            let place = Comment(rawValue: files[files.count - 1])
            let walked = try Self.content(store, last, place)
            #expect(walked == content, place)
            guard ModelMigrationPlan(from: schemas[0], to: last).inferability < .no else {
                continue
            }
            try direct.migrate(to: last.model)
            let ended = try Self.content(direct, last, place)
            let problems = ExpectedContent(from: schemas[0], to: last, before: first).problems(
                ended)
            #expect(problems.isEmpty, "\(files): \(problems.prefix(5))")
            var differences = Self.differences(walked, ended)
            if try Campaign.step(Self.share) > 1
                && CorpusStep.all().count(where: { $0.sequence == sequence }) > CorpusStep.longFrom
            {
                // What comes and goes within a stretch is another list for each.
                let kept = schemas.map(Self.names)
                differences = differences.filter { name in
                    kept.allSatisfy { $0.contains(name) }
                }
            }
            let unexpected = differences.subtracting(Self.lost[sequence] ?? [])
            #expect(unexpected.isEmpty, "\(files)")
        }
    }
}

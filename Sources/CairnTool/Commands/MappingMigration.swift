// cairn migrate --mapping: migrates a store with an Xcode mapping model.
//
//   1. Read the file and, unless the store already has the newer model, check it against both models.
//   2. Reject a file that names an app's policies: the tool does not have their code.
//   3. Print the mappings, or run them.

import CairnInspection
import CairnMigration
import CairnModel
import CairnObjects
import CairnStore

/// A migration with an Xcode mapping model.
struct MappingMigration {
    private let store: String
    /// The store's title for output.
    private let title: String
    let destination: Schema
    /// Nil if the store already has the destination model.
    let mapping: MappingModel?
    /// How to wait for the write lock.
    private let turn: WaitOptions
    /// The store's entities with objects that no mapping migrates, and the number of these objects.
    private var left: [(entity: String, count: Int)] = []

    /// Reads a mapping model.
    init(store: String, to destination: Schema, file: String, turn: WaitOptions) throws {
        self.store = store
        title = StoreKinds.current.title(of: store)
        self.turn = turn
        self.destination = destination
        let contents = try MappingModelFile(contentsOfFile: file)
        let (source, counts) = try StoreSession.reading(store) { session in
            let snapshot = try session.store.snapshot()
            let counts = try session.schema.entities.map { entity in
                var fetch = StoreFetch(entity: entity.index)
                fetch.includesSubentities = false
                return try snapshot.count(fetch)
            }
            return (session.store.schema, counts)
        }
        guard !ModelMigrationPlan(from: source, to: destination).changes.isEmpty else {
            mapping = nil
            return
        }
        let mapping = try contents.mapping(from: source, to: destination, policy: nil)
        if let custom = mapping.entityMappings.first(where: \.hasPolicy) {
            throw Failure(
                "\(file): \(custom.name): the policy \(custom.entityMigrationPolicyClassName ?? "") is code of an app, which cairn cannot run: let the app migrate the store, with PersistentContainer.migrateStore"
            )
        }
        self.mapping = mapping
        let brought = Set(
            mapping.entityMappings.filter { $0.destinationEntityName != nil }
                .compactMap(\.sourceEntityName))
        left = zip(source.entities, counts).filter { $1 > 0 && !brought.contains($0.name) }
            .map { ($0.name, $1) }
        if mapping.entityMappings.isEmpty, !left.isEmpty {
            throw Failure(
                "\(file): it has no entity mappings: all \(PlainText.count(counts.reduce(0, +), "object")) of \(title) would be lost"
            )
        }
    }

    /// Prints what the migration would do.
    func tell(_ console: Console, json: Bool) {
        guard let mapping else { return say(console, json: json, migrated: false) }
        if json {
            for entity in mapping.entityMappings { console.print(Self.json(entity).line) }
            for (entity, count) in left {
                console.print(
                    JSONValue.object(["entity": .string(entity), "lostObjects": .count(count)])
                        .line)
            }
            return
        }
        var table = TextTable(["mapping", "type", "from", "to", "where"])
        for entity in mapping.entityMappings {
            table.add([
                PlainText.visible(entity.name), "\(entity.mappingType)",
                PlainText.visible(entity.sourceEntityName ?? ""),
                PlainText.visible(entity.destinationEntityName ?? ""),
                entity.sourcePredicate.map { PlainText.visible($0.predicateFormat) } ?? "",
            ])
        }
        for line in table.lines { console.print(line) }
        sayLeft(console, "would be deleted")
    }

    private func sayLeft(_ console: Console, _ verb: String) {
        for (entity, count) in left {
            console.print(
                "\(PlainText.count(count, "object")) of \(PlainText.visible(entity)) \(verb): no entity mapping migrates them"
            )
        }
    }

    private static func json(_ entity: EntityMapping) -> JSONValue {
        .object([
            "mapping": .string(entity.name), "type": .string("\(entity.mappingType)"),
            "source": .text(entity.sourceEntityName),
            "destination": .text(entity.destinationEntityName),
            "predicate": .text(entity.sourcePredicate?.predicateFormat),
            "properties": .object(
                (entity.attributeMappings + entity.relationshipMappings).map {
                    .init(key: $0.name, value: .text($0.valueExpression?.expressionFormat))
                }),
        ])
    }

    /// Runs the migration.
    func run(_ console: Console, json: Bool, asksForSpace: Bool) throws {
        guard let mapping else { return say(console, json: json, migrated: false) }
        var choices = MigrationChoices()
        choices.checksSpace = asksForSpace
        let migration = try StoreSession.migrating(store, turn.access) {
            try $0.begin(to: destination, choices)
        }
        let progress = MappingProgress { progress in
            if !json {
                Console.current.progress("\(Int(progress.fractionCompleted * 100)) % migrated")
            }
        }
        defer { console.endProgress() }
        do throws(StoreError) {
            try MigrationManager(migration, mapping: mapping, progress: progress).migrate()
        } catch {
            // Conflicts of new objects are found in the side content, which users do not know.
            var error = error
            if error.context.path == nil { error.context.path = title }
            throw error
        }
        console.endProgress()
        say(console, json: json, migrated: true)
    }

    private func say(_ console: Console, json: Bool, migrated: Bool) {
        let count = mapping?.entityMappings.count ?? 0
        if json {
            console.print(
                JSONValue.object([
                    "store": .string(title), "migrated": .boolean(migrated),
                    "mappings": .count(count),
                    "removed": .object(
                        migrated ? left.map { .init(key: $0.entity, value: .count($0.count)) } : []
                    ),
                ]).line)
        } else if migrated {
            console.print(
                "\(title): migrated by \(PlainText.count(count, "entity mapping"))")
            sayLeft(console, "were deleted")
        } else {
            console.print("\(title): already has this model")
        }
    }
}

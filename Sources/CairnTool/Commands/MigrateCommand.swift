// cairn migrate: migrates a store to another version of its model.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnMigration
import CairnModel
import CairnObjects
import CairnStore

/// Thrown by a dry run after its output: the store could not be migrated, and the exit code is 1.
struct StoreCannotFollow: Error {}

/// Migrates a store to a newer model, or previews that.
struct MigrateCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrate a store to another version of its model, or preview that.",
        discussion: """
            Everything that can be inferred is one commit: objects keep their ids, and rows are \
            rewritten only where a relationship is stored differently or an attribute has to be \
            computed. If a change needs a mapping, objects violate a new uniqueness constraint, or \
            lack a required value, the command says so, and the store is unchanged. Versions of \
            cairn without migrations cannot open a migrated store.

            With --dry-run, each change is printed with its cost, as cairn model --to does, and so \
            are objects that violate constraints or lack a required target; the exit code is 1 if \
            the store could not be migrated.

            With --deduplicate ENTITY:KEY[,KEY]:RULE, objects with the same key are merged in the \
            same commit, by the rules of cairn duplicates: "User:uniqueId:newest:modified". With \
            --merge, the surviving object takes values that it lacks from the others. Ids of \
            deleted objects lead to it from then on. This only works for keys of a constraint that \
            the migration adds or changes; for others, use cairn duplicates. With --dry-run, it \
            prints how many objects would be merged, and which.

            With --mapping FILE, an Xcode mapping model defines the migration: objects are \
            migrated one by one, and replace the old content in one commit. Policies are app code, \
            so a file that names one is rejected. With --dry-run, the file is checked against both \
            models, and its entity mappings are printed.

            Example:
              cairn migrate shop.cairn --to Shop.xcdatamodeld --dry-run
            """)

    @OptionGroup var place: StoreArgument

    @Option(
        help: ArgumentHelp(
            "The newer model: a .xcdatamodeld or .xcdatamodel folder, its XML, JSON, or a store.",
            valueName: "model"), completion: .file())
    var to: String

    @Option(help: "The version of that model; by default the current one.")
    var toVersion: String?

    @Option(
        name: .customLong("deduplicate"),
        help: "Merge objects with the same key: ENTITY:KEY[,KEY]:RULE. Can be repeated.")
    var deduplications: [String] = []

    @Flag(help: "With --deduplicate: copy values that the surviving object lacks from the others.")
    var merge = false

    @Option(
        help: ArgumentHelp(
            "An Xcode mapping model: a .xcmappingmodel folder or the XML in it.",
            valueName: "file"), completion: .file())
    var mapping: String?

    @Flag(help: "Change nothing; print what would happen.")
    var dryRun = false

    @Flag(
        help:
            "Migrate even if the disk may have too little space; if it fills up, the store is unchanged."
    )
    var ignoreSpace = false

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    var places: [String] { [place.store, to] }

    func validate() throws {
        if merge, deduplications.isEmpty {
            throw ValidationError("--merge requires --deduplicate.")
        }
        if mapping != nil, !deduplications.isEmpty {
            throw ValidationError(
                "--deduplicate is for inferred migrations and cannot be combined with --mapping.")
        }
        do {
            _ = try requests()
        } catch let failure as Failure {
            throw ValidationError(failure.message)
        }
    }

    func run() throws {
        let console = Console.current
        let destination = try ModelSource.read(to, version: toVersion)
        for warning in destination.warnings { console.printError("cairn: note: \(warning)") }
        if let mapping {
            let migration = try MappingMigration(
                store: place.store, to: destination.schema, file: mapping, turn: turn)
            return dryRun
                ? migration.tell(console, json: output.json)
                : try migration.run(console, json: output.json, asksForSpace: !ignoreSpace)
        }
        if dryRun { return try tell(destination.schema, console) }
        var choices = MigrationChoices()
        choices.checksSpace = !ignoreSpace
        choices.prelude = MigrationPrelude.deduplicating(try requests())
        if !deduplications.isEmpty {
            let schema = destination.schema
            _ = try StoreSession.reading(place.store) { session in
                try folds(ModelMigrationPlan(from: session.store.schema, to: schema))
            }
        }
        let isQuiet = output.json
        choices.progress = { progress in
            if !isQuiet, progress.total > 0 {
                Console.current.progress(
                    "\(progress.stage.rawValue): \(progress.done) of \(progress.total)")
            }
            return true
        }
        defer { console.endProgress() }
        let report = try StoreSession.migrating(place.store, turn.access) {
            try $0.migrate(to: destination.schema, choices)
        }
        console.endProgress()
        print(report, console)
    }

    private func requests() throws -> [DeduplicationRequest] {
        try deduplications.map { text in
            let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else {
                throw ValidationError("--deduplicate takes ENTITY:KEY[,KEY]:RULE, not \(text)")
            }
            var rule = try DeduplicationRule(argument: String(parts[2]), option: "--deduplicate")
            if merge { rule = .merge([:], into: rule) }
            var request = DeduplicationRequest(
                entityName: String(parts[0]),
                by: try TermList.parts(String(parts[1]), option: "--deduplicate"), keeping: rule)
            request.author = "cairn migrate"
            return request
        }
    }

    /// Returns the objects to merge; none if the store already has the model.
    ///
    /// - Throws: `Failure` if no constraint requires merging some of them.
    private func folds(_ plan: ModelMigrationPlan) throws -> [MigrationDeduplication] {
        if plan.source == plan.destination { return [] }
        return try zip(deduplications, try requests()).flatMap { text, request in
            let needed = try request.needed(by: plan)
            if needed.isEmpty, plan.inferability < .no {
                if let reason = newKey(request, plan) {
                    throw Failure("--deduplicate \(text): \(reason). Nothing was migrated")
                }
                throw Failure(
                    """
                    --deduplicate \(text): the migration neither adds nor changes a uniqueness constraint on these \
                    keys that objects of the store could violate. For keys without a constraint use \
                    cairn duplicates. Nothing was migrated
                    """)
            }
            return needed
        }
    }

    /// Returns the explanation for a key that objects do not have yet; nil if they do.
    private func newKey(_ request: DeduplicationRequest, _ plan: ModelMigrationPlan) -> String? {
        guard let entity = plan.newEntity(named: request.entityName) else { return nil }
        for key in request.keys {
            guard
                let column = plan.entities[entity.index].columns.first(where: { $0.name == key }),
                column.origin == .initial
            else { continue }
            let name = PlainText.visible("\(entity.name).\(key)")
            return column.initialValue.isNull
                ? "\(name) is new, so no object has a value that could be a duplicate"
                : "\(name) is new, and all objects have its default, \(PlainText.value(column.initialValue)): there is no way to tell which are duplicates"
        }
        return nil
    }

    // MARK: What would happen

    /// The effect of one request.
    private struct Fold {
        let part: MigrationDeduplication
        let result: DeduplicationResult
    }

    private func tell(_ schema: Schema, _ console: Console) throws {
        let (comparison, folds, missing) = try StoreSession.reading(place.store) { session in
            let old = session.store.schema
            let plan = ModelMigrationPlan(from: old, to: schema)
            var comparison = ModelComparison(plan: plan, console: console)
            let snapshot = try session.store.snapshot()
            var going: [String: Int] = [:]
            for entity in old.entities where plan.droppedEntities.contains(entity.name) {
                var fetch = StoreFetch(entity: entity.index)
                fetch.includesSubentities = false
                going[entity.name] = try snapshot.count(fetch)
            }
            comparison.goingObjects = going
            let context = ManagedObjectContext(store: session.store)
            let folds = try self.folds(plan).map { part in
                var request = part.request
                request.isDryRun = true
                return Fold(part: part, result: try context.execute(request))
            }
            let folded = folds.flatMap { fold in
                fold.part.request.rule == .nullKey ? [] : fold.result.groups.flatMap(\.losers)
            }
            let missing =
                plan.inferability == .no
                ? [] : try session.store.targetless(plan, without: Set(folded))
            return (comparison, folds, missing)
        }
        comparison.print(json: output.json)
        if comparison.plan.inferability == .no { throw StoreCannotFollow() }
        for fold in folds { print(fold, console) }
        // Objects that the rules merge violate no constraint.
        let duplicates = try StoreSession.migrating(place.store, .reading) {
            try $0.duplicates(for: schema)
        }
        let left = duplicates.filter { constraint in
            let key = MigrationDeduplication.Constraint(
                entity: constraint.entity, names: Set(constraint.properties))
            let results = folds.filter { $0.part.constraints.contains(key) }.map(\.result)
            return results.reduce(0) { $0 + $1.groups.count } != constraint.keys
                || results.reduce(0) { $0 + $1.objectCount } != constraint.objects
        }
        for constraint in left { print(constraint, console) }
        for targets in missing { print(targets, console) }
        if !left.isEmpty || !missing.isEmpty { throw StoreCannotFollow() }
    }

    private func print(_ targets: TargetlessObjects, _ console: Console) {
        if output.json {
            console.print(
                JSONValue.object([
                    "entity": .string(targets.entity), "property": .string(targets.property),
                    "missing": .count(targets.count),
                    "example": .string("p\(targets.example.reference)"),
                ]).line)
            return
        }
        let place = PlainText.visible("\(targets.entity).\(targets.property)")
        console.print("\(place): \(targets.error.message)")
    }

    /// The maximum number of merged keys to print.
    private static let mostExamples = 5

    private func print(_ fold: Fold, _ console: Console) {
        let (request, result) = (fold.part.request, fold.result)
        let groups = DuplicateGroups(result, request.keys, limit: Self.mostExamples)
        if output.json {
            groups.printJSON(console)
            console.print(
                JSONValue.object([
                    "entity": .string(request.entityName), "dryRun": .boolean(true),
                    "keys": .count(result.groups.count), "objects": .count(result.objectCount),
                    "folded": .count(result.deletedCount),
                    "cascaded": .count(result.cascadedCount),
                    "updated": .count(result.updatedCount),
                    "entangled": .count(result.entangledGroups.count),
                ]).line)
            return
        }
        console.print()
        groups.printTable(console)
        let keys = request.keys.map { PlainText.visible($0) }.joined(separator: ", ")
        var line =
            "\(PlainText.visible(request.entityName)): \(PlainText.count(result.groups.count, "key")) "
            + "of \(PlainText.count(result.objectCount, "object")) by \(keys), "
        if request.rule == .nullKey {
            let losers = result.objectCount - result.groups.count
            line += "\(PlainText.count(losers, "object")) would lose the key"
        } else {
            line += "\(PlainText.count(result.deletedCount, "object")) would be merged into others"
        }
        if result.cascadedCount > 0 {
            line +=
                ", \(PlainText.count(result.cascadedCount, "object")) more would be deleted by delete rules"
        }
        console.print(line)
        DuplicateGroups.noteEntangled(result, console)
    }

    private func print(_ constraint: ConstraintDuplicates, _ console: Console) {
        if output.json {
            console.print(
                JSONValue.object([
                    "entity": .string(constraint.entity),
                    "properties": .array(constraint.properties.map { .string($0) }),
                    "keys": .count(constraint.keys), "objects": .count(constraint.objects),
                    "examples": .array(
                        constraint.examples.map { example in
                            .object([
                                "values": .array(example.values.map { JSONValue($0) }),
                                "count": .count(example.count),
                                "objects": .array(
                                    example.objectIDs.map { .string("p\($0.reference)") }),
                            ])
                        }),
                ]).line)
            return
        }
        console.print(PlainText.visible("\(constraint)"))
        for example in constraint.examples {
            let values = example.values.map { PlainText.value($0) }.joined(separator: ", ")
            let ids = example.objectIDs.map { "p\($0.reference)" }.joined(separator: " ")
            let more = example.count > example.objectIDs.count ? " …" : ""
            console.print("  \(values): \(ids)\(more)")
        }
    }

    // MARK: What has happened

    private func print(_ report: MigrationReport, _ console: Console) {
        if output.json {
            console.print(
                JSONValue.object([
                    "store": .string(place.title), "migrated": .boolean(report.commit != nil),
                    "changes": .count(report.plan.changes.count),
                    "cost": .string("\(report.plan.cost)"),
                    "folded": .count(report.foldedObjects),
                    "removed": .object(
                        report.removedObjects.inKeyOrder().map {
                            .init(key: $0.key, value: .count($0.value))
                        }),
                ]).line)
            return
        }
        guard report.commit != nil else {
            return console.print("\(place.title): already has this model")
        }
        console.print(
            "\(place.title): migrated, \(PlainText.count(report.plan.changes.count, "change")), \(report.plan.cost)"
        )
        if report.foldedObjects > 0 {
            console.print(
                "\(PlainText.count(report.foldedObjects, "object")) merged into others")
        }
        for (entity, count) in report.removedObjects.inKeyOrder() {
            console.print(
                "\(PlainText.count(count, "object")) of \(PlainText.visible(entity)) deleted with the entity"
            )
        }
    }
}

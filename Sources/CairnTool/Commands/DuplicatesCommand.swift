// cairn duplicates: objects that have one key, and one of them made of all.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnObjects
import CairnStore

/// Prints who has the same key, or lets one of each group stay.
struct DuplicatesCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates",
        abstract: "Print objects that have the same key, or make one of them.",
        discussion: """
            Without --delete nothing is changed: each group is printed with the object that would \
            stay, the first if --keep does not say another rule, and with --keep also what would \
            become of the others. Objects whose key has a part that is nil are no duplicates, unless \
            --including-nil says that nil is a value like others.

            A rule is first or last (as they were created), newest:ATTRIBUTE, smallest:ATTRIBUTE, \
            mostComplete, or nullKey: all stay, and all but the first lose the key. The object that \
            stays takes over the relationships of the others. With --merge it takes values as well: \
            where it has none, or as --fold says: property=keep, fillNil, maximum, minimum, sum, \
            union or newest:ATTRIBUTE.

            With --incoming only the groups of certain objects are looked at, such as those that a \
            sync has brought: p17, or URIs. Those that are not there are passed over.
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @Option(help: "The attributes and to-one relationships of the key, with commas between them.")
    var by: String

    @Flag(help: "Take objects for duplicates that have no value for the key, or a part of it, too.")
    var includingNil = false

    @OptionGroup var which: ConditionOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Only the groups that these objects belong to.", valueName: "id"))
    var incoming: [String] = []

    @Option(help: "Which object of each group stays.")
    var keep: String?

    @Flag(help: "The object that stays takes values from the others where it has none.")
    var merge = false

    @Option(help: "What it takes, by property: visits=sum,name=newest:modified.")
    var fold: String?

    @Flag(help: "Delete all but the object that stays; needs --keep.")
    var delete = false

    @Option(parsing: .unconditional, help: "The greatest number of groups that are printed.")
    var limit = 20

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if delete, keep == nil {
            throw ValidationError("--delete needs --keep: say which object of each group stays.")
        }
        if merge || fold != nil, keep == nil {
            throw ValidationError(
                "--merge and --fold need --keep: say which object of each group stays.")
        }
        if limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    }

    func run() throws {
        let keys = try TermList.parts(by, option: "--by")
        var rule = try DeduplicationRule(argument: keep ?? "first")
        if merge || fold != nil {
            rule = .merge(try FoldingRule.rules(arguments: fold), into: rule)
        }
        let action: (StoreSession) throws -> DeduplicationResult = { session in
            let entity = try session.entity(entity)
            var request = DeduplicationRequest(entityName: entity.name, by: keys, keeping: rule)
            request.predicate = try which.condition.map {
                try session.condition($0, of: entity)
            }
            request.nullSemantics = which.nullSemantics
            if !incoming.isEmpty {
                request.incoming = try session.objectIDs(
                    incoming, of: entity, option: "--incoming")
            }
            request.includesNil = includingNil
            request.isDryRun = !delete
            request.onlyLists = !tellsEffects
            request.author = "cairn duplicates"
            return try ManagedObjectContext(store: session.store).execute(request)
        }
        let result =
            delete
            ? try StoreSession.writing(place.store, turn, action)
            : try StoreSession.reading(place.store, action)
        if output.json { printJSON(result, keys) } else { printTable(result, keys) }
    }

    /// Whether what would become of objects is told. Without a rule nothing is known of it.
    private var tellsEffects: Bool { keep != nil }

    private func printJSON(_ result: DeduplicationResult, _ keys: [String]) {
        DuplicateGroups(result, keys, limit: limit).printJSON(Console.current)
        func effect(_ count: Int) -> JSONValue { tellsEffects ? .count(count) : .null }
        Console.current.print(
            JSONValue.object([
                "entity": .string(entity), "dryRun": .boolean(!delete),
                "keys": .count(result.groups.count),
                "objects": .count(result.objectCount), "deleted": effect(result.deletedCount),
                "cascaded": effect(result.cascadedCount), "updated": effect(result.updatedCount),
                "entangled": effect(result.entangledGroups.count),
            ]).line)
    }

    private func printTable(_ result: DeduplicationResult, _ keys: [String]) {
        let console = Console.current
        DuplicateGroups(result, keys, limit: limit).printTable(console)
        var line =
            "\(entity): \(PlainText.count(result.groups.count, "key")) of "
            + "\(PlainText.count(result.objectCount, "object")) by \(keys.joined(separator: ", "))"
        if tellsEffects {
            line += ", \(PlainText.number(result.deletedCount))"
            line += delete ? " deleted" : " would be deleted"
            if result.cascadedCount > 0 {
                line +=
                    ", \(PlainText.count(result.cascadedCount, "object")) more by delete rules"
            }
            line += ", \(PlainText.number(result.updatedCount)) updated"
        }
        console.print(line)
        if tellsEffects { DuplicateGroups.noteEntangled(result, console) }
        if result.groups.count > limit {
            console.printError(
                "cairn: note: only \(limit) keys are shown: raise --limit to see more")
        }
    }
}

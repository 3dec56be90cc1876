// cairn duplicates: finds objects with the same key, and merges them.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnObjects
import CairnStore

/// Prints objects with the same key, or keeps one of each group.
struct DuplicatesCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates",
        abstract: "Find objects with the same key, and merge them.",
        discussion: """
            Without --delete nothing is changed: each group is printed with the object that would \
            survive, by default the first one, and with --keep also what would happen to the \
            others. Objects whose key is nil or partly nil are not duplicates, unless \
            --including-nil treats nil as an ordinary value.

            Rules for --keep: first or last (in order of creation), newest:ATTRIBUTE, \
            smallest:ATTRIBUTE, mostComplete, or nullKey, which keeps all objects but sets the key \
            of all except the first to nil. The surviving object takes over the relationships of \
            the others. With --merge it also takes values that it lacks, or combines values as \
            --fold says: property=keep, fillNil, maximum, minimum, sum, union or newest:ATTRIBUTE.

            --incoming limits the search to the groups of certain objects, such as those from a \
            sync, given as p17 or as URIs. Objects that do not exist are ignored.

            Example:
              cairn duplicates people.cairn Person --by email --keep newest:modified
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @Option(help: "The attributes and to-one relationships of the key, separated by commas.")
    var by: String

    @Flag(help: "Also treat objects whose key is nil or partly nil as duplicates.")
    var includingNil = false

    @OptionGroup var which: ConditionOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Only check the groups that these objects belong to.", valueName: "id"))
    var incoming: [String] = []

    @Option(help: "The rule for which object of each group survives.")
    var keep: String?

    @Flag(help: "Copy values that the surviving object lacks from the others.")
    var merge = false

    @Option(help: "How to combine values, by property: visits=sum,name=newest:modified.")
    var fold: String?

    @Flag(help: "Delete all but the surviving object; requires --keep.")
    var delete = false

    @Option(parsing: .unconditional, help: "Print at most this many groups.")
    var limit = 20

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if delete, keep == nil {
            throw ValidationError(
                "--delete requires --keep: choose which object of each group survives.")
        }
        if merge || fold != nil, keep == nil {
            throw ValidationError(
                "--merge and --fold require --keep: choose which object of each group survives.")
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

    /// Whether effects on objects are reported. Without a rule they are unknown.
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
                "cairn: note: only \(limit) keys are shown; raise --limit to see more")
        }
    }
}

// cairn copy: a whole store from one place to another.

import ArgumentParser
import CairnInspection
import CairnMoving

/// Copies a store between a folder and a database, or between databases.
struct CopyCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy a whole store between a folder and a database.",
        discussion: """
            The copy is the same store in another place: objects have the ids, versions and orders that \
            they had, and redirects, metadata, model and history come along. Past states stay behind. \
            Others may write to the store meanwhile; the copy holds one moment of it.

            There may be nothing in the place of the copy. From a folder to a folder cairn backup copies.
            """)

    @Argument(
        help: "The store: its folder, or postgresql://HOST/DATABASE for one in PostgreSQL.",
        completion: .directory)
    var store: String

    @Argument(
        help:
            "The place for the copy, named in the same way: a new folder, or a schema without a store.",
        completion: .directory)
    var destination: String

    @OptionGroup var output: OutputOptions

    var places: [String] { [store, destination] }

    func run() throws {
        let kinds = StoreKinds.current
        let kind = try kinds.kind(of: places.first(where: DatabaseURL.isOne) ?? store)
        let report = try kind.copy(store, to: destination, .reading)
        let (from, to) = (kinds.title(of: store), kinds.title(of: destination))
        let console = Console.current
        if output.json {
            console.print(
                JSONValue.object([
                    "store": .string(from), "copy": .string(to), "objects": .count(report.objects),
                    "pairs": .count(report.pairs), "redirects": .count(report.redirects),
                    "transactions": .count(report.transactions),
                    "leavesPastStates": .boolean(report.leavesPastStates),
                ]).line)
            return
        }
        console.print("\(to): a copy of \(from), \(PlainText.count(report.objects, "object"))")
        if report.leavesPastStates {
            console.print("\(from) keeps past states, which are not in the copy")
        }
    }
}

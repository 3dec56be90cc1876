// cairn copy: copies a whole store from one place to another.

import ArgumentParser
import CairnInspection
import CairnMoving

/// Copies a store between a folder and a database, or between databases.
struct CopyCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy a store between a folder and a database.",
        discussion: """
            The copy keeps object ids, versions and orders, redirects, metadata, the model and the \
            history. Past states are not copied. Programs may write to the store meanwhile; the \
            copy is a consistent snapshot.

            The destination must be empty. To copy from folder to folder, use cairn backup.

            Example:
              cairn copy shop.cairn postgresql://db1/shop
            """)

    @Argument(
        help: "The store: a folder, or postgresql://HOST/DATABASE.",
        completion: .directory)
    var store: String

    @Argument(
        help:
            "The destination, in the same form: a new folder, or a database schema without a store.",
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
            console.print("\(from) keeps past states, which were not copied")
        }
    }
}

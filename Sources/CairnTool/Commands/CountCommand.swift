// cairn count: how many objects there are.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnStore

/// Prints a number alone.
struct CountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "count", abstract: "Print how many objects match a condition.")

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @Option(name: .customLong("where"), help: "The condition.")
    var condition: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
        let count = try StoreSession.reading(place.store) { session in
            let fetch = try session.fetch(try session.entity(entity), where: condition)
            return try session.store.snapshot().count(fetch)
        }
        Console.current.print(
            output.json
                ? JSONValue.object(["entity": .string(entity), "count": .count(count)]).line
                : "\(count)")
    }
}

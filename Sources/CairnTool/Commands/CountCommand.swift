// cairn count: counts objects.

import ArgumentParser
import CairnInspection
import CairnStore

/// Prints only a number.
struct CountCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "count", abstract: "Count the objects that match a condition.",
        discussion: """
            Example:
              cairn count shop.cairn Product --where "price < 10"
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @OptionGroup var which: ConditionOptions

    @OptionGroup var moment: MomentOptions

    @OptionGroup var output: OutputOptions

    func run() throws {
        let count = try StoreSession.reading(place.store) { session in
            let fetch = try session.fetch(try session.entity(entity), which)
            return try session.snapshot(moment).count(fetch)
        }
        Console.current.print(
            output.json
                ? JSONValue.object(["entity": .string(entity), "count": .count(count)]).line
                : "\(count)")
    }
}

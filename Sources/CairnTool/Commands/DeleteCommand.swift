// cairn delete: deletes objects by condition.

import ArgumentParser
import CairnInspection
import CairnStore

/// Deletes objects and prints their number.
struct DeleteCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete the objects that match a condition.",
        discussion: """
            Applies the model's delete rules: nullify, cascade, deny. Deletes everything or \
            nothing.

            Example:
              cairn delete shop.cairn Product --where "soldOut == YES"
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @OptionGroup var which: ConditionOptions

    @Flag(help: "Delete all objects of the entity.")
    var all = false

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (which.condition != nil) != all else {
            throw ValidationError("Choose the objects: pass --where with a condition, or --all.")
        }
    }

    func run() throws {
        let result = try StoreSession.writing(place.store, turn) { session in
            let fetch = try session.fetch(try session.entity(entity), which)
            var request = BatchDeleteRequest(.fetch(fetch))
            request.author = "cairn delete"
            return try session.store.execute(request)
        }
        if output.json {
            Console.current.print(
                JSONValue.object([
                    "entity": .string(entity), "deleted": .count(result.deletedCount),
                    "cascaded": .count(result.cascadedCount),
                    "commit": result.commit.map { .count($0) } ?? .null,
                ]).line)
            return
        }
        var line = "\(entity): \(PlainText.number(result.deletedCount)) deleted"
        if result.cascadedCount > 0 {
            line += ", \(PlainText.count(result.cascadedCount, "object")) more by delete rules"
        }
        Console.current.print(line)
    }
}

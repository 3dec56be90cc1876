// cairn backup: a copy of a store, while others write to it.

import ArgumentParser
import CairnInspection
import CairnLog

/// Copies a store, or what is new of it since the last copy.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a store while others write to it.",
        discussion: """
            The copy is a store like any other and holds one moment of this one, whole. Into a folder \
            with an earlier backup of the store only what is new is copied; until that is done it \
            opens as the earlier one, whatever happens. A backup that somebody has written to is \
            left alone.
            """)

    @OptionGroup var place: StoreArgument
    @Argument(help: "The folder for the copy: new, or with an earlier backup of the store.")
    var destination: String
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let result = try StoreSession.reading(place.store) { session in
            defer { console.endProgress() }
            return try session.store.backup(to: destination) { copied, total in
                console.progress(
                    "copying: \(PlainText.bytes(copied)) of \(PlainText.bytes(total))")
            }
        }
        if output.json {
            console.print(
                JSONValue.object([
                    "store": .string(place.store), "backup": .string(destination),
                    "commit": .count(result.commit), "incremental": .boolean(result.isIncremental),
                    "bytes": .count(result.bytes), "copiedBytes": .count(result.copiedBytes),
                ]).line)
            return
        }
        let what =
            result.isIncremental
            ? "\(PlainText.bytes(result.copiedBytes)) copied to what was there"
            : "\(PlainText.bytes(result.copiedBytes)) copied"
        console.print("\(destination): commit \(result.commit) of \(place.store), \(what)")
    }
}

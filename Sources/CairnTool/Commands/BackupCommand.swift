// cairn backup: a copy of a store, while others write to it.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnMoving

/// Copies a store, or what is new of it since the last copy.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a store while others write to it.",
        discussion: """
            The copy is a store like any other and holds one moment of this one, whole. Into a folder \
            with an earlier backup of the store only what is new is copied; until that is done it \
            opens as the earlier one, whatever happens. A backup that was written to since is \
            left alone.

            With --before-migration the copy is the store as it was before its last migration, with \
            the model that it had: what a migration leaves in the store's own files until compaction \
            begins, which a program that opens the store with the new model may do by itself. If it \
            has begun this is refused.
            """)

    @OptionGroup var place: FolderArgument
    @Argument(help: "The folder for the copy: new, or with an earlier backup of the store.")
    var destination: String
    @Flag(help: "Copy the store as it was before its last migration.")
    var beforeMigration = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let folder = try place.folder(for: .backup)
        try DatabaseURL.refuse(destination, for: "a backup")
        let result = try StoreSession.log(folder, .reading) { store in
            defer { console.endProgress() }
            let tell = { (copied: UInt64, total: UInt64) in
                console.progress(
                    "copying: \(PlainText.bytes(copied)) of \(PlainText.bytes(total))")
            }
            return beforeMigration
                ? try store.backupBeforeMigration(to: destination, progress: tell)
                : try store.backup(to: destination, progress: tell)
        }
        if output.json {
            console.print(
                JSONValue.object([
                    "store": .string(folder), "backup": .string(destination),
                    "commit": .count(result.commit), "incremental": .boolean(result.isIncremental),
                    "bytes": .count(result.bytes), "copiedBytes": .count(result.copiedBytes),
                ]).line)
            return
        }
        let what =
            result.isIncremental
            ? "\(PlainText.bytes(result.copiedBytes)) copied to what was there"
            : "\(PlainText.bytes(result.copiedBytes)) copied"
        console.print("\(destination): commit \(result.commit) of \(folder), \(what)")
    }
}

// cairn backup: copies a store while other processes write to it.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnMoving

/// Copies a store, or only the changes since the last copy.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a store while programs write to it.",
        discussion: """
            The copy is an ordinary store with a consistent state of the original. If the \
            destination contains an earlier backup of the same store, only new data is copied; \
            until that is complete, the destination opens as the earlier backup, whatever happens. \
            A backup that has been written to is not touched.

            With --before-migration, the copy is the store as it was before its last migration, \
            with its model at the time. The old data stays in the store until compaction starts, \
            which a program that opens the store with the new model may do at any time. After \
            that, the command fails.

            Example:
              cairn backup shop.cairn shop-backup.cairn
            """)

    @OptionGroup var place: FolderArgument
    @Argument(help: "The destination folder: new, or an earlier backup of the store.")
    var destination: String
    @Flag(help: "Copy the state before the last migration.")
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
            ? "\(PlainText.bytes(result.copiedBytes)) copied, in addition to the earlier backup"
            : "\(PlainText.bytes(result.copiedBytes)) copied"
        console.print("\(destination): commit \(result.commit) of \(folder), \(what)")
    }
}

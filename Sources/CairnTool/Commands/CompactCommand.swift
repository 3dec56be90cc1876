// cairn compact: reclaims the space of dead rows.

import ArgumentParser
import CairnInspection
import CairnLog

/// Reclaims the space that deleted and replaced rows still use.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Reclaim the space of deleted and replaced rows.",
        discussion: """
            Rewrites segments that contain many dead rows without them, and deletes the old files. \
            Object ids and versions do not change. You can interrupt it at any time. Programs that \
            write to a store compact it from time to time themselves.

            Example:
              cairn compact shop.cairn
            """)

    @OptionGroup var place: FolderArgument
    @OptionGroup var turn: WaitOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let folder = try place.folder(for: .compaction)
        let result = try StoreSession.log(folder, turn.access) { store in
            defer { console.endProgress() }
            return try store.compact { written in
                console.progress("compacting: \(PlainText.bytes(written)) written")
            }
        }
        if output.json {
            console.print(
                JSONValue.object([
                    "store": .string(folder), "bytesBefore": .count(result.bytesBefore),
                    "bytesAfter": .count(result.bytesAfter),
                    "bytesWritten": .count(result.bytesWritten),
                    "retiredSegments": .count(result.retiredSegments),
                ]).line)
            return
        }
        guard result.retiredSegments > 0 else {
            return console.print(
                "\(folder): nothing to reclaim, \(PlainText.bytes(result.bytesAfter)) in use"
            )
        }
        console.print(
            "\(folder): \(PlainText.bytes(result.bytesBefore)) before,"
                + " \(PlainText.bytes(result.bytesAfter)) now;"
                + " \(PlainText.bytes(result.bytesWritten)) rewritten")
    }
}

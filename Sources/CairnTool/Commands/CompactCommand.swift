// cairn compact: the space of what is dead comes back.

import ArgumentParser
import CairnInspection
import CairnLog

/// Gives back the space that deleted and replaced rows still take.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Give back the space of dead rows.",
        discussion: """
            Segments with many dead rows are rewritten without them and removed. Nothing else changes: \
            not an id, not a version. It may be interrupted at any moment. Programs that write do this \
            by themselves from time to time.
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
                "\(folder): nothing to give back, \(PlainText.bytes(result.bytesAfter)) in use"
            )
        }
        console.print(
            "\(folder): \(PlainText.bytes(result.bytesBefore)) before,"
                + " \(PlainText.bytes(result.bytesAfter)) now;"
                + " \(PlainText.bytes(result.bytesWritten)) were written once more")
    }
}

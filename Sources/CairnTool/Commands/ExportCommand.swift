// cairn export: prints a store's content as canonical text.

import ArgumentParser

/// Prints the canonical JSON lines of a store.
struct ExportCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print a store's content as canonical JSON lines.",
        discussion: """
            Format/80-canonical-export.md defines the lines: two stores with the same content \
            print the same bytes.

            Example:
              cairn export shop.cairn > shop.jsonl
            """)

    @OptionGroup var place: StoreArgument

    @OptionGroup var moment: MomentOptions

    @Flag(help: "Print errors as JSON, too; the output always is.")
    var json = false

    func run() throws {
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            try session.export(try session.snapshot(moment)) { console.print(bytes: $0) }
        }
    }
}

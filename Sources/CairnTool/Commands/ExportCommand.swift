// cairn export: the content of a store as text that two readers agree on.

import ArgumentParser

/// Prints the canonical JSON lines of a store.
struct ExportCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print a store's content as canonical JSON lines.",
        discussion: """
            The lines are defined in Format/80-canonical-export.md: two stores with the same \
            content print the same bytes.
            """)

    @OptionGroup var place: StoreArgument

    @OptionGroup var moment: MomentOptions

    @Flag(help: "The output is JSON anyway; with this, errors are too.")
    var json = false

    func run() throws {
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            try session.export(try session.snapshot(moment)) { console.print(bytes: $0) }
        }
    }
}

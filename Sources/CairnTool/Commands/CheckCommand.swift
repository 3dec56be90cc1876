// cairn check: verifies the contents of a store.

import ArgumentParser
import CairnInspection

/// Cross-checks everything in a store.
struct CheckCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Verify the contents of a store.",
        discussion: """
            Works while programs write to the store, and on stores that cannot be opened. Reports \
            every problem with its location; the exit code is then 3. Levels of --depth, each \
            including the ones before:

            headers  headers of segments and frames: nothing is missing or out of order
            frames   checksums and structure of every frame
            blocks   every value, and that each object exists once
            all      indexes, references in both directions and the checkpoint, compared
                     with the data they are built from

            Derived attributes are not recomputed.

            For a store in PostgreSQL, the command reads a consistent snapshot: every row and \
            value, uniqueness, references and their targets, redirects, and the tables and indexes \
            themselves, but not the server's files.

            Example:
              cairn check shop.cairn --depth frames
            """)

    @OptionGroup var place: StoreArgument

    @OptionGroup var depth: DepthOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var progress: ProgressOptions

    func run() throws {
        let console = Console.current
        let teller = progress.teller(console)
        let result = try StoreSession.printout(of: place.store) { kind in
            try kind.check(place.store, depth: depth.depth) {
                teller.tell("checking \($0)", $1, $2)
            }
        }
        teller.end()
        if let failure = result.failure { throw failure }
        if output.json { return console.print(result.json.line) }
        for line in result.lines { console.print(line) }
    }
}

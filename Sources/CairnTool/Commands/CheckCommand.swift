// cairn check: whether everything in a store is as it should be.

import ArgumentParser
import CairnInspection
import CairnLog

/// Compares everything in a store with everything else.
struct CheckCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Verify everything a store holds.",
        discussion: """
            It works beside a program that writes, and on a store that does not open. Everything \
            that is wrong is named with its place, and the exit code is 3 then. How deep it looks:

            headers  the headers of segments and frames: nothing is missing or out of order
            frames   and the checksums and the form of what is in every frame
            blocks   and every value, and that each object lives once
            all      and indexes, references both ways and the checkpoint, compared with what they \
            are made from

            Values of derived attributes are not recomputed.

            A store in PostgreSQL is read as it is at one moment: every row and value, uniqueness, \
            references and what they lead to, redirects, and the tables and indexes themselves. The \
            files are the server's.
            """)

    @OptionGroup var place: StoreArgument

    @Option(
        help: "How deep to look: headers, frames, blocks or all.",
        transform: { text in
            guard let depth = CheckDepth(rawValue: text) else {
                throw ValidationError(
                    "--depth must be one of \(CheckDepth.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            return depth
        })
    var depth = CheckDepth.all

    @OptionGroup var output: OutputOptions
    @OptionGroup var progress: ProgressOptions

    func run() throws {
        let console = Console.current
        let teller = progress.teller(console)
        let result = try StoreSession.printout(of: place.store) { kind in
            try kind.check(place.store, depth: depth) {
                teller.tell("checking \($0)", $1, $2)
            }
        }
        teller.end()
        if let failure = result.failure { throw failure }
        if output.json { return console.print(result.json.line) }
        for line in result.lines { console.print(line) }
    }
}

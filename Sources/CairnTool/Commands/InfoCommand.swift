// cairn info: describes a store.
//
// Facts visible from outside are always printed; the contents only if the store can be opened.

import ArgumentParser
import CairnInspection

/// Prints a description of a store.
struct InfoCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Describe a store.",
        discussion: """
            The first part comes from the headers in the store's files and is printed even while a \
            program writes, or if the store cannot be opened. To count objects, the store is \
            opened for reading. If that fails, the exit code says why.

            For a store in PostgreSQL, the first part comes from the server: its version, the size \
            of each table, and the programs connected to the database.

            Example:
              cairn info shop.cairn --quick
            """)

    @OptionGroup var place: StoreArgument

    @Flag(help: "Do not open the store; print only what its files or the server say.")
    var quick = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let information = try StoreSession.printout(of: place.store) { kind in
            try kind.information(of: place.store, opens: !quick)
        }
        if output.json {
            console.print(information.json.line)
        } else {
            for line in information.lines { console.print(line) }
        }
        if let failure = information.failure { throw failure }
    }
}

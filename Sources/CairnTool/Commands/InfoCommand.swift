// cairn info: what a store is.
//
// What can be seen from outside is printed in any case; what its objects are, if it opens.

import ArgumentParser
import CairnInspection

/// Prints what a store is and has.
struct InfoCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Print what a store is and has.",
        discussion: """
            The first part is read from the headers in the files, also while a program writes and if \
            the store does not open. The objects are counted by opening it to be read. If it does \
            not open, the exit code says why.

            Of a store in PostgreSQL the first part is what the server says: its version, the size of \
            each table, and which programs have a connection to the database.
            """)

    @OptionGroup var place: StoreArgument

    @Flag(help: "Do not open the store: print what its files say, or the server.")
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

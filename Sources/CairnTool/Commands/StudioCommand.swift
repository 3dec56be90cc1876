// cairn studio: serves a page for a store to the browser.

import ArgumentParser
import CairnInspection
import CairnStudio

/// Serves a page for a store until the user ends it.
struct StudioCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "studio", abstract: "Look at a store in the browser.",
        discussion: """
            A page over the store: what is in it and how much space that takes, its model as a diagram, its \
            objects as tables to sort and filter, its history, and whether it is sound. It works beside \
            programs that write, and shows their commits. Ctrl-C ends it.

            The store is only read unless you give --write. Then objects can be edited, added and deleted, \
            lists imported, and the last change undone.

            Only this machine can connect, and only the browser that opens the address with the token, which \
            works once. Another address is printed if it is used again.

            Examples:
              cairn studio shop.cairn
              cairn studio shop.cairn --write --port 8080
            """)

    @OptionGroup var place: StoreArgument

    @Flag(help: "Allow the page to change the store.")
    var write = false

    @Option(help: "The port to listen on; 0 takes any that is free.")
    var port: UInt16 = 0

    @Flag(name: .customLong("no-open"), help: "Print the address without opening the browser.")
    var noOpen = false

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        var access = turn.access
        access.isReadOnly = !write
        access.stays = true
        let answers = try StudioAnswers(
            place.store, access, StoreKinds.current, version: CairnCommand.configuration.version,
            run: Self.runCommand)
        defer { answers.close() }
        let title = answers.title
        try StudioRun(port: port).serve(answers) { address, isFirst in
            if output.json {
                console.print(JSONValue.object(["address": .string(address)]).line)
            } else if isFirst {
                console.print("\(title): \(write ? "can be changed" : "read-only"), at")
                console.print("  \(address)")
                console.print("Ctrl-C ends it.")
            } else {
                console.print("The address was used twice. If that was not you, press Ctrl-C.")
                console.print("For another browser:")
                console.print("  \(address)")
            }
            console.flush()
            if isFirst, !noOpen { BrowserOpener.open(address) }
        }
    }

    /// Runs a command line like the tool; every error is a `Failure`.
    static func runCommand(_ arguments: [String]) throws {
        do {
            var command = try CairnCommand.parseAsRoot(arguments)
            try command.run()
        } catch {
            throw Failure(error) == nil
                ? CairnCommand.failure(of: error, asJSON: true) ?? error : error
        }
    }
}

// cairn model: a model as a person reads it.

import ArgumentParser
import CairnModel

/// Prints a model.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Print a model, of a file from Xcode or of a store.")

    @Argument(
        help: "A .xcdatamodeld or .xcdatamodel folder, its XML, or a store's folder.",
        completion: .file())
    var model: String

    @Option(help: "The version of a model with several; without it the current one.")
    var version: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        if ImportJob.isStore(model) {
            guard version == nil else {
                throw Failure("a store has one model: leave --version out", code: .usage)
            }
            try StoreSession.reading(model) {
                try ModelPrinter.print($0.schema.model, json: output.json)
            }
            return
        }
        let file = try ModelFile(contentsOfFile: model, version: version)
        try ModelPrinter.print(file.model, json: output.json)
        for warning in file.warnings { console.printError("cairn: note: \(warning)") }
    }
}

// cairn model: a model as a person reads it.

import ArgumentParser
import CairnInspection
import CairnModel
import FoundationEssentials

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
            try StoreSession.reading(model) { try print($0.schema.model, to: console) }
            return
        }
        let file = try ModelFile(contentsOfFile: model, version: version)
        try print(file.model, to: console)
        for warning in file.warnings { console.printError("cairn: note: \(warning)") }
    }

    private func print(_ model: ManagedObjectModel, to console: Console) throws {
        guard output.json else {
            var text = ModelDescription(model).description
            while text.last == "\n" { text.removeLast() }
            console.print(text)
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            console.print(String(decoding: try encoder.encode(model), as: UTF8.self))
        } catch {
            throw Failure("the model cannot be written as JSON: \(error)")
        }
    }
}

// cairn model: a model as a person reads it, or as Swift.

import ArgumentParser
import CairnInspection
import CairnModel
import FoundationEssentials

/// Prints a model.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Print a model, of a file from Xcode or of a store, or write it as Swift.",
        discussion: """
            With --swift the model becomes one Swift file: an @Entity class for each entity, a \
            @Composite struct for each composite. Attributes that may be nil are optionals, also \
            where the model asks for scalar accessors. An inverse is named on one side, which is \
            enough. Classes have the names that the model gives them, without a module; what \
            cannot be called as the model calls it has another name, and @Entity, @Composite or \
            originalName the model's. A comment says so, and whatever else classes cannot say.
            """)

    @Argument(
        help:
            "A .xcdatamodeld or .xcdatamodel folder, its XML, a model's JSON in a file .json, or a store's folder.",
        completion: .file())
    var model: String

    @Option(help: "The version of a model with several; without it the current one.")
    var version: String?

    @Flag(help: "Write Swift classes.")
    var swift = false

    @Flag(name: .customLong("public"), help: "With --swift: make everything public.")
    var isPublic = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "With --swift: write them into this file, which is replaced if it was made so: what was added to it since, such as methods that validate, is lost.",
            valueName: "file"), completion: .file(extensions: ["swift"]))
    var file: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if swift {
            if output.json { throw ValidationError("--swift and --json are two forms: choose one") }
        } else if isPublic || file != nil {
            throw ValidationError("--public and --output are for --swift")
        }
    }

    func run() throws {
        let console = Console.current
        let source = try ModelSource.read(model, version: version)
        if swift {
            try write(SwiftModelPrinter(source, isPublic: isPublic), console)
        } else {
            try ModelPrinter.print(source.model, json: output.json)
        }
        for warning in source.warnings { console.printError("cairn: note: \(warning)") }
    }

    private func write(_ printer: SwiftModelPrinter, _ console: Console) throws {
        guard let file else {
            var text = printer.text
            text.removeLast()
            console.print(text)
            return
        }
        try refuseToReplace(file)
        do {
            try Data(printer.text.utf8).write(to: URL(filePath: file), options: .atomic)
        } catch {
            throw Failure("\(file) cannot be written: \(error)")
        }
        let counts = printer.counts
        let structs = counts.structs == 0 ? "" : ", \(PlainText.count(counts.structs, "struct"))"
        console.print("\(file): \(PlainText.count(counts.classes, "class", "classes"))\(structs)")
    }

    /// A file that somebody else wrote, or has changed beyond recognition, is kept.
    private func refuseToReplace(_ file: String) throws {
        guard FileManager.default.fileExists(atPath: file) else { return }
        let text = (try? Data(contentsOf: URL(filePath: file))).map {
            String(decoding: $0, as: UTF8.self)
        }
        // Another editor, or git, may have made line ends of two characters, which Swift takes for one.
        let lines = text?.split(maxSplits: 2, whereSeparator: \.isNewline) ?? []
        guard lines.count > 1, lines[1].hasPrefix(SwiftModelPrinter.mark) else {
            throw Failure(
                "\(file) is there, and was not written by cairn model: remove it, or choose another name"
            )
        }
    }
}

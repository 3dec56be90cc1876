// cairn model: a model as a person reads it, or as Swift, or how it becomes another.

import ArgumentParser
import CairnInspection
import CairnModel
import FoundationEssentials

/// Prints a model.
struct ModelCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract:
            "Print a model, of a file from Xcode or of a store, write it as Swift, or compare it with another.",
        discussion: """
            With --to the model is compared with a newer one, also that of a store: each change, \
            whether a store can be migrated without a mapping ("inferable": yes, no, if no \
            duplicates, if none is missing), why not, and what it costs. The last line sums it up. The \
            exit code is 0 also if a mapping is needed. With --to-version alone the newer one is another \
            version of the same file.

            With --hashes it prints what tells versions apart: a hash of each entity, and one of all.

            With --swift the model becomes one Swift file: an @Entity class for each entity, a \
            @Composite struct for each composite. Attributes that may be nil are optionals, also \
            where the model asks for scalar accessors. An inverse is named on one side, which is \
            enough. Classes have the names that the model gives them, without a module; what \
            cannot be called as the model calls it has another name, and @Entity, @Composite or \
            originalName the model's. A comment says so, and whatever else classes cannot say.
            """)

    @Argument(
        help:
            "A .xcdatamodeld or .xcdatamodel folder, its XML, a model's JSON in a file .json, or a store: its folder, or postgresql://HOST/DATABASE.",
        completion: .file())
    var model: String

    @Option(help: "The version of a model with several; without it the current one.")
    var version: String?

    @Option(
        help: ArgumentHelp("Say how it becomes this model.", valueName: "model"),
        completion: .file())
    var to: String?

    @Option(help: "With --to: the version of that model; without it the current one.")
    var toVersion: String?

    @Flag(help: "Print the hashes that tell versions apart.")
    var hashes = false

    @Flag(help: "Write Swift classes.")
    var swift = false

    @Flag(name: .customLong("public"), help: "With --swift: make everything public.")
    var isPublic = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "With --swift: write them into this file, which is replaced if it was written this way: what was added to it since, such as methods that validate, is lost.",
            valueName: "file"), completion: .file(extensions: ["swift"]))
    var file: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let isComparison = to != nil || toVersion != nil
        if [swift, hashes, isComparison].filter({ $0 }).count > 1 {
            throw ValidationError("--swift, --hashes and --to cannot be combined: choose one")
        }
        if swift {
            if output.json {
                throw ValidationError("--swift and --json cannot be combined: choose one")
            }
        } else if isPublic || file != nil {
            throw ValidationError("--public and --output need --swift")
        }
    }

    var places: [String] { [model] + (to.map { [$0] } ?? []) }

    func run() throws {
        let console = Console.current
        let source = try ModelSource.read(model, version: version)
        if to != nil || toVersion != nil {
            try compare(source, console)
            return
        }
        if swift {
            try write(SwiftModelPrinter(source, isPublic: isPublic), console)
        } else if hashes {
            VersionPrinter.print(source.model, json: output.json)
        } else {
            try ModelPrinter.print(source.model, json: output.json)
        }
        for warning in source.warnings { console.printError("cairn: note: \(warning)") }
    }

    /// Says how the model becomes the other one.
    private func compare(_ source: ModelSource, _ console: Console) throws {
        let destination = try ModelSource.read(to ?? model, version: toVersion)
        let plan = ModelMigrationPlan(from: source.schema, to: destination.schema)
        ModelComparison(plan: plan, console: console).print(json: output.json)
        for warning in source.warnings + destination.warnings {
            console.printError("cairn: note: \(warning)")
        }
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
                "\(file) exists, and was not written by cairn model: remove it, or choose another name"
            )
        }
    }
}

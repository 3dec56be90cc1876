// cairn model: prints a model, generates Swift from it, or compares it with another.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnPictures

/// Prints a model.
struct ModelCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract:
            "Print a model, generate Swift classes from it, or compare it with another.",
        discussion: """
            With --to, the model is compared with a newer one, which may also be a store's: each \
            change, whether a store can be migrated without a mapping ("inferable": yes, no, if no \
            duplicates, if none is missing), why not, and the cost. The last line is a summary. \
            The exit code is 0 even if a mapping is needed. With --to-version alone, the newer \
            model is another version in the same file.

            With --hashes, the version hash of each entity is printed, and one of the whole model.

            With --swift, the model becomes one Swift file: an @Entity class for each entity, a \
            @Composite struct for each composite. Attributes that may be nil are optionals, even \
            where the model asks for scalar accessors. An inverse is named on one side, which is \
            enough. Classes have the names that the model gives them, without the module. Where \
            the model's name cannot be used, @Entity, @Composite or originalName contains it. \
            Comments point this out, and anything else that classes cannot express.

            Examples:
              cairn model Shop.xcdatamodeld --swift --output Shop.swift
              cairn model Shop.xcdatamodeld --version "Shop" --to-version "Shop 2"
            """)

    @Argument(
        help:
            "A .xcdatamodeld or .xcdatamodel folder, its XML, a .json file with a model, or a store: a folder, or postgresql://HOST/DATABASE.",
        completion: .file())
    var model: String

    @Option(help: "The model version, if there are several; by default the current one.")
    var version: String?

    @Option(
        help: ArgumentHelp("Compare with this newer model.", valueName: "model"),
        completion: .file())
    var to: String?

    @Option(help: "With --to: the version of that model; by default the current one.")
    var toVersion: String?

    @Flag(help: "Print version hashes.")
    var hashes = false

    @Flag(help: "Generate Swift classes.")
    var swift = false

    @Flag(help: "Print a diagram as SVG; with --to or --to-version, of what differs.")
    var svg = false

    @Flag(name: .customLong("public"), help: "With --swift: make everything public.")
    var isPublic = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "With --swift: write to this file. An earlier generated file is replaced, and code added to it since is lost.",
            valueName: "file"), completion: .file(extensions: ["swift"]))
    var file: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let isComparison = to != nil || toVersion != nil
        if [swift, hashes, isComparison].filter({ $0 }).count > 1 {
            throw ValidationError("--swift, --hashes and --to cannot be combined: choose one")
        }
        if svg, swift || hashes || output.json {
            throw ValidationError(
                "--svg cannot be combined with --swift, --hashes and --json: choose one")
        }
        if swift {
            if output.json {
                throw ValidationError("--swift and --json cannot be combined: choose one")
            }
        } else if isPublic || file != nil {
            throw ValidationError("--public and --output require --swift")
        }
    }

    var places: [String] { [model] + (to.map { [$0] } ?? []) }

    func run() throws {
        let console = Console.current
        let source = try ModelSource.read(model, version: version)
        if svg { return try draw(source, console) }
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

    /// Draws the model, or the other model with the differences.
    private func draw(_ source: ModelSource, _ console: Console) throws {
        let diagram =
            to == nil && toVersion == nil
            ? ModelPicture.diagram(of: source.model)
            : ModelPicture.diagram(
                of: try ModelSource.read(to ?? model, version: toVersion).model,
                against: source.model, named: version ?? model)
        console.print(diagram.picture().svg(in: .file))
    }

    /// Prints how to migrate from the model to the other one.
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
        try OutputFile(path: file, command: "model").write(printer.text, replacing: Self.isOwn)
        let counts = printer.counts
        let structs = counts.structs == 0 ? "" : ", \(PlainText.count(counts.structs, "struct"))"
        console.print("\(file): \(PlainText.count(counts.classes, "class", "classes"))\(structs)")
    }

    /// Returns whether a text was written by this command, without changes beyond recognition.
    private static func isOwn(_ text: String) -> Bool {
        // Another editor, or git, may have written line ends of two characters, which Swift treats as one.
        let lines = text.split(maxSplits: 2, whereSeparator: \.isNewline)
        return lines.count > 1 && lines[1].hasPrefix(SwiftModelPrinter.mark)
    }
}

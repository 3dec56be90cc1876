// cairn import-coredata: imports a Core Data store.

import ArgumentParser
import CairnCoreData
import CairnInspection
import CairnModel

/// Imports a Core Data store.
struct ImportCoreDataCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-coredata",
        abstract: "Import a Core Data store into a new store.",
        discussion: """
            The Core Data store is an SQLite file. It is read together with its write-ahead log, \
            and nothing in its folder is changed. Quit the program that writes to it first.

            Most Core Data stores contain their model. If this one does not, or to use another \
            compatible model, pass --model; if the model has several versions, the matching one is \
            used.

            Objects keep their numbers, and the new store keeps the UUID: \
            x-coredata://UUID/Person/p7 becomes p7, and cairn get accepts both.

            Anything that cannot be imported, such as a value out of range, a value whose file is \
            missing, or the contents of a damaged log, is listed, and the exit code is 4. Parts of \
            the model without an equivalent are listed too, and so are defaults used in place of \
            missing values; no object is lost because of these, and the exit code is 0. Core \
            Data's history is not imported.

            If the model contains something for which the store has no table or column, the import \
            fails and the error lists the differences. With --skip, such properties and \
            relationships are left out and listed, and everything else is imported.

            Example:
              cairn import-coredata Shop.sqlite shop.cairn --model Shop.xcdatamodeld
            """)

    @Argument(help: "The SQLite file of the Core Data store.", completion: .file())
    var old: String

    @Argument(help: "The folder of the new store.", completion: .directory)
    var new: String

    @Option(
        help:
            "The model: a .xcdatamodeld or .xcdatamodel folder, its XML, or a .json file.",
        completion: .file())
    var model: String?

    @Option(help: "With --model: the model version, if there are several.")
    var version: String?

    @Flag(
        help:
            "Skip and list what the model has and the store does not, and import the rest.")
    var skip = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if version != nil, model == nil {
            throw ValidationError(
                "--version requires --model: it selects one of that model's versions.")
        }
    }

    var places: [String] { model.map { [$0] } ?? [] }

    func run() throws {
        try DatabaseURL.refuse(new, for: "a store imported from Core Data")
        let console = Console.current
        let start = ContinuousClock.now
        var job = CoreDataImport(from: old, to: new, candidates: try candidates(console))
        job.skips = skip
        let report = try job.run { stage, done, total in
            console.progress(
                "\(stage): \(PlainText.number(done)) of \(PlainText.number(total))")
        }
        console.endProgress()
        let printer = ImportReportPrinter(
            report: report, old: old, new: new,
            seconds: (ContinuousClock.now - start) / .seconds(1))
        if output.json {
            console.print(printer.json.line)
        } else {
            for line in printer.lines { console.print(line) }
        }
        guard report.isWhole else {
            throw Failure("\(old): not all of it could be imported", code: .incomplete)
        }
    }

    /// Returns the models to choose from.
    private func candidates(_ console: Console) throws -> [CoreDataImport.Candidate] {
        guard let model else { return [] }
        let first = try ModelSource.read(model, version: version)
        var candidates = [
            CoreDataImport.Candidate(name: first.version ?? first.name, schema: first.schema)
        ]
        guard first.version != nil, version == nil else {
            for warning in first.warnings { console.printError("cairn: note: \(warning)") }
            return candidates
        }
        // The store may be older than the current version: the newest matching version is used.
        let versions = try ModelVersions(contentsOfFile: model)
        // The warning about the current version does not matter here.
        for warning in first.warnings where !versions.warnings.contains(warning) {
            console.printError("cairn: note: \(warning)")
        }
        for name in versions.names.reversed() where name != first.version {
            guard let file = try? versions.read(name) else { continue }
            candidates.append(.init(name: name, schema: file.schema))
        }
        return candidates
    }
}

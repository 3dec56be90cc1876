// cairn import-coredata: a store of Core Data becomes a store of Cairn.

import ArgumentParser
import CairnCoreData
import CairnInspection
import CairnModel

/// Imports a store of Core Data.
struct ImportCoreDataCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-coredata",
        abstract: "Import a store that Core Data wrote into a new store.",
        discussion: """
            The old store is an SQLite file. It is read with its write-ahead log, and nothing in its \
            folder is changed. The program that writes to it should have ended.

            Most stores have their model in them. To one that has none, or to use another that fits, \
            --model gives it; of several versions the one that fits is taken.

            Objects keep their numbers, and the new store its UUID: \
            x-coredata://UUID/Person/p7 is p7, and cairn get finds it by either.

            What cannot be imported, such as a value out of its attribute's range, one whose file \
            is missing, or what a damaged log held, is listed, and the exit code is 4. Parts of the \
            model that have no form here are listed too, and so are defaults that stand for missing \
            values: no object is without anything for that, and the exit code is 0. Core Data's \
            history stays behind.

            A model that says what the store has no table or column for does not fit: the error says \
            how the two differ. With --skip such properties and relationships are left out and listed, \
            and everything else is imported.
            """)

    @Argument(help: "The SQLite file of the old store.", completion: .file())
    var old: String

    @Argument(help: "The folder of the new store.", completion: .directory)
    var new: String

    @Option(
        help:
            "The model: a .xcdatamodeld or .xcdatamodel folder, its XML, or its JSON in a file .json.",
        completion: .file())
    var model: String?

    @Option(help: "With --model: the version, of a model with several.")
    var version: String?

    @Flag(
        help:
            "Leave out and list what the model has and the store has not, and import the rest.")
    var skip = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if version != nil, model == nil {
            throw ValidationError("--version needs --model: it names one of that model's versions.")
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

    /// The models to choose from.
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
        // The store may be older than the current version: the newest that fits is it.
        let versions = try ModelVersions(contentsOfFile: model)
        // Which one is the current one does not matter.
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

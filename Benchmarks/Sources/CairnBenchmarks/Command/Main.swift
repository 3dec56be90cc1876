// Runs Cairn and its peers on the same work, alternating, each run in a process of its own, and prints
// medians, spreads and ratios.
//
//   bash Benchmarks/run --help

import ArgumentParser
import Foundation

@main
enum Main {
    static func main() throws {
        // A single run, as the campaign below starts it: --run PEER WORKLOAD ROWS FOLDER.
        let arguments = CommandLine.arguments
        if arguments.count == 6, arguments[1] == "--run" {
            return try SingleRun.main(arguments[2], arguments[3], arguments[4], arguments[5])
        }
        BenchmarkCommand.main()
    }
}

struct BenchmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "CairnBenchmarks",
        abstract: "Runs Cairn and its peers side by side.",
        subcommands: [
            CompareCommand.self, PointReadsCommand.self, PointReadsPartCommand.self,
            SharingCommand.self, SharingPartCommand.self, SharingNewsCommand.self,
            UpkeepCommand.self,
            MigrationsCommand.self, MigrationPartCommand.self,
            PostgresCommand.self, PostgresPartCommand.self,
        ],
        defaultSubcommand: CompareCommand.self)
}

struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Prints a table of medians, spreads and ratios to SQLite.",
        discussion: """
            Workloads: \(Workload.all.map(\.name).joined(separator: ", ")).
            Peers: \(PeerEntry.all.map(\.name).joined(separator: ", ")), and machine for the limits.
            """)

    @Option(help: "Workloads or prefixes of their names, separated by commas.")
    var only: String?
    @Option(help: "Peers, separated by commas. Include sqlite: ratios are relative to it.")
    var peers: String?
    @Option(help: "Row counts, separated by commas.")
    var rows: String?
    @Option(help: "How often each peer runs each workload.")
    var rounds: Int?
    @Option(
        help: "Row count at which Cairn runs alone, beside the largest of --rows; 0: skip.")
    var large: Int?
    @Flag(
        help: "All workloads and peers once with 20,000 rows: does it run, and do the peers agree?")
    var quick = false
    @Option(
        help: "A folder for the tables, for all that was measured as JSON, and for the picture.")
    var results: String?
    @Option(
        help: """
            The folder of earlier results: what is measured now takes the place of the same workloads there, and all is \
            written there again.
            """)
    var update: String?
    @Option(help: "A folder on the disk to measure.")
    var folder = Folder.usual

    func run() throws {
        let workloads = try chosen()
        let entries = try chosenPeers()
        var report = Report(
            date: Report.today, machine: Machine.current,
            settings: Dictionary(
                uniqueKeysWithValues: PeerEntry.all.map { ($0.name, $0.type.settings) }))
        var text = ""
        func say(_ part: String) {
            print(part)
            text += part + "\n"
        }
        say(TextReport.head(report, workloads))
        let sizes =
            try rows.map { try Self.numbers($0) } ?? (quick ? [20_000] : [100_000, 1_000_000])
        let earlier = try update.map { try Self.report(in: $0) }
        let large = large ?? (quick || only != nil || update != nil ? 0 : 10_000_000)
        for size in sizes + (large > 0 ? [large] : [])
        where !(earlier?.tables.contains { $0.rows == size } ?? true) {
            throw ValidationError("the earlier results have no table of \(size) rows")
        }
        func save() throws {
            try self.save(report, text)
            if let update, let earlier { try enter(report, into: earlier, update) }
        }
        for size in sizes {
            let table = try Campaign(folder: folder, rows: size, rounds: rounds ?? (quick ? 1 : 5))
                .run(workloads, entries, withMachine: peers?.contains(PeerEntry.machine) ?? true)
            say(TextReport.table(table, entries))
            report.tables.append(table)
            try save()
        }
        if large > 0, let cairn = PeerEntry.named("cairn"), let last = report.tables.last {
            let table = try Campaign(folder: folder, rows: large, rounds: 1)
                .run(workloads, [cairn], withMachine: false)
            say(TextReport.growth(from: last, to: table))
            report.tables.append(table)
            try save()
        }
        let problems =
            report.tables.flatMap(\.failures).map { "FAILED: \($0)" }
            + report.tables.flatMap(\.disagreements).map { "DISAGREEMENT: \($0)" }
        guard problems.isEmpty else {
            print(problems.joined(separator: "\n"))
            throw ExitCode.failure
        }
    }

    /// Puts what was measured into earlier results.
    private func enter(_ report: Report, into whole: Report, _ folder: String) throws {
        var whole = whole
        for table in report.tables {
            guard let index = whole.tables.firstIndex(where: { $0.rows == table.rows }) else {
                continue
            }
            var when = "\(report.date), Cairn \(report.machine.cairn)"
            if table.rounds != whole.tables[index].rounds { when += ", \(table.rounds) rounds" }
            if report.machine.text != whole.machine.text { when += ", \(report.machine.text)" }
            whole.tables[index].update(by: table, measured: when)
        }
        let known = Set(whole.tables.flatMap(\.lines).map(\.workload))
        let head = TextReport.head(whole, Workload.all.filter { known.contains($0.name) })
        let tables = whole.tables.map { TextReport.table($0, PeerEntry.all) }
        try save(whole, ([head] + tables).joined(separator: "\n") + "\n", to: folder)
    }

    private static func report(in folder: String) throws -> Report {
        let data = try Data(contentsOf: URL(filePath: "\(folder)/benchmarks.json"))
        return try JSONDecoder().decode(Report.self, from: data)
    }

    /// Writes what there is so far, so that hours are not lost to a fault in the last one.
    private func save(_ report: Report, _ text: String) throws {
        if let results { try save(report, text, to: results) }
    }

    private func save(_ report: Report, _ text: String, to results: String) throws {
        try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: true)
        let files = [
            "txt": Data(text.utf8), "json": try report.json, "svg": Data(Picture.draw(report).utf8),
        ]
        for (kind, data) in files {
            try data.write(to: URL(filePath: "\(results)/benchmarks.\(kind)"))
        }
    }

    private func chosen() throws -> [Workload] {
        guard let only else { return Workload.all }
        let names = only.split(separator: ",")
        for name in names where !Workload.all.contains(where: { $0.name.hasPrefix(name) }) {
            throw ValidationError("there is no workload whose name begins with \(name)")
        }
        return Workload.all.filter { workload in
            names.contains { name in
                // A whole name means that workload alone.
                Workload.all.contains { $0.name == name }
                    ? workload.name == name : workload.name.hasPrefix(name)
            }
        }
    }

    private func chosenPeers() throws -> [PeerEntry] {
        guard let peers else { return PeerEntry.all }
        return try peers.split(separator: ",").filter { $0 != PeerEntry.machine }.map { name in
            guard let entry = PeerEntry.named(String(name)) else {
                throw ValidationError("there is no peer named \(name)")
            }
            return entry
        }
    }

    static func numbers(_ text: String, of what: String = "rows", atLeast least: Int = 100) throws
        -> [Int]
    {
        try text.split(separator: ",").map {
            guard let number = Int($0.filter { $0 != "_" }), number >= least else {
                throw ValidationError(
                    "\($0) is not a number of \(what); at least \(least) are needed")
            }
            return number
        }
    }
}

struct UpkeepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upkeep",
        abstract:
            "Measures a Cairn store apart from requests: opening, space, memory, compaction.")

    @Argument(help: "How many rows.")
    var rows = 1_000_000

    func run() throws { try Upkeep.run(rows: rows) }
}

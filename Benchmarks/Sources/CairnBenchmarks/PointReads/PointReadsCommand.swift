// What a lookup by key costs in stores of many sizes, beside the peers, and with more and less memory for the cache.
//
//   CairnBenchmarks point-reads --rows 100000,1000000,10000000 --peers sqlite,lmdb,rocksdb,cairn --budgets 64,256,1024
//
//   1. Each peer fills a store of its own, which is removed when the peer is done.
//   2. Each measurement is a process of its own: it opens the store, looks up as many keys as it will measure, and then others.
//
// Files are in the system's memory, as far as that goes: it is about what a store does, not about a disk.

import ArgumentParser
import Foundation

struct PointReadsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "point-reads",
        abstract: "Measures lookups by key in stores of many sizes.")

    @Option(help: "Row counts, separated by commas.")
    var rows = "100000,1000000,10000000"
    @Option(help: "Peers, separated by commas.")
    var peers = "sqlite,lmdb,rocksdb,cairn"
    @Option(
        help: "Sizes of Cairn's cache in MiB, separated by commas; the chart shows 256.")
    var budgets = "64,256,1024"
    @Option(help: "The number of keys to look up.")
    var lookups = 1_000_000
    @Option(help: "A folder for the table, the chart and all that was measured as JSON.")
    var results: String?
    @Option(help: "A folder on the disk to measure.")
    var folder = Folder.usual

    func run() throws {
        let sizes = try CompareCommand.numbers(rows)
        let budgets = try CompareCommand.numbers(budgets, of: "MiB", atLeast: 1)
        let entries = try peers.split(separator: ",").map { name in
            guard let entry = PeerEntry.named(String(name)) else {
                throw ValidationError("there is no peer \(name)")
            }
            return entry
        }
        var report = PointReadsReport(
            date: Report.today, machine: Machine.current, lookups: lookups,
            settings: Dictionary(
                uniqueKeysWithValues: entries.map { ($0.name, $0.type.settings) }))
        print(report.head)
        for size in sizes {
            for entry in entries {
                let lines = try Folder.temporary(in: folder) { folder in
                    try self.lines(entry, size, budgets, folder)
                }
                report.lines += lines
                for line in lines { print(line.text) }
                try save(report)
            }
        }
    }

    private func lines(_ entry: PeerEntry, _ size: Int, _ budgets: [Int], _ folder: String) throws
        -> [PointReadsReport.Line]
    {
        let _: PointReadFigures = try ask(entry, folder, size, nil, nil)
        Folder.synchronize(folder)
        let bytes = Double(Folder.size(folder)) / Double(size)
        let budgets: [Int?] = entry.hasCacheSetting ? budgets : [nil]
        return try budgets.map { budget in
            var line = PointReadsReport.Line(
                peer: entry.name, rows: size, cacheMiB: budget, bytesPerRow: bytes)
            for spread in KeySpread.allCases {
                line.figures[spread.rawValue] = try ask(entry, folder, size, budget, spread)
            }
            return line
        }
    }

    /// Starts a process that fills a store, or looks up its rows.
    private func ask(
        _ entry: PeerEntry, _ folder: String, _ size: Int, _ budget: Int?, _ spread: KeySpread?
    ) throws -> PointReadFigures {
        var arguments = [
            PointReadsPartCommand.name, entry.name, folder, "--rows", "\(size)",
        ]
        if let spread {
            arguments += ["--spread", spread.rawValue, "--lookups", "\(lookups)"]
        }
        if let budget { arguments += ["--budget", "\(budget)"] }
        return try SingleRun.ask(arguments, failure: "\(entry.name) failed with \(size) rows")
    }

    private func save(_ report: PointReadsReport) throws {
        guard let results else { return }
        try FileManager.default.createDirectory(
            atPath: results, withIntermediateDirectories: true)
        try report.text.write(
            toFile: "\(results)/point-reads.txt", atomically: true, encoding: .utf8)
        try PointReadsPicture(report).svg.write(
            toFile: "\(results)/point-reads.svg", atomically: true, encoding: .utf8)
    }
}

/// One store filled, or one measurement, in this process.
struct PointReadsPartCommand: ParsableCommand {
    static let name = "point-reads-part"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var peer: String
    @Argument var folder: String
    @Option var rows: Int
    @Option var lookups = 0
    @Option var spread: KeySpread?
    @Option var budget: Int?

    func run() throws {
        guard let entry = PeerEntry.named(peer) else { preconditionFailure("\(peer) is a peer") }
        var figures = PointReadFigures()
        if let spread {
            figures = try PointReads.measure(
                entry, folder, rows: rows, lookups: lookups, spread: spread, cacheMiB: budget)
        } else {
            try PointReads.fill(entry, folder, rows: rows)
        }
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
    }
}

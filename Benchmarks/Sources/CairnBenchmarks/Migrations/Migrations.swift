// What it costs to lead a store to another version of its model. Cairn alone; each part says what it did.
//
//   CairnBenchmarks migrations --rows 1000000
//
//   1. The stores that parts start from are made once, and copied for each round.
//   2. Each round of a part is a process of its own, whose memory and writes are then those of the part alone.
//   3. Parts that others are to be held against, which change no model, take part as any other.

import ArgumentParser
import Foundation

struct MigrationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrations",
        abstract: "Measures the migration of a Cairn store to another model version.")

    @Option(help: "How many rows.")
    var rows = 1_000_000
    @Option(help: "How often each part is run.")
    var rounds = 3
    @Option(help: "A folder on the disk to measure.")
    var folder = Folder.usual

    func validate() throws {
        guard rows >= 1000, rounds >= 1 else {
            throw ValidationError("at least 1000 rows and one round are needed")
        }
    }

    func run() throws {
        let machine = Machine.current
        print("\(Report.today), Cairn \(machine.cairn), \(machine.text)")
        print(
            """
            \(rows) rows, \(rounds) rounds, medians ± half the spread; files are in memory, durability is full
            written: by the process, closing included; memory: the peak above the start, mapped files included
            """)
        try Folder.temporary(in: folder) { try run(in: $0) }
    }

    private func run(in folder: String) throws {
        print("\("".padded(to: MigrationPart.longestTitle))        time        written     memory")
        for part in MigrationPart.allCases {
            let source = "\(folder)/\(part.start.rawValue)"
            if !FileManager.default.fileExists(atPath: source) {
                try FileManager.default.createDirectory(
                    atPath: source, withIntermediateDirectories: true)
                try part.start.make(in: source, rows: rows, others: folder)
                Folder.synchronize(source)
            }
            let copy = "\(folder)/copy"
            let figures = try (0..<rounds).map { _ in
                try FileManager.default.copyItem(atPath: source, toPath: copy)
                defer { try? FileManager.default.removeItem(atPath: copy) }
                Folder.synchronize(copy)
                return try Self.start(part, rows: rows, folder: copy)
            }
            print(Self.line(part, figures))
        }
    }

    private static func line(_ part: MigrationPart, _ figures: [MigrationFigures]) -> String {
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        let seconds = figures.map(\.seconds)
        let spread = ((seconds.max() ?? 0) - (seconds.min() ?? 0)) / 2
        let numbers = String(
            format: "%8.1f ms ±%-6.1f %6.2f MiB %6.1f MiB", median(seconds) * 1e3,
            spread * 1e3, median(figures.map { Double($0.writtenBytes) }) / 1_048_576,
            median(figures.map { Double($0.peakKiB) }) / 1024)
        return "\(part.title.padded(to: MigrationPart.longestTitle)) \(numbers)"
    }

    /// Starts a process for a part and waits for what it says.
    private static func start(_ part: MigrationPart, rows: Int, folder: String) throws
        -> MigrationFigures
    {
        try SingleRun.ask(
            ["migration-part", part.rawValue, "\(rows)", folder],
            failure: "the part \(part.rawValue) failed")
    }
}

/// One round of one part in this process.
struct MigrationPartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migration-part", shouldDisplay: false)

    @Argument var part: MigrationPart
    @Argument var rows: Int
    @Argument var folder: String

    func run() throws {
        let figures = try part.measure(folder, rows: rows)
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
    }
}

/// What one round told.
struct MigrationFigures: Codable {
    var seconds = 0.0
    /// What the process had written to a disk, closing included.
    var writtenBytes = 0
    /// Peak resident memory, above what there was before.
    var peakKiB = 0
}

extension String {
    /// The text with spaces behind it.
    fileprivate func padded(to length: Int) -> String {
        padding(toLength: length, withPad: " ", startingAt: 0)
    }
}

// Runs Cairn and its peers on the same rows, alternating, each run in a process of its own so that its peak
// memory can be told, and prints medians and ratios.
//
//   swift run -c release --package-path Benchmarks CairnBenchmarks [insert | commits | open | all] [rows] [rounds]
//   swift run -c release --package-path Benchmarks CairnBenchmarks upkeep [rows]

import Foundation

/// What is measured.
enum Workload: String, CaseIterable {
    /// All rows in one unit, durable at its return.
    case insert
    /// Each row in a unit of its own, durable at its return.
    case full1, full4
    /// The same, not durable at its return.
    case relaxed1, relaxed4
    /// Opening a store whose files are not in memory, and finding one row by its key.
    case open

    var title: String {
        switch self {
        case .insert: "all rows in one unit, durable at return"
        case .full1: "one row a unit, durable at return, one thread"
        case .full4: "one row a unit, durable at return, four threads"
        case .relaxed1: "one row a unit, written at return, one thread"
        case .open: "opening and one row by its key, files not in memory"
        case .relaxed4: "one row a unit, written at return, four threads"
        }
    }

    /// Rows unless something else is asked for.
    var usualRows: Int {
        switch self {
        case .insert, .open: 1_000_000
        case .full1, .full4: 4000
        case .relaxed1, .relaxed4: 100_000
        }
    }

    static func named(_ name: String) -> [Workload]? {
        switch name {
        case "all": allCases
        case "commits": [.full1, .full4, .relaxed1, .relaxed4]
        default: Workload(rawValue: name).map { [$0] }
        }
    }
}

@main
enum Main {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 6, arguments[1] == "--run", let workload = Workload(rawValue: arguments[3]),
            let count = Int(arguments[4])
        {
            try runOnce(peer: arguments[2], workload, count: count, path: arguments[5])
            return
        }
        if arguments.count > 1, arguments[1] == "upkeep" {
            return try Upkeep.run(rows: arguments.count > 2 ? Int(arguments[2]) ?? 1_000_000 : 1_000_000)
        }
        guard let workloads = Workload.named(arguments.count > 1 ? arguments[1] : "all") else {
            let names = Workload.allCases.map(\.rawValue).joined(separator: ", ")
            print("usage: CairnBenchmarks [all | commits | \(names)] [rows] [rounds]")
            print("       CairnBenchmarks upkeep [rows]")
            exit(2)
        }
        let rounds = arguments.count > 3 ? Int(arguments[3]) ?? 5 : 5
        print("SQLite: \(SQLitePeer.settings)")
        for workload in workloads {
            let count = arguments.count > 2 ? Int(arguments[2]) ?? workload.usualRows : workload.usualRows
            print("\n\(workload.rawValue): \(workload.title); \(count) rows, \(rounds) rounds, alternating")
            var results: [String: [Run]] = [:]
            for _ in 0..<rounds {
                for peer in ["cairn", "sqlite"] {
                    results[peer, default: []].append(try spawn(peer: peer, workload, count: count))
                }
            }
            report(results, count: count)
        }
    }

    /// What one run told.
    struct Run: Codable {
        var seconds: Double
        var bytes: Int
        /// Peak resident memory while inserting, above what the rows themselves take, in KiB.
        var peakKiB: Int
    }

    static func runOnce(peer: String, _ workload: Workload, count: Int, path: String) throws {
        if workload == .open {
            let key = Product.row(count / 2).serialCode
            try PageCache.drop(path)
            let before = try peak()
            let seconds = peer == "cairn" ? try CairnPeer.open(key, at: path) : SQLitePeer.open(key, at: path)
            let run = Run(seconds: seconds, bytes: try size(of: path), peakKiB: try peak() - before)
            print(String(decoding: try JSONEncoder().encode(run), as: UTF8.self))
            return
        }
        let rows = Product.rows(count)
        let before = try peak()
        let isDurable = workload == .full1 || workload == .full4
        let threads = workload == .full4 || workload == .relaxed4 ? 4 : 1
        let seconds: Double
        switch (workload, peer) {
        case (.insert, "cairn"): seconds = try CairnPeer.insert(rows, at: path)
        case (.open, _): preconditionFailure("opening is measured above")
        case (.insert, _): seconds = SQLitePeer.insert(rows, at: path)
        case (_, "cairn"):
            seconds = try CairnPeer.commit(rows, threads: threads, isDurable: isDurable, at: path)
        default: seconds = SQLitePeer.commit(rows, threads: threads, isDurable: isDurable, at: path)
        }
        let run = Run(seconds: seconds, bytes: try size(of: path), peakKiB: try peak() - before)
        print(String(decoding: try JSONEncoder().encode(run), as: UTF8.self))
    }

    static func spawn(peer: String, _ workload: Workload, count: Int) throws -> Run {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cairn-bench-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store").path
        // What is opened is made by another process.
        if workload == .open { _ = try spawn(peer: peer, .insert, count: count, path: path) }
        return try spawn(peer: peer, workload, count: count, path: path)
    }

    private static func spawn(peer: String, _ workload: Workload, count: Int, path: String) throws -> Run {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--run", peer, workload.rawValue, "\(count)", path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode(Run.self, from: data)
    }

    static func report(_ results: [String: [Run]], count: Int) {
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        func summary(_ peer: String) -> (seconds: Double, bytes: Double, peak: Double, spread: Double) {
            let runs = results[peer] ?? []
            let seconds = runs.map(\.seconds)
            let middle = median(seconds)
            return (
                middle, median(runs.map { Double($0.bytes) }), median(runs.map { Double($0.peakKiB) }),
                ((seconds.max() ?? 0) - (seconds.min() ?? 0)) / 2 / middle
            )
        }
        let base = summary("sqlite")
        print("peer      seconds   rows/s       ±     ratio  bytes/row  peak MiB")
        for peer in ["sqlite", "cairn"] {
            let s = summary(peer)
            print(
                String(
                    format: "%@  %7.3f  %9.0f  %4.0f %%  %5.2fx  %9.1f  %8.1f",
                    peer.padding(toLength: 8, withPad: " ", startingAt: 0), s.seconds,
                    Double(count) / s.seconds, s.spread * 100, base.seconds / s.seconds,
                    s.bytes / Double(count), s.peak / 1024))
        }
    }

    /// The most memory this process has had, in KiB.
    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            return Int(line.filter(\.isNumber)) ?? 0
        }
        return 0
    }

    /// The bytes of a file or folder, with the write-ahead log beside it.
    static func size(of path: String) throws -> Int {
        var total = 0
        for suffix in ["", "-wal"] {
            var isFolder: ObjCBool = false
            let place = path + suffix
            guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) else { continue }
            let files =
                isFolder.boolValue
                ? try FileManager.default.contentsOfDirectory(atPath: place).map { "\(place)/\($0)" } : [place]
            for file in files {
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                total += (attributes[.size] as? NSNumber)?.intValue ?? 0
            }
        }
        return total
    }
}

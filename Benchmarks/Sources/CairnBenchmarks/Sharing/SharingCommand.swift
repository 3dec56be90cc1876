// Commits by several processes that write one store at the same time, beside SQLite doing the same.
//
//   CairnBenchmarks sharing --processes 1,2,4,8 --peers sqlite,cairn --seconds 5
//
//   1. A store is filled with the rows that will be changed.
//   2. So many processes open it, and begin at the same moment. Each makes commits of one row, one after the other, for so
//      many seconds: one in four is of a row that all of them change.
//   3. What counts is what was committed together, how long single commits took, and how often the most served process
//      got its turn for each turn of the least served.
//   4. Then it is measured how soon another process hears of a commit (SharingNews.swift).

import ArgumentParser
import Foundation

struct SharingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sharing",
        abstract: "Measures commits of several processes that write to one store at the same time.")

    @Option(help: "Process counts, separated by commas.")
    var processes = "1,2,4,8"
    @Option(help: "Peers, separated by commas.")
    var peers = "sqlite,cairn"
    @Option(help: "Durability of commits: full, relaxed, or both, separated by a comma.")
    var durabilities = SharingDurability.allCases.map(\.rawValue).joined(separator: ",")
    @Option(help: "How long each process writes, in seconds.")
    var seconds = 5.0
    @Option(help: "How often each is run; the medians are reported.")
    var rounds = 3
    @Option(help: "A folder for the table.")
    var results: String?
    @Option(help: "A folder on the disk to measure.")
    var folder = Folder.usual

    func run() throws {
        let counts = try CompareCommand.numbers(processes, of: "processes", atLeast: 1)
        let entries = try peers.split(separator: ",").map { name in
            guard let entry = PeerEntry.named(String(name)) else {
                throw ValidationError("there is no peer \(name)")
            }
            return entry
        }
        let levels = try durabilities.split(separator: ",").map { name in
            guard let level = SharingDurability(rawValue: String(name)) else {
                throw ValidationError("commits return full or relaxed, not \(name)")
            }
            return level
        }
        var text = ""
        func say(_ line: String) {
            print(line)
            text += line + "\n"
        }
        let machine = Machine.current
        say("\(Report.today), Cairn \(machine.cairn), \(machine.text)")
        say("Commits of one row each by several processes that write one store at the same time.")
        for entry in entries { say("\(entry.name): \(entry.type.settings)") }
        for durability in levels {
            say("")
            say(
                "\(durability.rawValue): commits per second in total, time per commit, most : least served"
            )
            for count in counts {
                var lines: [String: [SharingFigures]] = [:]
                for _ in 0..<max(1, rounds) {
                    for entry in entries {
                        lines[entry.name, default: []].append(
                            try measure(entry, durability, count))
                    }
                }
                let medians = entries.map { entry in
                    let all = (lines[entry.name] ?? []).sorted { $0.perSecond < $1.perSecond }
                    return (entry.name, all[all.count / 2])
                }
                let base = medians.first { $0.0 == PeerEntry.base }?.1.perSecond
                for (name, figures) in medians {
                    say(figures.line(name, processes: count, base: base))
                }
            }
        }
        say("")
        say("News: from a commit's return until a program that has the store open hears of it")
        for durability in levels {
            say(try SharingNews.measure(durability, folder: folder).line(durability))
        }
        guard let results else { return }
        try FileManager.default.createDirectory(
            atPath: results, withIntermediateDirectories: true)
        try text.write(toFile: "\(results)/sharing.txt", atomically: true, encoding: .utf8)
    }

    private func measure(_ entry: PeerEntry, _ durability: SharingDurability, _ count: Int) throws
        -> SharingFigures
    {
        try Folder.temporary(in: folder) { folder in
            let store = try entry.type.init(
                at: folder, durability: durability.durability, indexes: .keys)
            try store.insert(Product.rows(0..<SharingPart.rows(for: count))[...])
            try store.close()
            // Time enough for all of them to open it.
            let start = Date.now.timeIntervalSince1970 + 0.5 + 0.1 * Double(count)
            let answers = Sharers<SharingPart>()
            let threads = (0..<count).map { number in
                let thread = Thread {
                    answers.add(
                        Result {
                            try SingleRun.ask(
                                [
                                    SharingPartCommand.name, entry.name, folder,
                                    durability.rawValue, "\(number)", "\(start)", "\(seconds)",
                                ], failure: "\(entry.name) failed with \(count) processes")
                        })
                }
                thread.start()
                return thread
            }
            return SharingFigures(try answers.all(threads.count))
        }
    }
}

/// Answers of processes that run at the same time.
private final class Sharers<Answer: Sendable>: @unchecked Sendable {
    // Its condition is locked around what it has.
    private let condition = NSCondition()
    private var answers: [Result<Answer, any Error>] = []

    func add(_ answer: Result<Answer, any Error>) {
        condition.withLock { answers.append(answer) }
        condition.signal()
    }

    func all(_ count: Int) throws -> [Answer] {
        condition.lock()
        defer { condition.unlock() }
        while answers.count < count { condition.wait() }
        return try answers.map { try $0.get() }
    }
}

/// When the commits return.
enum SharingDurability: String, CaseIterable, ExpressibleByArgument {
    case full, relaxed

    var durability: Durability { self == .full ? .full : .relaxed }
}

/// One process of many.
struct SharingPartCommand: ParsableCommand {
    static let name = "sharing-part"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var peer: String
    @Argument var folder: String
    @Argument var durability: SharingDurability
    @Argument var number: Int
    @Argument var start: Double
    @Argument var seconds: Double

    func run() throws {
        guard let entry = PeerEntry.named(peer) else { preconditionFailure("\(peer) is a peer") }
        let store = try entry.type.init(
            at: folder, durability: durability.durability, indexes: .keys)
        let part = try SharingPart.measure(store, number, start: start, seconds: seconds)
        try store.close()
        print(String(decoding: try JSONEncoder().encode(part), as: UTF8.self))
    }
}

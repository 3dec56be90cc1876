// Stores in a PostgreSQL database beside what a server would use instead, on the same server in one run.
//
//   CairnBenchmarks postgres --rows 1000000 --objects 100000
//
//   1. A server is started for the run, unless the connection string of one is given.
//   2. Each peer has a schema of its own. Each part of each peer is a process of its own, whose memory is then that of the part
//      alone; the first part fills what the others work on.
//   3. The ORM is SQLAlchemy over psycopg, in an environment that is made for the run. Where it cannot be had it is left out.

import ArgumentParser
import Foundation

struct PostgresCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postgres",
        abstract: "Compares stores in PostgreSQL with hand-written libpq and an ORM.")

    @Option(help: "The number of rows to import.")
    var rows = 1_000_000
    @Option(help: "The number of objects to fetch.")
    var objects = 100_000
    @Option(help: "How often each is run; the medians are reported.")
    var rounds = 3
    @Option(help: "Peers, separated by commas.")
    var peers = PostgresPeer.allCases.map(\.rawValue).joined(separator: ",")
    @Option(help: "The connection URL of a server to write to; without it, a server is started.")
    var url: String?
    @Option(help: "A folder for the table.")
    var results: String?
    @Option(help: "A folder on the disk to measure.")
    var folder = Folder.usual

    func validate() throws {
        guard rows >= 1000, objects >= 1, objects <= rows, rounds >= 1 else {
            throw ValidationError(
                "at least 1000 rows, one object, no more objects than rows, and one round are needed"
            )
        }
    }

    func run() throws {
        var peers = try peers.split(separator: ",").map { name in
            guard let peer = PostgresPeer(rawValue: String(name)) else {
                throw ValidationError("there is no peer \(name)")
            }
            return peer
        }
        try Folder.temporary(in: folder) { folder in
            var text = ""
            func say(_ line: String) {
                print(line)
                text += line + "\n"
            }
            let server = try url == nil ? PostgresCluster(in: folder) : nil
            let place = server?.url ?? url ?? ""
            defer { server?.stop() }
            let orm = peers.contains(.orm) ? PythonORM(in: folder) : nil
            let machine = Machine.current
            say("\(Report.today), Cairn \(machine.cairn), \(machine.text)")
            say(
                "PostgreSQL \(try HandWrittenPeer.version(place)), \(server?.settings ?? "as it is")"
            )
            for peer in peers { say("\(peer.rawValue): \(peer.settings)") }
            if let orm { say("orm: \(orm.version)") }
            if peers.contains(.orm), orm == nil {
                say("orm: skipped, as python3 or its packages cannot be had here")
                peers.removeAll { $0 == .orm }
            }
            say(
                "medians of \(rounds) round\(rounds == 1 ? "" : "s"); memory: the client's peak above what it has when it begins"
            )
            let parts = PostgresPart.allCases
            var figures: [PostgresPart: [PostgresPeer: [PostgresFigures]]] = [:]
            for round in 0..<rounds {
                for peer in peers {
                    for part in parts {
                        let task = PostgresTask(
                            url: place, part: part, rows: rows, objects: objects, round: round)
                        let answer =
                            peer == .orm
                            ? try orm?.measure(task) : try Self.measure(peer, task)
                        if let answer {
                            figures[part, default: [:]][peer, default: []].append(answer)
                        }
                    }
                }
            }
            for part in parts {
                say("")
                say(part.title(rows: rows, objects: objects))
                let base = PostgresFigures.median(figures[part]?[.hand] ?? [])
                for peer in peers {
                    guard let median = PostgresFigures.median(figures[part]?[peer] ?? []) else {
                        continue
                    }
                    say(median.line(peer, part, base: peer == .hand ? nil : base))
                }
            }
            guard let results else { return }
            try FileManager.default.createDirectory(
                atPath: results, withIntermediateDirectories: true)
            try text.write(toFile: "\(results)/postgres.txt", atomically: true, encoding: .utf8)
        }
    }

    private static func measure(_ peer: PostgresPeer, _ task: PostgresTask) throws
        -> PostgresFigures
    {
        try SingleRun.ask(
            [
                PostgresPartCommand.name, peer.rawValue, task.url, task.part.rawValue,
                "\(task.rows)", "\(task.objects)", "\(task.round)",
            ], failure: "\(peer.rawValue) failed at \(task.part.rawValue)")
    }
}

/// One part of one peer, in this process.
struct PostgresPartCommand: ParsableCommand {
    static let name = "postgres-part"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var peer: PostgresPeer
    @Argument var url: String
    @Argument var part: PostgresPart
    @Argument var rows: Int
    @Argument var objects: Int
    @Argument var round: Int

    func run() throws {
        let task = PostgresTask(url: url, part: part, rows: rows, objects: objects, round: round)
        let figures: PostgresFigures
        switch peer {
        case .cairn: figures = try CairnPostgresPeer(task).measure()
        case .hand: figures = try HandWrittenPeer(task).measure()
        case .orm: throw ValidationError("the ORM is measured by a program of its own")
        }
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
    }
}

// All workloads by all peers at one number of rows.
//
//   1. What a workload starts from is made once for each peer, and copied for a run that changes it.
//   2. The peers take turns, each round begun by another, so that what disturbs the machine meets all.
//   3. The peers must have found the same.

import Foundation

struct Campaign {
    let folder: String
    let rows: Int
    let rounds: Int

    func run(_ workloads: [Workload], _ peers: [PeerEntry], withMachine: Bool) throws -> Table {
        var table = Table(rows: rows, rounds: rounds)
        try Folder.temporary(in: folder) { folder in
            for workload in workloads where rows <= workload.most {
                switch workload.work {
                case .machine where !withMachine: continue
                case .machine:
                    table.lines.append(
                        try run(workload, [PeerEntry.machine: PeerEntry.machine], folder))
                case .peer:
                    let names = peers.map { ($0.name, $0.filledBy) }
                    table.lines.append(
                        try run(workload, Dictionary(uniqueKeysWithValues: names), folder))
                }
            }
        }
        return table
    }

    private func run(
        _ workload: Workload, _ peers: [String: String], _ folder: String
    ) throws -> Table.Line {
        var line = Table.Line(workload: workload.name)
        var turn = peers.keys.sorted()
        for round in 0..<rounds {
            for peer in turn where line.notOffered[peer] == nil && line.failures[peer] == nil {
                progress("\(rows) rows, \(workload.name), round \(round + 1) of \(rounds), \(peer)")
                do {
                    let answer = try run(workload, peer, filledBy: peers[peer] ?? peer, folder)
                    line.notOffered[peer] = answer.notOffered
                    if let outcome = answer.outcome { line.runs[peer, default: []].append(outcome) }
                } catch let failure as SingleRun.Failure {
                    // The others go on; the campaign fails at its end.
                    line.failures[peer] = failure.description
                }
            }
            turn.append(turn.removeFirst())
        }
        progress("")
        return line
    }

    private func run(
        _ workload: Workload, _ peer: String, filledBy filler: String, _ folder: String
    ) throws -> SingleRun.Answer {
        var place = "\(folder)/run"
        defer { if place == "\(folder)/run" { try? FileManager.default.removeItem(atPath: place) } }
        if let preparation = Workload.preparation(of: workload.start) {
            let source = "\(folder)/\(filler)-\(preparation.name)"
            if !FileManager.default.fileExists(atPath: source) {
                try makeFolder(source)
                _ = try SingleRun.start(filler, preparation.name, rows: rows, folder: source)
                Folder.synchronize(source)
            }
            if workload.changes {
                try FileManager.default.copyItem(atPath: source, toPath: place)
                Folder.synchronize(place)
            } else {
                place = source
            }
        } else {
            try makeFolder(place)
        }
        return try SingleRun.start(peer, workload.name, rows: rows, folder: place)
    }

    private func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// One line that is written over, where somebody looks.
    private func progress(_ text: String) {
        guard isatty(STDERR_FILENO) != 0 else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
    }
}

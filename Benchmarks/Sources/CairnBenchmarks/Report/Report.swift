// Everything that was measured, as it goes into JSON.

import Foundation

struct Report: Codable {
    var date: String
    var machine: Machine
    /// How each peer is set up.
    var settings: [String: String]
    var tables: [Table] = []

    static var today: String {
        let format = DateFormatter()
        format.dateFormat = "yyyy-MM-dd"
        return format.string(from: Date())
    }

    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(self)
        }
    }
}

/// All workloads at one number of rows.
struct Table: Codable {
    /// One workload.
    struct Line: Codable {
        var workload: String
        /// All runs of each peer.
        var runs: [String: [Outcome]] = [:]
        /// Why a peer has none.
        var notOffered: [String: String] = [:]
        /// Peers whose run ended without an answer.
        var failures: [String: String] = [:]
        /// By peer: when it was measured, and with which Cairn, where that was later than the rest, and with what else if
        /// that was not the same.
        var later: [String: String] = [:]

        /// The peers of which there is anything.
        var peers: Set<String> {
            Set(runs.keys).union(notOffered.keys).union(failures.keys)
        }
    }

    var rows: Int
    var rounds: Int
    var lines: [Line] = []

    /// Takes lines of a later table of as many rows.
    mutating func update(by other: Table, measured later: String) {
        for line in other.lines {
            var line = line
            let asked = line.peers
            line.later = Dictionary(uniqueKeysWithValues: asked.map { ($0, later) })
            if let index = lines.firstIndex(where: { $0.workload == line.workload }) {
                let old = lines[index]
                // Peers that were not asked again keep what they had, and when that was.
                for (peer, runs) in old.runs where !asked.contains(peer) { line.runs[peer] = runs }
                for (peer, reason) in old.notOffered where !asked.contains(peer) {
                    line.notOffered[peer] = reason
                }
                for (peer, failure) in old.failures where !asked.contains(peer) {
                    line.failures[peer] = failure
                }
                for (peer, time) in old.later where !asked.contains(peer) {
                    line.later[peer] = time
                }
                lines[index] = line
            } else {
                lines.append(line)
            }
        }
        let order = Workload.all.map(\.name)
        lines.sort {
            order.firstIndex(of: $0.workload) ?? 0 < order.firstIndex(of: $1.workload) ?? 0
        }
    }

    var failures: [String] { lines.flatMap { $0.failures.values.sorted() } }

    /// Workloads in which peers found different things.
    var disagreements: [String] {
        lines.compactMap { line in
            let checks = line.runs.flatMap { peer, runs in runs.map { (peer, $0.check) } }
            guard Set(checks.map(\.1)).count > 1 else { return nil }
            let found = checks.map { "\($0): \($1)" }.sorted().joined(separator: "; ")
            return "\(line.workload) at \(rows) rows: \(found)"
        }
    }
}

extension Table.Line {
    /// Reads a line, also one of before peers had times of their own.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(workload: try container.decode(String.self, forKey: .workload))
        runs = try container.decode([String: [Outcome]].self, forKey: .runs)
        notOffered = try container.decode([String: String].self, forKey: .notOffered)
        failures = try container.decode([String: String].self, forKey: .failures)
        if let time = try? container.decode(String.self, forKey: .later) {
            later = Dictionary(uniqueKeysWithValues: peers.map { ($0, time) })
        } else {
            later = try container.decodeIfPresent([String: String].self, forKey: .later) ?? [:]
        }
    }

    /// A figure of a peer: its median, and half its spread as a part of that.
    struct Figure {
        let median: Double
        let spread: Double
        let runs: Int
    }

    func figure(_ metric: Metric, _ peer: String) -> Figure? {
        guard let runs = runs[peer], !runs.isEmpty else { return nil }
        let values = runs.map(metric.value).sorted()
        let half = values.count / 2
        let median = values.count % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2
        guard median > 0, let least = values.first, let most = values.last else { return nil }
        return Figure(
            median: median, spread: (most - least) / 2 / median, runs: values.count)
    }

    /// How many times better than SQLite a peer is.
    func ratio(_ metric: Metric, _ peer: String) -> Double? {
        guard let base = figure(metric, PeerEntry.base), let own = figure(metric, peer) else {
            return nil
        }
        return base.median / own.median
    }
}

// The tables as text. Rows in which Cairn loses stay.

import Foundation

enum TextReport {
    static func head(_ report: Report, _ workloads: [Workload]) -> String {
        let titles = workloads.map { "  \($0.name): \($0.title)" }
        let settings = PeerEntry.all.map { "  \($0.name): \(report.settings[$0.name] ?? "")" }
        return """
            \(report.date), Cairn \(report.machine.cairn), \(report.machine.text)
            Each cell: median, ± half the spread in percent, and how many times better than SQLite; * = there is no request
            for it yet, and it is done as a program has to do it today: see the notes.
            How the peers are set up:
            \(settings.joined(separator: "\n"))
            The workloads:
            \(titles.joined(separator: "\n"))

            """
    }

    static func table(_ table: Table, _ peers: [PeerEntry]) -> String {
        let hasMachine = table.lines.contains { $0.runs[PeerEntry.machine] != nil }
        let names = peers.map(\.name) + (hasMachine ? [PeerEntry.machine] : [])
        var rows = [[""] + names]
        var notes: [String] = []
        for line in table.lines {
            guard let workload = Workload.named(line.workload) else { continue }
            for metric in workload.metrics {
                rows.append([label(workload, metric)] + cells(line, metric, names))
            }
            notes += remarks(line, names)
        }
        let title = "\(grouped(table.rows)) rows, \(table.rounds) rounds, alternating"
        return ([title] + columns(rows) + notes).joined(separator: "\n") + "\n"
    }

    /// What has to be said of a line: why peers have no figure, and which do by hand what others are asked for. Peers
    /// of which the same is to be said share one.
    private static func remarks(_ line: Table.Line, _ peers: [String]) -> [String] {
        var remarks: [(peers: [String], text: String)] = []
        func say(_ text: String?, of peer: String) {
            guard let text else { return }
            if let index = remarks.firstIndex(where: { $0.text == text }) {
                remarks[index].peers.append(peer)
            } else {
                remarks.append(([peer], text))
            }
        }
        for peer in peers {
            say(line.notOffered[peer], of: peer)
            if line.runs[peer] != nil { say(byHand(line, peer).map { "* \($0)" }, of: peer) }
        }
        // Said of the line if it is true of all.
        let times = Set(line.later.values).sorted()
        let later = times.map { time in
            let measured = peers.filter { line.later[$0] == time }
            let isAll = line.peers.allSatisfy { line.later[$0] == time }
            let whose = isAll ? "" : ", " + measured.joined(separator: ", ")
            return "\(line.workload)\(whose): measured later, \(time)"
        }
        return later
            + remarks.map { "\(line.workload), \($0.peers.joined(separator: ", ")): \($0.text)" }
    }

    private static func byHand(_ line: Table.Line, _ peer: String) -> String? {
        PeerEntry.named(peer)?.type.byHand[line.workload]
    }

    /// A figure by a larger table's cost per row, and how many times that of a smaller one it is.
    static func growth(from small: Table, to large: Table) -> String {
        var rows = [["", "\(grouped(small.rows)) rows", "\(grouped(large.rows)) rows", "times"]]
        for line in large.lines {
            guard let workload = Workload.named(line.workload),
                let other = small.lines.first(where: { $0.workload == line.workload })
            else { continue }
            for metric in workload.metrics {
                guard let before = other.figure(metric, "cairn"),
                    let after = line.figure(metric, "cairn")
                else { continue }
                rows.append([
                    label(workload, metric), text(before.median, metric.unit),
                    text(after.median, metric.unit),
                    String(format: "%.2f", after.median / before.median),
                ])
            }
        }
        let title = "Cairn alone at \(grouped(large.rows)) rows"
        return ([title] + columns(rows)).joined(separator: "\n") + "\n"
    }

    private static func label(_ workload: Workload, _ metric: Metric) -> String {
        "\(workload.name)\(metric.title.isEmpty ? "" : ", \(metric.title)")"
    }

    private static func cells(_ line: Table.Line, _ metric: Metric, _ peers: [String])
        -> [String]
    {
        peers.map { peer in
            guard let figure = line.figure(metric, peer) else {
                return peer == PeerEntry.machine ? "" : "-"
            }
            let value = cell(figure, metric) + (byHand(line, peer) == nil ? "" : "*")
            guard peer != PeerEntry.base, let ratio = line.ratio(metric, peer) else {
                return value
            }
            return "\(value) \(factor(ratio))"
        }
    }

    /// Lines in which the columns are below each other.
    private static func columns(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }.joined(separator: "  ")
        }
    }

    static func text(_ value: Double, _ unit: Metric.Unit) -> String {
        switch unit {
        case .seconds:
            switch value {
            case ..<1e-6: "\(short(value * 1e9)) ns"
            case ..<1e-3: "\(short(value * 1e6)) us"
            case ..<1: "\(short(value * 1e3)) ms"
            default: "\(short(value)) s"
            }
        case .bytes: "\(short(value)) B"
        case .mebibytes: "\(short(value)) MiB"
        case .factor: short(value)
        }
    }

    static func factor(_ ratio: Double) -> String { "\(short(ratio))x" }

    /// Three digits.
    private static func short(_ value: Double) -> String {
        let digits = value < 0.01 ? 4 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        return String(format: "%.\(digits)f", value)
    }

    private static func cell(_ figure: Table.Line.Figure, _ metric: Metric) -> String {
        let median = text(figure.median, metric.unit)
        return figure.runs > 1 ? median + String(format: " ±%.0f", figure.spread * 100) : median
    }

    static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in "\(number)".reversed().enumerated() {
            if index > 0 && index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}

// The picture for README: how many times better than SQLite each peer is, as bars on a logarithmic scale.
//
// Colours and greys are such that they can be read on light and on dark ground; the letters are the reader's own.

import Foundation

struct Picture {
    /// What is drawn: a workload, which of its figures, and what people call it.
    private static let drawn: [(workload: String, metric: Int, title: String)] = [
        ("insert", 0, "insert, one transaction"),
        ("insert-10k-full", 0, "insert, 10,000 a transaction"),
        ("upsert-100", 0, "update by key"),
        ("upsert-50", 0, "half updates, half inserts"),
        ("lookup-one", 0, "lookup by unique key"),
        ("lookup-batch", 0, "many lookups in one go"),
        ("count", 0, "filtered count"),
        ("filter", 0, "filtered rows, 1 %"),
        ("all", 0, "every row"),
        ("group-category", 0, "group by category"),
        ("delete", 0, "delete half"),
        ("update", 0, "update a column"),
        ("commit-full-1", 0, "durable commits"),
        ("commit-full-4", 0, "durable commits, 4 threads"),
        ("open-cold", 0, "open, cold"),
        ("traverse", 0, "to-many relationships"),
        ("in-10k", 0, "fetch by 10,000 keys"),
        ("range", 0, "range by an index"),
        ("top-10", 0, "top 10 by an index"),
        ("insert", 1, "size of the store"),
    ]
    static let colours = [
        "sqlite": "#848d97", "cairn": "#2f81f7", "cairn-objects": "#79b8ff", "grdb": "#d9822b",
        "grdb-records": "#edb879", "core-data": "#b3d7ff",
        "lmdb": "#3fa45b", "rocksdb": "#a371c9",
    ]
    static let grey = "#848d97"
    private static let width = 860.0
    private static let left = 210.0
    private static let top = 92.0
    private static let bar = 6.0
    private static let gap = 12.0

    private let peers: [PeerEntry]
    private let lines: [(title: String, ratios: [Double?])]
    /// The powers of ten at the ends of the scale.
    private let (low, high): (Double, Double)

    /// Draws the largest table in which there are others than Cairn; nothing if there is none.
    static func draw(_ report: Report) -> String {
        let tables = report.tables.filter { $0.lines.contains { $0.runs[PeerEntry.base] != nil } }
        guard let table = tables.last else { return "" }
        return Picture(table).svg(report, table)
    }

    private init(_ table: Table) {
        let peers = PeerEntry.all.filter { entry in
            entry.name != PeerEntry.base && table.lines.contains { $0.runs[entry.name] != nil }
        }
        lines = Self.drawn.compactMap { drawn in
            guard let line = table.lines.first(where: { $0.workload == drawn.workload }),
                let metric = Workload.named(drawn.workload)?.metrics[drawn.metric]
            else { return nil }
            return (drawn.title, peers.map { line.ratio(metric, $0.name) })
        }
        self.peers = peers
        let all = lines.flatMap(\.ratios).compactMap(\.self)
        low = max(-2, floor(log10(min(0.5, all.min() ?? 1))))
        high = min(3, ceil(log10(max(2, all.max() ?? 1))))
    }

    private var block: Double { Double(peers.count) * Self.bar + Self.gap }
    private var bottom: Double { Self.top + Double(lines.count) * block }

    private func x(_ ratio: Double) -> Double {
        let place = (min(high, max(low, log10(ratio))) - low) / (high - low)
        return Self.left + place * (Self.width - Self.left - 50)
    }

    private func svg(_ report: Report, _ table: Table) -> String {
        let machine = report.machine
        let notes = [
            "\(report.date), Cairn \(machine.cairn), \(table.rounds) rounds; \(machine.processor), "
                + "\(machine.cores) cores, \(machine.memoryGiB) GiB, \(machine.system), Linux \(machine.kernel)",
            "Swift \(machine.swift), SQLite \(machine.sqlite), GRDB 7.10, LMDB \(machine.lmdb), "
                + "RocksDB \(machine.rocksdb); rows per second, or bytes a row, held against SQLite's C API",
        ]
        let size = "\(Int(Self.width)) \(Int(bottom + 62))"
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size)" font-family="sans-serif" font-size="12" \
            fill="\(Self.grey)">
            """,
            Self.text(
                0, 18, "Times better than SQLite, \(TextReport.grouped(table.rows)) rows",
                "font-size=\"16\""),
        ]
        parts += legend() + scale()
        for (index, line) in lines.enumerated() {
            let y = Self.top + Double(index) * block
            parts.append(
                Self.text(Self.left - 10, y + block / 2, line.title, "text-anchor=\"end\""))
            for (place, ratio) in line.ratios.enumerated() {
                guard let ratio else { continue }
                parts += bar(ratio, peers[place].name, y + Self.gap / 2 + Double(place) * Self.bar)
            }
        }
        for (index, note) in notes.enumerated() {
            parts.append(Self.text(0, bottom + 38 + Double(index) * 15, note, "font-size=\"10\""))
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    private func legend() -> [String] {
        var place = 0.0
        return peers.flatMap { peer in
            defer { place += 26 + Double(peer.title.count) * 6.2 }
            let colour = Self.colours[peer.name] ?? Self.grey
            return [
                "<rect x=\"\(place)\" y=\"36\" width=\"10\" height=\"10\" fill=\"\(colour)\"/>",
                Self.text(place + 14, 45, peer.title, "font-size=\"11\""),
            ]
        }
    }

    private func scale() -> [String] {
        stride(from: low, through: high, by: 1).flatMap { power in
            [1.0, 3].filter { $0 == 1 || power < high }.flatMap { step in
                let ratio = step * pow(10, power)
                let place = Self.number(x(ratio))
                let strong = ratio == 1
                return [
                    """
                    <line x1="\(place)" x2="\(place)" y1="\(Self.top - 6)" y2="\(Self.number(bottom))" \
                    stroke="\(Self.grey)" stroke-opacity="\(strong ? 0.9 : 0.25)"/>
                    """,
                    Self.text(
                        x(ratio), Self.top - 12, strong ? "SQLite = 1" : "\(Self.number(ratio))x",
                        "text-anchor=\"middle\" font-size=\"10\""),
                ]
            }
        }
    }

    private func bar(_ ratio: Double, _ peer: String, _ y: Double) -> [String] {
        let (start, end) = (min(x(1), x(ratio)), max(x(1), x(ratio)))
        let colour = Self.colours[peer] ?? Self.grey
        let bar = """
            <rect x="\(Self.number(start))" y="\(Self.number(y))" width="\(Self.number(max(1, end - start)))" \
            height="\(Self.bar - 1)" fill="\(colour)"/>
            """
        guard peer == "cairn" else { return [bar] }
        let isLess = ratio < 1
        return [
            bar,
            Self.text(
                isLess ? start - 4 : end + 4, y + Self.bar, TextReport.factor(ratio),
                "font-size=\"9\" fill=\"\(colour)\"" + (isLess ? " text-anchor=\"end\"" : "")),
        ]
    }

    static func text(_ x: Double, _ y: Double, _ text: String, _ style: String) -> String {
        let safe = text.replacingOccurrences(of: "&", with: "&amp;")
            .replacingOccurrences(of: "<", with: "&lt;")
        return "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" \(style)>\(safe)</text>"
    }

    /// A number as short as it can be.
    static func number(_ value: Double) -> String {
        let text = String(format: value < 0.1 ? "%.2f" : "%.1f", value)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

// The chart of lookups: what one costs against how many rows there are, both by powers of ten.
//
// As in the other picture, colours and greys are such that they can be read on light and on dark ground.

import Foundation

struct PointReadsPicture {
    private static let (width, height) = (900.0, 420.0)
    private static let (left, right, top, bottom) = (70.0, 690.0, 60.0, 350.0)
    /// The size of the cache that is drawn.
    private static let cacheMiB = 256

    private let report: PointReadsReport
    private let curves: [(peer: String, points: [(rows: Double, seconds: Double)])]
    private let (rowsLow, rowsHigh): (Double, Double)
    private let (low, high): (Double, Double)

    init(_ report: PointReadsReport) {
        self.report = report
        let drawn = report.lines.filter { ($0.cacheMiB ?? Self.cacheMiB) == Self.cacheMiB }
        curves = PeerEntry.all.compactMap { entry in
            let points = drawn.filter { $0.peer == entry.name }.map {
                (rows: Double($0.rows), seconds: $0.seconds(.uniform))
            }
            return points.isEmpty ? nil : (entry.name, points.sorted { $0.rows < $1.rows })
        }
        let all = curves.flatMap(\.points)
        rowsLow = floor(log10(all.map(\.rows).min() ?? 1))
        rowsHigh = max(rowsLow + 1, log10(all.map(\.rows).max() ?? 10))
        low = floor(log10(all.map(\.seconds).min() ?? 1e-6))
        high = max(low + 1, ceil(log10(all.map(\.seconds).max() ?? 1e-5)))
    }

    private func x(_ rows: Double) -> Double {
        Self.left + (log10(rows) - rowsLow) / (rowsHigh - rowsLow) * (Self.right - Self.left)
    }

    private func y(_ seconds: Double) -> Double {
        Self.bottom - (log10(seconds) - low) / (high - low) * (Self.bottom - Self.top)
    }

    var svg: String {
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" \
            font-family="sans-serif" font-size="12" fill="\(Picture.grey)">
            """,
            Picture.text(
                0, 18, "A lookup by unique key, uniform keys, cache of \(Self.cacheMiB) MiB",
                "font-size=\"16\""),
        ]
        parts += scale()
        var labels: [Double] = []
        // The highest line is labelled first, and no label lies on another.
        for curve in curves.sorted(by: {
            ($0.points.last?.seconds ?? 0) > ($1.points.last?.seconds ?? 0)
        }) {
            let colour = Picture.colours[curve.peer] ?? Picture.grey
            let line = curve.points.map {
                "\(Picture.number(x($0.rows))),\(Picture.number(y($0.seconds)))"
            }
            parts.append(
                """
                <polyline points="\(line.joined(separator: " "))" fill="none" stroke="\(colour)" \
                stroke-width="\(curve.peer == "cairn" ? 3 : 2)"/>
                """)
            for point in curve.points {
                parts.append(
                    """
                    <circle cx="\(Picture.number(x(point.rows)))" cy="\(Picture.number(y(point.seconds)))" r="3.5" \
                    fill="\(colour)"/>
                    """)
            }
            guard let last = curve.points.last else { continue }
            let place = max(y(last.seconds) + 4, (labels.last ?? 0) + 15)
            labels.append(place)
            let title = PeerEntry.named(curve.peer)?.title ?? curve.peer
            parts.append(
                Picture.text(
                    Self.right + 12, place,
                    "\(title), \(TextReport.text(last.seconds, .seconds))",
                    "fill=\"\(colour)\""))
        }
        let machine = report.machine
        let notes = [
            "\(report.date), Cairn \(machine.cairn); \(machine.processor), \(machine.cores) cores, "
                + "\(machine.memoryGiB) GiB, \(machine.system), Swift \(machine.swift)",
            "SQLite \(machine.sqlite), LMDB \(machine.lmdb), RocksDB \(machine.rocksdb); files in the system's memory",
        ]
        for (index, note) in notes.enumerated() {
            parts.append(
                Picture.text(0, Self.height - 22 + Double(index) * 15, note, "font-size=\"10\""))
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    private func scale() -> [String] {
        var parts: [String] = []
        for power in stride(from: low, through: high, by: 1) {
            for step in [1.0, 2, 5] where step == 1 || power < high {
                let seconds = step * pow(10, power)
                parts.append(line(Self.left, y(seconds), Self.right, y(seconds), step == 1))
                parts.append(
                    Picture.text(
                        Self.left - 8, y(seconds) + 4, TextReport.text(seconds, .seconds),
                        "text-anchor=\"end\" font-size=\"10\""))
            }
        }
        for rows in Set(curves.flatMap(\.points).map(\.rows)).sorted() {
            parts.append(line(x(rows), Self.top, x(rows), Self.bottom, false))
            parts.append(
                Picture.text(
                    x(rows), Self.bottom + 18, "\(TextReport.grouped(Int(rows))) rows",
                    "text-anchor=\"middle\" font-size=\"10\""))
        }
        return parts
    }

    private func line(
        _ x: Double, _ y: Double, _ otherX: Double, _ otherY: Double, _ isStrong: Bool
    )
        -> String
    {
        """
        <line x1="\(Picture.number(x))" y1="\(Picture.number(y))" x2="\(Picture.number(otherX))" \
        y2="\(Picture.number(otherY))" stroke="\(Picture.grey)" stroke-opacity="\(isStrong ? 0.5 : 0.2)"/>
        """
    }
}

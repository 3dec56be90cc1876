// Commits over time, as bars: how many there were, and how many objects they changed.
//
// Commits whose clock said nothing that is a moment are counted in the summary, and drawn nowhere.
//
// Threads: values.

import CairnInspection

/// A picture of commits over time.
package struct CommitTimeline: Sendable {
    /// A commit.
    package struct Commit: Sendable {
        package let number: UInt64
        package let time: Double
        package let inserted: UInt64
        package let updated: UInt64
        package let deleted: UInt64

        /// - Parameter time: in seconds since 2001.
        package init(
            _ number: UInt64, time: Double, inserted: UInt64, updated: UInt64, deleted: UInt64
        ) {
            self.number = number
            self.time = time
            self.inserted = inserted
            self.updated = updated
            self.deleted = deleted
        }

        fileprivate var hasMoment: Bool { time.isFinite && abs(time) < 2e11 }
    }

    /// What was committed within a span.
    private struct Bin {
        var commits = 0
        var first = UInt64.max
        var last: UInt64 = 0
        var counts: [UInt64] = [0, 0, 0]
        var objects: UInt64 { counts.reduce(0) { $0 &+ $1 } }

        mutating func add(_ commit: Commit) {
            commits += 1
            first = min(first, commit.number)
            last = max(last, commit.number)
            for (index, count) in [commit.inserted, commit.updated, commit.deleted].enumerated() {
                counts[index] = counts[index].addingReportingOverflow(count).partialValue
            }
        }
    }

    private static let inks: [Ink] = [.inserted, .updated, .deleted]
    private static let words = ["inserted", "updated", "deleted"]

    let commits: [Commit]

    package init(_ commits: [Commit]) {
        self.commits = commits
    }

    /// Draws it.
    package func picture(width: Double = 960) -> Picture {
        let width = max(width, 240)
        let name = width < 600 ? "cairn-commits-narrow" : "cairn-commits"
        var writer = SVGWriter()
        let legend = Legend(
            zip(Self.inks, Self.words).map { .init(fill: $0.css, words: "objects \($1)") }
                + [.init(fill: Ink.line.css, words: "commits")], width: width)
        legend.draw(in: &writer, y: 0)
        let dated = commits.filter(\.hasMoment)
        guard let first = dated.map(\.time).min(), let last = dated.map(\.time).max() else {
            writer.write(
                "There are no commits to show.", 4, legend.height + 24, size: 13, ink: .muted)
            return Picture(
                name, title: title, summary: summary(nil), width: width,
                height: legend.height + 40, writer)
        }
        let bins = TimeBins(first: first, last: last, most: width < 600 ? 32 : 80)
        var contents = [Bin](repeating: Bin(), count: bins.count)
        for commit in dated { contents[bins.index(of: commit.time)].add(commit) }
        let bottom = draw(contents, bins, from: legend.height, width: width, &writer)
        return Picture(
            name, title: title, summary: summary((first, last)), width: width, height: bottom,
            writer)
    }

    private var title: String { "Commits over time" }

    private func summary(_ span: (Double, Double)?) -> String {
        guard let span else { return "There are no commits to show." }
        let counts = commits.reduce(into: Bin()) { $0.add($1) }.counts
        let objects = zip(counts, Self.words).map { "\(PlainText.number($0)) \($1)" }
        return "\(PlainText.count(commits.count, "commit")) from \(TimeBins.text(span.0)) to "
            + "\(TimeBins.text(span.1)); objects: \(objects.joined(separator: ", "))."
    }

    // MARK: Drawing

    private static let upper = 92.0
    private static let lower = 46.0

    /// Draws both rows of bars, and says where they end.
    private func draw(
        _ contents: [Bin], _ bins: TimeBins, from top: Double, width: Double,
        _ writer: inout SVGWriter
    ) -> Double {
        let mostObjects = contents.map(\.objects).max() ?? 0
        let mostCommits = contents.map(\.commits).max() ?? 0
        let scale = [PlainText.number(mostObjects), PlainText.number(mostCommits)]
        let left = (scale.map { TextWidth.of($0, size: 10) }.max() ?? 0) + 8
        let upper = Frame(x: left, y: top + 10, width: width - left, height: Self.upper)
        let lower = Frame(x: left, y: upper.bottom + 16, width: width - left, height: Self.lower)
        for (frame, most) in [(upper, scale[0]), (lower, scale[1])] {
            for y in [frame.y, frame.bottom] {
                writer.add(
                    "line",
                    [
                        "x1": SVGWriter.number(left), "x2": SVGWriter.number(width),
                        "y1": SVGWriter.number(y), "y2": SVGWriter.number(y),
                        "stroke": Ink.line.css, "stroke-opacity": y == frame.y ? "0.35" : "1",
                    ])
            }
            writer.write(most, left - 5, frame.y + 4, size: 10, ink: .muted, anchor: "end")
            writer.write("0", left - 5, frame.bottom + 3, size: 10, ink: .muted, anchor: "end")
        }
        let step = upper.width / Double(contents.count)
        for (index, bin) in contents.enumerated() where bin.commits > 0 {
            writer.open(
                "g",
                [
                    "data-commit": "\(bin.first)",
                    "data-last-commit": bin.first == bin.last ? nil : "\(bin.last)",
                    "class": "cairn-commit",
                ], title: words(bin, bins.start(of: index)))
            draw(
                bin, x: left + Double(index) * step, step: step, upper, lower, mostObjects,
                mostCommits, &writer)
            writer.end("g")
        }
        drawAxis(bins, left: left, step: step, y: lower.bottom, width: width, &writer)
        return lower.bottom + 38
    }

    private func words(_ bin: Bin, _ start: Double) -> String {
        let numbers =
            bin.first == bin.last ? "commit \(bin.first)" : "commits \(bin.first) to \(bin.last)"
        let counts = zip(bin.counts, Self.words).filter { $0.0 > 0 }
            .map { "\(PlainText.number($0)) \($1)" }
        return "\(TimeBins.text(start)): \(PlainText.count(bin.commits, "commit")) (\(numbers))"
            + (counts.isEmpty ? "" : "\n\(counts.joined(separator: ", "))")
    }

    private func draw(
        _ bin: Bin, x: Double, step: Double, _ upper: Frame, _ lower: Frame, _ mostObjects: UInt64,
        _ mostCommits: Int, _ writer: inout SVGWriter
    ) {
        let width = min(max(1.5, step - (step > 4 ? 1.5 : 0)), 40)
        let left = x + (step - width) / 2
        // All of the span can be pointed at.
        writer.add(
            "rect",
            [
                "x": SVGWriter.number(x), "y": SVGWriter.number(upper.y),
                "width": SVGWriter.number(step),
                "height": SVGWriter.number(lower.bottom - upper.y), "fill": "transparent",
            ])
        var bottom = upper.bottom
        for (count, ink) in zip(bin.counts, Self.inks) where count > 0 {
            let height = max(1.5, Double(count) / Double(mostObjects) * upper.height)
            writer.rectangle(
                Frame(x: left, y: bottom - height, width: width, height: height), fill: ink.css)
            bottom -= height
        }
        let height = max(1.5, Double(bin.commits) / Double(mostCommits) * lower.height)
        writer.rectangle(
            Frame(x: left, y: lower.bottom - height, width: width, height: height),
            fill: Ink.line.css)
    }

    private func drawAxis(
        _ bins: TimeBins, left: Double, step: Double, y: Double, width: Double,
        _ writer: inout SVGWriter
    ) {
        let room = TextWidth.of(bins.label(of: 0), size: 10) + 16
        let every = max(1, Int((room / step).rounded(.up)))
        for index in stride(from: 0, to: bins.count, by: every) {
            let x = left + Double(index) * step
            guard x + room - 16 <= width else { break }
            writer.add(
                "line",
                [
                    "x1": SVGWriter.number(x), "x2": SVGWriter.number(x),
                    "y1": SVGWriter.number(y), "y2": SVGWriter.number(y + 4),
                    "stroke": Ink.line.css,
                ])
            writer.write(bins.label(of: index), x, y + 15, size: 10, ink: .muted)
        }
        let day = bins.length < 86_400 ? ", from \(TimeBins.text(bins.start).prefix(10)) on" : ""
        writer.write(
            "a bar is \(bins.name), UTC\(day)", width, y + 31, size: 10, ink: .muted, anchor: "end")
    }
}

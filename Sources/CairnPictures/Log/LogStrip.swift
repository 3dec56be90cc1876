// The files of a log as a strip: as wide as they are large, filled as far as they are alive.
//
//   1. The strip breaks into rows, so that segments of the usual size can be told apart. All have one scale.
//   2. What is nearly nothing is drawn as wide as can be seen.
//
// Threads: values.

import CairnInspection

/// A strip of segments.
package struct LogStrip: Sendable {
    /// A file of the log.
    package struct Segment: Sendable {
        /// What the file is good for.
        package enum Kind: String, Sendable, CaseIterable {
            /// It takes, or took, commits.
            case main = "log"
            /// What compaction has moved.
            case side = "moved by compaction"
            /// Kept for past states.
            case held = "kept for past states"
            /// No part of the store any more.
            case retired = "no longer needed"
            /// A file that makes opening fast.
            case checkpoint
        }

        let number: UInt64
        let kind: Kind
        let bytes: UInt64
        let liveBytes: UInt64?
        let remark: String?
        let problem: String?

        /// - Parameters:
        ///   - number: of the segment, or of the commit of a checkpoint.
        ///   - liveBytes: how much of it is alive; nil if that is not known.
        ///   - remark: what else is said of it under the pointer.
        ///   - problem: what is wrong with it.
        package init(
            _ number: UInt64, _ kind: Kind, bytes: UInt64, liveBytes: UInt64?,
            remark: String? = nil, problem: String? = nil
        ) {
            self.number = number
            self.kind = kind
            self.bytes = bytes
            self.liveBytes = liveBytes.map { min($0, bytes) }
            self.remark = remark
            self.problem = problem
        }

        var words: String {
            var words = kind == .checkpoint ? "checkpoint of commit \(number)" : "segment \(number)"
            if kind != .checkpoint { words += ", \(kind.rawValue)" }
            words += ": \(PlainText.bytes(bytes))"
            if let liveBytes, kind != .checkpoint {
                words += ", \(PlainText.bytes(liveBytes)) of them alive"
            }
            if let remark { words += "\n\(remark)" }
            if let problem { words += "\ndamaged: \(problem)" }
            return words
        }
    }

    private static let rowHeight = 44.0
    private static let rowGap = 10.0
    private static let leastWidth = 5.0
    private static let gap = 2.0

    private let segments: [Segment]

    /// - Parameter segments: in the order in which they are drawn; checkpoints at the end.
    package init(_ segments: [Segment]) {
        self.segments = segments
    }

    /// Draws it.
    package func picture(width: Double = 960) -> Picture {
        let width = max(width, 240)
        let name = width < 600 ? "cairn-log-narrow" : "cairn-log"
        let hatching = Hatching(name, ink: .dead)
        var writer = SVGWriter()
        hatching.declare(in: &writer)
        let legend = Legend(entries(hatching), width: width)
        legend.draw(in: &writer, y: 0)
        var y = legend.height + 4
        if segments.isEmpty {
            writer.write("There are no segments.", 4, y + 20, size: 13, ink: .muted)
            y += 32
        }
        for row in rows(width: width - 2) {
            for (segment, x, length) in row {
                draw(
                    segment,
                    in: Frame(x: x + 1, y: y, width: length, height: Self.rowHeight), hatching,
                    &writer)
            }
            y += Self.rowHeight + Self.rowGap
        }
        return Picture(
            name, title: "The files of the log", summary: summary, width: width, height: y, writer)
    }

    private var summary: String {
        let log = segments.filter { $0.kind != .checkpoint }
        let bytes = log.reduce(UInt64(0)) { $0 &+ $1.bytes }
        var words =
            "\(PlainText.count(log.count, "segment")) with \(PlainText.bytes(bytes))"
        if log.contains(where: { $0.liveBytes != nil }) {
            let live = log.reduce(UInt64(0)) { $0 &+ ($1.liveBytes ?? 0) }
            words += ", \(PlainText.bytes(live)) of them alive"
        }
        let damaged = segments.filter { $0.problem != nil }
        if !damaged.isEmpty {
            words += ". Damaged: \(damaged.map { "\($0.number)" }.joined(separator: ", "))"
        }
        return words + "."
    }

    private func entries(_ hatching: Hatching) -> [Legend.Entry] {
        let kinds = Set(segments.map(\.kind))
        let isKnown = segments.contains { $0.liveBytes != nil }
        var entries: [Legend.Entry] = Segment.Kind.allCases.compactMap { kind in
            guard kinds.contains(kind) else { return nil }
            switch kind {
            case .main: return .init(fill: Ink.live.css, words: isKnown ? "alive" : "log")
            case .side:
                return .init(fill: Ink.side.css, words: (isKnown ? "alive, " : "") + kind.rawValue)
            default: return .init(fill: Self.ink(kind).css, words: kind.rawValue)
            }
        }
        if segments.contains(where: { ($0.liveBytes ?? $0.bytes) < $0.bytes }) {
            entries.append(.init(fill: hatching.fill, words: "dead"))
        }
        if segments.contains(where: { $0.problem != nil }) {
            entries.append(.init(fill: Ink.damage.css, words: "damaged"))
        }
        return entries
    }

    private static func ink(_ kind: Segment.Kind) -> Ink {
        switch kind {
        case .main: .live
        case .side: .side
        case .held: .held
        case .retired: .panel
        case .checkpoint: .index
        }
    }

    // MARK: Rows

    /// The segments with their places, in rows.
    private func rows(width: Double) -> [[(Segment, x: Double, length: Double)]] {
        let bytes = segments.reduce(0) { $0 + Double($1.bytes) }
        guard bytes > 0 else { return [] }
        let most = Int(width / 30)
        let wanted = Double(min(12, max(1, (segments.count + most - 1) / most)))
        let scale = scale(for: width * wanted - Double(segments.count - 1) * Self.gap, bytes)
        var rows: [[(Segment, x: Double, length: Double)]] = [[]]
        var x = 0.0
        for segment in segments {
            let length = min(width, max(Self.leastWidth, Double(segment.bytes) * scale))
            // What sticks out by a little was rounded up.
            if x > 0, x + length > width + 1 {
                rows.append([])
                x = 0
            }
            rows[rows.count - 1].append((segment, x, length))
            x += length + Self.gap
        }
        return rows
    }

    /// How wide a byte is, with what is nearly nothing as wide as can be seen.
    private func scale(for width: Double, _ bytes: Double) -> Double {
        var scale = max(0, width) / bytes
        // What is made wider leaves less room for the others, of which some are too narrow then.
        for _ in 0..<4 {
            let narrow = segments.filter { Double($0.bytes) * scale < Self.leastWidth }
            let rest = bytes - narrow.reduce(0) { $0 + Double($1.bytes) }
            guard rest > 0 else { break }
            scale = max(0, width - Double(narrow.count) * Self.leastWidth) / rest
        }
        return scale
    }

    private func draw(
        _ segment: Segment, in frame: Frame, _ hatching: Hatching, _ writer: inout SVGWriter
    ) {
        let isSegment = segment.kind != .checkpoint
        writer.open(
            "g",
            [
                "data-segment": isSegment ? "\(segment.number)" : nil,
                "class": isSegment ? "cairn-segment" : nil,
            ], title: segment.words)
        let ink = Self.ink(segment.kind)
        if let live = segment.liveBytes, isSegment, live < segment.bytes {
            writer.rectangle(frame, fill: hatching.fill, radius: 3)
            var part = frame
            part.width *= Double(live) / Double(segment.bytes)
            writer.rectangle(part, fill: ink.css, radius: min(3, part.width / 2))
        } else {
            writer.rectangle(frame, fill: ink.css, radius: 3)
        }
        writer.rectangle(
            frame, fill: "none", stroke: segment.problem == nil ? .line : .damage, radius: 3,
            width: segment.problem == nil ? 1 : 3)
        let number = isSegment ? "\(segment.number)" : "checkpoint"
        let label = (segment.problem == nil ? "" : "! ") + number
        let width = TextWidth.of(label, size: 11, bold: true)
        if width + 8 <= frame.width {
            writer.rectangle(
                Frame(x: frame.x + 3, y: frame.y + 5, width: width + 4, height: 15),
                fill: ink.css, radius: 2)
            writer.write(
                label, frame.x + 5, frame.y + 16, ink: segment.problem == nil ? .text : .damage,
                bold: true)
            let size = PlainText.bytes(segment.bytes)
            let wide = TextWidth.of(size, size: 10)
            if wide + 8 <= frame.width {
                writer.rectangle(
                    Frame(x: frame.x + 3, y: frame.y + 24, width: wide + 4, height: 14),
                    fill: ink.css, radius: 2)
                writer.write(size, frame.x + 5, frame.y + 35, size: 10)
            }
        }
        writer.end("g")
    }
}

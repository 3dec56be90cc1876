// Rows of text in aligned columns.

/// A table for people: a header, a line under it, and rows with aligned cells.
package struct TextTable {
    /// The side of a column where its cells are aligned.
    package enum Alignment: Sendable {
        case left, right
    }

    private let header: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []
    private let widest: Int

    /// Creates a table with these columns; cells wider than `widest` are truncated.
    package init(_ header: [String], alignments: [Alignment] = [], widest: Int = 60) {
        self.header = header
        self.alignments = header.indices.map {
            alignments.indices.contains($0) ? alignments[$0] : .left
        }
        self.widest = max(widest, 2)
    }

    /// Adds a row with a cell for each column.
    package mutating func add(_ row: [String]) {
        precondition(row.count == header.count, "a row has a cell for each column")
        rows.append(
            row.map { cell in
                Self.width(cell) <= widest ? cell : Self.cut(cell, to: widest - 1) + "…"
            })
    }

    /// The lines, without spaces at their ends.
    package var lines: [String] {
        var widths = header.map(Self.width)
        for row in rows {
            for (index, cell) in row.enumerated() {
                widths[index] = max(widths[index], Self.width(cell))
            }
        }
        let rule = widths.map { String(repeating: "─", count: $0) }
        return ([header, rule] + rows).map { row in
            var line = ""
            for (index, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[index] - Self.width(cell))
                if index > 0 { line += "  " }
                line += alignments[index] == .right ? space + cell : cell + space
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private static func cut(_ text: String, to width: Int) -> String {
        var result = ""
        var used = 0
        for character in text {
            used += self.width(character)
            if used > width { break }
            result.append(character)
        }
        return result
    }

    /// Returns the width of a text in columns of a terminal.
    static func width(_ text: String) -> Int {
        var width = 0
        for character in text { width += self.width(character) }
        return width
    }

    /// Returns two for the scripts of East Asia and for emoji, as terminals do.
    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case ..<0x1100: return 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F1E6...0x1F64F,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

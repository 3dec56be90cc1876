// What the colours of a picture mean.

/// Rows of colours and words.
struct Legend {
    /// A colour and what it means.
    struct Entry {
        let fill: String
        let words: String
    }

    private static let size = 11.0
    private static let rowHeight = 18.0

    private var rows: [[(x: Double, entry: Entry)]] = [[]]

    /// - Parameter width: how much room there is; what does not fit goes to another row.
    init(_ entries: [Entry], width: Double) {
        var x = 0.0
        for entry in entries {
            let needed = 16 + TextWidth.of(entry.words, size: Self.size) + 14
            if x > 0, x + needed > width {
                rows.append([])
                x = 0
            }
            rows[rows.count - 1].append((x, entry))
            x += needed
        }
    }

    /// How high it is.
    var height: Double { Double(rows.count) * Self.rowHeight }

    /// Draws it from a height on.
    func draw(in writer: inout SVGWriter, y: Double) {
        for (index, row) in rows.enumerated() {
            let top = y + Double(index) * Self.rowHeight
            for (x, entry) in row {
                writer.rectangle(
                    Frame(x: x + 0.5, y: top + 3.5, width: 11, height: 11), fill: entry.fill,
                    stroke: .line, radius: 2)
                writer.write(entry.words, x + 17, top + 13, size: Self.size, ink: .muted)
            }
        }
    }
}

// A table of a report. It scrolls separately if the page is narrower.
//
// Threads: a value.

/// A table of a report.
struct ReportTable {
    /// A column.
    struct Column {
        /// The style of its cells.
        enum Kind: String {
            case text, number
            /// On one line.
            case line
            /// Each of its lines on a separate line.
            case lines
        }

        let name: String
        let kind: Kind

        init(_ name: String, _ kind: Kind = .text) {
            self.name = name
            self.kind = kind
        }

        fileprivate var style: String? { kind == .text ? nil : kind.rawValue }
    }

    /// A cell: its text, its link, and its share of the largest cell in its column, if it has a bar.
    struct Cell {
        let words: String
        let link: String?
        let share: Double?

        init(_ words: String, link: String? = nil, share: Double? = nil) {
            self.words = words
            self.link = link
            self.share = share
        }
    }

    let caption: String
    /// Whether only screen readers get the caption: a title above shows it as well.
    var hidesCaption = false
    let columns: [Column]
    private(set) var rows: [[Cell]] = []

    init(_ caption: String, _ columns: [Column]) {
        self.caption = caption
        self.columns = columns
    }

    /// Adds a row with a cell for each column.
    mutating func add(_ cells: [Cell]) {
        precondition(cells.count == columns.count, "a row has a cell for each column")
        rows.append(cells)
    }

    /// Writes the table; the first cell of each row is the row's header.
    func write(to writer: inout HTMLWriter) {
        writer.add(
            "div", ["class": "scroll", "role": "region", "tabindex": "0", "aria-label": caption]
        ) { writer in
            writer.add("table") { writer in
                writer.add("caption") { writer in
                    writer.add("span", ["class": hidesCaption ? "unseen" : nil], caption)
                }
                writer.add("thead") { writer in
                    writer.add("tr") { writer in
                        for column in columns {
                            writer.add(
                                "th",
                                ["scope": "col", "class": column.style],
                                column.name)
                        }
                    }
                }
                writer.add("tbody") { writer in
                    for row in rows { write(row, &writer) }
                }
            }
        }
    }

    private func write(_ row: [Cell], _ writer: inout HTMLWriter) {
        writer.add("tr") { writer in
            for (index, cell) in row.enumerated() {
                writer.add(
                    index == 0 ? "th" : "td",
                    [
                        "scope": index == 0 ? "row" : nil,
                        "class": columns[index].style,
                    ]
                ) { writer in
                    if let share = cell.share { Self.bar(share, &writer) }
                    if let link = cell.link {
                        writer.add("a", ["href": link], cell.words)
                    } else {
                        writer.write(cell.words)
                    }
                }
            }
        }
    }

    private static func bar(_ share: Double, _ writer: inout HTMLWriter) {
        writer.add(
            "svg", ["class": "bar", "viewBox": "0 0 100 10", "aria-hidden": "true"]
        ) { writer in
            writer.begin(
                "rect",
                ["width": "\(min(100, max(0, (share * 1000).rounded() / 10)))", "height": "10"])
            writer.end("rect")
        }
    }
}

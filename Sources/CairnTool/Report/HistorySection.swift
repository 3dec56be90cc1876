// The latest changes and their authors.

/// The part of a report about the history.
struct HistorySection {
    private let content: ReportContent

    init(_ content: ReportContent) { self.content = content }

    /// Writes the section.
    func write(_ writer: inout HTMLWriter) {
        let transactions: [ReportContent.Transaction]
        switch content.transactions {
        case nil:
            return writer.add("p") { writer in
                writer.write(
                    "The store keeps no history. A program that asks for one begins it, or ")
                writer.add("code", "cairn history STORE --keep")
            }
        case .unknown(let reason): return writer.add("p", ["class": "missing"], reason)
        case .known(let known): transactions = known
        }
        if transactions.isEmpty {
            return writer.add("p", "Nothing was committed since the history began.")
        }
        var table = ReportTable(
            "The newest transactions of the history, the newest first",
            [
                .init("commit", .number), .init("time", .line), .init("author"), .init("program"),
                .init("changes", .lines),
            ])
        for transaction in transactions {
            table.add([
                .init("\(transaction.number)"), .init(transaction.time), .init(transaction.author),
                .init(transaction.program), .init(transaction.changes.joined(separator: "\n")),
            ])
        }
        table.write(to: &writer)
        for transaction in transactions where !transaction.values.isEmpty {
            writer.add("details") { writer in
                writer.add("summary", "Values that transaction \(transaction.number) changed")
                var table = ReportTable(
                    "Values before and after, the first \(transaction.values.count)",
                    [.init("object"), .init("property"), .init("value")])
                for value in transaction.values {
                    table.add([.init(value.object), .init(value.property), .init(value.words)])
                }
                table.write(to: &writer)
            }
        }
    }
}

// Transactions of another store's history, to be written to the tables.
//
// Threads: one; a value.

import CairnStore
import FoundationEssentials

/// Transactions as they were told elsewhere, with their numbers, as rows.
struct HistoryRows {
    /// Transactions that wait at most, and the bytes of what they say.
    private static let most = 500
    private static let mostBytes = 1 << 20

    private let layout: TableLayout
    private var changes: ChangeRows
    private var commits = SQLArray(of: .int64)
    private var times = SQLArray(of: .double)
    private var authors = SQLArray(of: .text)
    private var contexts = SQLArray(of: .text)
    private var processes = SQLArray(of: .int64)
    private var programs = SQLArray(of: .text)

    init(_ layout: TableLayout) {
        self.layout = layout
        changes = ChangeRows(layout)
    }

    /// Whether what was added has to be written before more is.
    var isFull: Bool {
        commits.count >= Self.most || changes.contents.fields.count >= Self.mostBytes
    }

    mutating func add(_ transaction: PersistentHistoryTransaction) throws(StoreError) {
        let number = transaction.transactionNumber
        try changes.add(transaction.changes?.groups ?? [], of: number)
        commits.append(number: Int64(clamping: number))
        times.append(double: transaction.timestamp.timeIntervalSinceReferenceDate)
        processes.append(number: Int64(transaction.processID))
        try StoreCore.sql { () throws(SQLFailure) in
            try Self.append(transaction.author, to: &authors)
            try Self.append(transaction.contextName, to: &contexts)
            try programs.append(text: transaction.bundleID ?? "")
        }
    }

    private static func append(_ text: String?, to array: inout SQLArray) throws(SQLFailure) {
        if let text { try array.append(text: text) } else { array.appendNull() }
    }

    /// The statements that write what was added.
    var statements: [Statement] {
        guard commits.count > 0 else { return [] }
        return [
            Statement(
                """
                INSERT INTO \(layout.sql(.transactions)) (commit, made, author, context, process, program) \
                SELECT * FROM unnest($1::bigint[], $2::double precision[], $3::text[], $4::text[], \
                $5::bigint[], $6::text[])
                """,
                [
                    .array(commits), .array(times), .array(authors), .array(contexts),
                    .array(processes), .array(programs),
                ]),
            Statement(
                """
                INSERT INTO \(layout.sql(.changes)) (commit, place, entity, kind, content) \
                SELECT * FROM unnest($1::bigint[], $2::integer[], $3::smallint[], $4::smallint[], $5::text[])
                """,
                [
                    .array(changes.commits), .array(changes.places), .array(changes.entities),
                    .array(changes.kinds), .array(changes.contents),
                ]),
        ]
    }
}

// A page of the history in one query: transactions after a commit with all their changes.
//
// Its questions are asked in one transaction, so that all of it is of one state, whoever deletes from the history meanwhile.
//
// Threads: values.

import CairnModel
import CairnStore
import FoundationEssentials

/// A query for some transactions, and its decoding.
struct HistoryPage {
    /// Transactions that are read at once.
    static let size = 200

    let core: StoreCore
    /// What is in the page is behind this commit.
    let number: UInt64
    /// And up to this one.
    var last = UInt64.max

    /// What was found.
    struct Answer {
        /// Up to which commit the store has deleted what it knew, and the number of its last commit.
        let horizon: UInt64
        let lastCommit: UInt64
        let transactions: [PersistentHistoryTransaction]
        /// Whether there may be more.
        let isFull: Bool
    }

    /// Questions as a transaction of its own.
    static func statements(_ questions: [Statement]) -> [Statement] {
        [Statement("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")] + questions
            + [Statement("COMMIT")]
    }

    /// What the questions were answered, of what the statements were.
    static func answers(_ results: [PostgresResult]) -> [PostgresResult] {
        Array(results.dropFirst().dropLast())
    }

    /// What is asked, in one state.
    var questions: [Statement] {
        let layout = core.layout
        let bounds: [SQLParameter] = [
            .int64(Int64(clamping: number)), .int64(Int64(clamping: last)),
            .int64(Int64(Self.size)),
        ]
        let page = """
            (SELECT commit, made, author, context, process, program FROM \(layout.sql(.transactions)) \
            WHERE commit > $1 AND commit <= $2 ORDER BY commit LIMIT $3)
            """
        return [
            Statement(
                "SELECT history_begins, last_commit, model_version FROM \(layout.sql(.store))"),
            Statement("SELECT * FROM \(page) AS t ORDER BY commit", bounds),
            Statement(
                """
                SELECT c.commit, c.entity, c.kind, c.content FROM \(layout.sql(.changes)) AS c \
                JOIN \(page) AS t ON t.commit = c.commit ORDER BY c.commit, c.place
                """, bounds),
        ]
    }

    /// What the answers to the questions say.
    func answer(_ results: [PostgresResult]) throws(StoreError) -> Answer {
        try StoreCore.sql { () throws(SQLFailure) in
            try core.checkModel(results[0], column: 2)
            let groups = try groups(results[2])
            let head = results[1]
            var transactions: [PersistentHistoryTransaction] = []
            for row in 0..<head.rowCount {
                let number = UInt64(clamping: try head.int64(row, 0))
                let program = try head.string(row, 5)
                transactions.append(
                    PersistentHistoryTransaction(
                        timestamp: Date(timeIntervalSinceReferenceDate: try head.double(row, 1)),
                        transactionNumber: number, storeID: core.identity.identifier,
                        bundleID: program.isEmpty ? nil : program,
                        processID: Int32(truncatingIfNeeded: try head.int64(row, 4)),
                        contextName: head.isNull(row, 3) ? nil : try head.string(row, 3),
                        author: head.isNull(row, 2) ? nil : try head.string(row, 2),
                        changes: PersistentHistoryChanges(
                            groups[number] ?? [], transaction: number, identity: core.identity)))
            }
            return Answer(
                horizon: UInt64(clamping: try results[0].int64(0, 0)),
                lastCommit: UInt64(clamping: try results[0].int64(0, 1)),
                transactions: transactions, isFull: transactions.count >= Self.size)
        }
    }

    private func groups(_ result: PostgresResult) throws(SQLFailure)
        -> [UInt64: [PersistentHistoryChanges.Group]]
    {
        var groups: [UInt64: [PersistentHistoryChanges.Group]] = [:]
        for row in 0..<result.rowCount {
            guard let entity = core.layout.entity(ofCode: try result.int16(row, 1)),
                let type = PersistentHistoryChangeType(rawValue: Int(try result.int16(row, 2))),
                let content = try? JSONDecoder().decode(
                    HistoryContent.self, from: Data(try result.bytes(row, 3)))
            else {
                throw SQLFailure(.unreadable, "a change in the history cannot be read")
            }
            groups[UInt64(clamping: try result.int64(row, 0)), default: []].append(
                try content.group(core.schema.entities[entity], type))
        }
        return groups
    }
}

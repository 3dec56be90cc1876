// Goes through the history, some transactions at a time.
//
// What is in it never changes; it may be deleted meanwhile from its beginning.
//
// Threads: one at a time.

import CairnModel
import CairnStore
import FoundationEssentials

final class PostgresHistoryCursor: PersistentHistoryCursor {
    /// Transactions that are read at once.
    private static let page = 200
    private let core: StoreCore
    /// The last commit that was handed over, and the last one of all.
    private var number: UInt64
    private let last: UInt64
    private var waiting: [PersistentHistoryTransaction] = []
    private var isOver = false

    init(_ core: StoreCore, after number: UInt64, through last: UInt64) {
        self.core = core
        self.number = number
        self.last = last
    }

    func next() throws(StoreError) -> PersistentHistoryTransaction? {
        if waiting.isEmpty, !isOver {
            waiting = try read().reversed()
            isOver = waiting.count < Self.page
        }
        guard let transaction = waiting.popLast() else { return nil }
        number = transaction.transactionNumber
        return transaction
    }

    private func read() throws(StoreError) -> [PersistentHistoryTransaction] {
        let layout = core.layout
        let bounds: [SQLParameter] = [
            .int64(Int64(clamping: number)), .int64(Int64(clamping: last)),
            .int64(Int64(Self.page)),
        ]
        let page = """
            (SELECT commit, made, author, context, process, program FROM \(layout.sql(.transactions)) \
            WHERE commit > $1 AND commit <= $2 ORDER BY commit LIMIT $3)
            """
        let results = try core.ask([
            Statement("SELECT * FROM \(page) AS t ORDER BY commit", bounds),
            Statement(
                """
                SELECT c.commit, c.entity, c.kind, c.content FROM \(layout.sql(.changes)) AS c \
                JOIN \(page) AS t ON t.commit = c.commit ORDER BY c.commit, c.place
                """, bounds),
        ])
        return try StoreCore.sql { () throws(SQLFailure) in
            let groups = try groups(results[1])
            let head = results[0]
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
            return transactions
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

// The history of a store as a text that can be compared.

import CairnModel
import CairnStore
import Foundation

@testable import CairnLog

enum HistoryText {
    /// What a transaction says, without its number and who wrote it where.
    static func line(_ transaction: PersistentHistoryTransaction) -> String {
        let groups = (transaction.changes?.groups ?? []).map { group in
            let runs = group.numbers.runs.map { "\($0.lowerBound)-\($0.upperBound)" }
            return "\(group.type) \(group.entityName) \(runs.joined(separator: ","))"
                + " \(group.updatedProperties.sorted()) \(group.names) \(group.values)"
        }
        return "\(transaction.author ?? "-")/\(transaction.contextName ?? "-"): "
            + groups.joined(separator: "; ")
    }

    /// All retained transactions; empty if no history is kept.
    static func lines(_ store: LogStore) throws -> [String] {
        guard try store.historyBounds() != nil else { return [] }
        let stream = try store.fetchHistory(.fetchHistory(after: nil))
        var lines: [String] = []
        while let transaction = try stream.next() { lines.append(line(transaction)) }
        return lines
    }

    /// The same with their numbers.
    static func numbered(_ store: LogStore) throws -> [String] {
        guard try store.historyBounds() != nil else { return [] }
        return try store.execute(.fetchHistory(after: nil)).transactions.map {
            "\($0.transactionNumber) \(line($0))"
        }
    }
}

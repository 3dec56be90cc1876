// All that a store hands over, as text that can be compared.

import CairnFormat
import CairnLog
import CairnModel
import CairnMoving
import CairnStore
import Foundation

enum StoreDump {
    /// What a store on the log hands over.
    static func lines(_ store: LogStore) throws -> [String] { try lines(LogStoreContent(store)) }

    /// The canonical export, and all else that a store says of itself, but for how many numbers it has given: some may have been
    /// handed out for nothing.
    static func lines(_ content: some StoreContent) throws -> [String] {
        var export: [UInt8] = []
        try content.export { export += Array($0) }
        var lines = String(decoding: export, as: UTF8.self).split(separator: "\n").map(String.init)
        lines.append("identifier \(content.identity.identifier), commit \(content.head.lastCommit)")
        let model = try CatalogDocument.encode(content.catalog)
        lines.append("model " + String(decoding: model, as: UTF8.self))
        for (key, value) in content.head.metadata.sorted(by: { $0.key < $1.key }) {
            lines.append("metadata \(key): \(value)")
        }
        if let history = content.head.history {
            let consumers = history.consumers.sorted { $0.key < $1.key }
            lines.append("history behind \(history.horizon), seen \(consumers)")
        }
        try content.forEachRedirect { redirect throws(StoreError) in
            lines.append("redirect \(redirect.tree): \(redirect.number) → \(redirect.survivor)")
        }
        try content.forEachTransaction { transaction throws(StoreError) in
            lines.append(text(transaction))
        }
        return lines
    }

    private static func text(_ transaction: PersistentHistoryTransaction) -> String {
        let head = [
            "\(transaction.transactionNumber)",
            "\(transaction.timestamp.timeIntervalSinceReferenceDate)", transaction.author ?? "-",
            transaction.contextName ?? "-", transaction.bundleID ?? "-",
            "\(transaction.processID)", "\(transaction.storeID)",
        ]
        let groups = (transaction.changes?.groups ?? []).map { group in
            """
            \(group.type) \(group.entityName) \(group.numbers.runs) \
            \(group.updatedProperties.sorted()) \(group.names) \(group.values) \
            \(group.redirects.sorted { $0.key < $1.key }.map { "\($0.key)→\($0.value)" })
            """
        }
        return "transaction " + (head + groups).joined(separator: "; ")
    }
}

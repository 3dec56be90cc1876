// Stores of tests in PostgreSQL that nobody closes: they end with their last reference, as those in memory do, and what they
// have left is dropped later, some at a time.
//
// Threads: any.

import CairnPostgres
import PostgresServers
import Synchronization

/// The stores that were made, and are there or not.
final class ForgottenStores: Sendable {
    static let shared = ForgottenStores()

    private struct Entry {
        weak var store: PostgresStore?
        /// The schema that it is in.
        let name: String
    }

    private let entries = Mutex<[Entry]>([])

    /// How many are dropped at once: it costs a process and a few of the server's locks each.
    private static let portion = 25

    /// Notes a new store, and drops what others have left.
    func note(_ store: PostgresStore, _ name: String) throws {
        var gone = entries.withLock { entries in
            entries.append(Entry(store: store, name: name))
            let left = entries.partition { $0.store == nil }
            guard entries.count - left >= Self.portion else { return [String]() }
            defer { entries.removeSubrange(left...) }
            return entries[left...].map(\.name)
        }
        if gone.isEmpty { return }
        gone = gone.map { "DROP SCHEMA \"\($0)\" CASCADE" }
        // Where somebody still holds a snapshot they all stay, until the server ends.
        let settings = ["SET lock_timeout = '1s'", "SET client_min_messages = warning"]
        _ = try? PostgresServer.shared().run((settings + gone).joined(separator: "; "))
    }
}

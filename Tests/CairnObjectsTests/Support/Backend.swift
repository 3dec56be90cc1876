// The stores that every test here runs on: one place to add another.

import CairnLog
import CairnModel
import CairnStore

/// A kind of store.
enum Backend: String, CaseIterable, Sendable {
    /// Everything in a dictionary.
    case dictionary
    /// The log-structured engine, on the disk in memory.
    case log

    /// A new, empty store.
    func makeStore(_ schema: Schema) throws -> any PersistentStore {
        switch self {
        case .dictionary: DictionaryStore(schema)
        case .log: try LogStore.inMemory(schema: schema)
        }
    }

    /// A new, empty store that keeps a history.
    func makeStoreWithHistory(_ schema: Schema) throws -> any HistoryStore {
        switch self {
        case .dictionary: return DictionaryStore(schema, tracksHistory: true)
        case .log:
            var options = LogStoreOptions()
            options.persistentHistoryTracking = true
            return try LogStore.inMemory(schema: schema, options: options)
        }
    }
}

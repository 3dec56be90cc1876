// The stores that every test here runs on: one place to add another.

import CairnLog
import CairnModel
import CairnStore
import Testing

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
        case .log: try LogStore.inMemory(schema: schema, options: Self.options)
        }
    }

    /// How the engine's stores are opened: in a third of the tests, which are always the same ones, so that few bits are left of
    /// the hashes of keys, and several keys have one.
    private static var options: LogStoreOptions {
        var options = LogStoreOptions()
        if let name = Test.current?.name,
            name.utf8.reduce(0, { ($0 * 31 + Int($1)) % 1021 }) % 3 == 0
        {
            options.sizes.hashBits = 8
        }
        return options
    }

    /// A new, empty store that keeps a history.
    func makeStoreWithHistory(_ schema: Schema) throws -> any HistoryStore {
        switch self {
        case .dictionary: return DictionaryStore(schema, tracksHistory: true)
        case .log:
            var options = Self.options
            options.persistentHistoryTracking = true
            return try LogStore.inMemory(schema: schema, options: options)
        }
    }
}

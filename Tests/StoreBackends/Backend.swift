// The stores that tests run on: one place to add another.
//
//   makeStore   a store in memory, for the tests of what stands on stores
//   open        a store at a place, again if it was closed; see `StorePlace`
//   everyStore  the kinds that the contract's own cases run on

import CairnLog
package import CairnModel
import CairnPostgres
package import CairnStore
import FoundationEssentials
import PostgresServers
import Testing

/// A store with everything that the contract has.
package typealias WholeStore = HistoryStore & MetadataStore

/// A kind of store.
package enum Backend: String, CaseIterable, Sendable {
    /// Everything in a dictionary.
    case dictionary
    /// The log-structured engine, on the disk in memory.
    case log
    /// The log-structured engine, in a folder.
    case logOnDisk
    /// Tables of a PostgreSQL server of the tests' own.
    case postgres

    /// The kinds that live in memory: some hundreds of tests, which are about something else, run on each of them.
    package static let allCases: [Backend] = [.dictionary, .log]

    /// Every kind that this machine has.
    package static let everyStore: [Backend] =
        allCases + [.logOnDisk] + (PostgresServer.isInstalled ? [.postgres] : [])

    /// The kinds whose batches take rows that say the members of to-many relationships, and the targets of those that are
    /// one-to-one or ordered at the other end. Without a second implementation of all the rules for these the dictionary does
    /// not.
    package static let membersOfRows: [Backend] = everyStore.filter { $0 != .dictionary }

    /// The kinds whose stores can be opened again after they were closed.
    package static let lastingStores: [Backend] = everyStore.filter(\.keepsContent)

    /// Whether a store can be opened again after it was closed. What is in memory ends with its store.
    private var keepsContent: Bool { self == .logOnDisk || self == .postgres }

    /// A new, empty store in memory.
    package func makeStore(_ schema: Schema) throws -> any PersistentStore {
        try makeStoreInMemory(schema, tracksHistory: false)
    }

    /// A new, empty store in memory that keeps a history.
    package func makeStoreWithHistory(_ schema: Schema) throws -> any HistoryStore {
        try makeStoreInMemory(schema, tracksHistory: true)
    }

    private func makeStoreInMemory(_ schema: Schema, tracksHistory: Bool) throws -> any WholeStore {
        switch self {
        case .dictionary: return DictionaryStore(schema, tracksHistory: tracksHistory)
        case .log:
            return try LogStore.inMemory(schema: schema, options: Self.options(tracksHistory))
        case .logOnDisk, .postgres:
            preconditionFailure(
                "who makes such a store has to remove what it leaves: use withStore")
        }
    }

    /// Opens the store at a place; the first time it is a new, empty one.
    func open(at place: StorePlace, tracksHistory: Bool) throws -> any WholeStore {
        switch self {
        case .dictionary, .log:
            return try makeStoreInMemory(place.schema, tracksHistory: tracksHistory)
        case .logOnDisk:
            var options = Self.options(tracksHistory)
            // Power failures have tests of their own: here nobody waits for the disk.
            options.durability = .relaxed
            return try LogStore.open(at: place.folder, schema: place.schema, options: options)
        case .postgres:
            var options = PostgresOptions()
            if tracksHistory { options.persistentHistoryTracking = true }
            let url = try PostgresServer.shared().url(["cairn_schema": place.name])
            return try PostgresStore.open(url, schema: place.schema, options: options)
        }
    }

    /// Removes whatever the stores at a place have left; all of them are closed.
    func clear(_ place: StorePlace) throws {
        switch self {
        case .dictionary, .log: break
        case .logOnDisk: try FileManager.default.removeItem(atPath: place.folder)
        case .postgres:
            _ = try PostgresServer.shared().run("DROP SCHEMA \"\(place.name)\" CASCADE")
        }
    }

    /// How the engine's stores are opened: in a third of the tests, which are always the same ones, so that few bits are left of
    /// the hashes of keys, and several keys have one.
    private static func options(_ tracksHistory: Bool) -> LogStoreOptions {
        var options = LogStoreOptions()
        if tracksHistory { options.persistentHistoryTracking = true }
        if let name = Test.current?.name,
            name.utf8.reduce(0, { ($0 * 31 + Int($1)) % 1021 }) % 3 == 0
        {
            options.sizes.hashBits = 8
        }
        return options
    }
}

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

    /// The kinds that live in memory.
    package static let inMemory: [Backend] = [.dictionary, .log]

    /// What the tests of everything that stands on stores run on.
    package static let allCases: [Backend] =
        inMemory + (PostgresServer.isInstalled ? [.postgres] : [])

    /// Those of them that programs use, which the dictionary tells what is right.
    package static let compared: [Backend] = allCases.filter { $0 != .dictionary }

    /// Every kind that this machine has.
    package static let everyStore: [Backend] = allCases + [.logOnDisk]

    /// The kinds whose batches take rows that say the members of to-many relationships, and the targets of those that are
    /// one-to-one or ordered at the other end. Without a second implementation of all the rules for these the dictionary does
    /// not.
    package static let membersOfRows: [Backend] = everyStore.filter { $0 != .dictionary }

    /// The kinds whose stores can be opened again after they were closed.
    package static let lastingStores: [Backend] = everyStore.filter(\.keepsContent)

    /// Whether a store can be opened again after it was closed. What is in memory ends with its store.
    private var keepsContent: Bool { self == .logOnDisk || self == .postgres }

    /// A new, empty store, which ends with its last reference.
    package func makeStore(_ schema: Schema) throws -> any PersistentStore {
        try make(schema, tracksHistory: false)
    }

    /// A new, empty store that keeps a history.
    package func makeStoreWithHistory(_ schema: Schema) throws -> any HistoryStore {
        try make(schema, tracksHistory: true)
    }

    private func make(_ schema: Schema, tracksHistory: Bool) throws -> any WholeStore {
        switch self {
        case .dictionary: return DictionaryStore(schema, tracksHistory: tracksHistory)
        case .log:
            return try LogStore.inMemory(schema: schema, options: Self.options(tracksHistory))
        case .logOnDisk:
            preconditionFailure("who makes such a store has to remove its folder: use withStore")
        case .postgres:
            let name = try PostgresServer.shared().newName("store")
            let store = try Self.postgres(schema, named: name, tracksHistory)
            try ForgottenStores.shared.note(store, name)
            return store
        }
    }

    /// Opens the store at a place; the first time it is a new, empty one.
    func open(at place: StorePlace, tracksHistory: Bool) throws -> any WholeStore {
        switch self {
        case .dictionary, .log: return try make(place.schema, tracksHistory: tracksHistory)
        case .logOnDisk:
            var options = Self.options(tracksHistory)
            // Power failures have tests of their own: here nobody waits for the disk.
            options.durability = .relaxed
            return try LogStore.open(at: place.folder, schema: place.schema, options: options)
        case .postgres: return try Self.postgres(place.schema, named: place.name, tracksHistory)
        }
    }

    /// Opens the store in a schema of the tests' server, or makes one there.
    private static func postgres(_ schema: Schema, named name: String, _ tracksHistory: Bool) throws
        -> PostgresStore
    {
        var options = PostgresOptions()
        // Tests that wait for others lie still for long.
        options.timeout = 300
        options.snapshotTimeout = 3600
        // Nobody else writes them, and there are very many.
        options.looksForNews = false
        if tracksHistory { options.persistentHistoryTracking = true }
        options.observer = Self.watched
        let url = try PostgresServer.shared().url(["cairn_schema": name])
        return try PostgresStore.open(url, schema: schema, options: options)
    }

    /// What is sent to a server is looked at in all tests.
    private static let watched: @Sendable (Int32, [String]) -> Void = { connection, statements in
        for refusal in StatementForms.shared.take(connection, statements) {
            Issue.record("\(refusal)")
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

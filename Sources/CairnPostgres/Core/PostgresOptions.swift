// What can be chosen when a store in a database is opened.

public import CairnLog
package import CairnModel
package import CairnStore

/// How a store in a database is opened.
public struct PostgresOptions: Sendable {
    /// Whether nothing may be written.
    public var isReadOnly = false
    /// Whether a store is made where there is none. Whoever makes it has to be allowed to create schemas and tables.
    public var createsIfMissing = true
    /// Whether a history is kept, from now on or on; nil: as it was.
    public var persistentHistoryTracking: Bool?
    /// How many connections are open at the same time, at most: two at least. Each snapshot that is held has one, up to three
    /// quarters of them: some stay free for whoever writes.
    public var connections = 8
    /// Seconds that a request waits for a connection, and a statement for the server. If the server fails, so long is another
    /// one looked for that takes over from it.
    public var timeout = 30.0
    /// Seconds for which a snapshot may lie unused before the server gives up keeping it: reading from it throws
    /// `.snapshotExpired` then.
    public var snapshotTimeout = 300.0
    /// Seconds after which it is looked for commits of others, by somebody who observes the store, where the server does not
    /// tell of them. Where it does, with `NOTIFY`, they come at once; it is looked for what was missed after eight times as
    /// long.
    public var newsInterval = 0.5
    /// Whether commits end with a `NOTIFY`, on servers that take it.
    package var notifies = true
    /// Whether what others commit is looked for while this store commits nothing. That takes a connection and a thread.
    package var looksForNews = true
    /// About how many rows of a batch are in memory at a time.
    var rowsOfPart = 1 << 14
    /// How often a save is tried again that others were in the way of, or that lost its connection.
    public var attempts = 20
    /// Whether a store of another version of the model is migrated to the one that it is opened with, as
    /// ``PostgresStore/migrate(at:to:options:)`` does; false: opening it throws `.incompatibleModel`. nil: a container or a coordinator
    /// does so, a store that is opened by itself does not.
    ///
    /// Opening never migrates it back to a version that it has left, as an older version of an app would have it: it throws
    /// `.incompatibleModel`. ``PostgresStore/migrate(at:to:options:)`` does migrate it back.
    public var shouldMigrateStoreAutomatically: Bool?
    /// Told how far a migration is, in the thread that opens the store. The migration is cancelled when it returns false:
    /// `StoreError.migrationCancelled` is thrown, and the store is as it was.
    public var migrationProgress: (@Sendable (MigrationProgress) -> Bool)?
    /// What is saved under the old model in the commit of a migration.
    package var migrationPrelude: MigrationPrelude.Maker?
    /// The models that a migration in stages passes through.
    package var migrationModels: [Schema] = []
    /// Sees what is sent, for tests.
    package var observer: StatementObserver?

    /// The defaults.
    public init() {}

    /// Whether a store is led to the model that it is opened with.
    var leads: Bool { shouldMigrateStoreAutomatically == true && !isReadOnly }

    /// Whether a store of one model is opened as it is with another one that stores the same.
    func allow(_ wanted: Schema, for stored: Schema) -> Bool {
        guard leads else { return true }
        var options = LogStoreOptions()
        options.automaticMigration = .on { _, _, _ in }
        return options.allow(wanted, for: stored)
    }
}

// Options for opening a store in a database.

public import CairnLog
package import CairnModel
package import CairnStore

/// Options for opening a store in a database.
public struct PostgresOptions: Sendable {
    /// Whether the store is read-only.
    public var isReadOnly = false
    /// Whether to create the store if it does not exist. This requires permission to create schemas and tables.
    public var createsIfMissing = true
    /// Whether the store keeps a history from now on; nil: no change.
    public var persistentHistoryTracking: Bool?
    /// The maximum number of open connections; at least two. Each open snapshot uses one, up to three quarters of them, so
    /// that some stay available for writing.
    public var connections = 8
    /// How many seconds a request waits for a connection, and a statement for the server. If the server fails, the store
    /// looks for a standby that takes over for the same time.
    public var timeout = 30.0
    /// How many seconds a snapshot can be idle before the server ends it: after that, reading from it throws
    /// `.snapshotExpired`.
    public var snapshotTimeout = 300.0
    /// The interval, in seconds, at which an observed store checks for commits of other processes, if the server does not
    /// report them. With `NOTIFY` commits are reported immediately, and the store checks for missed ones at eight times
    /// this interval.
    public var newsInterval = 0.5
    /// Whether commits end with a `NOTIFY`, on servers that take it.
    package var notifies = true
    /// Whether what others commit is looked for while this store commits nothing. That takes a connection and a thread.
    package var looksForNews = true
    /// About how many rows a part of a batch has; a few parts are in memory at a time.
    var rowsOfPart = 1 << 14
    /// How many times a save is attempted if it conflicts with other transactions or loses its connection.
    public var attempts = 20
    /// Whether a store with another version of the model is migrated when it is opened, as with
    /// ``PostgresStore/migrate(at:to:options:)``; false: opening it throws `.incompatibleModel`. nil: true in a container
    /// or a coordinator, false for a store that is opened on its own.
    ///
    /// Opening a store never migrates it back to a version from which it was migrated, for example when an older version of
    /// an app opens it: it throws `.incompatibleModel`. ``PostgresStore/migrate(at:to:options:)`` does migrate it back.
    public var shouldMigrateStoreAutomatically: Bool?
    /// Called with the progress of a migration, on the thread that opens the store. Returning false cancels the migration:
    /// `StoreError.migrationCancelled` is thrown, and the store does not change.
    public var migrationProgress: (@Sendable (MigrationProgress) -> Bool)?
    /// What is saved under the old model in the commit of a migration.
    package var migrationPrelude: MigrationPrelude.Maker?
    /// The models that a migration in stages passes through.
    package var migrationModels: [Schema] = []
    /// Sees what is sent, for tests.
    package var observer: StatementObserver?

    /// Creates options with default values.
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

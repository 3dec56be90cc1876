// What can be chosen when a store in a database is opened.

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
    /// About how many rows of a batch are in memory at a time.
    var rowsOfPart = 1 << 14
    /// How often a save is tried again that others were in the way of, or that lost its connection.
    public var attempts = 20
    /// Sees what is sent, for tests.
    package var observer: StatementObserver?

    /// The defaults.
    public init() {}
}

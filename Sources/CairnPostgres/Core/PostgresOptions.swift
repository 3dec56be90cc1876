// What can be chosen when a store in a database is opened.

/// How a store in a database is opened.
public struct PostgresOptions: Sendable {
    /// Whether nothing may be written.
    public var isReadOnly = false
    /// Whether a store is made where there is none. Whoever makes it has to be allowed to create schemas and tables.
    public var createsIfMissing = true
    /// Whether a history is kept, from now on or on; nil: as it was.
    public var persistentHistoryTracking: Bool?
    /// How many connections are open at the same time, at most.
    public var connections = 8
    /// Seconds that a request waits for a connection, and a statement for the server.
    public var timeout = 30.0
    /// Seconds for which a snapshot may lie unused before the server gives up keeping it.
    public var snapshotTimeout = 300.0
    /// How often a save is tried again that others were in the way of.
    public var attempts = 20

    /// The defaults.
    public init() {}
}

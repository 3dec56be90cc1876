// Locations of stores that are migrated by way of a log: every migration of a log store works for them too.

public import CairnLog
public import CairnStore

/// The location of a store that can be migrated through a log, in any number of steps and as one change of the store.
public protocol MigratingLocation: StoreLocation {
    /// The metadata of the store. Nil if there is none, or if the options are read-only: then nothing is migrated.
    ///
    /// - Throws: `StoreError` if it cannot be read.
    func metadataToMigrate() throws(StoreError) -> StoreMetadata?

    /// Copies the store into a log, lets a closure migrate that, and atomically replaces the store by the result. Nobody
    /// else reads or writes the store meanwhile.
    ///
    /// - Parameter body: receives the log's folder, and the options for opening it; returns whether to replace the store by
    ///   the log.
    /// - Throws: `StoreError`, including the closure's errors; the store has not changed.
    func migrateThroughLog(
        _ body: (_ path: String, _ options: LogStoreOptions) throws(StoreError) -> Bool
    ) throws(StoreError)
}

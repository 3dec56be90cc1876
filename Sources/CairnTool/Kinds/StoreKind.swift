// A kind of place for stores, from the commands' point of view: a folder, or a database.
//
// Commands use the contract (`CommandStore`). Everything else they need is implemented by each kind.
//
// Threads: values; a command asks from one thread.

package import CairnInspection
package import CairnLog
package import CairnMigration
package import CairnModel
package import CairnMoving
package import CairnStore

/// A store with all features that commands use.
package typealias CommandStore = HistoryStore & MetadataStore

/// A kind of place for stores.
package protocol StoreKind: Sendable {
    /// Returns whether a place from the command line is of this kind.
    func owns(_ place: String) -> Bool

    /// Returns a place for output, without secrets.
    func title(of place: String) -> String

    /// Returns whether there is a store at a place, or a part of one.
    func isStore(_ place: String) throws -> Bool

    /// Opens an existing store. The caller closes it.
    func open(_ place: String, _ access: StoreAccess) throws -> any CommandStore

    /// Opens a store for writing, or creates it with a schema, runs a body with it, and closes it. No other
    /// process writes to a new store while it is filled; a new store is removed if the body throws.
    ///
    /// - Parameter body: receives whether the store is new.
    func making<Result>(
        _ place: String, _ schema: Schema?, _ access: StoreAccess,
        _ body: (any CommandStore, Bool) throws -> Result
    ) throws -> Result

    /// Passes the content of a state to `body` in pieces, as the canonical JSON lines that Format/ defines.
    func export(
        _ snapshot: any StoreSnapshot, of store: any CommandStore,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws

    /// Describes the store at a place, and its contents.
    ///
    /// - Parameter opens: whether to open it for that, or only to examine it from outside.
    func information(of place: String, opens: Bool) throws -> StorePrintout

    /// Cross-checks everything in the store at a place.
    ///
    /// - Parameter tell: called with the current stage, the completed amount, and the total.
    func check(
        _ place: String, depth: CheckDepth, _ tell: @escaping (String, Int, Int) -> Void
    ) throws -> StorePrintout

    /// Returns a migrator for the store at a place.
    func migrator(of place: String, _ access: StoreAccess) -> any StoreMigrator

    /// Copies a store from or to a place of this kind.
    func copy(_ place: String, to destination: String, _ access: StoreAccess) throws
        -> StoreCopyReport
}

/// How a command opens a store.
package struct StoreAccess: Sendable {
    /// Whether it only reads.
    package var isReadOnly = false
    /// The seconds to wait for other writers; nil: the default of such stores.
    package var timeout: Double?
    /// Whether it may be on a disk that other machines may share.
    package var allowsSharedDisk = false
    /// Whether to keep a history from now on; nil: no change.
    package var tracksHistory: Bool?
    /// How far back to keep states from now on; nil: no change.
    package var pastStates: PastStateRetention?
    /// Whether it stays open; a read-only store then sees later commits of other processes.
    package var stays = false

    /// Read-only access.
    package static var reading: StoreAccess {
        var access = StoreAccess()
        access.isReadOnly = true
        return access
    }
}

/// A description of a store by its kind, for people and for scripts.
package struct StorePrintout {
    package var lines: [String]
    package var json: JSONValue
    /// The error at the end; the known facts are printed anyway.
    package var failure: (any Error)?

    package init(lines: [String], json: JSONValue, failure: (any Error)? = nil) {
        self.lines = lines
        self.json = json
        self.failure = failure
    }
}

/// Migrates the store at a place to another model.
package protocol StoreMigrator {
    /// Migrates with inferred mappings.
    func migrate(to schema: Schema, _ choices: MigrationChoices) throws -> MigrationReport

    /// Begins a migration object by object, as `MigrationManager` runs it.
    func begin(to schema: Schema, _ choices: MigrationChoices) throws -> any MappedMigration

    /// Returns the objects that violate constraints of the model. Writes nothing.
    func duplicates(for schema: Schema) throws -> [ConstraintDuplicates]
}

/// The options of a migration.
package struct MigrationChoices: Sendable {
    /// Whether the migration fails if the disk probably has too little free space.
    package var checksSpace = true
    /// A save under the old model, in the same commit.
    package var prelude: MigrationPrelude.Maker?
    /// Called with the progress; the migration continues as long as it returns true.
    package var progress: (@Sendable (MigrationProgress) -> Bool)?

    package init() {}
}

extension PersistentStore {
    /// Runs a body and closes the store in any case.
    package func closing<Result>(after body: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch {
            // The first error is reported.
            try? close()
            throw error
        }
        try close()
        return result
    }
}

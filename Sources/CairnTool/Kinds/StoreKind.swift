// A kind of place that stores are in, as commands see it: a folder, or a database.
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

/// A store with everything that commands ask of one.
package typealias CommandStore = HistoryStore & MetadataStore

/// A kind of place that stores are in.
package protocol StoreKind: Sendable {
    /// Whether a place, as it was given, is one of this kind.
    func owns(_ place: String) -> Bool

    /// A place as it is shown: nothing in it is secret.
    func title(of place: String) -> String

    /// Whether there is a store at a place, or something of one.
    func isStore(_ place: String) throws -> Bool

    /// Opens a store that exists. Whoever opens it closes it.
    func open(_ place: String, _ access: StoreAccess) throws -> any CommandStore

    /// Opens a store to change it, or makes it with a schema, runs a body with it, and closes it. While a store that is new is
    /// filled nobody else comes in between; it is taken away again if the body throws.
    ///
    /// - Parameter body: told whether the store is new.
    func making<Result>(
        _ place: String, _ schema: Schema?, _ access: StoreAccess,
        _ body: (any CommandStore, Bool) throws -> Result
    ) throws -> Result

    /// Gives the content of a state as the canonical JSON lines that Format/ defines, in pieces.
    func export(
        _ snapshot: any StoreSnapshot, of store: any CommandStore,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws

    /// What the store at a place is and has.
    ///
    /// - Parameter opens: whether it is opened for that, or only looked at from outside.
    func information(of place: String, opens: Bool) throws -> StorePrintout

    /// Compares everything in the store at a place with everything else.
    ///
    /// - Parameter tell: told what is looked at, how much of it is done, and how much there is.
    func check(
        _ place: String, depth: CheckDepth, _ tell: @escaping (String, Int, Int) -> Void
    ) throws -> StorePrintout

    /// What leads the store at a place to another model.
    func migrator(of place: String, _ access: StoreAccess) -> any StoreMigrator

    /// Copies a store from or to a place of this kind.
    func copy(_ place: String, to destination: String, _ access: StoreAccess) throws
        -> StoreCopyReport
}

/// How a command opens a store.
package struct StoreAccess: Sendable {
    /// Whether it only reads.
    package var isReadOnly = false
    /// How many seconds to wait for others who write; nil: as long as such stores mostly do.
    package var timeout: Double?
    /// Whether it may be on a disk that other machines may have too.
    package var allowsSharedDisk = false
    /// Whether a history is kept from now on; nil: as before.
    package var tracksHistory: Bool?
    /// How far back states are kept from now on; nil: as before.
    package var pastStates: PastStateRetention?
    /// Whether it stays open, and one that only reads is to see what others write meanwhile.
    package var stays = false

    /// To read.
    package static var reading: StoreAccess {
        var access = StoreAccess()
        access.isReadOnly = true
        return access
    }
}

/// What a kind says of a store, for people and for scripts.
package struct StorePrintout {
    package var lines: [String]
    package var json: JSONValue
    /// What goes wrong in the end; what is known is printed all the same.
    package var failure: (any Error)?

    package init(lines: [String], json: JSONValue, failure: (any Error)? = nil) {
        self.lines = lines
        self.json = json
        self.failure = failure
    }
}

/// Leads the store at a place to another model.
package protocol StoreMigrator {
    /// By what can be inferred.
    func migrate(to schema: Schema, _ choices: MigrationChoices) throws -> MigrationReport

    /// Object by object, as `MigrationManager` does it.
    func begin(to schema: Schema, _ choices: MigrationChoices) throws -> any MappedMigration

    /// The objects that violate constraints of the model. Nothing is written.
    func duplicates(for schema: Schema) throws -> [ConstraintDuplicates]
}

/// How a store is migrated.
package struct MigrationChoices: Sendable {
    /// Whether it is refused if the disk has less room than it is likely to take.
    package var checksSpace = true
    /// What is saved under the old model, in the same commit.
    package var prelude: MigrationPrelude.Maker?
    /// Told how far it is; it goes on as long as that gives true.
    package var progress: (@Sendable (MigrationProgress) -> Bool)?

    package init() {}
}

extension PersistentStore {
    /// Runs a body and closes the store, whatever happens.
    package func closing<Result>(after body: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch {
            // What went wrong first is what is told.
            try? close()
            throw error
        }
        try close()
        return result
    }
}

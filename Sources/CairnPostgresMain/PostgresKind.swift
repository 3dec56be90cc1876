// Stores in PostgreSQL, as commands see them.
//
// Threads: values.

import CairnInspection
import CairnLog
import CairnMigration
import CairnModel
import CairnMoving
import CairnPostgres
import CairnStore
import CairnTool

/// Stores in a PostgreSQL database.
struct PostgresKind: StoreKind {
    func owns(_ place: String) -> Bool { DatabaseURL.isOne(place) }

    func title(of place: String) -> String {
        PostgresStore.title(of: place) ?? DatabaseURL.anything
    }

    func isStore(_ place: String) throws -> Bool {
        try PostgresStore.isStore(at: place, options: Self.options(.reading))
    }

    func open(_ place: String, _ access: StoreAccess) throws -> any CommandStore {
        try openStore(place, access)
    }

    private func openStore(_ place: String, _ access: StoreAccess) throws -> PostgresStore {
        try PostgresStore.open(place, schema: nil, options: Self.options(access))
    }

    func making<Result>(
        _ place: String, _ schema: Schema?, _ access: StoreAccess,
        _ body: (any CommandStore, Bool) throws -> Result
    ) throws -> Result {
        var options = Self.options(access)
        options.createsIfMissing = true
        let store = try PostgresStore.open(place, schema: schema, options: options)
        return try store.closing {
            do {
                return try body(store, store.wasMade)
            } catch {
                // What went wrong first is what is told; a store that holds nothing does no harm.
                if store.wasMade { _ = try? store.removeIfEmpty() }
                throw error
            }
        }
    }

    func export(
        _ snapshot: any StoreSnapshot, of store: any CommandStore,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard let store = store as? PostgresStore else {
            preconditionFailure("a database has a store of its own kind")
        }
        try store.export(of: snapshot, body)
    }

    func information(of place: String, opens: Bool) throws -> StorePrintout {
        let information = try PostgresInformation(of: place, options: Self.options(.reading))
        var contents: PostgresInformation.Contents?
        var failure: (any Error)?
        if opens {
            do {
                let store = try openStore(place, .reading)
                contents = try store.closing { try PostgresInformation.Contents(of: store) }
            } catch {
                failure = error
            }
        }
        return InformationPrinter(
            title: title(of: place), information: information, contents: contents
        ).printout(failure)
    }

    func check(
        _ place: String, depth: CheckDepth, _ tell: @escaping (String, Int, Int) -> Void
    ) throws -> StorePrintout {
        guard depth == .all else {
            throw Failure(
                "\(title(of: place)): --depth only applies to stores in folders: omit it",
                code: .usage)
        }
        let store = try openStore(place, .reading)
        let report = try store.closing { try PostgresCheck.run(store, tell) }
        return CheckPrinter(title: title(of: place), report: report).printout
    }

    func migrator(of place: String, _ access: StoreAccess) -> any StoreMigrator {
        PostgresMigrator(place: place, options: Self.options(access))
    }

    func copy(_ place: String, to destination: String, _ access: StoreAccess) throws
        -> StoreCopyReport
    {
        guard owns(place) else {
            let store = try FolderKind().openLog(place, access)
            return try store.closing {
                try store.copy(toDatabase: destination, timeout: Self.patience)
            }
        }
        let store = try openStore(place, access)
        return try store.closing {
            owns(destination)
                ? try store.copy(toDatabase: destination) : try store.copy(toFolder: destination)
        }
    }

    /// A command waits for a server as long as somebody lets it.
    private static let patience = 86_400.0

    private static func options(_ access: StoreAccess) -> PostgresOptions {
        var options = PostgresOptions()
        options.isReadOnly = access.isReadOnly
        options.createsIfMissing = false
        options.persistentHistoryTracking = access.tracksHistory
        options.timeout = patience
        options.snapshotTimeout = patience
        return options
    }
}

/// Leads a store in a database to another model.
private struct PostgresMigrator: StoreMigrator {
    let place: String
    let options: PostgresOptions

    func migrate(to schema: Schema, _ choices: MigrationChoices) throws -> MigrationReport {
        try PostgresStore.migrate(at: place, to: schema, options: options(choices))
    }

    func begin(to schema: Schema, _ choices: MigrationChoices) throws -> any MappedMigration {
        try PostgresStore.beginMigration(at: place, to: schema, options: options(choices))
    }

    func duplicates(for schema: Schema) throws -> [ConstraintDuplicates] {
        try PostgresStore.duplicates(at: place, for: schema, options: options)
    }

    private func options(_ choices: MigrationChoices) -> PostgresOptions {
        var options = options
        options.migrationPrelude = choices.prelude
        options.migrationProgress = choices.progress
        return options
    }
}

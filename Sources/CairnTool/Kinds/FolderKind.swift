// Stores in folders, of the log-structured engine.
//
// Threads: values.

package import CairnLog
import CairnMigration
package import CairnModel
package import CairnMoving
package import CairnStore
import FoundationEssentials

/// Stores in folders.
package struct FolderKind: StoreKind {
    package init() {}

    package func owns(_ place: String) -> Bool { !DatabaseURL.isOne(place) }

    package func title(of place: String) -> String { place }

    package func isStore(_ place: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(place)/lock")
    }

    package func open(_ place: String, _ access: StoreAccess) throws -> any CommandStore {
        try openLog(place, access)
    }

    /// Opens a store as one of the log-structured engine.
    package func openLog(_ place: String, _ access: StoreAccess) throws -> LogStore {
        try LogStore.open(at: place, options: Self.options(access))
    }

    package func making<Result>(
        _ place: String, _ schema: Schema?, _ access: StoreAccess,
        _ body: (any CommandStore, Bool) throws -> Result
    ) throws -> Result {
        let hadFolder = FileManager.default.fileExists(atPath: place)
        var options = Self.options(access)
        options.createsIfMissing = true
        let store = try LogStore.open(at: place, schema: schema, options: options)
        return try store.closing {
            // Only now it is known whether this process created the store: another process may have been
            // faster.
            guard store.recovery.wasCreated else { return try body(store, false) }
            // No other process writes to it until it is known whether it stays.
            return try store.whileAloneInWriting {
                let isEmpty = store.lastCommit == 1
                do {
                    return try body(store, true)
                } catch {
                    if isEmpty { Self.remove(place, keepingFolder: hadFolder) }
                    throw error
                }
            }
        }
    }

    private static func remove(_ path: String, keepingFolder: Bool) {
        // It was created a moment ago and is empty; files that cannot be removed do no harm.
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: path)) ?? []
        where name == "lock" || name.hasSuffix(".segment") {
            try? files.removeItem(atPath: "\(path)/\(name)")
        }
        guard !keepingFolder, (try? files.contentsOfDirectory(atPath: path)) == [] else { return }
        try? files.removeItem(atPath: path)
    }

    package func export(
        _ snapshot: any StoreSnapshot, of store: any CommandStore,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard let log = store as? LogStore else {
            preconditionFailure("a folder has a store of the log-structured engine")
        }
        try log.export(of: snapshot, body)
    }

    package func information(of place: String, opens: Bool) throws -> StorePrintout {
        try LogInformation(of: place, opens: opens).printout
    }

    package func check(
        _ place: String, depth: CheckDepth, _ tell: @escaping (String, Int, Int) -> Void
    )
        throws
        -> StorePrintout
    {
        let report = try LogStore.check(at: place, depth: depth) { tell($0.rawValue, $1, $2) }
        return LogCheck(report: report, path: place).printout
    }

    package func migrator(of place: String, _ access: StoreAccess) -> any StoreMigrator {
        LogMigrator(place: place, options: Self.options(access))
    }

    package func copy(_ place: String, to destination: String, _ access: StoreAccess) throws
        -> StoreCopyReport
    {
        throw Failure(
            "\(place): cairn backup copies a store in a folder to another folder", code: .usage)
    }

    private static func options(_ access: StoreAccess) -> LogStoreOptions {
        var options = LogStoreOptions()
        options.createsIfMissing = false
        options.isReadOnly = access.isReadOnly
        if let timeout = access.timeout { options.timeout = timeout }
        options.persistentHistoryTracking = access.tracksHistory
        options.pastStates = access.pastStates
        if access.isReadOnly {
            options.followsWriter = access.stays
            // It is open only briefly, and not while another machine has it open for writing.
            options.allowsSharedDisk = access.allowsSharedDisk || !access.stays
        } else {
            options.allowsSharedDisk = access.allowsSharedDisk
        }
        return options
    }
}

/// Migrates a store in a folder to another model.
private struct LogMigrator: StoreMigrator {
    let place: String
    let options: LogStoreOptions

    func migrate(to schema: Schema, _ choices: MigrationChoices) throws -> MigrationReport {
        try LogStore.migrate(at: place, to: schema, options: options(choices))
    }

    func begin(to schema: Schema, _ choices: MigrationChoices) throws -> any MappedMigration {
        try LogStore.beginMigration(at: place, to: schema, options: options(choices))
    }

    func duplicates(for schema: Schema) throws -> [ConstraintDuplicates] {
        try LogStore.duplicates(at: place, for: schema)
    }

    private func options(_ choices: MigrationChoices) -> LogStoreOptions {
        var options = options
        options.checksSpaceBeforeMigration = choices.checksSpace
        options.migrationPrelude = choices.prelude
        options.migrationProgress = choices.progress
        return options
    }
}

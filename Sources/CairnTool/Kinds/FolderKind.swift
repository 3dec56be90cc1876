// Stores in folders: those of the log-structured engine.
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

    /// The same, as a store of the log-structured engine.
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
            // Who made the store is known only now: another process may have been faster.
            guard store.recovery.wasCreated else { return try body(store, false) }
            // Nobody else writes to it before it is known whether it stays.
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
        // It was made a moment ago and holds nothing; what cannot be removed does no harm either.
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
            // It is open for a moment, and not while another machine has it open to write.
            options.allowsSharedDisk = access.allowsSharedDisk || !access.stays
        } else {
            options.allowsSharedDisk = access.allowsSharedDisk
        }
        return options
    }
}

/// Leads a store in a folder to another model.
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

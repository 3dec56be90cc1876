// What a store is opened with, as Core Data's dictionaries say it.
//
// Threads: values.

import CairnLog
import CairnMigration
import Foundation

/// The options of a store.
struct StoreOptions {
    private let options: [AnyHashable: Any]

    init(_ options: [AnyHashable: Any]?) { self.options = options ?? [:] }

    /// Whether something is switched on; nil if nothing is said of it.
    private func flag(_ key: String) -> Bool? {
        switch options[key] {
        case nil: nil
        case let value as Bool: value
        case let value as NSNumber: value.boolValue
        case let value as String: NSString(string: value).boolValue
        // Core Data takes dictionaries with more details for some.
        case is [AnyHashable: Any]: true
        default: nil
        }
    }

    var isReadOnly: Bool { flag(NSReadOnlyPersistentStoreOption) ?? false }
    /// Whether a store of another version of the model is migrated.
    var migrates: Bool { flag(NSMigratePersistentStoresAutomaticallyOption) ?? false }
    /// Whether a migration follows what can be inferred.
    var infers: Bool { flag(NSInferMappingModelAutomaticallyOption) ?? false }
    /// Whether everybody is told of what is written.
    var postsRemoteChanges: Bool {
        flag(NSPersistentStoreRemoteChangeNotificationPostOptionKey) ?? false
    }
    /// Whether a store is destroyed though it is open.
    var isForced: Bool { flag(NSPersistentStoreForceDestroyOption) ?? false }

    /// What migrates the store in stages.
    var stagedMigration: NSStagedMigrationManager? {
        options[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
    }

    /// How the store behind is opened.
    var logOptions: LogStoreOptions {
        var log = LogStoreOptions()
        log.isReadOnly = isReadOnly
        log.createsIfMissing = !isReadOnly
        // What a store has of a history is not given up because somebody does not ask for it.
        if !isReadOnly, flag(NSPersistentHistoryTrackingKey) == true {
            log.persistentHistoryTracking = true
        }
        log.shouldMigrateStoreAutomatically = migrates && infers
        log.ignoresModelVersion = flag(NSIgnorePersistentStoreVersioningOption) ?? false
        switch options[NSPersistentStoreTimeoutOption] {
        case let seconds as Double: log.timeout = max(0, seconds)
        case let seconds as NSNumber: log.timeout = max(0, seconds.doubleValue)
        default: break
        }
        log.durability = durability
        return log
    }

    /// When a save returns: what SQLite's pragma `synchronous` says, whatever case it has. It is `FULL` where nothing is said.
    private var durability: LogStoreOptions.Durability {
        guard let pragmas = options[NSSQLitePragmasOption] as? [String: Any],
            let value = pragmas.first(where: { $0.key.lowercased() == "synchronous" })?.value
        else { return .full }
        return ["off", "normal", "0", "1"].contains("\(value)".lowercased()) ? .relaxed : .full
    }
}

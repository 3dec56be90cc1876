// The names of kinds of stores, of options and of metadata, with Core Data's texts.
//
// Options that are about SQLite or about Apple's platforms are accepted, so that code compiles, and mean nothing here: each says so.

import Foundation

// MARK: Kinds of stores

/// A store on disk, which Cairn keeps: a folder at its URL.
public let NSSQLiteStoreType = "SQLite"
/// A store on disk, as ``NSSQLiteStoreType``.
public let NSXMLStoreType = "XML"
/// A store on disk, as ``NSSQLiteStoreType``.
public let NSBinaryStoreType = "Binary"
/// A store in memory.
public let NSInMemoryStoreType = "InMemory"

// MARK: Metadata

/// The kind of a store, a `String`.
public let NSStoreTypeKey = "NSStoreType"
/// The identifier of a store, a `String`.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The version hashes of the entities by name, a `[String: Data]`.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// What the model calls its version, a `[String]`.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// What tells versions of the whole model apart, a `String`.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// Accepted, and means nothing here.
public let NSPersistentStoreOSCompatibility = "NSStoreOSCompatibilityKey"

// MARK: Options

/// Whether nothing may be written.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Seconds that a save waits for another process that writes.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Whether a store of another version of the model is opened as it is, if both store the same.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Whether a store of another version of the model is migrated.
public let NSMigratePersistentStoresAutomaticallyOption =
    "NSMigratePersistentStoresAutomaticallyOption"
/// Whether a migration without a mapping model in the bundles follows what can be inferred.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// An ``NSStagedMigrationManager``, which migrates the store.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
    "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Accepted, and means nothing here: nothing is deferred, since a migration that can be inferred takes no time.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// Whether the store keeps a history. A store that keeps one goes on with it, whatever is said.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Whether `NSPersistentStoreRemoteChange` is posted for everything that is written to the store.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Whether a store is destroyed or replaced though it is open.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// A dictionary of SQLite's pragmas. With a `synchronous` of `NORMAL` or `OFF` a save returns before it is on disk; all others
/// mean nothing here.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Accepted, and means nothing here: there is no SQLite.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Accepted, and means nothing here: compaction runs by itself.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Accepted, and means nothing here: any number of threads reads at once.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Accepted, and means nothing here: files have no protection classes.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Accepted, and means nothing here: there is no XML.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Accepted, and means nothing here: a store has no archives of a program's classes.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Accepted, and means nothing here: a store has no archives of a program's classes.
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
    "NSBinaryStoreInsecureDecodingCompatibilityOption"

// MARK: Notifications

/// In notifications of a coordinator: the stores that come, a `[NSPersistentStore]`.
public let NSAddedPersistentStoresKey = "added"
/// In notifications of a coordinator: the stores that go, a `[NSPersistentStore]`.
public let NSRemovedPersistentStoresKey = "removed"
/// In notifications of a coordinator: the store before and the one in its place, a `[NSPersistentStore]`.
public let NSUUIDChangedPersistentStoresKey = "uuidChanged"
/// In `NSPersistentStoreRemoteChange`: where the store is, a `URL`.
public let NSPersistentStoreURLKey = "storeURL"
/// In `NSPersistentStoreRemoteChange`: the point of the history behind the change, an ``NSPersistentHistoryToken``.
public let NSPersistentHistoryTokenKey = "historyToken"

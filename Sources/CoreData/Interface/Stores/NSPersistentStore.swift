// One store of a coordinator.
//
// It stands for a store behind. When that is replaced by another one, as setting its URL does, this one stays.
//
// Threads: any.

import CairnObjects
package import CairnStore
public import Foundation
import Synchronization

/// A store of a coordinator.
///
/// Stores of one's own, `NSIncrementalStore` and `NSAtomicStore`, are written as stores of Cairn: see `PersistentStore` there.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // What it is does not change; what can change is behind a lock.

    private struct State {
        var core: any PersistentStore
        var url: URL?
        var observation: ChangeObservation?
    }

    private let state: Mutex<State>
    /// The coordinator; nil when the store was removed.
    public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// The configuration that it was added for.
    public let configurationName: String
    /// What it was opened with.
    public let options: [AnyHashable: Any]?
    /// Its kind.
    public let type: String
    /// Whether it is closed when it is removed: others may have it too.
    let closes: Bool

    init(
        _ core: any PersistentStore, type: String, configuration: String?, url: URL?,
        options: [AnyHashable: Any]?, closes: Bool, in coordinator: NSPersistentStoreCoordinator
    ) {
        state = Mutex(State(core: core, url: url))
        self.type = type
        configurationName = configuration ?? Self.defaultConfiguration
        self.options = options
        self.closes = closes
        persistentStoreCoordinator = coordinator
    }

    /// What Core Data calls the configuration that has all entities.
    static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The store behind.
    package var core: any PersistentStore { state.withLock(\.core) }

    /// Where it is.
    public var url: URL? { state.withLock(\.url) }

    /// From now on it stands for another store.
    func replace(by core: any PersistentStore, at url: URL) {
        state.withLock {
            $0.core = core
            $0.url = url
        }
    }

    /// Keeps what observes it for as long as it is observed.
    func keep(_ observation: ChangeObservation?) {
        // What ends with an observation must not end under the lock.
        let ended = state.withLock { state in
            defer { state.observation = observation }
            return state.observation
        }
        ended?.cancel()
    }

    /// Its identifier, which is in the ids of its objects. Setting it counts when the store is opened the next time, and is
    /// written by the next save.
    open var identifier: String! {
        get { core.identity.identifier.uuidString }
        set {
            var metadata: [String: Any] = self.metadata
            metadata[NSStoreUUIDKey] = newValue
            self.metadata = metadata
        }
    }

    /// Whether nothing can be written.
    open var isReadOnly: Bool { core.isReadOnly }

    /// What the store says of itself, with what the program keeps in it. The next save writes what is set.
    open var metadata: [String: Any]! {
        get {
            guard let metadata = try? (core as? any MetadataStore)?.metadata() else {
                return [NSStoreTypeKey: type, NSStoreUUIDKey: core.identity.identifier.uuidString]
            }
            return metadata.coreDataMetadata(type: type)
        }
        set {
            do {
                guard let store = core as? any MetadataStore else {
                    throw StoreError(.invalidRequest, "the store keeps no metadata")
                }
                let (values, identifier) = try store.metadata().values(of: newValue)
                try store.setMetadata(values, identifier: identifier)
            } catch {
                preconditionFailure("\(error)")
            }
        }
    }

    /// Reads the metadata. They are always there.
    open func loadMetadata() throws {}

    /// Called when the store was added to a coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed from a coordinator.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// What a store that need not be open says of itself.
    ///
    /// - Throws: An error if there is no store.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadata(at: url, type: NSSQLiteStoreType)
    }

    /// What leads a store from one model to another.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

    /// Puts other values in the place of all that the program keeps in a store, at once.
    ///
    /// - Throws: An error if there is no store, or it cannot be written.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try NSPersistentStoreCoordinator.setMetadata(metadata, at: url, type: NSSQLiteStoreType)
    }

}

extension NSPersistentStore {
    /// The kind of a store. In memory is one kind; the others are all kept as Cairn keeps stores.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// What Core Data calls it.
        public let rawValue: String

        /// A kind by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A store on disk.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// A store on disk.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// A store on disk.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
        /// A store in memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }
}

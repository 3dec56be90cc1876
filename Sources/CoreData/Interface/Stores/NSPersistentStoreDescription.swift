// A store that is to be opened.
//
// What it says is in its options, with Core Data's keys: those are what a store is opened with.
//
// Threads: that of whoever fills it; it is read when stores are loaded.

public import Foundation

/// A store that is to be opened, and how.
open class NSPersistentStoreDescription: NSObject, NSCopying, @unchecked Sendable {
    // It is filled before stores are loaded, and only read afterwards.

    /// The kind of the store.
    open var type = NSSQLiteStoreType
    /// The configuration of the model whose entities the store is for; nil: all entities.
    open var configuration: String?
    /// Where the store is. `/dev/null` is in memory, and the default.
    open var url: URL?
    /// What it is opened with.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
        NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]
    /// Whether it is opened on another thread. The completion handler is called there.
    open var shouldAddStoreAsynchronously = false

    /// A store at a URL, which is made if it is missing, and migrated if it can be.
    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// A store in memory until it is given a URL.
    public convenience override init() { self.init(url: URL(fileURLWithPath: "/dev/null")) }

    /// Sets what the store is opened with.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Whether nothing may be written.
    open var isReadOnly: Bool {
        get { StoreOptions(options).isReadOnly }
        set { set(newValue, NSReadOnlyPersistentStoreOption) }
    }

    /// Seconds that a save waits for another process that writes.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// Whether a store of another version of the model is migrated.
    open var shouldMigrateStoreAutomatically: Bool {
        get { StoreOptions(options).migrates }
        set { set(newValue, NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// Whether a migration without a mapping model in the bundles follows what can be inferred.
    open var shouldInferMappingModelAutomatically: Bool {
        get { StoreOptions(options).infers }
        set { set(newValue, NSInferMappingModelAutomaticallyOption) }
    }

    private func set(_ flag: Bool, _ key: String) {
        setOption(NSNumber(value: flag), forKey: key)
    }

    // MARK: SQLite

    /// The pragmas that were set, which are the option `NSSQLitePragmasOption`.
    ///
    /// There is no SQLite, and one of them means something: with a `synchronous` of `NORMAL` or `OFF` a save returns when it
    /// is written, and not only when it is on disk. If the machine crashes, the last saves may be lost, but never a part
    /// of one.
    open var sqlitePragmas: [String: NSObject] {
        options[NSSQLitePragmasOption] as? [String: NSObject] ?? [:]
    }

    /// Sets one of ``sqlitePragmas``.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        setOption(pragmas as NSDictionary, forKey: NSSQLitePragmasOption)
    }

    /// A description that says the same.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.options = options
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        return copy
    }

    /// Its kind and place.
    open override var description: String { "\(type) store at \(url?.absoluteString ?? "nowhere")" }
}

// Where the stores of a coordinator are.

public import CairnLog
import CairnMoving
public import CairnObjects
public import CairnStore
public import Foundation

extension PersistentStoreCoordinator {
    /// The folder of a store; nil if it is in memory, or of another kind, or none of the coordinator's.
    public func url(for store: any PersistentStore) -> URL? {
        guard persistentStores.contains(where: { $0 === store }) else { return nil }
        return (store as? LogStore)?.path.map(Self.url)
    }

    /// The store in a folder; nil if the coordinator has none there.
    public func persistentStore(for url: URL) -> (any PersistentStore)? {
        let url = Self.resolved(url)
        return persistentStores.first { self.url(for: $0).map(Self.resolved) == url }
    }

    /// Goes on with the store in another folder, in the place of one of the coordinator's: mostly a copy of it.
    ///
    /// ```swift
    /// try coordinator.setURL(URL(fileURLWithPath: "copies/shop.cairn"), for: shop)
    /// ```
    ///
    /// The store must exist there; it is not made. What is saved from then on goes there, and what is read comes from there:
    /// contexts notice when they next fetch or save, show its objects as they are there, and keep their edits on top. The store
    /// before is closed. See ``replace(_:with:closes:)`` for one with another identifier.
    ///
    /// A folder that is to be moved is not moved while a store is open in it: remove the store, move the folder, add it again.
    ///
    /// - Parameter options: how it is opened; nil: for reading only if the store before was, and with its durability.
    /// - Returns: The store that is there now. The one before is no longer of use.
    /// - Throws: `StoreError`: what opening the store throws, `.invalidRequest` as ``replace(_:with:closes:)``, or if the store
    ///   has no folder, or is the same one under another name, or is in that folder already and `options` are given. The coordinator has the
    ///   store that it had then. And what closing that store throws, when the other is in its place already: see
    ///   ``persistentStore(for:)``.
    @discardableResult
    public func setURL(
        _ url: URL, for store: any PersistentStore, options: LogStoreOptions? = nil
    ) throws(StoreError) -> LogStore {
        guard let old = store as? LogStore, let path = self.url(for: old) else {
            throw StoreError(
                .invalidRequest, "the store does not belong to the coordinator, or has no folder")
        }
        if Self.resolved(path) == Self.resolved(url) {
            if options == nil { return old }
            throw StoreError(
                .invalidRequest,
                "the store in this folder is open already: to open it with other options, remove it and add it again",
                context: .init(path: url.path))
        }
        var choices = options ?? LogStoreOptions()
        choices.createsIfMissing = false
        if options == nil {
            choices.isReadOnly = old.isReadOnly
            choices.durability = old.durability
        }
        let new = try LogStore.open(at: url.path, schema: schema, options: choices)
        do throws(StoreError) {
            if new.isOneStore(with: old) {
                throw StoreError(
                    .invalidRequest,
                    "the folder is that of the store, which was moved while it was open",
                    context: .init(path: url.path))
            }
            try replace(old, with: new, closes: false)
        } catch {
            // Nothing was written to it.
            try? new.close()
            throw error
        }
        old.keepStagedValues()
        try old.close()
        return new
    }

    private static func url(_ path: String) -> URL {
        URL(fileURLWithPath: path, isDirectory: true)
    }

    private static func resolved(_ url: URL) -> String {
        let path = url.resolvingSymlinksInPath().path
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}

// Where the stores of a coordinator are.

public import CairnLog
import CairnMoving
public import CairnObjects
public import CairnStore
public import Foundation

extension PersistentStoreCoordinator {
    /// The folder of a store; nil if it is in memory, has another kind, or does not belong to the coordinator.
    public func url(for store: any PersistentStore) -> URL? {
        guard persistentStores.contains(where: { $0 === store }) else { return nil }
        return (store as? LogStore)?.path.map(Self.url)
    }

    /// The store in a folder; nil if the coordinator has none there.
    public func persistentStore(for url: URL) -> (any PersistentStore)? {
        let url = Self.resolved(url)
        return persistentStores.first { self.url(for: $0).map(Self.resolved) == url }
    }

    /// Replaces one of the coordinator's stores by the store in another folder, usually a copy of it.
    ///
    /// ```swift
    /// try coordinator.setURL(URL(fileURLWithPath: "copies/shop.cairn"), for: shop)
    /// ```
    ///
    /// The store must exist there; it is not created. From then on, saves and reads use it: contexts notice when they
    /// next fetch or save, show its objects, and keep their edits. The old store is closed. See
    /// ``replace(_:with:closes:)`` for a store with another identifier.
    ///
    /// Do not move a folder while its store is open: remove the store, move the folder, and add it again.
    ///
    /// - Parameter options: how to open it; nil means read-only if the old store was, with the same durability.
    /// - Returns: The new store. The old one can no longer be used.
    /// - Throws: `StoreError`: errors of opening the store; `.invalidRequest` as ``replace(_:with:closes:)``, or if the
    ///   store has no folder, is the same one under another name, or is already in that folder and `options` are given.
    ///   The coordinator then keeps its old store. Also errors of closing the old store, when the new one is already in
    ///   its place: see ``persistentStore(for:)-(URL)``.
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

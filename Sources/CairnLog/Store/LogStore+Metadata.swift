// Metadata of stores, open and not.

import CairnFileSystem
public import CairnModel
public import CairnStore
public import FoundationEssentials

extension LogStore: MetadataStore {
    /// What the store says of itself, with values that are not written yet.
    ///
    /// - Throws: `StoreError` if the store was closed.
    public func metadata() throws(StoreError) -> StoreMetadata {
        try checkOpen()
        let (values, identifier) = engine.currentMetadata()
        return StoreMetadata(
            type: StoreMetadata.logStoreType, identifier: identifier,
            model: engine.registry.read { $0.catalog.storedModel }, values: values)
    }

    /// Puts other values in the place of all that the program keeps with the store, in the next save: with its objects,
    /// or not at all. What no save has written when the store is closed is forgotten.
    ///
    /// ```swift
    /// try store.setMetadata(["syncToken": .string(token)])
    /// ```
    ///
    /// Of two threads that set them at once the last one wins. From the first save on that writes any, versions of this
    /// library that know no metadata can read the store and cannot write to it.
    ///
    /// - Parameter identifier: what the store is to be called by when it is opened the next time: ids of objects bear it
    ///   then, and ids from before are foreign. Nil: as before.
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if a value is an object id, or all together do not fit in 16 MiB
    ///   less 256 KiB, which the store keeps for its own.
    public func setMetadata(_ values: [String: Value], identifier: UUID?) throws(StoreError) {
        try checkOpen()
        try engine.setMetadata(values, identifier: identifier)
    }

    /// Writes metadata that wait for a save, if there are any, in a commit of their own.
    ///
    /// - Throws: `StoreError` as a save.
    public func writeMetadata() throws(StoreError) {
        try checkOpen()
        try engine.writeMetadata()
    }

    /// Whether metadata wait for a save.
    public var hasMetadataToWrite: Bool { engine.tools.metadata.isWaiting }

    /// What a store says of itself that need not be open. Beside a program that writes to it, what that has made durable.
    ///
    /// ```swift
    /// let metadata = try LogStore.metadata(forStoreAt: "shop.cairn")
    /// if metadata["syncToken"] == nil { … }
    /// ```
    ///
    /// - Throws: `StoreError` as opening the store to read it.
    /// - Complexity: As opening the store.
    public static func metadata(forStoreAt path: String) throws(StoreError) -> StoreMetadata {
        try metadata(forStoreAt: path, on: POSIXFileSystem())
    }

    /// The same on any disk.
    static func metadata(forStoreAt path: String, on fileSystem: any FileSystem)
        throws(StoreError) -> StoreMetadata
    {
        let store = try openToCopy(at: path, on: fileSystem)
        defer { try? store.close() }
        return try store.metadata()
    }

    /// Puts other values in the place of all that programs keep with a store that need not be open, at once. If it is open
    /// in this process, that store writes them.
    ///
    /// - Parameter identifier: what the store is to be called by from now on; nil: as before. A store that is open in this
    ///   process keeps its own until it is closed.
    /// - Throws: `StoreError`: `.storeInUse` if another process writes to the store; what opening it throws; `.invalidRequest`
    ///   if a value is an object id, or all together do not fit in 16 MiB less 256 KiB, which the store keeps for its own.
    public static func setMetadata(
        _ values: [String: Value], identifier: UUID? = nil, forStoreAt path: String
    ) throws(StoreError) {
        try setMetadata(values, identifier: identifier, forStoreAt: path, on: POSIXFileSystem())
    }

    /// The same on any disk.
    static func setMetadata(
        _ values: [String: Value], identifier: UUID? = nil, forStoreAt path: String,
        on fileSystem: any FileSystem
    ) throws(StoreError) {
        var options = LogStoreOptions()
        options.createsIfMissing = false
        options.fileSystem = fileSystem
        let store = try open(at: path, options: options)
        do throws(StoreError) {
            let (turn, before) = try store.engine.setMetadata(values, identifier: identifier)
            do throws(StoreError) {
                try store.writeMetadata()
                try store.synchronize()
            } catch {
                // Where the store is open besides, no later save is to write what was refused.
                store.engine.tools.metadata.endWaiting(turn, for: before)
                throw error
            }
        } catch {
            try? store.close()
            throw error
        }
        try store.close()
    }
}

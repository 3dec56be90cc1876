// Metadata of open and closed stores.

import CairnFileSystem
public import CairnModel
public import CairnStore
public import FoundationEssentials

extension LogStore: MetadataStore {
    /// Returns the store's metadata, including values that are not written yet.
    ///
    /// - Throws: `StoreError` if the store was closed.
    public func metadata() throws(StoreError) -> StoreMetadata {
        try checkOpen()
        let (values, identifier) = engine.currentMetadata()
        return StoreMetadata(
            type: StoreMetadata.logStoreType, identifier: identifier,
            model: engine.registry.read { $0.catalog.storedModel }, values: values)
    }

    /// Replaces all of the program's values. They are written atomically with the next save. Values that no
    /// save has written when the store is closed are lost.
    ///
    /// ```swift
    /// try store.setMetadata(["syncToken": .string(token)])
    /// ```
    ///
    /// If two threads set them at the same time, the last one wins. After the first save that writes any,
    /// versions of this library that do not support metadata can read the store but not write to it.
    ///
    /// - Parameter identifier: the store's identifier from the next time it is opened: ids of objects use it
    ///   then, and older ids are foreign. Nil: no change.
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if a value is an object id, or if the values
    ///   exceed 16 MiB minus 256 KiB, which the store reserves.
    public func setMetadata(_ values: [String: Value], identifier: UUID?) throws(StoreError) {
        try checkOpen()
        try engine.setMetadata(values, identifier: identifier)
    }

    /// Writes pending metadata, if any, in a separate commit.
    ///
    /// - Throws: `StoreError`, like a save.
    public func writeMetadata() throws(StoreError) {
        try checkOpen()
        try engine.writeMetadata()
    }

    /// Whether metadata are waiting for a save.
    public var hasMetadataToWrite: Bool { engine.tools.metadata.isWaiting }

    /// Returns the metadata of a store that need not be open. While a program writes to it, these are the
    /// metadata that the program has made durable.
    ///
    /// ```swift
    /// let metadata = try LogStore.metadata(forStoreAt: "shop.cairn")
    /// if metadata["syncToken"] == nil { … }
    /// ```
    ///
    /// - Throws: `StoreError`, as when opening the store for reading.
    /// - Complexity: As opening the store.
    public static func metadata(forStoreAt path: String) throws(StoreError) -> StoreMetadata {
        try metadata(forStoreAt: path, on: POSIXFileSystem())
    }

    /// Returns the metadata of a store on any file system.
    static func metadata(forStoreAt path: String, on fileSystem: any FileSystem)
        throws(StoreError) -> StoreMetadata
    {
        let store = try openToCopy(at: path, on: fileSystem)
        defer { try? store.close() }
        return try store.metadata()
    }

    /// Immediately replaces all of the programs' values in a store that need not be open. If it is open in
    /// this process, that store writes them.
    ///
    /// - Parameter identifier: the store's identifier from now on; nil: no change. A store that is open in
    ///   this process keeps its own until it is closed.
    /// - Throws: `StoreError`: `.storeInUse` if another process writes to the store; the errors of opening
    ///   it; `.invalidRequest` if a value is an object id, or if the values exceed 16 MiB minus 256 KiB,
    ///   which the store reserves.
    public static func setMetadata(
        _ values: [String: Value], identifier: UUID? = nil, forStoreAt path: String
    ) throws(StoreError) {
        try setMetadata(values, identifier: identifier, forStoreAt: path, on: POSIXFileSystem())
    }

    /// Replaces the values of a store on any file system.
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
                // If the store is also open elsewhere in this process, no later save may write rejected
                // values.
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

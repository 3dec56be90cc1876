// A store's description of itself.

public import CairnModel
public import FoundationEssentials

/// A store's description of itself: type, identifier and model always exist; `values` contains what a program stores with
/// it.
public struct StoreMetadata: Sendable {
    /// The store type, such as ``StoreMetadata/logStoreType``.
    public let type: String
    /// The store's identifier, which is part of the ids of its objects.
    ///
    /// If it was changed while the store is open, this is the new one; ids use it the next time the store is opened.
    public let identifier: UUID
    /// The store's model.
    public let model: ManagedObjectModel
    /// The program's own values, by key.
    public let values: [String: Value]

    /// Describes a store.
    public init(
        type: String, identifier: UUID, model: ManagedObjectModel, values: [String: Value] = [:]
    ) {
        self.type = type
        self.identifier = identifier
        self.model = model
        self.values = values
    }

    /// A value of the program; nil if there is none.
    public subscript(key: String) -> Value? { values[key] }

    /// The type of stores that use the log-structured engine.
    public static let logStoreType = "CairnLog"
}

/// A store with metadata.
public protocol MetadataStore: PersistentStore {
    /// The metadata as last set, whether written or not.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func metadata() throws(StoreError) -> StoreMetadata

    /// Replaces all of the program's values. They are written atomically with the next save; ``writeMetadata()`` writes
    /// them immediately. Values that are nil are omitted.
    ///
    /// - Parameter identifier: the store's identifier from the next time it is opened; nil: no change.
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if a value is an object id.
    func setMetadata(_ values: [String: Value], identifier: UUID?) throws(StoreError)

    /// Writes pending metadata, if any.
    ///
    /// - Throws: `StoreError` as a save.
    func writeMetadata() throws(StoreError)

    /// Whether metadata are waiting for a save.
    var hasMetadataToWrite: Bool { get }
}

extension MetadataStore {
    /// Replaces all of the program's values, keeping the identifier.
    public func setMetadata(_ values: [String: Value]) throws(StoreError) {
        try setMetadata(values, identifier: nil)
    }
}

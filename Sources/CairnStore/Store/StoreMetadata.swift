// What a store says of itself, beside its objects.

public import CairnModel
public import FoundationEssentials

/// What a store says of itself, beside its objects: type, identifier and model are always there; what a program keeps
/// with the store is in `values`.
public struct StoreMetadata: Sendable {
    /// The kind of the store, as ``StoreMetadata/logStoreType``.
    public let type: String
    /// What the store is called by: the identifier in the ids of its objects.
    ///
    /// If it was changed while the store is open, this is the new one, and ids have it when the store is opened the next time.
    public let identifier: UUID
    /// The model that the store holds.
    public let model: ManagedObjectModel
    /// What the program keeps with the store, by its keys.
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

    /// The type of stores on the log-structured engine.
    public static let logStoreType = "CairnLog"
}

/// A store that keeps metadata.
public protocol MetadataStore: PersistentStore {
    /// The metadata as they were set last, written or not.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func metadata() throws(StoreError) -> StoreMetadata

    /// Puts other values in the place of all that the program keeps with the store. The next save writes them, together with
    /// its objects or not at all; ``writeMetadata()`` does at once. A value of nil is none.
    ///
    /// - Parameter identifier: what the store is to be called by when it is opened the next time; nil: as before.
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if a value is an object id.
    func setMetadata(_ values: [String: Value], identifier: UUID?) throws(StoreError)

    /// Writes metadata that wait for a save, if there are any.
    ///
    /// - Throws: `StoreError` as a save.
    func writeMetadata() throws(StoreError)

    /// Whether metadata wait for a save.
    var hasMetadataToWrite: Bool { get }
}

extension MetadataStore {
    /// The same without another identifier.
    public func setMetadata(_ values: [String: Value]) throws(StoreError) {
        try setMetadata(values, identifier: nil)
    }
}

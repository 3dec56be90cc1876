// Metadata as Core Data hands them over.

import CairnModel
public import CairnStore
import FoundationEssentials

extension StoreMetadata {
    /// Names of what every store says of itself, as Core Data has them.
    public enum Key {
        /// The kind of the store, a `String`.
        public static let type = "NSStoreType"
        /// What the store is called by, as a `String`.
        public static let identifier = "NSStoreUUID"
        /// The hashes of the entities by name, a `[String: Data]`.
        public static let modelVersionHashes = "NSStoreModelVersionHashes"
        /// What the model calls its version, a `[String]`.
        public static let modelVersionIdentifiers = "NSStoreModelVersionIdentifiers"
        /// What tells versions of the whole model apart, a `String`.
        public static let modelVersionChecksum = "NSStoreModelVersionChecksumKey"
    }

    /// All of it as Core Data hands it over: what the program keeps by its keys, and what every store says by the names in
    /// ``Key``, which come first.
    ///
    /// ```swift
    /// let hashes = metadata.dictionary[StoreMetadata.Key.modelVersionHashes] as? [String: Data]
    /// ```
    public var dictionary: [String: Any] {
        var dictionary = values.compactMapValues(\.any)
        dictionary[Key.type] = type
        dictionary[Key.identifier] = identifier.uuidString
        dictionary[Key.modelVersionHashes] = modelVersionHashes
        dictionary[Key.modelVersionIdentifiers] = model.versionIdentifiers
        dictionary[Key.modelVersionChecksum] = model.versionChecksum
        return dictionary
    }
}

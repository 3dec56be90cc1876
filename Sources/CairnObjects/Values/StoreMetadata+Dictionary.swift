// Metadata as Core Data hands them over.

import CairnModel
public import CairnStore
import FoundationEssentials

extension StoreMetadata {
    /// Core Data's names for what every store contains.
    public enum Key {
        /// The kind of the store, a `String`.
        public static let type = "NSStoreType"
        /// What the store is called by, as a `String`.
        public static let identifier = "NSStoreUUID"
        /// The hashes of the entities by name, a `[String: Data]`.
        public static let modelVersionHashes = "NSStoreModelVersionHashes"
        /// What the model calls its version, a `[String]`.
        public static let modelVersionIdentifiers = "NSStoreModelVersionIdentifiers"
        /// The version checksum of the whole model, a `String`.
        public static let modelVersionChecksum = "NSStoreModelVersionChecksumKey"
    }

    /// All metadata in Core Data's form: the program's values by their keys, and the store's own by the names in ``Key``,
    /// which take precedence.
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

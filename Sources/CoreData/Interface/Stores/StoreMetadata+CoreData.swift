// Metadata of stores in the form that Core Data's users know: a dictionary with what the store says and what the program keeps.
//
// A store keeps single values. Lists and dictionaries, which Core Data keeps as property lists, are kept as the bytes of one, under
// a key that says so.
//
// Threads: values.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

extension StoreMetadata {
    /// What a key begins with whose value is a property list.
    private static let listMark = "propertyList:"

    /// What every store says of itself.
    private static let reserved: Set<String> = [
        Key.type, Key.identifier, Key.modelVersionHashes, Key.modelVersionIdentifiers,
        Key.modelVersionChecksum,
    ]

    /// All of it as Core Data hands it over.
    func coreDataMetadata(type: String) -> [String: Any] {
        var metadata = dictionary
        for (key, value) in values where key.hasPrefix(Self.listMark) {
            metadata[key] = nil
            guard case .binary(let bytes) = value,
                let list = try? PropertyListSerialization.propertyList(from: bytes, format: nil)
            else { continue }
            metadata[String(key.dropFirst(Self.listMark.count))] = list
        }
        metadata[NSStoreTypeKey] = type
        return metadata
    }

    /// What is to be kept in the place of these, and the identifier if it is to be another one.
    ///
    /// - Throws: `StoreError` that names the key whose value cannot be kept.
    func values(of metadata: [String: Any]?) throws(StoreError) -> (
        values: [String: Value], identifier: UUID?
    ) {
        var kept: [String: Value] = [:]
        // By what UUID Core Data called a store that was brought over from there; see MetadataStore+CoreData.
        kept[Key.identifier] = values[Key.identifier]
        for (key, value) in metadata ?? [:] where !Self.reserved.contains(key) {
            if let single = Value(any: value) {
                kept[key] = single
            } else if let list = try? PropertyListSerialization.data(
                fromPropertyList: value, format: .binary, options: 0)
            {
                kept[Self.listMark + key] = .binary(list)
            } else {
                throw StoreError(
                    .invalidRequest,
                    "metadata are property lists: a value of \(Swift.type(of: value)) cannot be kept",
                    context: .init(key: key))
            }
        }
        guard let text = metadata?[Key.identifier] as? String else { return (kept, nil) }
        guard let identifier = UUID(uuidString: text) else {
            throw StoreError(
                .invalidRequest, "the identifier of a store is a UUID, not \(text)",
                context: .init(key: Key.identifier))
        }
        return (kept, identifier == self.identifier ? nil : identifier)
    }
}

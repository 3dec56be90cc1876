// What a store of Core Data says of itself: the one row of Z_METADATA.

import CairnModel
import FoundationEssentials

/// A store's metadata.
struct SourceMetadata {
    /// What the store is called by, in the URIs of its objects.
    let identifier: UUID
    /// The entities of the model that it was written with, by the names that the model has for them; nil in a store
    /// without.
    let entityNames: Set<String>?
    /// What the program keeps with the store.
    private(set) var values: [String: Value] = [:]
    /// What it keeps that has no form as a value.
    private(set) var others: [String] = []

    init(of file: SQLiteFile) throws(CoreDataImportError) {
        let place = "\(file.name), Z_METADATA"
        let statement = try file.prepare(
            "SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION DESC", at: "Z_METADATA")
        guard try statement.step() else {
            throw CoreDataImportError(.notAStore, "it has no row", at: place)
        }
        guard case .text(let text) = statement[0], let identifier = UUID(uuidString: text) else {
            throw CoreDataImportError(.damaged, "its Z_UUID is not a UUID", at: place)
        }
        self.identifier = identifier
        guard case .blob(let bytes) = statement[1] else {
            entityNames = nil
            return
        }
        guard let list = PropertyList(bytes)?.dictionary else {
            throw CoreDataImportError(.damaged, "its Z_PLIST is not a property list", at: place)
        }
        entityNames = list["NSStoreModelVersionHashes"]?.dictionary.map { Set($0.keys) }
        for (key, value) in list where !Self.isOwn(key) {
            if let value = Self.value(value) {
                values[key] = value
            } else {
                others.append(key)
            }
        }
        others.sort()
    }

    /// Whether it is Core Data that keeps a value.
    private static func isOwn(_ key: String) -> Bool {
        ["NSStore", "NSPersistence", "_NS", "NSPersistentHistory"].contains { key.hasPrefix($0) }
    }

    private static func value(_ value: PropertyList) -> Value? {
        switch value {
        case .boolean(let truth): .boolean(truth)
        case .integer(let number): .integer(number)
        case .real(let number): .double(number)
        case .text(let text): .string(text)
        case .date(let date): .date(date)
        case .data(let bytes): .binary(Data(bytes))
        default: nil
        }
    }
}

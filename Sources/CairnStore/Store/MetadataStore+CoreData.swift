// Objects by the URIs that they had in Core Data.

public import CairnModel
public import FoundationEssentials

extension MetadataStore {
    /// The id of the object that has a URI of Core Data, in a store that was imported from there:
    /// x-coredata://UUID/Person/p7.
    ///
    /// An imported object has the number that it had, and the store remembers by what UUID Core Data called it, in
    /// the metadata under `NSStoreUUID`. So what was written down elsewhere, as in a user's settings, finds its
    /// object again. That it is there still is not said.
    ///
    /// - Returns: nil if it is no such URI, or of another store, or of an entity that the model does not have.
    /// - Throws: `StoreError` if the store was closed.
    /// - Complexity: O(1).
    public func objectID(forCoreDataURI uri: URL) throws(StoreError) -> ObjectID? {
        let text = uri.absoluteString
        let prefix = "x-coredata://"
        guard text.hasPrefix(prefix) else { return nil }
        let parts = text.dropFirst(prefix.count).split(
            separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let store = UUID(uuidString: String(parts[0])),
            let entity = schema.entity(named: String(parts[1])), parts[2].first == "p",
            let number = UInt32(parts[2].dropFirst()), number > 0
        else { return nil }
        if store != identity.identifier {
            guard case .string(let known)? = try metadata()["NSStoreUUID"],
                UUID(uuidString: known) == store
            else { return nil }
        }
        return identity.id(UInt64(number), entity: entity.index)
    }
}

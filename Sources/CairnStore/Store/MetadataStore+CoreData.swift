// Objects by their Core Data URIs.

public import CairnModel
public import FoundationEssentials

extension MetadataStore {
    /// The id of the object with a Core Data URI, such as `x-coredata://UUID/Person/p7`, in a store that was imported from
    /// Core Data.
    ///
    /// An imported object keeps its number, and the store keeps the UUID of the Core Data store in the metadata under
    /// `NSStoreUUID`. So URIs that were saved elsewhere, for example in a user's settings, still identify their objects. It
    /// does not check whether the object exists.
    ///
    /// - Returns: nil if it is not such a URI, or belongs to another store or to an entity that the model does not have.
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

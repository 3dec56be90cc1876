// Ids of objects in a store that another one was made from.

public import CairnModel

extension StoreIdentity {
    /// The id that an object has in this store, which is a copy of the one that the id is of: everything but the store's
    /// identifier is the same. Nil if the id is temporary.
    ///
    /// Whether the object is there is asked of the store: a copy has the objects of the moment it was made.
    public func id(movedFrom id: ObjectID) -> ObjectID? {
        guard !id.isTemporary else { return nil }
        return ObjectID(store: identifier, hierarchy: id.hierarchy, reference: id.reference)
    }
}

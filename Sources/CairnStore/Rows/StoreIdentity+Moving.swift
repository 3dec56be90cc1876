// Ids of objects in a copy of another store.

public import CairnModel

extension StoreIdentity {
    /// The id of an object in this store, given its id in another copy of the store: only the store's identifier differs.
    /// Nil if the id is temporary.
    ///
    /// It does not check whether the object exists: a copy contains the objects of the time when it was copied.
    public func id(movedFrom id: ObjectID) -> ObjectID? {
        guard !id.isTemporary else { return nil }
        return ObjectID(store: identifier, hierarchy: id.hierarchy, reference: id.reference)
    }
}

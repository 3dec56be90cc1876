// Objects of ids that the context's stores cannot have: of a store that was removed or made anew, of another context's new
// object. Whoever asks for one gets a fault, as for an id whose row is gone, and it turns out to be gone when it is touched.
//
// Their ids are in no table of the context: numbers of other stores would be taken for those of its own. So each of these
// objects is of a scope that names its store, and is kept by that.
//
// Threads: the context's.

import CairnModel
import CairnStore
import FoundationEssentials

extension ManagedObjectContext {
    /// What names the objects of a store that is none of the context's, by store and hierarchy.
    struct ForeignPlace: Hashable {
        let store: UUID
        let hierarchy: UInt32
        let isTemporary: Bool

        init(_ id: ObjectID) {
            store = id.store
            hierarchy = id.hierarchy
            isTemporary = id.isTemporary
        }
    }

    /// The object of an id that is none of the context's stores. It is of the root entity of the id's hierarchy, as far as
    /// anybody can say: there is no row.
    ///
    /// - Precondition: the model has an entity.
    func foreignObject(with id: ObjectID) -> ManagedObject {
        let scope = foreignScope(of: id)
        if let known = scope.registry.object(for: id) { return known }
        let object = fault(id.reference, scope)
        object.hasTemporaryID = id.isTemporary
        object.flags.formUnion(.foreign)
        object.keepScope()
        scope.registry.register(object)
        return object
    }

    /// Whether nothing can be set on an object: it is gone, or of none of the context's stores.
    func isNoMore(_ object: ManagedObject) -> Bool {
        if object.flags.contains(.foreign) { object.fulfillIfNeeded() }
        return object.isGone
    }

    private func foreignScope(of id: ObjectID) -> EntityScope {
        let place = ForeignPlace(id)
        if let known = foreignScopes[place] { return known }
        let entity = rootEntity(ofHierarchy: id.hierarchy)
        let registry = ObjectRegistry(
            identity: StoreIdentity(
                identifier: id.store,
                hierarchies: schema.entities.map { _ in id.hierarchy }),
            temporaryStore: id.store, board: board)
        let scope = EntityScope(entity, classes.type(for: entity, in: schema), registry, in: self)
        scope.isObservable = objectsAreObservable
        foreignScopes[place] = scope
        return scope
    }
}

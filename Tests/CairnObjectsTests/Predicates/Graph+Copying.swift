// The same objects in another kind of store, under the same ids: so that it can be asked the same.

import CairnModel
import CairnStore
import StoreBackends

extension Graph {
    /// Makes the objects in the new store of a place, and opens it.
    ///
    /// - Parameter identity: that of the store that they are from. One of the same model numbers its hierarchies alike.
    func copy(to place: StorePlace, as identity: StoreIdentity) throws -> any PersistentStore {
        let empty = try place.open()
        try empty.setMetadata([:], identifier: identity.identifier)
        try empty.writeMetadata()
        try empty.close()
        let store = try place.open()
        var request = SaveRequest()
        for object in objects {
            let entity = object.evaluatedEntity
            request.inserted.append(
                .init(
                    id: object.evaluatedID, entity: entity.index,
                    values: entity.columns.indices.map(object.evaluatedColumn),
                    assigned: ColumnSet(entity.columns.indices)))
            for (index, relationship) in entity.relationships.enumerated() {
                guard case .pairs(let pairs, isSource: true) = relationship.storage else {
                    continue
                }
                request.pairChanges += object.evaluatedMembers(index).map {
                    .init(
                        pairs: pairs, source: object.evaluatedID, destination: $0.evaluatedID,
                        isAddition: true)
                }
            }
        }
        _ = try store.save(request)
        return store
    }
}

// What a save may say at all: values of their columns' types, and objects of this store.

import CairnModel
import CairnStore

extension DictionaryDraft {
    /// Refuses what cannot be in the store.
    func checkRequest() throws(StoreError) {
        for object in request.inserted {
            for (column, value) in object.values.enumerated() {
                try check(value, column, object.entity)
            }
        }
        for object in request.updated {
            try check(object.id, object.entity)
            for change in object.changes { try check(change.value, change.column, object.entity) }
        }
        for object in request.deleted { try check(object.id, object.entity) }
        for change in request.pairChanges {
            let pairs = schema.pairs[change.pairs]
            for (id, entity) in [
                (change.source, pairs.source), (change.destination, pairs.destination),
            ] where !id.isTemporary {
                try check(id, entity)
            }
        }
    }

    private func check(_ id: ObjectID, _ entity: Int) throws(StoreError) {
        if identity.owns(id, entity: entity) { return }
        throw StoreError(
            .foreignObject, "the object is of another store or entity",
            context: .init(entity: schema.entities[entity].name, objectID: id))
    }

    private func check(_ value: Value, _ column: Int, _ entity: Int) throws(StoreError) {
        let entity = schema.entities[entity]
        let description = entity.columns[column]
        // What is given for a derived attribute is not looked at.
        if value.isNull || description.isDerived { return }
        switch description.kind {
        case .attribute(let type): if value.fits(type) { return }
        case .reference: if value.reference != nil { return }
        }
        throw StoreError(
            .invalidRequest, "a value does not fit its property",
            context: .init(
                entity: entity.name, key: description.name, value: value,
                detail: "\(value) does not fit its property"))
    }
}

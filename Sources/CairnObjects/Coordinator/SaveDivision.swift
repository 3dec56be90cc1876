// One save's request as one for each store.
//
//   1. New objects go to the store that they were assigned to, those with a permanent id to its store, all others to the
//      first store that can be written and is for their entity. What is stored stays where it is.
//   2. What no store may write is refused, all of it, before anything is written: objects that no store takes, or one that is
//      read-only or was removed; relationships into another store.
//   3. Temporary ids get the hierarchy numbers of the store, rows lose its number; answers go the way back.
//
// Threads: a value.

import CairnModel
import CairnStore
import FoundationEssentials

/// The requests of a save, by store.
struct SaveDivision {
    /// What one store is to write.
    struct Part {
        let store: CoordinatedStore
        var request: SaveRequest
        /// What the ids of new objects in the request stand for, where that differs.
        var names: [ObjectID: ObjectID] = [:]
    }

    private(set) var parts: [Part]
    private let coordinator: PersistentStoreCoordinator
    private let schema: Schema
    /// The places of the stores, by identifier.
    private let places: [UUID: Int]
    /// The places of new objects.
    private var placesOfNew: [ObjectID: Int] = [:]
    private var errors: [StoreError] = []

    /// Divides a request.
    ///
    /// - Parameter assigned: the stores of new objects that were assigned to one.
    /// - Throws: `StoreError` that says what is refused: `.foreignObject`, `.readOnly`, `.incompleteSave`, `.invalidRequest`,
    ///   `.objectNotFound`, or `.multiple`.
    init(
        _ request: SaveRequest, assigned: [ObjectID: UUID],
        _ coordinator: PersistentStoreCoordinator
    ) throws(StoreError) {
        self.coordinator = coordinator
        schema = coordinator.schema
        let stores = coordinator.attached
        places = Dictionary(
            uniqueKeysWithValues: stores.enumerated().map { ($1.identifier, $0) })
        var empty = request
        empty.inserted = []
        empty.updated = []
        empty.deleted = []
        empty.locked = []
        empty.pairChanges = []
        empty.orderChanges = []
        empty.redirects = []
        parts = stores.map { Part(store: $0, request: empty) }
        for object in request.inserted {
            placesOfNew[object.id] = placeOfNew(object.id, object.entity, assigned[object.id])
        }
        for object in request.inserted { divide(object) }
        for object in request.updated { divide(object) }
        for object in request.deleted {
            guard let place = placeToWrite(object.id, object.entity) else { continue }
            var object = object
            object.base = object.base.map(withoutNumber)
            parts[place].request.deleted.append(object)
        }
        for object in request.locked {
            guard let place = places[object.id.store] else { continue }
            var object = object
            object.base = withoutNumber(object.base)
            parts[place].request.locked.append(object)
        }
        for change in request.pairChanges { divide(change) }
        for change in request.orderChanges { divide(change) }
        for redirect in request.redirects {
            guard let place = places[redirect.id.store] else { continue }
            var redirect = redirect
            redirect.survivor = name(redirect.survivor, place)
            parts[place].request.redirects.append(redirect)
        }
        if let error = StoreError.combining(errors) { throw error }
    }

    // MARK: Where to

    private mutating func placeOfNew(_ id: ObjectID, _ entity: Int, _ assigned: UUID?) -> Int? {
        if !id.isTemporary { return placeToWrite(id, entity) }
        let description = schema.entities[entity]
        if let assigned {
            guard let place = places[assigned] else {
                errors.append(StoreError(notAttached: id, entity: description))
                return nil
            }
            return writable(place, id, entity)
        }
        if let place = parts.firstIndex(where: { $0.store.takes(entity) }) { return place }
        errors.append(StoreError(noStoreFor: description, id))
        return nil
    }

    /// The place of the store of a stored object, if that can be written.
    private mutating func placeToWrite(_ id: ObjectID, _ entity: Int) -> Int? {
        guard let place = places[id.store] else {
            errors.append(
                StoreError(
                    .objectNotFound, "the store of the object was removed from the coordinator",
                    context: .init(entity: schema.entities[entity].name, objectID: id)))
            return nil
        }
        return writable(place, id, entity)
    }

    private mutating func writable(_ place: Int, _ id: ObjectID, _ entity: Int) -> Int? {
        guard parts[place].store.isReadOnly else { return place }
        errors.append(
            StoreError(
                .readOnly, "the store of the object is read-only",
                context: .init(entity: schema.entities[entity].name, objectID: id)))
        return nil
    }

    /// The place of an object that a relationship leads to; nil if it is in none of the stores.
    private func place(of id: ObjectID) -> Int? {
        id.isTemporary ? placesOfNew[id] : placesOfNew[id] ?? places[id.store]
    }

    // MARK: Parts

    private mutating func divide(_ object: SaveRequest.Inserted) {
        guard let place = placesOfNew[object.id] else { return }
        var object = object
        for column in coordinator.references[object.entity] {
            object.values[column] = reference(
                object.values[column], column, object.id, object.entity, place)
        }
        object.id = name(object.id, place)
        parts[place].request.inserted.append(object)
    }

    private mutating func divide(_ object: SaveRequest.Updated) {
        guard let place = placeToWrite(object.id, object.entity) else { return }
        var object = object
        for index in object.changes.indices {
            object.changes[index].value = reference(
                object.changes[index].value, object.changes[index].column, object.id,
                object.entity, place)
        }
        object.base = withoutNumber(object.base)
        parts[place].request.updated.append(object)
    }

    /// A value of a column as its store gets it; refused if it leads elsewhere.
    private mutating func reference(
        _ value: Value, _ column: Int, _ owner: ObjectID, _ entity: Int, _ place: Int
    ) -> Value {
        guard case .objectID(let target) = value else { return value }
        if self.place(of: target) != place {
            // One that is refused itself leads nowhere.
            if !target.isTemporary || placesOfNew[target] != nil {
                refuse(owner, entity, schema.entities[entity].columns[column].name)
            }
            return .null
        }
        return .objectID(name(target, place))
    }

    private mutating func divide(_ change: SaveRequest.PairChange) {
        let (one, other) = (place(of: change.source), place(of: change.destination))
        let pairs = schema.pairs[change.pairs]
        guard let one, let other, one == other else {
            if one != nil || !change.source.isTemporary,
                other != nil || !change.destination.isTemporary
            {
                let relationship = schema.entities[pairs.source].relationships[
                    pairs.sourceRelationship]
                refuse(change.source, pairs.source, relationship.description.name)
            }
            return
        }
        if parts[one].store.isReadOnly {
            _ = writable(one, change.source, pairs.source)
            return
        }
        var change = change
        change.source = name(change.source, one)
        change.destination = name(change.destination, one)
        parts[one].request.pairChanges.append(change)
    }

    /// Members in other stores are refused where they become members; here they count for nothing.
    private mutating func divide(_ change: SaveRequest.OrderChange) {
        guard
            let place = change.owner.isTemporary
                ? placesOfNew[change.owner] : placeToWrite(change.owner, change.entity)
        else { return }
        var change = change
        change.owner = name(change.owner, place)
        change.members = names(change.members, place)
        change.base = change.base.map { names($0, place) }
        parts[place].request.orderChanges.append(change)
    }

    private mutating func names(_ ids: [ObjectID], _ place: Int) -> [ObjectID] {
        var names: [ObjectID] = []
        names.reserveCapacity(ids.count)
        for id in ids where self.place(of: id) == place { names.append(name(id, place)) }
        return names
    }

    private mutating func refuse(_ owner: ObjectID, _ entity: Int, _ key: String) {
        errors.append(
            StoreError(
                .foreignObject,
                "the relationship refers to an object in another store: both must be in the same store",
                context: .init(entity: schema.entities[entity].name, key: key, objectID: owner)))
    }

    // MARK: Names

    /// An id as a store knows it: temporary ones have the number of the hierarchy there.
    private mutating func name(_ id: ObjectID, _ place: Int) -> ObjectID {
        guard id.isTemporary else { return id }
        // A coordinator numbers hierarchies by their roots, from 1 on.
        let hierarchy = parts[place].store.identity.hierarchies[Int(id.hierarchy) - 1]
        if hierarchy == id.hierarchy { return id }
        let name = ObjectID(temporary: id.reference, hierarchy: hierarchy, context: id.store)
        parts[place].names[name] = id
        return name
    }

    private func withoutNumber(_ row: Row) -> Row {
        row.moved(to: 0, coordinator.references, in: schema)
    }
}

extension CoordinatedStore {
    /// Whether new objects of an entity go to it unless somebody says otherwise.
    func takes(_ entity: Int) -> Bool { !isReadOnly && entities[entity] }
}

extension StoreError {
    /// A new object that no store takes.
    init(noStoreFor entity: SchemaEntity, _ id: ObjectID? = nil) {
        self.init(
            .incompleteSave, "no writable store accepts objects of this entity",
            context: .init(entity: entity.name, objectID: id))
    }
}

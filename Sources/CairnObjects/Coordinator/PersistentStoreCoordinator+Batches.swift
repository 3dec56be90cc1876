// Requests without objects, and permanent ids, of several stores.

public import CairnModel
public import CairnStore
import FoundationEssentials

extension PersistentStoreCoordinator {
    /// Inserts and updates many rows atomically, in the first writable store of the entity, among
    /// ``BatchInsertRequest/affectedStores`` if specified. Rows in other stores are not considered.
    ///
    /// - Throws: `StoreError` that names row and key; `.incompleteSave` if there is no such store, `.invalidRequest` if one that
    ///   is named is none of the coordinator's. Nothing is written then.
    public func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        guard let entity = schema.entity(named: request.entityName) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: request.entityName))
        }
        try checkAttached(request.affectedStores, entity)
        let store = attached.first {
            $0.takes(entity.index) && request.affectedStores?.contains($0.identifier) ?? true
        }
        guard let store else { throw StoreError(noStoreFor: entity) }
        return try writing(to: store) { store throws(StoreError) in try store.execute(request) }
    }

    /// Updates many objects, atomically in each store: in all writable stores, or in
    /// ``BatchUpdateRequest/affectedStores``. Keys are unique within a store.
    ///
    /// - Throws: `StoreError`: `.readOnly` if the request names a read-only store, `.invalidRequest` if it names one that
    ///   does not belong to the coordinator; in that case nothing is written. The errors of a store; `.incompleteSave` if
    ///   others have already been written.
    public func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        let plan = try BatchUpdatePlan(request, in: schema, now: Date())
        let named = request.affectedStores
        try checkAttached(named, plan.entity)
        let stores = attached.filter { named?.contains($0.identifier) ?? !$0.isReadOnly }
        let family =
            request.includesSubentities
            ? schema.entities[plan.entity.index].family : [plan.entity.index]
        var requests: [(store: CoordinatedStore, request: BatchUpdateRequest)] = []
        var order: [ObjectID] = []
        if plan.fetch.limit == nil, plan.fetch.offset == 0 {
            for store in stores where family.contains(where: { store.entities[$0] }) {
                requests.append((store, request))
            }
        } else {
            // Which objects these are only all stores together can tell.
            var fetch = plan.fetch
            fetch.affectedStores = stores.map(\.identifier)
            order = try snapshot().fetch(fetch).ids
            let ids = Dictionary(grouping: order, by: \.store)
            for store in stores {
                guard let ids = ids[store.identifier] else { continue }
                requests.append((store, request.limited(to: ids)))
            }
        }
        var result = BatchUpdateResult()
        try execute(requests) { store, request throws(StoreError) in
            let updated = try store.execute(request)
            result.updatedCount += updated.updatedCount
            result.unchangedCount += updated.unchangedCount
            result.objectIDs += updated.objectIDs
            result.commit = updated.commit ?? result.commit
        }
        if requests.count > 1, !plan.fetch.sort.isEmpty, !order.isEmpty {
            // As they were found, and not store by store.
            let updated = Set(result.objectIDs)
            result.objectIDs = order.filter(updated.contains)
        }
        return result
    }

    /// Deletes many objects, atomically in each store: in all writable stores, or in
    /// ``BatchDeleteRequest/affectedStores``, or in `StoreFetch.affectedStores` of its fetch.
    ///
    /// - Throws: `StoreError`: `.readOnly` if the request names a read-only store, or the id of an object in one,
    ///   `.invalidRequest` if it names a store that does not belong to the coordinator; in that case nothing is deleted.
    ///   The errors of a store; `.incompleteSave` if others have already been written.
    public func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        let request = try request.resolved(in: schema) { id in
            attached.first { $0.identifier == id.store }?.identity.entity(of: id)
        }
        try checkAttached(request.affectedStores)
        if case .fetch(let fetch) = request.target { try checkAttached(fetch.affectedStores) }
        let named = request.namedStores
        try checkAttached(named)
        var requests: [(store: CoordinatedStore, request: BatchDeleteRequest)] = []
        switch request.target {
        case .fetch(let fetch):
            var fetch = fetch
            let stores = attached.filter { named?.contains($0.identifier) ?? !$0.isReadOnly }
            fetch.affectedStores = stores.map(\.identifier)
            if fetch.limit == nil, fetch.offset == 0 {
                guard schema.entities.indices.contains(fetch.entity) else {
                    throw StoreError(
                        .invalidRequest, "the model has no entity with the index \(fetch.entity)")
                }
                let family =
                    fetch.includesSubentities
                    ? schema.entities[fetch.entity].family : [fetch.entity]
                for store in stores where family.contains(where: { store.entities[$0] }) {
                    requests.append((store, request))
                }
            } else {
                // Which objects these are only all stores together can tell.
                fetch.includesRows = false
                let ids = try snapshot().fetch(fetch).ids
                requests = divide(ids, fetch.entity, request)
            }
        case .ids(let ids, let entity): requests = divide(ids, entity, request)
        case .matching, .objectIDs:
            preconditionFailure("a condition is resolved before it is evaluated")
        }
        var result = BatchDeleteResult()
        try execute(requests) { store, request throws(StoreError) in
            let deleted = try store.execute(request)
            result.deletedCount += deleted.deletedCount
            result.cascadedCount += deleted.cascadedCount
            result.objectIDs += deleted.objectIDs
            result.commit = deleted.commit ?? result.commit
        }
        return result
    }

    /// Refuses a request that names a store that is not there, as contexts refuse such a fetch, or none at all, as a single store
    /// does.
    private func checkAttached(_ named: [UUID]?, _ entity: SchemaEntity? = nil) throws(StoreError) {
        guard let named else { return }
        if named.isEmpty {
            throw StoreError(
                .invalidRequest, "the request's list of affected stores is empty",
                context: .init(entity: entity?.name))
        }
        for identifier in named where store(identifier) == nil {
            throw StoreError(notAttached: nil, entity: entity)
        }
    }

    /// Has stores carry out their parts of a request, one after the other.
    private func execute<Request>(
        _ parts: [(store: CoordinatedStore, request: Request)],
        _ run: (any PersistentStore, Request) throws(StoreError) -> Void
    ) throws(StoreError) {
        if parts.contains(where: \.store.isReadOnly) {
            throw StoreError(.readOnly, "one of the stores is read-only")
        }
        for (index, part) in parts.enumerated() {
            do throws(StoreError) {
                try writing(to: part.store) { store throws(StoreError) in
                    try run(store, part.request)
                }
            } catch {
                if index == 0 { throw error }
                throw StoreError(incomplete: error, parts[index...].map(\.store.identifier))
            }
        }
    }

    /// Requests for objects by their ids. What is in no store is passed over, as what does not exist.
    private func divide(_ ids: [ObjectID], _ entity: Int, _ request: BatchDeleteRequest)
        -> [(store: CoordinatedStore, request: BatchDeleteRequest)]
    {
        let groups = Dictionary(grouping: ids, by: \.store)
        let named = request.namedStores
        return attached.compactMap { store in
            guard named?.contains(store.identifier) ?? true else { return nil }
            return groups[store.identifier].map { ids in
                var part = request
                part.target = .ids(ids, entity: entity)
                return (store, part)
            }
        }
    }

    /// Permanent ids for new objects of these entities, in the same order: of the stores that they would go to.
    ///
    /// - Throws: `StoreError`: `.incompleteSave` if no store takes an entity.
    public func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
        try obtainPermanentIDs(forEntities: entities, in: entities.map { _ in nil })
    }

    /// The same for objects that were assigned to stores, or nil.
    func obtainPermanentIDs(forEntities entities: [Int], in assigned: [UUID?]) throws(StoreError)
        -> [ObjectID]
    {
        let stores = attached
        var places: [Int: [Int]] = [:]
        for (index, entity) in entities.enumerated() {
            let place: Int?
            if let identifier = assigned[index] {
                place = stores.firstIndex { $0.identifier == identifier }
                if place == nil {
                    throw StoreError(notAttached: nil, entity: schema.entities[entity])
                }
            } else {
                place = stores.firstIndex { $0.takes(entity) }
            }
            guard let place else { throw StoreError(noStoreFor: schema.entities[entity]) }
            places[place, default: []].append(index)
        }
        var ids = [ObjectID?](repeating: nil, count: entities.count)
        for (place, indexes) in places.inKeyOrder() {
            let given = try writing(to: stores[place]) { store throws(StoreError) in
                try store.obtainPermanentIDs(forEntities: indexes.map { entities[$0] })
            }
            for (index, id) in zip(indexes, given) { ids[index] = id }
        }
        return ids.compactMap { $0 }
    }
}

extension BatchUpdateRequest {
    /// The same request for objects that were found already.
    fileprivate func limited(to ids: [ObjectID]) -> BatchUpdateRequest {
        var request = self
        request.predicate = .compare(
            .evaluatedObject, .in, .list(ids.map { .objectID($0) }))
        request.nullSemantics = .twoValued
        request.sortDescriptors = []
        request.fetchLimit = 0
        request.fetchOffset = 0
        return request
    }
}

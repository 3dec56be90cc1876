// Tells instruments what a context reads. Nothing here is called while there are none.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    private static let clock = ContinuousClock()

    static func now() -> ContinuousClock.Instant { clock.now }

    /// Made when somebody first wants advice.
    var startedAdvisor: FaultAdvisor {
        if let advisor { return advisor }
        let made = FaultAdvisor()
        advisor = made
        return made
    }

    /// Tells of rows that were asked for by their ids: a batch, or a step of what is read ahead.
    func tell(
        _ kind: FetchEvent.Kind, _ entity: SchemaEntity, keyPath: String? = nil, _ count: Int,
        since start: ContinuousClock.Instant, error: StoreError? = nil
    ) {
        let duration = start.duration(to: Self.now())
        guard board.wants(.fetches) else { return }
        board.send(
            .fetch(
                FetchEvent(
                    kind, FetchEvent.Request(entity: entity.name), keyPath: keyPath, count: count,
                    duration: duration, contextName: name, error: error)))
    }

    // MARK: Faults

    /// Reads the row of a fault and tells of it.
    @inline(never)
    func watchedRow(_ id: ObjectID, _ entity: SchemaEntity) throws(StoreError) -> Row? {
        let start = Self.now()
        do throws(StoreError) {
            let row = try read(id, entity)
            tellOfFault(
                row.map { schema.entities[$0.entity] } ?? entity, id, row == nil ? 0 : 1, start)
            return row
        } catch {
            tellOfFault(entity, id, 0, start, error: error)
            throw error
        }
    }

    /// Reads the rows of faults of which only the rows can tell the entity, and tells of it.
    @inline(never)
    func watchedRows(_ ids: [ObjectID], _ root: SchemaEntity) throws(StoreError) -> [Row?] {
        let start = Self.now()
        do throws(StoreError) {
            let rows = try read(ids, under: root)
            let first = rows.lazy.compactMap { $0 }.first
            let entity = first.map { schema.entities[$0.entity] } ?? root
            tellOfFault(entity, ids[0], rows.count { $0 != nil }, start)
            return rows
        } catch {
            tellOfFault(root, ids[0], 0, start, error: error)
            throw error
        }
    }

    private func tellOfFault(
        _ entity: SchemaEntity, _ id: ObjectID, _ count: Int, _ start: ContinuousClock.Instant,
        error: StoreError? = nil
    ) {
        let duration = start.duration(to: Self.now())
        if board.wants(.faultMisses) {
            board.send(
                .fault(
                    FaultEvent(
                        entity: entity.name, objectID: id, isMiss: true, count: count,
                        duration: duration, contextName: name, error: error)))
        }
        if let origin = advisor?.origin(of: id) { advise(origin) }
    }

    /// Tells of a fault whose row was here.
    @inline(never)
    func tellOfHit(_ object: ManagedObject) {
        board.send(
            .fault(
                FaultEvent(
                    entity: object.entity.name, objectID: object.objectID, isMiss: false, count: 1,
                    contextName: name)))
    }

    /// Notes where a to-one relationship leads.
    @inline(never)
    func watchTarget(_ id: ObjectID, of object: ManagedObject, _ index: Int) {
        guard board.wants(.advice), let advisor, !id.isTemporary else { return }
        let relationship = object.entity.relationships[index].description.name
        guard
            let origin = advisor.origin(
                following: relationship, of: object.objectID, object.entity.name)
        else { return }
        advisor.enter(id, origin)
    }

    /// Tells of a to-many relationship whose members were wanted: since when the store was asked, or nil if it was not.
    @inline(never)
    func tellOfMembers(
        _ members: [ObjectID], of object: ManagedObject, _ index: Int,
        since start: ContinuousClock.Instant?, error: StoreError? = nil
    ) {
        let duration = start?.duration(to: Self.now()) ?? .zero
        let relationship = object.entity.relationships[index].description.name
        if board.wants(start == nil ? .faultHits : .faultMisses) {
            board.send(
                .fault(
                    FaultEvent(
                        entity: object.entity.name, relationship: relationship,
                        objectID: object.objectID, isMiss: start != nil, count: members.count,
                        duration: duration, contextName: name, error: error)))
        }
        guard board.wants(.advice) else { return }
        let advisor = startedAdvisor
        let origin =
            advisor.origin(following: relationship, of: object.objectID, object.entity.name)
            ?? advisor.originOfMembers(relationship, of: object.entity.name)
        for id in members { advisor.enter(id, origin) }
        if start != nil { advise(origin) }
    }

    /// Counts a fault that asked the store, and says what there is to say.
    private func advise(_ origin: FaultOrigin) {
        guard board.wants(.advice), let advisor else { return }
        let advice = advisor.count(origin, contextName: name) { path, entity in
            // Objects of subentities have relationships that no path from the entity of the request leads along.
            let terms = FetchTerms(entityName: entity, predicate: nil)
            return (try? prefetchPaths([path], terms)) != nil
        }
        if let advice { board.send(.advice(advice)) }
    }

    /// Tells of objects that became faults.
    func tellOfRefresh(_ count: Int, since start: ContinuousClock.Instant) {
        board.send(
            .refresh(
                RefreshEvent(
                    count: count, duration: start.duration(to: Self.now()), contextName: name)))
    }
}

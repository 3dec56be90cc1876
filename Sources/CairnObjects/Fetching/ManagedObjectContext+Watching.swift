// Tells instruments what a context does. Nothing here is called while there are none.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    private static let clock = ContinuousClock()

    static func now() -> ContinuousClock.Instant { clock.now }

    // MARK: Fetching

    /// What a request says.
    func description(of terms: FetchTerms) -> FetchEvent.Request {
        var request = FetchEvent.Request(entity: terms.entityName)
        // What is too deep to be asked is too deep to be told.
        request.predicate = try? terms.predicate?.walkable()
        request.nullSemantics = terms.nullSemantics
        request.sort = terms.sortDescriptors
        request.limit = terms.fetchLimit > 0 ? terms.fetchLimit : nil
        request.offset = max(0, terms.fetchOffset)
        if let rarer = terms.box?.terms {
            request.prefetchedKeyPaths = rarer.relationshipKeyPathsForPrefetching
        }
        return request
    }

    /// What the objects of a fetch come from, if anybody wants advice.
    func origin(of terms: FetchTerms, readsRows: Bool = true) -> FaultOrigin? {
        guard board.wants(.advice) else {
            advisor = nil
            return nil
        }
        return startedAdvisor.origin(of: description(of: terms), readsRows: readsRows)
    }

    private var startedAdvisor: FaultAdvisor {
        if let advisor { return advisor }
        let made = FaultAdvisor()
        advisor = made
        return made
    }

    /// Fetches objects and tells of it.
    @inline(never)
    func watchedFetch<Result: ManagedObject>(_ request: FetchRequest<Result>) throws(StoreError)
        -> [Result]
    {
        let origin = origin(of: request.terms, readsRows: readsRows(request.terms))
        let objects = try watched(.objects, request.terms, count: \.count) {
            () throws(StoreError) in try found(request, origin)
        }
        enter(objects, origin)
        return objects
    }

    /// Notes where objects came from.
    func enter(_ objects: some Sequence<ManagedObject>, _ origin: FaultOrigin?) {
        guard let origin, let advisor else { return }
        for object in objects where !object.isInserted { advisor.enter(object.objectID, origin) }
    }

    /// Runs a request and tells of it.
    @inline(never)
    func watched<R>(
        _ kind: FetchEvent.Kind, _ terms: FetchTerms, count: (R) -> Int,
        _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        // Whoever asks for the plan is to see the state that was asked.
        let snapshot = try? source()
        let start = Self.now()
        do throws(StoreError) {
            let result = try body()
            tell(kind, terms, count(result), since: start, snapshot)
            return result
        } catch {
            tell(kind, terms, 0, since: start, nil, error: error)
            throw error
        }
    }

    /// Tells of a request that was answered.
    func tell(
        _ kind: FetchEvent.Kind, _ terms: FetchTerms, _ count: Int,
        since start: ContinuousClock.Instant, _ snapshot: (any StoreSnapshot)?,
        isAsynchronous: Bool = false, error: StoreError? = nil
    ) {
        let duration = start.duration(to: Self.now())
        guard board.wants(.fetches) else { return }
        var request = description(of: terms)
        if kind == .values, let entity = schema.entity(named: terms.entityName) {
            let rarer = terms.rarer
            request.properties = rarer.properties(of: entity).map(\.name)
            request.groupedBy = rarer.propertiesToGroupBy.map(\.name)
            request.having = try? rarer.havingPredicate?.walkable()
            request.isDistinct = rarer.returnsDistinctResults
        }
        let result: FetchRequestResultType =
            switch kind {
            case .objectIDs: .managedObjectID
            case .count: .count
            case .values: .dictionary
            default: .managedObject
            }
        let question = error == nil ? try? storeQuestion(terms, result) : nil
        let asked = question.flatMap { asked in snapshot.map { (asked: asked, snapshot: $0) } }
        board.send(
            .fetch(
                FetchEvent(
                    kind, request, count: count, duration: duration,
                    isAsynchronous: isAsynchronous, contextName: name, error: error,
                    question: asked)))
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
            let row = try read([id])[0]
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
            let rows = try read(ids)
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

    // MARK: Changing

    /// Saves and tells of it.
    @inline(never)
    func watchedSave() throws {
        let start = Self.now()
        // Hooks may save too.
        let outer = tally
        tally = SaveEvent()
        var failure: (any Error)?
        do { try saveChanges() } catch { failure = error }
        var event = tally ?? SaveEvent()
        tally = outer
        event.error = failure
        // What a policy of one's own was told of is counted; its error may list it again.
        if event.conflicts == 0 {
            event.conflicts = (failure as? StoreError)?.conflicts.count ?? 0
        }
        event.contextName = name
        event.duration = start.duration(to: Self.now())
        let isEmpty =
            event.inserted + event.updated + event.deleted + event.memberChanges == 0
        if failure != nil || !isEmpty { board.send(.save(event)) }
        if let failure { throw failure }
    }

    /// Tells of objects that became faults.
    func tellOfRefresh(_ count: Int, since start: ContinuousClock.Instant) {
        board.send(
            .refresh(
                RefreshEvent(
                    count: count, duration: start.duration(to: Self.now()), contextName: name)))
    }

    /// Carries a batch request out and tells of it.
    @inline(never)
    func watched<R>(
        _ event: BatchEvent, _ body: () throws(StoreError) -> R,
        _ note: (R, inout BatchEvent) -> Void
    ) throws(StoreError) -> R {
        var event = event
        event.contextName = name
        let start = Self.now()
        do throws(StoreError) {
            let result = try body()
            event.duration = start.duration(to: Self.now())
            note(result, &event)
            board.send(.batch(event))
            return result
        } catch {
            event.duration = start.duration(to: Self.now())
            event.error = error
            board.send(.batch(event))
            throw error
        }
    }

    /// The name of the entity whose objects a request deletes.
    func entityName(of target: BatchDeleteRequest.Target) -> String {
        let index =
            switch target {
            case .fetch(let fetch): fetch.entity
            case .ids(_, let entity): entity
            case .objectIDs(let ids): ids.first.flatMap(rootEntity(of:))?.index ?? -1
            case .matching(_, let name): schema.entity(named: name)?.index ?? -1
            }
        return schema.entities.indices.contains(index) ? schema.entities[index].name : ""
    }
}

extension SaveEvent {
    /// What a request writes. A request that is tried again counts once.
    mutating func count(_ request: SaveRequest) {
        inserted = request.inserted.count
        updated = request.updated.count
        deleted = request.deleted.count
        memberChanges = request.pairChanges.count
    }

    /// What new objects became that were written as columns.
    mutating func count(_ objects: Int, _ numbers: NewNumbers) {
        inserted = objects
        absorbed += (0..<objects).count { numbers.isMerged($0) }
    }
}

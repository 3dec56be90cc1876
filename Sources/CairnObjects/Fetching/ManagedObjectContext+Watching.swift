// Tells instruments what a context fetches. Nothing here is called while there are none.

import CairnModel
import CairnStore

extension ManagedObjectContext {
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
}

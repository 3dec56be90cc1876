// Fetching objects, their ids and their number.
//
//   1. Pending deletions are applied.
//   2. The store is asked. If objects of the entity are changed here, its answer is overlaid with them.
//   3. Rows become objects, which are faults that have their rows already.
//   4. What few requests say is done at the end: see ManagedObjectContext+Refetching and Prefetching.

public import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// The objects that match a request, in order.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` naming the key that does not fit, or an error of the store, now or in
    ///   a property read earlier.
    /// - Complexity: that of the store's answer, and O(n log n) in the changed objects of the entity.
    public func fetch<Result: ManagedObject>(
        _ request: FetchRequest<Result>
    ) throws(StoreError) -> [Result] {
        try throwReadError()
        processPendingChanges()
        if board.wants([.fetches, .advice]) { return try watchedFetch(request) }
        // Nobody wants to know any more where objects came from.
        if advisor != nil { advisor = nil }
        return try found(request)
    }

    /// The objects that match. What is read ahead for them is noted as coming from the same fetch.
    @inline(__always)
    func found<Result: ManagedObject>(
        _ request: FetchRequest<Result>, _ origin: FaultOrigin? = nil
    ) throws(StoreError) -> [Result] {
        if let rarer = request.terms.box?.terms { return try objects(request, rarer, origin) }
        return try objects(request)
    }

    /// The objects that match, without regard to what few requests say.
    @inline(__always)
    func objects<Result: ManagedObject>(_ request: FetchRequest<Result>) throws(StoreError)
        -> [Result]
    {
        let terms = request.terms
        if let found = try find(terms) {
            guard case .row(let row) = found else { return [] }
            let object = object(for: row)
            if !terms.returnsObjectsAsFaults { wake(object) }
            return [result(object, of: request)]
        }
        let question = try question(terms)
        let pending = pendingObjects(terms, question)
        guard pending.isEmpty else {
            return objects(try answer(question, pending, includesRows: true), request)
        }
        if !question.isOfOneKey, let rows = try source().rowStream(for: question.fetch) {
            return try streamed(rows, question, request)
        }
        var fetch = question.fetch
        fetch.includesRows = true
        let found = try source().fetch(fetch)
        var objects: [Result] = []
        objects.reserveCapacity(found.rows.count)
        for row in found.rows {
            let object = object(for: row)
            if !terms.returnsObjectsAsFaults { wake(object) }
            objects.append(result(object, of: request))
        }
        return objects
    }

    /// The row that has a key, if that is all that is asked and nothing is changed here.
    private func find(_ terms: FetchTerms) throws(StoreError) -> FoundRow? {
        guard changed.count == 0 || !terms.includesPendingChanges,
            terms.sortDescriptors.isEmpty, terms.fetchLimit >= 0, terms.fetchOffset <= 0,
            case .comparison(let comparison)? = terms.predicate, comparison.operator == .equal,
            case .constant = comparison.right, let entity = knownEntity(named: terms.entityName)
        else { return nil }
        if let keyedSource {
            return try keyedSource.find(
                comparison, entity: entity.index, includesSubentities: terms.includesSubentities)
        }
        guard let coordinator = coordinatedSource, terms.box == nil else { return nil }
        noticeStores(coordinator)
        return coordinator.find(
            comparison, entity: entity, includesSubentities: terms.includesSubentities)
    }

    /// The objects of an answer, changed ones among them.
    func objects<Result: ManagedObject>(
        _ entries: [FetchedEntry], _ request: FetchRequest<Result>
    ) -> [Result] {
        var objects: [Result] = []
        for entry in entries {
            let object = entry.object ?? entry.row.map(object(for:))
            guard let object else { continue }
            if !request.returnsObjectsAsFaults { wake(object) }
            objects.append(result(object, of: request))
        }
        return objects
    }

    /// The objects that match, in order: the rows come one after the other, and only their cells stay.
    private func streamed<Result: ManagedObject>(
        _ rows: any RowStream, _ question: FetchQuestion, _ request: FetchRequest<Result>
    ) throws(StoreError) -> [Result] {
        let objects = try streamed(rows, question)
        if !request.returnsObjectsAsFaults { wakeAll(objects) }
        checkAll(objects, of: request)
        // An array of references is one of references to the class that all of them are of.
        return unsafeBitCast(objects, to: [Result].self)
    }

    /// Apart, since the optimizer of Swift 6.3 fails on it as a part of what calls it.
    @inline(never)
    private func wakeAll(_ objects: [ManagedObject]) {
        for object in objects { wake(object) }
    }

    /// The same as objects of any class: generic code would look the class of the array up for each of them.
    @inline(never)
    private func streamed(_ rows: any RowStream, _ question: FetchQuestion) throws(StoreError)
        -> [ManagedObject]
    {
        var objects: [ManagedObject] = []
        guard question.isWhole else {
            try rows.streamRowsInOrder(question.fetch) { appendObjects(for: $0, to: &objects) }
            return objects
        }
        // How many there are of an entity is known; how many match is not.
        if question.fetch.predicate == nil {
            objects.reserveCapacity(try rows.count(question.fetch))
        }
        var last: UInt64 = 0
        var isInOrder = true
        try rows.streamRows(question.fetch) { rows in
            for row in 0..<rows.count {
                if rows.references[row] < last { isInOrder = false }
                last = rows.references[row]
            }
            appendObjects(for: rows, to: &objects)
        }
        if !isInOrder { objects.sort { $0.reference < $1.reference } }
        return objects
    }

    /// An object as one of the class that was asked for.
    @inline(__always)
    func result<Result: ManagedObject>(
        _ object: ManagedObject, of request: FetchRequest<Result>
    ) -> Result {
        check(object, of: request)
        return unsafeDowncast(object, to: Result.self)
    }

    /// Stops if one of the objects is not of the class that was asked for.
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    private func checkAll<Result: ManagedObject>(
        _ objects: [ManagedObject], of request: FetchRequest<Result>
    ) {
        if Result.self == ManagedObject.self { return }
        for object in objects { check(object, of: request) }
    }

    /// Stops if an object is not of the class that was asked for.
    @inline(__always)
    private func check<Result: ManagedObject>(
        _ object: ManagedObject, of request: FetchRequest<Result>
    ) {
        if type(of: object) == Result.self || Result.self == ManagedObject.self || object is Result
        {
            return
        }
        preconditionFailure(
            "objects of \(request.entityName) were requested as \(Result.self), but have the class \(type(of: object))"
        )
    }

    /// The ids of the objects that match a request, in order; of new objects the temporary ones.
    ///
    /// - Throws: As ``fetch(_:)->[Result]``.
    public func fetchObjectIDs<Result>(_ request: FetchRequest<Result>) throws(StoreError)
        -> [ObjectID]
    {
        try throwReadError()
        processPendingChanges()
        let terms = request.terms
        if board.wants(.fetches) {
            return try watched(.objectIDs, terms, count: \.count) { () throws(StoreError) in
                try ids(terms)
            }
        }
        return try ids(terms)
    }

    private func ids(_ terms: FetchTerms) throws(StoreError) -> [ObjectID] {
        try terms.box?.terms.checkForObjects(terms.entityName, in: schema)
        let question = try question(terms)
        let pending = pendingObjects(terms, question)
        if pending.isEmpty { return try source().fetch(question.fetch).ids }
        return try answer(question, pending, includesRows: false).map(\.id)
    }

    /// The number of objects, or rows of values, that a fetch would return. Limit and offset apply.
    ///
    /// - Throws: As ``fetch(_:)->[Result]``.
    public func count<Result>(for request: FetchRequest<Result>) throws(StoreError) -> Int {
        try throwReadError()
        processPendingChanges()
        if request.resultType == .dictionary { return try rows(request.terms).count }
        let terms = request.terms
        if board.wants(.fetches) {
            return try watched(.count, terms, count: { $0 }) { () throws(StoreError) in
                try count(terms)
            }
        }
        return try count(terms)
    }

    private func count(_ terms: FetchTerms) throws(StoreError) -> Int {
        try terms.box?.terms.checkForObjects(terms.entityName, in: schema)
        let question = try question(terms)
        let pending = pendingObjects(terms, question)
        if pending.isEmpty { return try source().count(question.fetch) }
        return try answer(question, pending, includesRows: false).count
    }
}

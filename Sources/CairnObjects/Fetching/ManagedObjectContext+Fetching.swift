// Fetching: what is stored, overlaid with what is changed here.
//
//   1. Pending deletions are applied.
//   2. The store is asked. If objects of the entity are changed here, it is asked for as many more as there
//      are changed ones, since each of these can fall out of the answer.
//   3. Changed objects are taken out of the answer; those that match as they are now are put in, in order.
//   4. Offset and limit are applied last.

public import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// The objects that match a request, in order.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` naming the key that does not fit, or what went wrong in the
    ///   store, now or in a property that was read before.
    /// - Complexity: that of the store's answer, and O(n log n) in the changed objects of the entity.
    public func fetch<Result>(_ request: FetchRequest<Result>) throws(StoreError) -> [Result] {
        try throwReadError()
        processPendingChanges()
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
            return try overlaid(question, pending, request)
        }
        if question.isWhole, let rows = try store.snapshot() as? any RowStream {
            return try streamed(rows, question, request)
        }
        var fetch = question.fetch
        fetch.includesRows = true
        let found = try store.snapshot().fetch(fetch)
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
        guard changed.count == 0 || !terms.includesPendingChanges, let keyedStore,
            terms.sortDescriptors.isEmpty, terms.fetchLimit >= 0, terms.fetchOffset <= 0,
            case .comparison(let comparison)? = terms.predicate, comparison.operator == .equal,
            case .constant = comparison.right, let entity = knownEntity(named: terms.entityName)
        else { return nil }
        return try keyedStore.find(
            comparison, entity: entity.index, includesSubentities: terms.includesSubentities)
    }

    /// The objects that match, changed ones among them.
    private func overlaid<Result>(
        _ question: Question, _ pending: [ManagedObject], _ request: FetchRequest<Result>
    ) throws(StoreError) -> [Result] {
        var objects: [Result] = []
        for entry in try answer(question, pending, includesRows: true) {
            let object = entry.object ?? entry.row.map(object(for:))
            guard let object else { continue }
            if !request.returnsObjectsAsFaults { wake(object) }
            objects.append(result(object, of: request))
        }
        return objects
    }

    /// The objects that match, by id: the rows come one after the other, and only their cells stay.
    private func streamed<Result>(
        _ rows: any RowStream, _ question: Question, _ request: FetchRequest<Result>
    ) throws(StoreError) -> [Result] {
        let objects = try streamed(rows, question)
        if !request.returnsObjectsAsFaults { for object in objects { wake(object) } }
        for object in objects { check(object, of: request) }
        // An array of references is one of references to the class that all of them are of.
        return unsafeBitCast(objects, to: [Result].self)
    }

    /// The same as objects of any class: generic code would look the class of the array up for each of them.
    private func streamed(_ rows: any RowStream, _ question: Question) throws(StoreError)
        -> [ManagedObject]
    {
        var objects: [ManagedObject] = []
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
    private func result<Result>(_ object: ManagedObject, of request: FetchRequest<Result>) -> Result
    {
        check(object, of: request)
        return unsafeDowncast(object, to: Result.self)
    }

    /// Stops if an object is not of the class that was asked for.
    @inline(__always)
    private func check<Result>(_ object: ManagedObject, of request: FetchRequest<Result>) {
        if type(of: object) == Result.self || Result.self == ManagedObject.self || object is Result
        {
            return
        }
        preconditionFailure(
            "objects of \(request.entityName) are asked for as \(Result.self), but are \(type(of: object))"
        )
    }

    /// The ids of the objects that match a request, in order; of new objects the temporary ones.
    ///
    /// - Throws: As ``fetch(_:)``.
    public func fetchObjectIDs<Result>(_ request: FetchRequest<Result>) throws(StoreError)
        -> [ObjectID]
    {
        try throwReadError()
        processPendingChanges()
        let question = try question(request.terms)
        let pending = pendingObjects(request.terms, question)
        if pending.isEmpty { return try store.snapshot().fetch(question.fetch).ids }
        return try answer(question, pending, includesRows: false).map(\.id)
    }

    /// How many objects a fetch would give, limit and offset respected.
    ///
    /// - Throws: As ``fetch(_:)``.
    public func count<Result>(for request: FetchRequest<Result>) throws(StoreError) -> Int {
        try throwReadError()
        processPendingChanges()
        let question = try question(request.terms)
        let pending = pendingObjects(request.terms, question)
        if pending.isEmpty { return try store.snapshot().count(question.fetch) }
        return try answer(question, pending, includesRows: false).count
    }

    /// A request as a store understands it.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the key that does not fit.
    public func storeFetch<Result>(_ request: FetchRequest<Result>) throws(StoreError) -> StoreFetch
    {
        try question(request.terms).fetch
    }

    // MARK: Steps

    private struct Question {
        var fetch: StoreFetch
        let entity: SchemaEntity
        let evaluator: PredicateEvaluator?
        let sort: [(column: Int, isAscending: Bool)]

        /// Whether all that matches is asked for, in the order of the ids.
        var isWhole: Bool {
            fetch.sort.isEmpty && fetch.limit == nil && fetch.offset == 0 && !isOfOneKey
        }

        /// Whether the condition is that one property equals one value: a store may have an index for it.
        private var isOfOneKey: Bool {
            if case .comparison(let comparison)? = fetch.predicate, comparison.operator == .equal {
                return true
            }
            return false
        }
    }

    private struct Entry {
        let id: ObjectID
        var object: ManagedObject?
        var row: Row?
        var keys: [Value] = []
    }

    private func question(_ request: FetchTerms) throws(StoreError) -> Question {
        guard let entity = knownEntity(named: request.entityName) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: request.entityName))
        }
        var evaluator: PredicateEvaluator?
        if let predicate = request.predicate {
            evaluator = try PredicateEvaluator(predicate, entity: entity, in: schema)
        }
        var fetch = StoreFetch(entity: entity.index, predicate: evaluator?.predicate)
        fetch.includesSubentities = request.includesSubentities
        fetch.sort = request.sortDescriptors
        fetch.limit = request.fetchLimit > 0 ? request.fetchLimit : nil
        fetch.offset = max(0, request.fetchOffset)
        var sort: [(column: Int, isAscending: Bool)] = []
        for key in request.sortDescriptors {
            guard let column = entity.columnIndex(named: key.key) else {
                throw StoreError(
                    .invalidRequest, "the entity has no stored property of this name to sort by",
                    context: .init(entity: entity.name, key: key.key))
            }
            sort.append((column, key.isAscending))
        }
        return Question(fetch: fetch, entity: entity, evaluator: evaluator, sort: sort)
    }

    /// The changed objects that the request is about, if it looks at changes.
    private func pendingObjects(_ request: FetchTerms, _ question: Question)
        -> [ManagedObject]
    {
        guard request.includesPendingChanges, changed.count > 0 else { return [] }
        return changed.inOrder {
            request.includesSubentities
                ? $0.entity.isKind(of: question.entity) : $0.entity === question.entity
        }
    }

    private func answer(
        _ question: Question, _ pending: [ManagedObject], includesRows: Bool
    ) throws(StoreError) -> [Entry] {
        var question = question
        let (offset, limit) = (question.fetch.offset, question.fetch.limit)
        let stored = pending.count { !$0.isInserted }
        question.fetch.offset = 0
        // The greatest number there is means all, and has no room for more.
        question.fetch.limit = limit.map {
            $0 > Int.max - offset - stored ? .max : $0 + offset + stored
        }
        question.fetch.includesRows = includesRows || !question.sort.isEmpty
        let found = try store.snapshot().fetch(question.fetch)
        var entries: [Entry] = []
        entries.reserveCapacity(found.ids.count)
        for (index, id) in found.ids.enumerated() {
            entries.append(
                Entry(id: id, row: question.fetch.includesRows ? found.rows[index] : nil))
        }
        entries = overlay(entries, pending, question)
        let rest = entries.dropFirst(offset)
        return Array(limit.map { rest.prefix($0) } ?? rest)
    }

    private func overlay(_ entries: [Entry], _ pending: [ManagedObject], _ question: Question)
        -> [Entry]
    {
        let ids = Set(pending.map(\.objectID))
        var kept = entries.filter { !ids.contains($0.id) }
        for index in kept.indices {
            guard let row = kept[index].row else { continue }
            let entity = schema.entities[row.entity]
            kept[index].keys = question.sort.map {
                row.cells.value($0.column, of: entity, in: identity)
            }
        }
        var own: [Entry] = []
        for object in pending where !object.isDeleted {
            let matches = question.evaluator?.matches(object) ?? true
            if matches && !object.isGone {
                own.append(
                    Entry(
                        id: object.objectID, object: object,
                        keys: question.sort.map { object.columnValue($0.column) }))
            }
        }
        func precedes(_ left: Entry, _ right: Entry) -> Bool {
            for (index, key) in question.sort.enumerated() {
                let order = SortingOrder.compare(left.keys[index], right.keys[index])
                if order != 0 { return (order < 0) == key.isAscending }
            }
            return SortingOrder.compare(left.id, right.id) < 0
        }
        own.sort(by: precedes)
        // Both are in order: one pass puts them together.
        var merged: [Entry] = []
        merged.reserveCapacity(kept.count + own.count)
        var next = own.startIndex
        for entry in kept {
            while next < own.endIndex, precedes(own[next], entry) {
                merged.append(own[next])
                next += 1
            }
            merged.append(entry)
        }
        merged.append(contentsOf: own[next...])
        return merged
    }
}

// Objects that are read some at a time.
//
// Threads: the context's.

public import CairnModel
public import CairnStore

/// The objects of a fetch with known ids, whose rows are read ``FetchRequest/fetchBatchSize`` at a time, when the first
/// of them is accessed.
///
/// The objects and their order are fixed: later changes neither add nor remove any. An object that has been deleted
/// since is a fault without a row.
///
/// The collection retains the objects of the last two batches accessed, and new objects; others live as long as they
/// are referenced, and are read again when they are accessed again. Read errors are thrown by the context's next fetch
/// or save, as with any fault.
public struct LazyFetchResults<Result: ManagedObject>: RandomAccessCollection {
    private let batches: Batches

    init(_ batches: Batches) { self.batches = batches }

    /// The index of the first object.
    public var startIndex: Int { 0 }
    /// The index after the last object.
    public var endIndex: Int { batches.ids.count }
    /// The ids of the objects at the time of the fetch.
    public var objectIDs: [ObjectID] { batches.ids }

    /// An object; reads the rows of its batch if need be.
    ///
    /// - Complexity: O(1), and one reading of the store for each batch.
    public subscript(position: Int) -> Result { batches.object(position) }

    final class Batches {
        let fetched: FetchedBatches
        private let context: ManagedObjectContext
        private let request: FetchRequest<Result>
        /// The batches that were asked for last, the newest first.
        private var latest: [(number: Int, objects: [Result])] = []

        init(
            _ fetched: FetchedBatches, _ context: ManagedObjectContext,
            _ request: FetchRequest<Result>
        ) {
            self.fetched = fetched
            self.context = context
            self.request = request
        }

        var ids: [ObjectID] { fetched.ids }

        func object(_ position: Int) -> Result {
            precondition(ids.indices.contains(position), "the fetch has no object \(position)")
            let (number, place) = position.quotientAndRemainder(dividingBy: fetched.size)
            if let first = latest.first, first.number == number, isThere(first.objects[place]) {
                return first.objects[place]
            }
            // A reset puts all objects out of the context, which has to read them again.
            latest.removeAll { !isThere($0.objects[0]) }
            if let index = latest.firstIndex(where: { $0.number == number }) {
                latest.swapAt(0, index)
            } else {
                let objects = context.read(number, of: fetched)
                latest.insert((number, objects.map { context.result($0, of: request) }), at: 0)
                if latest.count > 2 { latest.removeLast() }
            }
            return latest[0].objects[place]
        }

        @inline(__always) private func isThere(_ object: Result) -> Bool {
            object.managedObjectContext != nil || object.isDeleted
        }
    }
}

extension ManagedObjectContext {
    /// The objects that match a request, as a collection that reads rows when they are needed.
    ///
    /// ```swift
    /// var request = FetchRequest<Product>(sortBy: [SortKey("name")])
    /// request.fetchBatchSize = 100
    /// for product in try context.fetchLazily(request) { … }   // one read for each hundred
    /// ```
    ///
    /// - Throws: As ``fetch(_:)->[Result]``.
    /// - Complexity: that of ``fetchObjectIDs(_:)``; then one read of the store for each batch that is accessed.
    public func fetchLazily<Result: ManagedObject>(_ request: FetchRequest<Result>)
        throws(StoreError) -> LazyFetchResults<Result>
    {
        try throwReadError()
        processPendingChanges()
        let terms = request.terms
        let paths = try prefetchPaths(terms.rarer.relationshipKeyPathsForPrefetching, terms)
        let entries: [(id: ObjectID, object: ManagedObject?)]
        if board.wants(.fetches) {
            entries = try watched(.objectIDs, terms, count: \.count) { () throws(StoreError) in
                try lazyEntries(terms)
            }
        } else {
            entries = try lazyEntries(terms)
        }
        let batches = FetchedBatches(
            entries, terms, try entity(of: terms), paths, origin(of: terms))
        return LazyFetchResults(.init(batches, self, request))
    }

    /// The ids of the objects that match, in order, and the objects of those that have changes here.
    func lazyEntries(_ terms: FetchTerms) throws(StoreError)
        -> [(id: ObjectID, object: ManagedObject?)]
    {
        try terms.box?.terms.checkForObjects(terms.entityName, in: schema)
        let question = try question(terms)
        let pending = pendingObjects(terms, question)
        let entries: [(id: ObjectID, object: ManagedObject?)] =
            pending.isEmpty
            ? try source().fetch(question.fetch).ids.map { ($0, nil) }
            : try answer(question, pending, includesRows: false).map { ($0.id, $0.object) }
        guard parent != nil else { return entries }
        // New objects of a parent may get other ids too.
        return entries.map {
            (
                $0.id,
                $0.object ?? ($0.id.isTemporary ? object(with: $0.id, under: question.entity) : nil)
            )
        }
    }

    /// The objects of stored ids, in order; the rows of those that are not known are read at once. One whose row is gone is
    /// a fault of the entity that was asked for.
    ///
    /// - Parameter refreshes: whether those that are known get what is stored of them now.
    func objects(
        reading ids: [ObjectID], under entity: SchemaEntity, wakes: Bool, refreshes: Bool = false
    ) -> [ManagedObject] {
        let unread =
            refreshes
            ? ids
            : ids.filter { id in
                registry.object(for: id).map { $0.isFault && !$0.hasCells } ?? true
            }
        var made: [ManagedObject] = []
        if !unread.isEmpty {
            let start = board.wants(.fetches) ? Self.now() : nil
            do throws(StoreError) {
                for (id, row) in zip(unread, try read(unread)) {
                    let known = refreshes ? registry.object(for: id) : nil
                    guard let row else {
                        // It is gone: whoever looks at it next finds that out.
                        if let known, !known.hasChanges { refresh(known, mergeChanges: false) }
                        continue
                    }
                    if let known { refresh(known, row) }
                    made.append(object(for: row))
                }
                if let start { tell(.batch, entity, made.count, since: start) }
            } catch {
                readError = error
                if let start { tell(.batch, entity, 0, since: start, error: error) }
            }
        }
        let objects = withExtendedLifetime(made) { self.objects(with: ids, under: entity) }
        if wakes { for object in objects { wake(object) } }
        return objects
    }
}

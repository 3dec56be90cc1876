// Objects of a fetch whose rows are read some at a time: what a lazy fetch and a fetch with a batch size have in common.
//
//   1. Which objects match, and their order, is decided once: their ids are kept.
//   2. The rows of a batch are read with one question, and what is to be read ahead for them.
//   3. A lazy fetch makes the objects of a batch when one of them is asked for. A plain fetch makes all of them at once, as
//      faults; the first of a batch that is touched has the rows of all read.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// The batches of a fetch.
final class FetchedBatches: BatchedFetch {
    let ids: [ObjectID]
    /// How many objects a batch has, but for the last.
    let size: Int
    fileprivate let terms: FetchTerms
    fileprivate let entity: SchemaEntity
    fileprivate let paths: [ManagedObjectContext.PrefetchPath]
    fileprivate let origin: FaultOrigin?
    /// New objects may get other ids: a lazy fetch keeps them by their places. A plain one keeps none.
    fileprivate var own: [Int: ManagedObject]
    /// The places of objects that have changes here, and are not read.
    fileprivate let ownPlaces: Set<Int>
    /// The batches that have not been read.
    fileprivate var unread: Set<Int>
    /// The places of the ids, made when they are first needed.
    private lazy var places = Dictionary(
        zip(ids, 0...), uniquingKeysWith: { first, _ in first })

    init(
        _ entries: [(id: ObjectID, object: ManagedObject?)], _ terms: FetchTerms,
        _ entity: SchemaEntity, _ paths: [ManagedObjectContext.PrefetchPath],
        _ origin: FaultOrigin?
    ) {
        ids = entries.map(\.id)
        let size = terms.rarer.fetchBatchSize
        self.size = size > 0 ? size : max(1, ids.count)
        self.terms = terms
        self.entity = entity
        self.paths = paths
        self.origin = origin
        var own: [Int: ManagedObject] = [:]
        for (place, entry) in entries.enumerated() {
            if let object = entry.object { own[place] = object }
        }
        self.own = own
        ownPlaces = Set(own.keys)
        unread = ids.isEmpty ? [] : Set(1..<max(1, (ids.count - 1) / self.size + 1))
    }

    var isRead: Bool { unread.isEmpty }

    func readBatch(of id: ObjectID, in context: ManagedObjectContext) -> Bool {
        guard let place = places[id] else { return false }
        let number = place / size
        _ = context.read(number, of: self)
        unread.remove(number)
        return true
    }
}

extension ManagedObjectContext {
    /// So many fetches are known whose objects are read in batches: those of older ones are read one by one.
    private static let mostBatched = 4
    /// So many rows are read at once to find the entities of objects.
    private static let mostRowsAhead = 1024

    /// Reads a batch, and ahead for it; its objects, in order.
    func read(_ number: Int, of batches: FetchedBatches) -> [ManagedObject] {
        let range =
            (number * batches.size)..<min(batches.ids.count, (number + 1) * batches.size)
        let stored = range.filter { !batches.ownPlaces.contains($0) }
        let refreshes = batches.terms.box?.terms.shouldRefreshRefetchedObjects ?? false
        let objects = objects(
            reading: stored.map { batches.ids[$0] }, under: batches.entity,
            wakes: !batches.terms.returnsObjectsAsFaults, refreshes: refreshes)
        if refreshes { refresh(batches.own.filter { range.contains($0.key) }.map(\.value)) }
        if !batches.paths.isEmpty {
            do throws(StoreError) {
                try prefetch(batches.paths, of: objects, batches.terms, batches.origin)
            } catch {
                readError = error
            }
        }
        enter(objects, batches.origin)
        let byPlace = Dictionary(uniqueKeysWithValues: zip(stored, objects))
        return range.compactMap { batches.own[$0] ?? byPlace[$0] }
    }

    /// Whether the rows of the objects that match are read in batches. Where objects that are known get what is stored now, all
    /// are read.
    func isBatched(_ terms: FetchTerms) -> Bool {
        guard let rarer = terms.box?.terms, rarer.fetchBatchSize > 0, rarer.includesPropertyValues,
            !rarer.shouldRefreshRefetchedObjects
        else { return false }
        return terms.fetchLimit <= 0 || terms.fetchLimit > rarer.fetchBatchSize
    }

    /// The objects of what was found, all as faults; the rows of the first batch are read, those of another when one of its
    /// objects is touched.
    func batched<Result: ManagedObject>(
        _ entries: [(id: ObjectID, object: ManagedObject?)], _ request: FetchRequest<Result>,
        _ paths: [PrefetchPath], _ origin: FaultOrigin?
    ) throws(StoreError) -> [Result] {
        let terms = request.terms
        let batches = FetchedBatches(entries, terms, try entity(of: terms), paths, origin)
        if batches.ids.isEmpty { return [] }
        let first = read(0, of: batches)
        try throwReadError()
        let rest = try withExtendedLifetime(first) { () throws(StoreError) in
            try faults(behind: first.count, of: batches)
        }
        let objects = first + rest
        for object in rest where object.isFault && !object.hasCells {
            object.flags.formUnion(.batched)
        }
        if !rest.isEmpty {
            batches.own = [:]
            batchedFetches.append(batches)
            if batchedFetches.count > Self.mostBatched { batchedFetches.removeFirst() }
        }
        return objects.map { result($0, of: request) }
    }

    /// The objects behind the first batch. Of what entity each is only its row tells if there are several: then all rows are
    /// read, but none is kept.
    private func faults(behind count: Int, of batches: FetchedBatches) throws(StoreError)
        -> [ManagedObject]
    {
        let isOfOne =
            !batches.terms.includesSubentities
            || schema.entities[batches.entity.root].family.count == 1
        var objects: [ManagedObject] = []
        objects.reserveCapacity(batches.ids.count - count)
        var rows: [ObjectID: Row] = [:]
        for place in count..<batches.ids.count {
            if let own = batches.own[place] {
                objects.append(own)
                continue
            }
            let id = batches.ids[place]
            objects.append(
                isOfOne
                    ? faults(with: [id], of: batches.entity)[0]
                    : try unread(id, at: place, of: batches, &rows))
            // The store has found it.
            if let last = objects.last, last.isGone { last.revive() }
        }
        return objects
    }

    /// The object of an id, of the entity that its row says; the rows of the next ones are read along with it.
    private func unread(
        _ id: ObjectID, at place: Int, of batches: FetchedBatches, _ rows: inout [ObjectID: Row]
    ) throws(StoreError) -> ManagedObject {
        if let known = registry.object(for: id) { return known }
        if rows[id] == nil {
            let next = batches.ids[place..<min(batches.ids.count, place + Self.mostRowsAhead)]
            rows = [:]
            for row in try read(next.filter { !$0.isTemporary || parent != nil }) {
                if let row { rows[row.id] = row }
            }
        }
        guard let row = rows[id] else { return faults(with: [id], of: batches.entity)[0] }
        let object = object(for: row)
        object.forgetRow()
        return object
    }
}

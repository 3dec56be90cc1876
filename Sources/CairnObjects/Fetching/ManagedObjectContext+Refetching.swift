// Fetching objects in the ways that few requests ask for.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// The objects that match, read as the rarer parts of the request say.
    func objects<Result: ManagedObject>(
        _ request: FetchRequest<Result>, _ rarer: RarerFetchTerms, _ origin: FaultOrigin? = nil
    ) throws(StoreError) -> [Result] {
        try rarer.checkForObjects(request.entityName, in: schema)
        let paths = try prefetchPaths(rarer.relationshipKeyPathsForPrefetching, request.terms)
        let objects: [Result]
        if rarer.shouldRefreshRefetchedObjects {
            objects = try refreshed(request)
        } else if isBatched(request.terms) {
            // Each batch reads ahead for itself.
            return try batched(try lazyEntries(request.terms), request, paths, origin)
        } else if readsRows(request.terms) {
            objects = try self.objects(request)
        } else {
            objects = try faults(request)
        }
        if !paths.isEmpty { try prefetch(paths, of: objects, request.terms, origin) }
        return objects
    }

    /// Whether rows are read for a request for objects: if their values are wanted, or if only a row can tell which class an
    /// object is of. What was found in one state is not looked for in another, where it may be gone.
    func readsRows(_ terms: FetchTerms) -> Bool {
        guard let rarer = terms.box?.terms, !rarer.includesPropertyValues,
            !rarer.shouldRefreshRefetchedObjects
        else { return true }
        guard terms.includesSubentities, let entity = knownEntity(named: terms.entityName) else {
            return false
        }
        return entity.family.count > 1
    }

    /// The objects that match, all of one entity; of those that are not known nothing is read but the ids.
    private func faults<Result: ManagedObject>(_ request: FetchRequest<Result>) throws(StoreError)
        -> [Result]
    {
        let question = try question(request.terms)
        let pending = pendingObjects(request.terms, question)
        let ids =
            pending.isEmpty
            ? try source().fetch(question.fetch).ids
            : try answer(question, pending, includesRows: false).map(\.id)
        return faults(with: ids, of: question.entity).map { result($0, of: request) }
    }

    /// The objects that match, with what is stored of them now.
    private func refreshed<Result: ManagedObject>(_ request: FetchRequest<Result>)
        throws(StoreError) -> [Result]
    {
        let question = try question(request.terms)
        let pending = pendingObjects(request.terms, question)
        let entries = try answer(question, pending, includesRows: true)
        try refresh(entries)
        return objects(entries, request)
    }

    /// Gives the objects of an answer that are known what is stored of them now.
    func refresh(_ entries: [FetchedEntry]) throws(StoreError) {
        let changed = entries.compactMap { entry in
            entry.object.flatMap { $0.isInserted || $0.isGone ? nil : $0 }
        }
        let newest = changed.isEmpty ? [] : try read(changed.map(\.objectID))
        for (object, row) in zip(changed, newest) { if let row { refresh(object, row) } }
        for entry in entries {
            guard let row = entry.row, let object = registry.object(for: entry.id) else { continue }
            refresh(object, row)
        }
    }

    /// Gives changed objects what is stored of them now; what cannot be thrown is kept for the next fetch or save.
    func refresh(_ objects: [ManagedObject]) {
        do throws(StoreError) {
            try refresh(objects.map { FetchedEntry(id: $0.objectID, object: $0) })
        } catch {
            readError = error
        }
    }

    /// Gives an object what is stored now; its changes stay.
    func refresh(_ object: ManagedObject, _ row: Row) {
        // It was taken for an object of another entity, and dropped.
        guard object.managedObjectContext === self else { return }
        // What a parent has not saved has no version; what it has saved since it was read here has a newer one than its values.
        let isOther =
            object.version != row.version || row.version == 0
            || object.flags.contains(.hasOlderCells)
        object.flags.subtract(.hasOlderCells)
        if isOther { noteRefreshed(object) }
        if object.isFault {
            object.take(row)
        } else if object.hasChanges || object.hasEdits {
            object.rebase(on: row)
        } else if isOther {
            object.turnIntoFault(resetsTransients: false)
            object.take(row)
            wake(object)
        }
        // Members may be others though the row is the same.
        object.unloadMembers()
        revision += 1
    }
}

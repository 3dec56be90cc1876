// How a context finds and fills its objects.

public import CairnModel
public import CairnStore

extension ManagedObjectContext {
    // MARK: Objects by id

    /// The object with an id if it is in the context and still referenced. Reads nothing.
    public func registeredObject(for id: ObjectID) -> ManagedObject? { registry.object(for: id) }

    /// The object with an id, or its survivor if it was merged into another one, for example by a ``DeduplicationRequest``.
    /// The object need not exist: that shows when it is accessed.
    ///
    /// This also applies to an id of a store that the context does not have, or no longer has, and to the id of another
    /// context's new object: the object is a fault, and found to be deleted when it is accessed. ``existingObject(with:)``
    /// throws for all of these.
    ///
    /// Reads nothing, unless the id's hierarchy has several entities and the object is not in the context: then the row is
    /// read to determine the entity.
    public func object(with id: ObjectID) -> ManagedObject {
        guard let root = rootEntity(of: id) else { return foreignObject(with: id) }
        // What cannot be read shows when the object is touched.
        if !id.isTemporary, mayRedirect,
            registry.object(for: id).map({ isLost($0) || $0.isFault && !$0.hasEdits }) ?? true,
            let other = try? redirectedObjectID(for: id)
        {
            return object(with: other, under: root)
        }
        return object(with: id, under: root)
    }

    /// The object of an id with its values, never a fault. If it was folded into another one, as a ``DeduplicationRequest`` and
    /// merge policies do it, that one.
    ///
    /// - Throws: `StoreError` with `.objectNotFound` if the store has no such object.
    public func existingObject(with id: ObjectID) throws(StoreError) -> ManagedObject {
        guard rootEntity(of: id) != nil,
            !id.isTemporary || parent != nil || registry.object(for: id) != nil
        else {
            throw notFound(id)
        }
        if let known = registry.object(for: id), !known.isFault, !known.isGone {
            guard known.isDisplaced, let other = try redirectedObjectID(for: id) else {
                return known
            }
            return try existingObject(with: other)
        }
        guard let entity = rootEntity(of: id), let row = try row(of: id, entity) else {
            if let other = try redirectedObjectID(for: id) {
                return try existingObject(with: other)
            }
            throw notFound(id)
        }
        let object = object(for: row)
        fill(object, row)
        return object
    }

    /// The entity of the object with an id: from the context, or from its row, which is read. If the root entity of the
    /// id's hierarchy has no descendants, it is that entity, whether the object exists or not, and nothing is read.
    ///
    /// - Returns: Nil if the store has no such object, or the id belongs to another store.
    /// - Throws: `StoreError`: the errors of reading the row.
    public func entity(of id: ObjectID) throws(StoreError) -> SchemaEntity? {
        if let known = registry.object(for: id), !known.isFault {
            return known.isGone ? nil : known.entity
        }
        if id.isTemporary {
            guard let parent else { return registry.object(for: id)?.entity }
            return try parent.entity(of: id)
        }
        guard let root = rootEntity(of: id) else { return nil }
        if root.family.count == 1 { return root }
        return try row(of: id, root).map { schema.entities[$0.entity] }
    }

    func notFound(_ id: ObjectID) -> StoreError {
        StoreError(
            .objectNotFound, "the store has no object with this id", context: .init(objectID: id))
    }

    /// The object of an id of one hierarchy; a fault where it is not known yet.
    func object(with id: ObjectID, under root: SchemaEntity) -> ManagedObject {
        guard schema.entities[root.root].family.count > 1 else {
            return registry.object(for: id) ?? makeFault(id, root)
        }
        return objects(with: [id], under: root)[0]
    }

    /// The objects of ids of one hierarchy, in order; faults where they are not known yet.
    ///
    /// - Parameter root: what all of them are, or inherit from. Those whose rows cannot be read are taken for just that.
    func objects(with ids: [ObjectID], under root: SchemaEntity) -> [ManagedObject] {
        guard schema.entities[root.root].family.count > 1 else {
            return ids.map { registry.object(for: $0) ?? makeFault($0, root) }
        }
        // Which entity an object is of only its row can tell.
        let known = ids.map { registry.object(for: $0) }
        let unknown = ids.indices.filter {
            known[$0] == nil && prefetched?.rows[ids[$0]] == nil
        }
        var rows: [ObjectID: Row] = [:]
        if !unknown.isEmpty {
            do {
                let unknown = unknown.map { ids[$0] }
                for row in board.wants([.faultMisses, .advice])
                    ? try watchedRows(unknown, root) : try read(unknown, under: root)
                {
                    if let row { rows[row.id] = row }
                }
            } catch {
                readError = error
            }
        }
        return ids.indices.map { index in
            if let object = known[index] { return object }
            if let row = rows[ids[index]] { return object(for: row) }
            if let object = registry.object(for: ids[index]) { return object }
            hasUnresolvedFaults = true
            return makeFault(ids[index], root)
        }
    }

    /// Drops the faults that were taken for objects of another entity than their rows are of.
    func dropUnresolvedFaults(_ rows: [Row?]) {
        guard hasUnresolvedFaults else { return }
        // A parent's new objects have numbers of their own.
        for case let row? in rows where !row.id.isTemporary {
            dropUnresolvedFault(registry.number(of: row.id), row.entity)
        }
    }

    @inline(never)
    private func dropUnresolvedFaults(_ rows: StreamedRows) {
        for index in 0..<rows.count { dropUnresolvedFault(rows.references[index], rows.entity) }
    }

    /// Lets go of a fault of which nobody could tell what it is, if it turns out to be of another class than it was taken for:
    /// an object cannot become one of another class. Who holds it has an object that is gone.
    @inline(never)
    private func dropUnresolvedFault(_ reference: UInt64, _ entity: Int) {
        guard let place = scope(at: entity).place,
            let known = registry.object(reference, isTemporary: false, at: place),
            known.entity.index != entity, known.isFault || known.isGone
        else { return }
        changed.remove(known)
        known.dropEdits()
        known.forgetRow()
        known.flags.formUnion([.fulfilled, .gone, .deleted])
        detach(known)
    }

    /// The objects of ids of one entity, and none of its descendants, in order; faults where they are not known yet.
    func faults(with ids: [ObjectID], of entity: SchemaEntity) -> [ManagedObject] {
        ids.map { registry.object(for: $0) ?? makeFault($0, entity) }
    }

    /// The object of a row. If it is a fault, it will not need to read.
    func object(for row: Row) -> ManagedObject {
        if hasUnresolvedFaults, !row.id.isTemporary {
            dropUnresolvedFault(registry.number(of: row.id), row.entity)
        }
        let object =
            registry.object(for: row.id) ?? makeFault(row.id, schema.entities[row.entity])
        if object.isGone { object.revive() }
        if object.isFault {
            object.take(row)
            if let parent { showTransientRelationships(of: object, in: parent) }
        }
        return object
    }

    /// The object of a row that was found by its key.
    func object(for row: StreamedRow) -> ManagedObject {
        if hasUnresolvedFaults { dropUnresolvedFault(row.reference, row.entity) }
        let scope = scope(at: row.entity)
        let known = scope.place.flatMap {
            registry.object(row.reference, isTemporary: false, at: $0)
        }
        let object = known ?? makeFault(row.reference, scope)
        object.bring(row.cells, row.version)
        return object
    }

    /// Adds the objects of rows that a snapshot handed over.
    func appendObjects(for rows: StreamedRows, to objects: inout [ManagedObject]) {
        let scope = scope(at: rows.entity)
        guard let place = scope.place else { return }
        if hasUnresolvedFaults { dropUnresolvedFaults(rows) }
        // Mostly that is all of them; else the array grows as arrays do.
        if objects.isEmpty { objects.reserveCapacity(rows.count) }
        registry.objects(rows.references, rows.count, at: place, in: &objects) { index, object in
            object.bring(rows.cells(index), rows.versions[index])
        } new: { index in
            let object = fault(rows.references[index], scope)
            object.cells = rows.cells(index)
            object.version = rows.versions[index]
            return object
        }
    }

    private func makeFault(_ reference: UInt64, _ scope: EntityScope) -> ManagedObject {
        let object = fault(reference, scope)
        registry.register(object)
        return object
    }

    /// A fault that the registry does not know yet.
    func fault(_ reference: UInt64, _ scope: EntityScope) -> ManagedObject {
        let object = scope.makeFault()
        object.reference = reference
        object.enterContext()
        if retained != nil { retained?.insert(object) }
        return object
    }

    private func makeFault(_ id: ObjectID, _ entity: SchemaEntity) -> ManagedObject {
        let row = prefetched?.rows[id]
        let object = fault(
            registry.number(of: id), row.map { scope(at: $0.entity) } ?? scope(of: entity))
        object.hasTemporaryID = id.isTemporary
        registry.register(object)
        if let row { object.take(row) }
        return object
    }

    // MARK: Reading

    func read(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        let rows = try source().rows(ids)
        dropUnresolvedFaults(rows)
        return rows
    }

    /// The row of an object; nil if there is none. Where the newest state is read, a store that finds one row at once is asked
    /// for it without a snapshot.
    ///
    /// - Parameter entity: an entity of the id's hierarchy.
    func read(_ id: ObjectID, _ entity: SchemaEntity) throws(StoreError) -> Row? {
        guard let keyedSource, identity.owns(id, entity: entity.index) else {
            guard let row = coordinatedSource?.row(of: id, entity) else { return try read([id])[0] }
            if let row { dropUnresolvedFaults([row]) }
            return row
        }
        guard let row = try keyedSource.row(id.reference, entity: entity.index) else { return nil }
        if hasUnresolvedFaults { dropUnresolvedFault(row.reference, row.entity) }
        return Row(id: id, entity: row.entity, version: row.version, cells: row.cells)
    }

    /// The rows of objects of one hierarchy, in order.
    func read(_ ids: [ObjectID], under root: SchemaEntity) throws(StoreError) -> [Row?] {
        try ids.count == 1 ? [read(ids[0], root)] : read(ids)
    }

    /// The row of a fault.
    private func row(of id: ObjectID, _ entity: SchemaEntity) throws(StoreError) -> Row? {
        if board.wants([.faultMisses, .advice]) { return try watchedRow(id, entity) }
        return try read(id, entity)
    }

    /// Fires all faults among some objects with few queries, instead of one query each when they are first accessed.
    ///
    /// ```swift
    /// try context.fulfill(products.compactMap(\.maker))
    /// for product in products { print(product.name, product.maker?.name ?? "") }
    /// ```
    ///
    /// Objects that are not faults, and those of other contexts, are skipped.
    ///
    /// - Throws: `StoreError`: what reading throws; `.objectNotFound` for the first object whose row is gone if
    ///   ``shouldDeleteInaccessibleFaults`` is false.
    /// - Complexity: O(n) for n objects, one query per 1,024 faults.
    public func fulfill(_ objects: some Sequence<ManagedObject>) throws(StoreError) {
        var faults: [ManagedObject] = []
        for object in objects where object.managedObjectContext === self && object.isFault {
            if !object.hasCells { faults.append(object) } else { try fulfillOrThrow(object) }
        }
        for start in stride(from: 0, to: faults.count, by: 1024) {
            let some = faults[start..<min(start + 1024, faults.count)]
            let rows = try read(some.map(\.objectID))
            // Whoever awakes may read others.
            for (object, row) in zip(some, rows) where object.isFault {
                if let row {
                    fill(object, row)
                } else if shouldDeleteInaccessibleFaults {
                    vanish(object)
                } else {
                    throw notFound(object.objectID)
                }
            }
        }
    }

    /// Fills a fault; what cannot be thrown is kept for the next fetch or save.
    func fulfill(_ object: ManagedObject, _ trigger: FaultTrigger = .nothing) {
        do { try fulfillOrThrow(object, asking: trigger) } catch {
            readError = error
            // Nothing could ever be saved of it.
            if object.flags.contains(.foreign) { vanish(object) }
        }
    }

    /// Fills a fault.
    ///
    /// - Parameter trigger: what somebody wanted who cannot be thrown to: the program is asked if the row is gone.
    func fulfillOrThrow(_ object: ManagedObject, asking trigger: FaultTrigger? = nil)
        throws(StoreError)
    {
        guard object.isFault else { return }
        if object.flags.contains(.batched) { readBatch(of: object) }
        if object.hasCells {
            wake(object)
            if board.wants(.faultHits) { tellOfHit(object) }
            return
        }
        let row = try row(of: object.objectID, object.entity)
        // Reading has dropped it if its row is of another entity than it was taken for.
        if let row, object.isFault {
            fill(object, row)
        } else if trigger.map({ isHandled(object, $0) }) ?? shouldDeleteInaccessibleFaults {
            vanish(object)
        } else {
            throw notFound(object.objectID)
        }
    }

    /// Whether an object whose row is gone is deleted quietly.
    private func isHandled(_ object: ManagedObject, _ trigger: FaultTrigger) -> Bool {
        shouldHandleInaccessibleFault?(object, trigger.name(of: object))
            ?? shouldDeleteInaccessibleFaults
    }

    /// A fault that has brought its row along is looked at.
    func wake(_ object: ManagedObject) {
        guard object.isFault, object.hasCells else { return }
        if object.slots != nil, let row = object.row { return fill(object, row) }
        object.awake()
    }

    /// Gives a fault its row. A fault has edits if its row could not be read when they were made.
    func fill(_ object: ManagedObject, _ row: Row) {
        guard object.isFault else { return }
        let hadEdits = object.hasEdits
        let edits = hadEdits ? object.columnsWithEdits.map { ($0, object.presentValue($0)) } : []
        object.take(row)
        if let parent { showTransientRelationships(of: object, in: parent) }
        object.isFulfilled = true
        object.isAwakening = true
        object.awakeFromFetch()
        object.isAwakening = false
        if edits.isEmpty { return }
        for (column, value) in edits {
            object.setEdit(column, value)
            object.awakened.remove(column)
        }
        object.rebase(on: row)
    }

    /// The object's row is gone: it counts as deleted, with nothing to save, and all its values are nil.
    func vanish(_ object: ManagedObject) {
        // One that was dropped is gone already.
        guard object.managedObjectContext === self else { return }
        if object.isUpdated { forgetLinks(of: [object.objectID]) }
        lose(object)
    }

    /// The same of many objects, with one look at the others.
    func vanish(_ objects: [ManagedObject]) {
        let updated = objects.filter(\.isUpdated)
        if !updated.isEmpty { forgetLinks(of: Set(updated.map(\.objectID))) }
        for object in objects { lose(object) }
    }

    private func lose(_ object: ManagedObject) {
        if object.isUpdated {
            if object.rarer?.toMany.contains(where: { !$0.value.added.isEmpty }) == true {
                hasLostLinks = true
            }
        }
        noteVanishing(object)
        object.willChangeAll()
        defer { object.didChangeAll() }
        changed.remove(object)
        object.dropEdits()
        object.rarer?.toMany = [:]
        object.letMembersGo()
        object.forgetRow()
        object.isFulfilled = true
        object.isGone = true
        hasGoneObjects = true
        object.isInserted = false
        object.isUpdated = false
        object.isDeleted = true
        revision += 1
    }

    /// What the edits of an object that is gone have said of others is no edit of those any more: should the object come back,
    /// it comes without them. But a member that was added to both sides of a pair is an edit of either, and found again then.
    private func forgetLinks(of gone: Set<ObjectID>) {
        changed.look { other in
            guard let rarer = other.rarer, !rarer.toMany.isEmpty, !gone.contains(other.objectID)
            else { return true }
            for (index, state) in rarer.toMany {
                let relationship = other.entity.relationships[index]
                // Without an inverse it is the other's own edit, and stays.
                guard relationship.inverse != nil else { continue }
                var lost = gone.intersection(state.removed)
                if case .pairs = relationship.storage {
                    lost.subtract(state.added)
                } else {
                    lost.formUnion(gone.intersection(state.added))
                }
                if lost.isEmpty { continue }
                rarer.toMany[index]?.forget(lost)
                rarer.toMany[index]?.unload()
            }
            return true
        }
    }

    /// Throws what a property could not throw.
    func throwReadError() throws(StoreError) {
        guard let error = readError else { return }
        readError = nil
        throw error
    }
}

extension ManagedObject {
    /// Reads the object's values if it is a fault.
    ///
    /// - Throws: `StoreError`: `.objectNotFound` if the row is gone and the context does not delete such objects, or an
    ///   error of the store.
    public final func fulfill() throws(StoreError) {
        try managedObjectContext?.fulfillOrThrow(self)
    }
}

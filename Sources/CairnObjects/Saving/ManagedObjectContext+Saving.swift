// Saving: what is changed here becomes what is stored, or nothing happens.
//
//   1. Those who watch the context are told of what has changed, and that a save begins.
//   2. Rounds of willSave and validation until nothing changes any more, at most 1,000.
//   3. A child context hands all to its parent; see ManagedObjectContext+SavingToParent.
//   4. New objects alone go to a store that takes them as columns, if it does and nothing stands against them.
//   5. Else one request to the store; to several stores one each, see ManagedObjectContext+Stores. A built-in merge policy
//      is carried out by the store, within the save; any other is asked about the conflicts that the store reports, and
//      the save is tried again. So is a built-in one if there is something to be validated in what it puts together that
//      the store does not know of, or if it may take deletions back, with what delete rules have done to others.
//   6. What the store did is done to the objects: ids, rows, absorbed and displaced objects.
//   7. didSave of the objects; then those who watch are told what was saved.
//
// Invariants: whatever is thrown, the context keeps all its changes.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    private static let maximumRounds = 1000
    private static let maximumResolutions = 10

    /// Saves all new, changed and deleted objects atomically. Without changes it only writes pending metadata of stores.
    ///
    /// A child context saves to its ``parent``, which then has the changes, unsaved, and can save them later. This does not
    /// compare anything with the store: conflicts, and the merge policy, only apply to the root context.
    ///
    /// - Throws: `StoreError`: one validation error, or `.multiple` with all; `.mergeConflict` and `.constraintConflict`
    ///   with the conflicts, see ``conflicts(in:)``; an error of the store. Whatever an object's validation or a custom
    ///   merge policy throws. In that case the context keeps its changes.
    public func save() throws {
        if board.wants(.saves) { return try watchedSave() }
        try saveChanges()
    }

    /// Saves without telling of it.
    func saveChanges() throws {
        // A migration does not write to what it comes from.
        if migrationPart == .source { return processPendingChanges() }
        // What others have written is not merged in the middle of it.
        let outer = isSaving
        isSaving = true
        defer {
            isSaving = outer
            if hasMissedChanges { mergeMissedChanges() }
        }
        if let coordinator { noticeStores(coordinator) }
        try throwReadError()
        try readEditedFaults()
        processChangesToSave()
        if !hasChanges, facade == nil { return try writeWaitingMetadata() }
        if isWatched(.beginnings) { tell(.willSave) }
        guard hasChanges else { return try saveNothing() }
        undoHistory?.recording = .afterthoughts
        defer { undoHistory?.recording = .steps }
        try prepareToSave()
        undoHistory?.recording = .nothing
        if let parent { return try saveToParent(parent) }
        if absorbedObjects.isEmpty, lockedObjects.isEmpty, !moves.areThere,
            try saveNewObjects()
        {
            return
        }
        if let coordinator { return try saveChanges(to: coordinator) }
        var resolutions = 0
        while true {
            let request = makeRequest(resolutions)
            guard !request.isEmpty else { return try finishEmptySave() }
            tally?.count(request)
            switch try store.saving(request) {
            case .saved(let result):
                tally?.absorbed += result.absorbed.count
                return finishSave(result)
            case .conflicts(let conflicts):
                tally?.conflicts += conflicts.count
                resolutions += 1
                try resolve(conflicts, attempt: resolutions)
            }
        }
    }

    /// There is nothing to save: who stands for the context, as in Core Data, posts that it was saved all the same.
    private func saveNothing() throws(StoreError) {
        try writeWaitingMetadata()
        postEmptySave()
    }

    /// Asks the policy about conflicts that a store has reported, and validates what has come of it.
    func resolve(_ conflicts: [SaveConflict], attempt: Int) throws {
        let before = revision
        try readingNewestState {
            if attempt <= Self.maximumResolutions {
                try mergePolicy.resolve(mergeConflicts: conflictObjects(conflicts))
            }
            guard revision != before else { throw unresolved(conflicts) }
            processChangesToSave()
        }
        try validateMerged()
    }

    /// There was nothing to write but what is not stored, or what the stores need not write.
    func finishEmptySave() throws(StoreError) {
        // What cannot be written leaves the context as it is.
        try writeWaitingMetadata()
        finishSave(SaveResult())
    }

    /// Whether a class looks at its objects itself that an object of an entity may be merged with: those of all entities that
    /// share a constraint with it.
    func looksAtMerged(_ entity: SchemaEntity) -> Bool {
        if let known = looksAtMerged[entity.index] { return known }
        var entities: Set = [entity.index]
        for constraint in entity.constraints {
            entities.formUnion(schema.entities[constraint.declaringEntity].family)
        }
        let looks = entities.contains { scope(of: schema.entities[$0]).rules.looksAtMerged }
        looksAtMerged[entity.index] = looks
        return looks
    }

    /// Whether the policy puts objects together of what is here and what is stored.
    private var mergesProperties: Bool {
        mergePolicy.isBuiltIn
            && [.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .declared]
                .contains(mergePolicy.mergeType)
    }

    /// Whether the policy takes back that an object is deleted if somebody else has changed it.
    private func mayTakeBack(_ entity: SchemaEntity) -> Bool {
        mergePolicy.mergeType != .error
            && !ConflictRules.keepsOurs(mergePolicy.mergeType, ofDeleted: entity)
    }

    private func unresolved(_ conflicts: [SaveConflict]) -> StoreError {
        MergePolicy.failure(
            "the merge policy returned without resolving the conflicts", conflicts)
    }

    /// Reads the rows of objects that were edited when their rows could not be read: without its row an edit
    /// would not be written.
    private func readEditedFaults() throws(StoreError) {
        guard changed.contains({ $0.isFault && $0.hasEdits }) else { return }
        for object in changedInOrder where object.isFault && object.hasEdits {
            try fulfillOrThrow(object)
        }
    }

    // MARK: Rounds

    var objectsToSave: [ManagedObject] {
        changed.inOrder { !($0.isInserted && $0.isDeleted) }
    }

    private func prepareToSave() throws {
        for _ in 0..<Self.maximumRounds {
            let before = revision
            var objects = objectsToSave
            for object in objects where object.managedObjectContext === self {
                object.willSave()
            }
            processChangesToSave()
            if revision != before { objects = objectsToSave }
            let error = validationError(objects)
            try throwReadError()
            if revision == before {
                if let error { throw error }
                return
            }
        }
        throw Self.restless
    }

    /// Validates what a merge policy has put together, again if validation has changed something.
    private func validateMerged() throws {
        for _ in 0..<Self.maximumRounds {
            let before = revision
            let error = validationError(objectsToSave)
            processChangesToSave()
            try throwReadError()
            if revision == before {
                if let error { throw error }
                return
            }
        }
        throw Self.restless
    }

    private static var restless: StoreError {
        StoreError(
            .invalidRequest,
            "objects are still changing after \(Self.maximumRounds) rounds of saving: a validation method, willSave "
                + "or an observer of changes sets a value each time")
    }

    /// What is wrong with the objects, all of it.
    private func validationError(_ objects: [ManagedObject]) -> StoreError? {
        // A migration validates its objects when all of them are whole, but for what no store could take.
        if migrationPart == .destination {
            return StoreError.combining(
                objects.filter { !$0.isDeleted }.flatMap(\.refusalErrors))
        }
        var errors: [StoreError] = []
        for object in objects where object.managedObjectContext === self {
            do {
                if object.isDeleted {
                    if !object.isDisplaced { try object.validateForDelete() }
                } else if object.isInserted {
                    try object.validateForInsert()
                } else {
                    try object.validateForUpdate()
                }
            } catch {
                errors.append(StoreError(refusing: nil, of: object, cause: error))
            }
        }
        return StoreError.combining(errors)
    }

    // MARK: The request

    /// - Parameter resolutions: how often conflicts have been resolved in this save.
    func makeRequest(_ resolutions: Int) -> SaveRequest {
        var request = SaveRequest()
        request.author = transactionAuthor
        request.contextName = name
        request.resolution = mergePolicy.isBuiltIn ? .policy(mergePolicy.mergeType) : .report
        request.mergesAssignedOnly = mergePolicy.setOnly
        request.leavesMandatoryOpen = migrationPart == .destination
        // Somebody who saves again and again is not waited for without end.
        let isPatient = resolutions < Self.maximumResolutions / 2
        var merges = isPatient && mergesProperties
        var takesBack = isPatient && mergePolicy.isBuiltIn
        var pairs: Set<SaveRequest.PairChange> = []
        for object in objectsToSave {
            let entity = object.entity
            if object.isDeleted {
                // If it is there again, nobody here has said that it is not to be.
                if object.flags.contains(.deletedElsewhere) { continue }
                if takesBack, mayTakeBack(entity),
                    !entity.relationships.isEmpty || !oneWays(to: entity).isEmpty
                {
                    // The store has only rows. What delete rules have done along with it is known here.
                    request.resolution = .report
                    takesBack = false
                }
                request.deleted.append(
                    SaveRequest.Deleted(
                        id: object.objectID, entity: entity.index,
                        version: object.hasRow ? object.version : nil,
                        base: schema.derivations.entities[entity.index].isEmpty
                            && schema.orderedReferences[entity.index].isEmpty ? nil : object.row))
                continue
            }
            if merges, looksAtMerged(entity) {
                // What is put together of two objects' values is to be looked at before it is stored.
                request.resolution = .report
                merges = false
            }
            if let rarer = object.rarer, rarer.hasStagedValue { request.hasStagedValues = true }
            if object.isInserted {
                request.inserted.append(
                    SaveRequest.Inserted(
                        id: object.objectID, entity: entity.index,
                        values: entity.columns.indices.map { savedValue(object, $0) },
                        assigned: object.ownSlots?.assigned ?? ColumnSet(),
                        version: object.version))
            } else if let row = object.row {
                let changes = object.editedColumns.map {
                    (column: $0, value: savedValue(object, $0))
                }
                if !changes.isEmpty {
                    request.updated.append(
                        SaveRequest.Updated(
                            id: object.objectID, entity: entity.index, base: row, changes: changes))
                }
            }
            addPairs(of: object, to: &request, &pairs)
            addOrder(of: object, to: &request)
        }
        addLocked(to: &request)
        if !redirects.isEmpty { addRedirects(to: &request) }
        return request
    }

    /// A value as it is saved: what leads to an object that never came to be leads nowhere.
    private func savedValue(_ object: ManagedObject, _ column: Int) -> Value {
        let value =
            object.awakened.contains(column)
            ? object.baseValue(column) : object.presentValue(column)
        if let id = value.reference, id.isTemporary, registry.object(for: id) == nil {
            return .null
        }
        return value
    }

    private func addPairs(
        of object: ManagedObject, to request: inout SaveRequest,
        _ known: inout Set<SaveRequest.PairChange>
    ) {
        for (index, state) in object.toMany.inKeyOrder() where state.hasChanges {
            guard case .pairs(let pairs, let isSource) = object.entity.relationships[index].storage
            else { continue }
            func change(_ other: ObjectID, isAddition: Bool) -> SaveRequest.PairChange {
                SaveRequest.PairChange(
                    pairs: pairs, source: isSource ? object.objectID : other,
                    destination: isSource ? other : object.objectID, isAddition: isAddition)
            }
            let inverse = schema.pairs[pairs]
            let isSymmetric = isOwnInverse(inverse)
            for (ids, isAddition) in [(state.removed, false), (state.added, true)] {
                for id in ids.sorted(by: { SortingOrder.compare($0, $1) < 0 }) {
                    if id.isTemporary, registry.object(for: id) == nil { continue }
                    if let other = registry.object(for: id), other.isDeleted { continue }
                    if hasLostLinks, isAddition, isGone(id) { continue }
                    let new = change(id, isAddition: isAddition)
                    let mirrored = SaveRequest.PairChange(
                        pairs: pairs, source: new.destination, destination: new.source,
                        isAddition: isAddition)
                    if isSymmetric && known.contains(mirrored) { continue }
                    if known.insert(new).inserted { request.pairChanges.append(new) }
                }
            }
        }
    }

    /// Whether there is no row of an id, where some objects were gone.
    private func isGone(_ id: ObjectID) -> Bool {
        if id.isTemporary { return false }
        if let known = registry.object(for: id), known.isInserted || known.hasRow { return false }
        // What cannot be read is not known to be gone: the save says what is wrong with it.
        guard let rows = try? read([id]) else { return false }
        return rows[0] == nil
    }

    private func isOwnInverse(_ pairs: SchemaPairs) -> Bool {
        guard let back = pairs.destinationRelationship,
            case .pairs(_, true) = schema.entities[pairs.destination].relationships[back].storage
        else { return false }
        return back == pairs.sourceRelationship
    }
}

extension SaveRequest {
    /// Whether there is nothing to write.
    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && pairChanges.isEmpty
            && orderChanges.isEmpty && locked.isEmpty && redirects.isEmpty
    }
}

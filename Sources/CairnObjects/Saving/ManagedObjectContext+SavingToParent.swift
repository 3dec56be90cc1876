// Saving to a parent: what is changed here is changed there.
//
//   1. The parent's objects are looked for, before anything is changed: what cannot be read is thrown. What the parent no
//      longer has is dropped here as well, or is an error, as `shouldDeleteInaccessibleFaults` says.
//   2. New objects are made, under their ids. They do not awake: they have done so here.
//   3. Values that differ are set, those that no store keeps among them. What is the same here and there is left alone, so
//      that two children which change different properties of an object both have their way.
//   4. Relationships are set, the other sides follow: what the parent has changed meanwhile stays in order.
//   5. Objects are deleted, by the parent's own rules.
//   6. Here everything is as after any save, but for the ids, which stay as they are.
//
// Nothing is compared with the store. But an object that only the child has read is given to the parent with the version that
// the child has read, so that the parent's save finds what others have changed since.
//
// Invariants: whatever is thrown, neither context has changed.
// Threads: those of both.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// A changed object and the parent's.
    private typealias Pushed = (own: ManagedObject, shown: ManagedObject)

    /// Hands everything that is changed to the parent.
    func saveToParent(_ parent: ManagedObjectContext) throws(StoreError) {
        parent.processPendingChanges()
        var result = SaveResult()
        var changes: [Pushed] = []
        var deletions: [ManagedObject] = []
        let objects = objectsToSave
        for object in objects where !object.isInserted {
            // What was found to be deleted above is no deletion of the child's.
            if object.isDeleted && object.isDisplaced { continue }
            if let shown = try parent.object(toBeChangedAs: object) {
                if object.isDeleted {
                    deletions.append(shown)
                } else {
                    changes.append((object, shown))
                }
            } else if !object.isDeleted {
                guard shouldDeleteInaccessibleFaults else { throw notFound(object.objectID) }
                result.reverted.append(object.objectID)
            }
        }
        var locked: [ManagedObject] = []
        for object in lockedObjects where object.managedObjectContext === self {
            if let shown = try parent.object(toBeChangedAs: object) { locked.append(shown) }
        }
        tally?.inserted = objects.count { $0.isInserted }
        tally?.updated = changes.count
        tally?.deleted = deletions.count
        let new = objects.filter { $0.isInserted && !$0.isDeleted }
        changes = new.map { ($0, parent.adopt($0)) } + changes
        for (own, shown) in changes { parent.takeValues(of: own, for: shown) }
        for (own, shown) in changes { parent.takeRelationships(of: own, for: shown) }
        for (own, shown) in changes { parent.takeOrder(of: own, self, for: shown) }
        for shown in deletions where !shown.isDeleted && !shown.isGone { parent.delete(shown) }
        for shown in locked { parent.detectConflicts(for: shown) }
        parent.processPendingChanges()
        for (own, shown) in changes {
            if shown.isDeleted || shown.isGone || shown.managedObjectContext !== parent {
                // A rule has reached it there which had no reason to here.
                result.reverted.append(own.objectID)
            } else if !own.isFault {
                result.rows[own.objectID] = parent.presentRow(of: shown)
            }
        }
        finishSave(result)
        let siblings = parent.livingChildren.filter { $0 !== self && $0.mergesFromParent }
        if siblings.isEmpty { return }
        var pushed = ChangesToMerge()
        pushed.updated = changes.map(\.shown.objectID)
        pushed.deleted = deletions.map(\.objectID)
        for sibling in siblings { sibling.mergeFromParent(pushed) }
    }

    // MARK: In the parent

    /// The object that is changed as a child's was, with its values; nil if there is none any more.
    private func object(toBeChangedAs own: ManagedObject) throws(StoreError) -> ManagedObject? {
        let id = own.objectID
        let shown: ManagedObject
        if let known = registry.object(for: id) {
            shown = known
        } else if !id.isTemporary || parent != nil {
            shown = faults(with: [id], of: own.entity)[0]
        } else {
            return nil
        }
        if shown.isDeleted || shown.isGone { return nil }
        do throws(StoreError) {
            if shown.isFault, !shown.hasEdits, own.version > 0, let row = own.row {
                // What is stored is newer than the values that the child has read, unless somebody else has written since.
                let stored = own.flags.contains(.hasOlderCells) ? try read([id])[0] : nil
                shown.take(stored?.version == row.version ? stored ?? row : row)
            }
            try fulfillOrThrow(shown)
        } catch {
            if error.code == .objectNotFound { return nil }
            throw error
        }
        return shown.isGone ? nil : shown
    }

    /// A child's new object is a new one here.
    private func adopt(_ own: ManagedObject) -> ManagedObject {
        let shown: ManagedObject
        if let known = registry.object(for: own.objectID) {
            // Somebody has asked for the permanent id that it was given.
            shown = known
            if shown.isDeleted, shown.managedObjectContext === self, shown.hasRow, !shown.isGone {
                // The child has saved the deletion and taken it back: the row is still stored.
                shown.flags.subtract([.deleted, .propagated, .displaced, .deletedElsewhere])
                pendingDeletes.removeAll { $0 === shown }
                shown.unloadMembers()
                objectDidChange(shown, isReal: true)
                return shown
            }
            shown.dropEdits()
            shown.forgetRow()
            shown.flags.subtract([.gone, .deleted, .updated, .propagated])
            shown.isRecreated = own.isRecreated
            shown.version = own.version
        } else {
            shown = fault(own.reference, scope(of: own.entity))
            shown.hasTemporaryID = own.hasTemporaryID
            shown.isRecreated = own.isRecreated
            shown.version = own.version
            registry.register(shown)
        }
        shown.flags.formUnion([.inserted, .fulfilled])
        if coordinator != nil, let store = own.rarer?.assignedStore {
            shown.extras.assignedStore = store
        }
        objectDidChange(shown, isReal: true)
        return shown
    }

    /// Sets what a child has set, but for relationships.
    private func takeValues(of own: ManagedObject, for shown: ManagedObject) {
        let columns = own.editedColumns.filter { own.entity.columns[$0].relationship == nil }
        if shown.isInserted {
            for column in columns {
                shown.setEdit(column, own.presentValue(column))
                if own.isAssigned(column) { shown.slotsToEdit().assign(column) }
            }
        } else {
            for column in columns { shown.setColumn(column, own.presentValue(column)) }
        }
        for (index, value) in own.rarer?.transients ?? [:] where shown.transients[index] != value {
            objectWillChange(shown)
            shown.transients[index] = value
            hasSetTransients = true
            objectDidChange(shown, isReal: true)
        }
    }

    /// Sets the relationships that a child has set.
    private func takeRelationships(of own: ManagedObject, for shown: ManagedObject) {
        for (index, relationship) in own.entity.relationships.enumerated() {
            switch relationship.storage {
            case .column(let column):
                guard own.hasEdit(column) else { continue }
                takeTarget(own.presentValue(column).reference, of: own, for: shown, index)
                if shown.isInserted, own.isAssigned(column) {
                    shown.slotsToEdit().assign(column)
                }
            case .inverseColumn:
                // Its members say where they belong.
                continue
            case .pairs:
                takeMembers(of: own, for: shown, index)
            case .transient:
                if relationship.description.isToMany {
                    takeMembers(of: own, for: shown, index)
                } else {
                    takeTarget(own.rarer?.transientTargets[index], of: own, for: shown, index)
                }
            }
        }
    }

    private func takeTarget(
        _ id: ObjectID?, of own: ManagedObject, for shown: ManagedObject, _ index: Int
    ) {
        let root = schema.entities[shown.entity.relationships[index].destination]
        let target = id.flatMap { livingObject($0, root, for: own) }
        guard targetID(of: shown, index) != target?.objectID else { return }
        setTarget(of: shown, index, target)
    }

    private func takeMembers(of own: ManagedObject, for shown: ManagedObject, _ index: Int) {
        guard let state = own.rarer?.toMany[index], state.hasChanges else { return }
        let root = schema.entities[shown.entity.relationships[index].destination]
        for id in state.removed.sorted(by: { SortingOrder.compare($0, $1) < 0 }) {
            guard let member = livingObject(id, root, for: own) else { continue }
            if shown.toMany[index]?.current?.contains(id) ?? true { unlink(shown, index, member) }
        }
        for id in state.added.sorted(by: { SortingOrder.compare($0, $1) < 0 }) {
            guard let member = livingObject(id, root, for: own) else { continue }
            if shown.toMany[index]?.current?.contains(id) != true { link(shown, index, member) }
        }
    }

    /// Puts members into the order that a child has given them.
    private func takeOrder(
        of own: ManagedObject, _ child: ManagedObjectContext, for shown: ManagedObject
    ) {
        guard schema.hasOrder, let rarer = own.rarer else { return }
        for (index, state) in rarer.toMany.inKeyOrder()
        where state.order != nil && state.hasChanges {
            setOrder(of: shown, index, child.orderedMembers(of: own, index))
        }
    }

    /// The object of an id that a child's object leads to; nil if it is known to be no more.
    private func livingObject(_ id: ObjectID, _ root: SchemaEntity, for own: ManagedObject)
        -> ManagedObject?
    {
        // One that came and went between two saves of the child was never here.
        if id.isTemporary, !hasNewObject(id) { return nil }
        let object = object(with: id, under: root)
        // Where some were gone, it is looked whether they are back.
        if object.isFault, own.managedObjectContext?.hasLostLinks == true {
            object.fulfillIfNeeded()
        }
        return object.isDeleted || object.isGone ? nil : object
    }

    /// Whether there is a new object of an id here, or in a context above.
    private func hasNewObject(_ id: ObjectID) -> Bool {
        var context: ManagedObjectContext? = self
        while let above = context {
            if above.registry.object(for: id) != nil { return true }
            context = above.parent
        }
        return false
    }
}

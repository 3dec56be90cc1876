// Which objects an event of the context may concern.
//
//   changes   what was edited, refreshed, and has come and gone. Of a merge they wait for its end, and are one change with it
//   merges    what others have written, be it unknown to the context
//   saves     new objects, which have got their ids; rows that the save wrote besides
//   renames   new objects that have got their ids before
//   folds     with any of these it may show that an object which the predicate names was folded into another one
//
// If objects have changed that the list depends on, unsaved objects of the list are looked at again, as a fetch looks at them
// anew each time; and once it is stored, all others that depend on them.
//
// Threads: the context's.

import CairnModel
import CairnStore

extension ResultsFollower {
    /// Objects that an event may concern.
    struct Candidates {
        /// In the order in which they came.
        private(set) var ids: [ObjectID] = []
        private var known: Set<ObjectID> = []
        /// Those that show other values if they are in the list.
        var updated: Set<ObjectID> = []
        /// What was written that the list may depend on.
        var written = RelatedPaths.Written()
        /// The ids under which objects are in the list that have others now.
        var oldIDs: [ObjectID: ObjectID] = [:]
        /// Whether nobody can say what has changed.
        var isEverything = false
        /// Whether the predicate means other objects now.
        var isLedElsewhere = false
        /// The objects that the events were about: those that are gone nobody finds any more.
        var objects: [ObjectID: ManagedObject] = [:]

        var isEmpty: Bool { ids.isEmpty && written.isEmpty && !isEverything && !isLedElsewhere }

        mutating func add(_ id: ObjectID) {
            if known.insert(id).inserted { ids.append(id) }
        }
    }

    /// Takes an event.
    func handle(_ event: ContextEvent, _ context: ManagedObjectContext) {
        guard let list else { return }
        switch event {
        case .willSave: return
        case .didChange(let changes):
            if !changes.invalidatedAll.isEmpty {
                unload()
                listener.didReset(context)
                return
            }
            note(changes, list, context)
            if context.isMergingChanges { return }
        case .didSave(let saved): note(saved, list, context)
        case .didMerge(let merged): note(merged, list, context)
        case .didRename: noteRenamed(list, context)
        }
        goOn(context)
    }

    private func root(_ context: ManagedObjectContext) -> Int? {
        context.knownEntity(named: terms.entityName)?.root
    }

    private func note(
        _ changes: ObjectChanges, _ list: FetchedList, _ context: ManagedObjectContext
    ) {
        guard let root = root(context) else { return }
        // What a save has found is told before the save is.
        if context.isSaving { noteRenamed(list, context) }
        var hasRelated = false
        func add(_ objects: [ManagedObject], isUpdate: Bool) {
            for object in objects {
                if let related, related.roots.contains(object.entity.root) { hasRelated = true }
                guard object.entity.root == root else { continue }
                self.add(object, list, isUpdate: isUpdate)
            }
        }
        add(changes.deleted, isUpdate: false)
        add(changes.inserted, isUpdate: true)
        add(changes.updated, isUpdate: true)
        add(changes.refreshed, isUpdate: true)
        if hasRelated || related?.isUnknown == true { addUnsaved(list, root, context) }
    }

    /// Notes the unsaved objects: what they lead to has changed, and they are found by what that is now.
    private func addUnsaved(_ list: FetchedList, _ root: Int, _ context: ManagedObjectContext) {
        guard terms.includesPendingChanges else { return }
        for object in context.changedInOrder where object.entity.root == root {
            add(object, list, isUpdate: false)
        }
    }

    private func add(_ object: ManagedObject, _ list: FetchedList, isUpdate: Bool) {
        let id = object.objectID
        waiting.add(id)
        waiting.objects[id] = object
        if isUpdate { waiting.updated.insert(id) }
        if let old = list.id(of: object), old != id { waiting.oldIDs[id] = old }
    }

    private func note(
        _ saved: SavedObjects, _ list: FetchedList, _ context: ManagedObjectContext
    ) {
        guard let root = root(context) else { return }
        noteRenamed(list, context)
        if hasDoomedLinks, saved.isWritten {
            hasDoomedLinks = false
            waiting.isEverything = true
        }
        for object in saved.inserted {
            if object.entity.root == root { add(object, list, isUpdate: false) }
            if isRelated(object.entity.root) {
                waiting.written.insert(object.objectID, root: object.entity.root)
            }
        }
        for object in saved.updated + saved.deleted {
            if object.entity.root == root { add(object, list, isUpdate: false) }
            guard isRelated(object.entity.root) else { continue }
            let identifier = ObjectIdentifier(object)
            if saved.linked.contains(identifier) {
                waiting.written.insert(
                    object.objectID, root: object.entity.root, isLinked: true)
            } else {
                waiting.written.insert(
                    object.objectID, root: object.entity.root,
                    changedBy: saved.differences[identifier])
            }
        }
        if let related {
            for (list, ids) in saved.formerOwners where related.lists.contains(list) {
                waiting.written.insert(list, owners: ids)
            }
        }
        for id in saved.updatedElsewhere + saved.deletedElsewhere + saved.survivors {
            guard let entity = context.rootEntity(of: id) else { continue }
            if entity.root == root {
                waiting.add(id)
                waiting.updated.insert(id)
            }
            if isRelated(entity.root) {
                waiting.written.insert(id, root: entity.root, changedBy: nil)
            }
        }
    }

    /// Whether the list may depend on objects of a hierarchy.
    private func isRelated(_ root: Int) -> Bool {
        related?.roots.contains(root) == true || related?.isUnknown == true
    }

    /// Notes objects that have got their permanent ids.
    private func noteRenamed(_ list: FetchedList, _ context: ManagedObjectContext) {
        for old in list.newObjects.values {
            guard let object = list.object(of: old), object.objectID != old else { continue }
            add(object, list, isUpdate: false)
        }
    }

    private func note(
        _ merged: MergedObjectIDs, _ list: FetchedList, _ context: ManagedObjectContext
    ) {
        guard let root = root(context) else { return }
        noteRenamed(list, context)
        if merged.isEverything { waiting.isEverything = true }
        let differences = differences(merged, context)
        func add(_ ids: Set<ObjectID>, isNew: Bool = false, isGone: Bool = false) {
            for id in ids {
                guard let entity = context.rootEntity(of: id)?.root else { continue }
                if entity == root {
                    waiting.add(id)
                    // The context tells itself of those that it has.
                    if context.registry.object(for: id) == nil { waiting.updated.insert(id) }
                }
                if isRelated(entity) {
                    if isNew {
                        waiting.written.insert(id, root: entity)
                    } else {
                        waiting.written.insert(
                            id, root: entity,
                            changedBy: isGone && merged.rows != nil
                                ? RowDifference(isEverything: true) : differences[id])
                    }
                    if context.registry.object(for: id)?.isDeleted == true { hasDoomedLinks = true }
                }
            }
        }
        add(merged.inserted, isNew: true)
        add(merged.updated)
        add(merged.deleted, isGone: true)
        if !waiting.written.isEmpty { addUnsaved(list, root, context) }
    }

    /// What differs in objects that others have changed, as far as the list may depend on them; and notes to whom they led.
    private func differences(_ merged: MergedObjectIDs, _ context: ManagedObjectContext)
        -> [ObjectID: RowDifference]
    {
        var differences: [ObjectID: RowDifference] = [:]
        guard let rows = merged.rows, let related else { return differences }
        for (list, numbers) in rows.owners where related.lists.contains(list) {
            waiting.written.insert(
                list, owners: numbers.lazy.map { context.identity.id($0, entity: list.entity) })
        }
        for (group, numbers) in rows.updated
        where isRelated(context.schema.entities[group.entity].root) {
            for number in numbers {
                let id = context.identity.id(number, entity: group.entity)
                differences[id, default: RowDifference()].formUnion(group.difference)
            }
        }
        return differences
    }

    // MARK: Going on

    /// Has the list follow what waits.
    func goOn(_ context: ManagedObjectContext) {
        if isTelling { return }
        isTelling = true
        defer { isTelling = false }
        // Those who are told may edit and save.
        while list != nil {
            if isLedElsewhere(context) { waiting.isLedElsewhere = true }
            if waiting.isEmpty { return }
            let candidates = waiting
            waiting = Candidates()
            do throws(StoreError) {
                try follow(candidates, context)
            } catch {
                // What is shown is out of date. The next event brings it up to date, if that can be read.
                waiting.isEverything = true
                listener.didFail(error)
                return
            }
        }
    }

    /// Says that things have happened that the list was not told of.
    func noteMissed() { waiting.isEverything = true }
}

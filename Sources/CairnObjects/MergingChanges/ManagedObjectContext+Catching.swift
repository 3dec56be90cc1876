// Merging what others have written into the objects of a context.
//
//   1. Of what has changed only objects that the context has are looked at. Their rows are read from one state.
//   2. A row of another version goes under the object, whose edits stay on top.
//   3. Without a row the object is as good as deleted: it keeps its values until the context saves. What here leads to it, as
//      an edit, leads nowhere, or to the one that it was folded into; new objects that a cascade rule would delete with it are deleted.
//      If it turns out to be stored again, it is there again, with its edits; what they lead to has let go of it meanwhile, and is
//      linked again.
//   4. To-many relationships that may lead elsewhere by now, and were read, are forgotten, and read again when somebody
//      asks: at once if somebody watches the context, who is told which have changed. If it is known to whom the written objects
//      led, and lead, only those are looked at; else all of the hierarchies that were written.
//   5. New objects become faults if somebody watches, who is told of them.
//
// What has become of an object the state says, not whoever told that it changed: so commits may be merged together, late, and
// more than once.
//
// Invariants: objects without edits show one state of the store, that of their rows or a newer one. Nothing is stored by
// saving a context that has merged, if it had no edits.
// Threads: the context's.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Merges what somebody else has saved.
    func mergeChanges(_ changes: ChangesToMerge) {
        moveGenerationOn()
        var merge = ChangeMerge(self)
        if changes.isEverything { merge.addAll() }
        for id in changes.updated { merge.add(id) }
        for id in changes.deleted { merge.addDeleted(id) }
        for id in changes.inserted { merge.addNew(id) }
        let outer = isMergingChanges
        isMergingChanges = true
        withoutRecording { merge.run() }
        isMergingChanges = outer
        tellOfMerge(changes, merge)
    }

    /// Merges what has waited.
    func merge(_ waiting: ChangeInbox.Waiting) {
        var merge = ChangeMerge(self)
        if waiting.isIncomplete { merge.addAll() }
        if waiting.hasOlderReads { merge.addAllMembers() }
        merge.add(waiting.entities.values.sorted { $0.entity < $1.entity }, waiting.rows)
        let outer = isMergingChanges
        isMergingChanges = true
        withoutRecording {
            if !merge.run() { inbox?.putBack() }
        }
        isMergingChanges = outer
        guard isWatched(.merges) else { return }
        var changes = ChangesToMerge()
        changes.isEverything = waiting.isIncomplete
        for entity in waiting.entities.values {
            func ids(_ numbers: ObjectNumbers) -> [ObjectID] {
                numbers.map { identity.id($0, entity: entity.entity) }
            }
            changes.inserted += ids(entity.inserted)
            changes.updated += ids(entity.updated)
            changes.deleted += ids(entity.deleted)
        }
        tellOfMerge(changes, merge)
    }

    private func tellOfMerge(_ changes: ChangesToMerge, _ merge: ChangeMerge) {
        guard isWatched(.merges) else { return }
        var ids = MergedObjectIDs()
        ids.inserted = Set(changes.inserted.filter { rootEntity(of: $0) != nil })
        ids.updated = Set(changes.updated.filter { rootEntity(of: $0) != nil })
        ids.deleted = Set(changes.deleted.filter { rootEntity(of: $0) != nil })
        ids.rows = merge.rows
        ids.refreshed = merge.refreshed
        ids.isEverything = changes.isEverything
        tell(.didMerge(ids))
    }
}

/// Changes of others on their way into a context.
private struct ChangeMerge {
    private let context: ManagedObjectContext
    /// Objects of the context that may have changed.
    private var touched: [ManagedObject] = []
    private var known: Set<ManagedObject> = []
    /// Objects that are there again, with edits.
    private var returned: [ManagedObject] = []
    /// What was deleted, if it is known what differs in the rows.
    private var deleted: Set<ObjectID> = []
    /// New objects that the context does not have, if somebody is to be told of them.
    private var new: [ObjectID] = []
    /// The roots of the hierarchies with changes.
    private var roots: Set<Int> = []
    /// What differs in the rows; nil if that is not known.
    private(set) var rows: RowChanges?
    /// Whether there may be objects that are no more.
    private var hasDeletions = false
    private let isWatched: Bool
    /// Objects that show other values now, if anybody wants to know.
    private(set) var refreshed: Set<ObjectID> = []
    private let notesRefreshed: Bool

    /// So many rows are read at once.
    private static let mostRows = 4096
    /// Up to so many changes each is looked for in the context; of more it is looked which of them the context has.
    private static let fewChanges = 1024

    init(_ context: ManagedObjectContext) {
        self.context = context
        isWatched = context.isWatched(.changes)
        notesRefreshed = context.isWatched(.merges)
    }

    // MARK: What may have changed

    /// All objects of the context.
    mutating func addAll() {
        for object in context.registry.objects { take(object) }
        addAllMembers()
        hasDeletions = true
    }

    /// All to-many relationships that were read.
    mutating func addAllMembers() { roots.formUnion(context.schema.entities.map(\.root)) }

    /// An object that was deleted.
    mutating func addDeleted(_ id: ObjectID) {
        hasDeletions = true
        add(id)
    }

    /// An object that was changed.
    mutating func add(_ id: ObjectID) {
        guard isKnownAbove(id), let root = context.rootEntity(of: id) else { return }
        roots.insert(root.root)
        if let object = context.registry.object(for: id) { take(object) }
    }

    /// An object that is new.
    mutating func addNew(_ id: ObjectID) {
        guard isKnownAbove(id), let root = context.rootEntity(of: id) else { return }
        roots.insert(root.root)
        if let object = context.registry.object(for: id) {
            take(object)
        } else if isWatched {
            new.append(id)
        }
    }

    /// What commits changed.
    mutating func add(_ changes: [EntityChanges], _ rows: RowChanges?) {
        self.rows = rows
        let count = changes.reduce(0) { $0 + $1.updated.count + $1.deleted.count }
        for entity in changes {
            roots.insert(context.schema.entities[entity.entity].root)
            if !entity.deleted.isEmpty { hasDeletions = true }
        }
        if count <= Self.fewChanges {
            for entity in changes {
                for number in entity.updated {
                    add(context.identity.id(number, entity: entity.entity))
                }
                for number in entity.deleted {
                    add(context.identity.id(number, entity: entity.entity))
                }
            }
        } else {
            let byEntity = Dictionary(uniqueKeysWithValues: changes.map { ($0.entity, $0) })
            for object in context.registry.objects where !object.hasTemporaryID {
                // What a fault is taken for may be an ancestor of what it is.
                for entity in object.entity.family {
                    if let changes = byEntity[entity],
                        changes.updated.contains(object.reference)
                            || changes.deleted.contains(object.reference)
                    {
                        take(object)
                        break
                    }
                }
            }
        }
        if rows != nil {
            for entity in changes {
                for number in entity.deleted {
                    deleted.insert(context.identity.id(number, entity: entity.entity))
                }
            }
        }
        for entity in changes {
            guard isWatched || entity.inserted.count <= Self.fewChanges else {
                // Of so many only those matter that were found to be no more.
                for object in context.registry.objects
                where !object.hasTemporaryID && isAway(object)
                    && object.entity.family.contains(entity.entity)
                    && entity.inserted.contains(object.reference)
                {
                    take(object)
                }
                continue
            }
            for number in entity.inserted {
                addNew(context.identity.id(number, entity: entity.entity))
            }
        }
    }

    /// Whether what the context reads may have an object of an id: new ones only its parent has.
    private func isKnownAbove(_ id: ObjectID) -> Bool { !id.isTemporary || context.parent != nil }

    private mutating func take(_ object: ManagedObject) {
        guard !object.isInserted, isKnownAbove(object.objectID), known.insert(object).inserted
        else { return }
        touched.append(object)
    }

    /// Whether an object was found to be no more, and may be there again.
    private func isAway(_ object: ManagedObject) -> Bool {
        object.isGone || object.flags.contains(.deletedElsewhere)
    }

    // MARK: Merging

    /// Merges; false if the store could not be read.
    @discardableResult
    mutating func run() -> Bool {
        if let coordinator = context.coordinator { context.noticeStores(coordinator) }
        guard !roots.isEmpty else { return true }
        context.prefetched = nil
        // What is read beside the context just now may be of an older state.
        context.saves += 1
        do {
            let state = try context.source()
            let gone = try bringUpToDate(state)
            context.noteRedirects(of: gone, in: state)
            delete(gone, state)
            for object in returned { linkAgain(object) }
            letGo(of: try vanishedTargets(state), state)
            try renewMembers(state)
            try announce(state)
        } catch {
            context.readError = error
            return false
        }
        context.revision += 1
        context.processPendingChanges()
        return true
    }

    /// Gives the objects their rows, and those that have none any more.
    private mutating func bringUpToDate(_ state: any StoreSnapshot) throws(StoreError)
        -> [ManagedObject]
    {
        var gone: [ManagedObject] = []
        for start in stride(from: 0, to: touched.count, by: Self.mostRows) {
            let objects = touched[start..<min(start + Self.mostRows, touched.count)]
            let rows = try state.rows(objects.map(\.objectID))
            context.dropUnresolvedFaults(rows)
            for (object, row) in zip(objects, rows)
            where object.managedObjectContext === context {
                guard let row else {
                    if isAway(object) { continue }
                    if object.isDeleted { object.isDisplaced = true } else { gone.append(object) }
                    continue
                }
                if isAway(object) {
                    bringBack(object, row)
                    noteRefreshed(object)
                    continue
                }
                if object.hasRow {
                    // What a parent has changed has no version of its own.
                    if object.version == row.version, context.parent == nil { continue }
                    put(row, under: object)
                }
                noteRefreshed(object)
            }
        }
        return gone
    }

    private func put(_ row: Row, under object: ManagedObject) {
        guard object.isFault else { return object.rebase(on: row) }
        object.noteOlderTransients()
        object.row = row
    }

    /// Somebody has stored an object again that others had deleted: it is one as any other.
    private mutating func bringBack(_ object: ManagedObject, _ row: Row) {
        if object.isGone { object.revive() }
        object.willChangeAll()
        object.isDeleted = false
        object.isPropagated = false
        object.isDisplaced = false
        object.absorbedInto = nil
        put(row, under: object)
        object.unloadMembers()
        object.didChangeAll()
        if object.hasEdits { return returned.append(object) }
        object.isUpdated = false
        context.changed.remove(object)
    }

    /// Makes the edits of an object's references once more, so that the other sides know of them: nobody told those while it was
    /// as good as deleted. What is no more by now they lead to no more.
    private func linkAgain(_ object: ManagedObject) {
        for (index, relationship) in object.entity.relationships.enumerated() {
            guard case .column(let column) = relationship.storage, let edit = object.edit(column)
            else { continue }
            let target = edit.reference.flatMap { livingTarget($0, of: relationship) }
            object.setEdit(column, nil)
            context.setTarget(of: object, index, target)
        }
    }

    /// What an edit leads to; nil if it is known to be no more.
    private func livingTarget(_ id: ObjectID, of relationship: SchemaRelationship)
        -> ManagedObject?
    {
        if !isKnownAbove(id), context.registry.object(for: id) == nil { return nil }
        let root = context.schema.entities[relationship.destination]
        let target = context.object(with: id, under: root)
        return target.isDeleted || target.isGone ? nil : target
    }

    private mutating func noteRefreshed(_ object: ManagedObject) {
        context.noteRefreshed(object)
        if notesRefreshed { refreshed.insert(object.objectID) }
    }

    /// Notes that somebody else has deleted objects: they keep their values until the save.
    private func delete(_ objects: [ManagedObject], _ state: any StoreSnapshot) {
        guard !objects.isEmpty else { return }
        let ids = Set(objects.map(\.objectID))
        for object in objects {
            object.prepareForDeletion()
            for member in newMembers(of: object) where !member.isDeleted { context.delete(member) }
        }
        for object in objects where !object.isDeleted {
            if object.isFault, !object.hasRow {
                // Nobody has ever seen its values, and nobody can any more.
                object.isFulfilled = true
                object.isGone = true
            }
            object.isDeleted = true
            object.isPropagated = true
            // No rule can forbid what has happened.
            object.isDisplaced = true
            object.flags.formUnion(.deletedElsewhere)
            context.objectDidChange(object, isReal: true)
            context.noteLeaving(object)
            guard object.rarer != nil else { continue }
            for index in object.toMany.keys {
                object.toMany[index]?.revert()
                object.toMany[index]?.unload()
            }
        }
        letGo(of: ids, state)
    }

    /// New objects that a rule says are to be deleted with this one.
    private func newMembers(of object: ManagedObject) -> [ManagedObject] {
        var members: [ManagedObject] = []
        for (index, relationship) in object.entity.relationships.enumerated()
        where relationship.description.deleteRule == .cascade {
            var ids = object.rarer?.toMany[index]?.added ?? []
            if case .column(let column) = relationship.storage,
                let target = object.edit(column)?.reference
            {
                ids.insert(target)
            }
            members += ids.compactMap(context.registry.object).filter(\.isInserted)
        }
        return members.sorted { $0.objectID.reference < $1.objectID.reference }
    }

    /// What edits lead to that is no more and that nobody holds, so that the context has no objects of it. They have no
    /// inverse: else that would be an edit too.
    private func vanishedTargets(_ state: any StoreSnapshot) throws(StoreError) -> Set<ObjectID> {
        guard hasDeletions else { return [] }
        var targets: Set<ObjectID> = []
        for object in context.changedInOrder where !object.isDeleted {
            for (index, relationship) in object.entity.relationships.enumerated()
            where relationship.inverse == nil {
                for id in editedTargets(of: object, index)
                where context.registry.object(for: id) == nil && isAffected(id) {
                    targets.insert(id)
                }
            }
        }
        let ids = Array(targets)
        for start in stride(from: 0, to: ids.count, by: Self.mostRows) {
            let some = ids[start..<min(start + Self.mostRows, ids.count)]
            for (id, row) in zip(some, try state.rows(Array(some))) where row != nil {
                targets.remove(id)
            }
        }
        return targets
    }

    private func isAffected(_ id: ObjectID) -> Bool {
        guard isKnownAbove(id), let root = context.rootEntity(of: id) else { return false }
        return roots.contains(root.root)
    }

    /// What edits of a relationship concern.
    private func editedTargets(of object: ManagedObject, _ index: Int) -> [ObjectID] {
        switch object.entity.relationships[index].storage {
        case .column(let column): object.edit(column)?.reference.map { [$0] } ?? []
        case .inverseColumn, .pairs:
            object.rarer?.toMany[index].map { Array($0.added) + Array($0.removed) } ?? []
        case .transient: object.rarer?.transientTargets[index].map { [$0] } ?? []
        }
    }

    /// What edits lead to objects that are no more leads nowhere, or to those that they were folded into.
    private func letGo(of gone: Set<ObjectID>, _ state: any StoreSnapshot) {
        if gone.isEmpty { return }
        let links = context.linksToRedirect(of: gone, in: state)
        for object in context.changedInOrder where !object.isDeleted {
            for (index, relationship) in object.entity.relationships.enumerated() {
                switch relationship.storage {
                case .column(let column):
                    guard let target = object.edit(column)?.reference, gone.contains(target)
                    else { continue }
                    object.setColumn(column, .null)
                case .inverseColumn, .pairs:
                    guard let state = object.rarer?.toMany[index], state.hasChanges else {
                        continue
                    }
                    if state.added.isDisjoint(with: gone), state.removed.isDisjoint(with: gone) {
                        continue
                    }
                    context.objectWillChange(object)
                    object.toMany[index]?.forget(gone)
                    context.objectDidChange(object, isReal: true)
                case .transient:
                    guard let target = object.rarer?.transientTargets[index] else { continue }
                    if gone.contains(target) { object.transientTargets[index] = nil }
                }
            }
        }
        for link in links { context.redirect(link) }
    }

    // MARK: Members

    /// Whether a relationship of an entity may lead elsewhere by now.
    private func isAffected(_ relationship: SchemaRelationship, of entity: SchemaEntity) -> Bool {
        let destination = context.schema.entities[relationship.destination].root
        switch relationship.storage {
        case .inverseColumn: return roots.contains(destination)
        // Either end may have been told of.
        case .pairs: return roots.contains(destination) || roots.contains(entity.root)
        case .column, .transient: return false
        }
    }

    /// The to-many relationships of some objects that may lead elsewhere by now, for all that is known of what was written.
    private func affectedLists(of objects: [ManagedObject])
        -> [(owner: ManagedObject, index: Int)]
    {
        objects.flatMap { object in
            (object.rarer?.toMany.keys.sorted() ?? []).filter {
                isAffected(object.entity.relationships[$0], of: object.entity)
            }.map { (object, $0) }
        }
    }

    /// The to-many relationships that may lead elsewhere by now, be they read or not. What was deleted may be there again,
    /// without what led to it and what it led to.
    private var affectedLists: [(owner: ManagedObject, index: Int)] {
        guard let rows else { return affectedLists(of: context.objectsWithMembers) }
        var lists = affectedLists(of: deleted.compactMap(context.registry.object))
        if !deleted.isEmpty { lists += listsOfDeleted }
        func add(_ numbers: ObjectNumbers, _ entity: Int, _ relationships: [Int]) {
            for number in numbers {
                let id = context.identity.id(number, entity: entity)
                guard let object = context.registry.object(for: id) else { continue }
                lists += relationships.map { (object, $0) }
            }
        }
        for (list, numbers) in rows.owners { add(numbers, list.entity, [list.relationship]) }
        for (group, numbers) in rows.updated where !group.difference.relationships.isEmpty {
            add(numbers, group.entity, Array(group.difference.relationships))
        }
        return lists
    }

    /// The to-many relationships that are said to lead to what was deleted. A save of the context may say so of one that it
    /// did not know to be gone: then nobody ever led there.
    private var listsOfDeleted: [(owner: ManagedObject, index: Int)] {
        affectedLists(of: context.objectsWithMembers).filter { object, index in
            object.rarer?.toMany[index]?.hasStored(anyOf: deleted) == true
        }
    }

    /// Forgets what members were read and may be others now.
    private mutating func renewMembers(_ state: any StoreSnapshot) throws(StoreError) {
        var forgotten: [(owner: ManagedObject, index: Int, members: [ObjectID])] = []
        for (object, index) in affectedLists {
            guard !object.isInserted, object.rarer?.toMany[index]?.isLoaded == true
            else { continue }
            // Of one that is deleted here nobody wants to know, unless that is taken back.
            if isWatched || notesRefreshed, !object.isDeleted {
                forgotten.append((object, index, context.memberIDs(of: object, index)))
            }
            object.rarer?.toMany[index]?.unload()
        }
        if forgotten.isEmpty { return }
        try readMembers(of: forgotten.map { ($0.owner, $0.index) }, state)
        defer { context.prefetched = nil }
        for (object, index, members) in forgotten
        where context.memberIDs(of: object, index) != members {
            noteRefreshed(object)
        }
    }

    /// Reads the stored members of many owners ahead: one question for each relationship of an entity.
    private func readMembers(
        of owners: [(object: ManagedObject, index: Int)], _ state: any StoreSnapshot
    ) throws(StoreError) {
        struct Question: Hashable {
            let entity: Int
            let relationship: Int
        }
        var questions: [Question: [ObjectID]] = [:]
        for (object, index) in owners where !object.isGone {
            let question = Question(entity: object.entity.index, relationship: index)
            questions[question, default: []].append(object.objectID)
        }
        var ahead = PrefetchedRows()
        for (question, owners) in questions {
            let members = try state.members(
                ofRelationship: question.relationship, entity: question.entity, owners: owners)
            for (owner, ids) in zip(owners, members) {
                ahead.members[.init(owner: owner, index: question.relationship)] = ids
            }
        }
        context.prefetched = ahead
    }

    // MARK: New objects

    /// Makes faults of new objects, of those that are still there.
    private func announce(_ state: any StoreSnapshot) throws(StoreError) {
        for start in stride(from: 0, to: new.count, by: Self.mostRows) {
            let ids = new[start..<min(start + Self.mostRows, new.count)]
            for row in try state.rows(Array(ids)) {
                if let row { context.noteArrived(context.object(for: row)) }
            }
        }
    }
}

// What one run of edits did to each of its objects.
//
// Related objects are kept as objects, not as ids: those change with saves.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// What a run of edits did.
struct UndoEvent {
    private(set) var objects: [ObjectEdit] = []

    var isEmpty: Bool { objects.isEmpty }

    /// What takes it back.
    var reversed: UndoEvent {
        var event = self
        event.objects = objects.map(\.reversed)
        return event
    }

    /// What a run did that is being told of.
    init(_ changes: ObjectChanges, _ told: PendingEvent, _ context: ManagedObjectContext) {
        // Nobody is told of what the delete rules of others do to an object that is deleted already.
        let earlierDeleted = told.noted.filter {
            $0.isDeleted && !$0.isGone && $0.managedObjectContext === context
        }
        let deletedNow = Set(changes.deleted)
        let all = [
            changes.inserted, changes.updated, changes.deleted,
            earlierDeleted.filter { !deletedNow.contains($0) },
        ]
        var left: [ObjectID: ManagedObject] = [:]
        // Objects that are not stored have no other way back from their ids.
        for object in changes.deleted { left[object.objectID] = object }
        for objects in all {
            for object in objects {
                if let edit = ObjectEdit(object, told.earlier(object), left, context) {
                    self.objects.append(edit)
                }
            }
        }
    }
}

/// What a run of edits did to an object.
struct ObjectEdit {
    /// Something and what it became.
    typealias Change<Part> = (before: Part, after: Part)
    /// The members that came and those that went.
    typealias Members = (came: [ManagedObject], went: [ManagedObject])

    let object: ManagedObject
    /// Whether there was such an object in the context, and whether there was afterwards.
    let isThere: Change<Bool>
    /// Whether the object counted as changed.
    let isUpdated: Change<Bool>
    /// Columns of attributes.
    private(set) var columns: [Int: Change<Value>] = [:]
    /// Transient attributes; nil for the default.
    private(set) var transients: [Int: Change<Value?>] = [:]
    /// To-one relationships, by index.
    private(set) var targets: [Int: Change<ManagedObject?>] = [:]
    /// To-many relationships, by index.
    private(set) var members: [Int: Members] = [:]
    /// The members of ordered to-many relationships that stand otherwise, in their orders; by relationship.
    private(set) var orders: [Int: Change<[ManagedObject]>] = [:]
    /// What attributes were set to that no store can take.
    private(set) var refused: [Int: Change<RefusedValue?>] = [:]
    /// The objects that are no more and that relationships were set to.
    private(set) var lostTargets: [Int: Change<[ObjectID]?>] = [:]
    /// What an object is linked to that is deleted, since no delete rule has taken it away; by relationship.
    private(set) var remaining: [Int: [ManagedObject]] = [:]

    /// Nil if nothing is different.
    fileprivate init?(
        _ object: ManagedObject, _ earlier: EarlierState?, _ left: [ObjectID: ManagedObject],
        _ context: ManagedObjectContext
    ) {
        // What others have deleted is nothing that was done here.
        if object.isGone { return nil }
        self.object = object
        isThere = (
            earlier.map { !$0.flags.contains(.deleted) } ?? !object.isInserted, !object.isDeleted
        )
        isUpdated = (earlier?.flags.contains(.updated) ?? false, true)
        let entity = object.entity

        func target(_ id: ObjectID?, _ relationship: Int) -> ManagedObject? {
            guard let id else { return nil }
            return targets([id], relationship).first
        }
        func targets(_ ids: some Sequence<ObjectID>, _ relationship: Int) -> [ManagedObject] {
            let root = context.schema.entities[entity.relationships[relationship].destination]
            let known = ids.filter {
                left[$0] != nil || !$0.isTemporary || context.registry.object(for: $0) != nil
            }
            let here = known.filter { left[$0] == nil }
            let objects = Dictionary(
                zip(here, context.objects(with: here, under: root)), uniquingKeysWith: { $1 })
            return known.compactMap { left[$0] ?? objects[$0] }
        }

        for (index, column) in entity.columns.enumerated()
        where !object.untracked.contains(index) {
            let now = object.presentValue(index)
            let old = earlier?.value(index, of: object) ?? object.baseValue(index)
            if now == old { continue }
            if let relationship = column.relationship {
                self.targets[relationship] = (
                    target(old.reference, relationship), target(now.reference, relationship)
                )
            } else {
                columns[index] = (old, now)
            }
        }
        if isThere.before && !isThere.after {
            for (index, relationship) in entity.relationships.enumerated()
            where relationship.storage != .transient {
                let ids = context.linkedIDs(of: object, index)
                if !ids.isEmpty { remaining[index] = targets(ids, index) }
            }
        }
        guard let rarer = object.rarer else {
            if isEmpty { return nil }
            return
        }
        let refused = earlier?.refused ?? [:]
        for index in Set(rarer.refused.keys).union(refused.keys)
        where rarer.refused[index] !== refused[index] {
            self.refused[index] = (refused[index], rarer.refused[index])
        }
        let lostTargets = earlier?.lostTargets ?? [:]
        for index in Set(rarer.lostTargets.keys).union(lostTargets.keys)
        where rarer.lostTargets[index] != lostTargets[index] {
            self.lostTargets[index] = (lostTargets[index], rarer.lostTargets[index])
        }
        let transients = earlier?.transients ?? [:]
        for index in Set(rarer.transients.keys).union(transients.keys)
        where rarer.transients[index] != transients[index] {
            self.transients[index] = (transients[index], rarer.transients[index])
        }
        let transientTargets = earlier?.transientTargets ?? [:]
        for index in Set(rarer.transientTargets.keys).union(transientTargets.keys) {
            let change = (transientTargets[index], rarer.transientTargets[index])
            if change.0 == change.1 { continue }
            self.targets[index] = (target(change.0, index), target(change.1, index))
        }
        for (index, state) in rarer.toMany {
            let isOrdered = entity.relationships[index].description.isOrdered
            var before = earlier?.toMany[index] ?? ToManyState(isOrdered: isOrdered)
            if state.added == before.added, state.removed == before.removed,
                state.hasSameOrder(as: before)
            {
                continue
            }
            // One who came and stands at the end stands there again when it comes again. With several it depends on whose edit
            // is applied first.
            let isGrown =
                state.hasSameOrder(as: before) && state.removed == before.removed
                && before.added.isSubset(of: state.added)
                && state.added.count <= before.added.count + 1
            if isOrdered, !isGrown {
                let now = context.orderedMembers(of: object, index)
                // Members that were not known then stood as they are stored, with those who came at the end.
                let then = before.isLoaded ? before.inOrder() : object.storedOrder(index, before)
                orders[index] = (targets(then, index), targets(now, index))
            }
            var came = state.added.subtracting(before.added)
                .union(before.removed.subtracting(state.removed))
            var went = state.removed.subtracting(before.removed)
                .union(before.added.subtracting(state.added))
            // Reading the members may have found that some of it is no change.
            if let current = state.current {
                came.formIntersection(current)
                went.subtract(current)
            }
            if came.isEmpty && went.isEmpty { continue }
            members[index] = (targets(came, index), targets(went, index))
        }
        if isEmpty { return nil }
    }

    private init(taking other: ObjectEdit) {
        object = other.object
        isThere = (other.isThere.after, other.isThere.before)
        isUpdated = (other.isUpdated.after, other.isUpdated.before)
        columns = other.columns.mapValues { ($0.after, $0.before) }
        transients = other.transients.mapValues { ($0.after, $0.before) }
        targets = other.targets.mapValues { ($0.after, $0.before) }
        members = other.members.mapValues { ($0.went, $0.came) }
        orders = other.orders.mapValues { ($0.after, $0.before) }
        refused = other.refused.mapValues { ($0.after, $0.before) }
        lostTargets = other.lostTargets.mapValues { ($0.after, $0.before) }
        remaining = other.remaining
    }

    /// What takes it back.
    var reversed: ObjectEdit { ObjectEdit(taking: self) }

    private var isEmpty: Bool {
        isThere.before == isThere.after && columns.isEmpty && transients.isEmpty && targets.isEmpty
            && members.isEmpty && orders.isEmpty && refused.isEmpty && lostTargets.isEmpty
    }
}

extension ManagedObject {
    /// The order of a relationship whose members were not known: as far as it is known now, the stored one without those who
    /// were taken out, and those who came at the end.
    fileprivate func storedOrder(_ index: Int, _ earlier: ToManyState) -> [ObjectID] {
        var earlier = earlier
        let stored = toMany[index]?.order?.base ?? []
        let added = earlier.inOrder()
        let last = Set(added)
        return stored.filter { !earlier.removed.contains($0) && !last.contains($0) } + added
    }
}

extension ManagedObjectContext {
    /// What a relationship of a deleted object leads to, deleted objects among it; nothing is noted of what was read.
    fileprivate func linkedIDs(of object: ManagedObject, _ index: Int) -> [ObjectID] {
        guard object.entity.relationships[index].description.isToMany else {
            return targetID(of: object, index).map { [$0] } ?? []
        }
        var state = object.rarer?.toMany[index]
        if state?.isLoaded == true, state?.order != nil { return state?.inOrder() ?? [] }
        if let current = state?.current { return Array(current) }
        let added = state?.order == nil ? Array(state?.added ?? []) : state?.inOrder() ?? []
        if object.isInserted { return added }
        do {
            let (came, went) = (Set(added), state?.removed ?? [])
            let stored = try source().members(
                ofRelationship: index, entity: object.entity.index, owners: [object.objectID])[0]
            return stored.filter { !came.contains($0) && !went.contains($0) } + added
        } catch {
            readError = error
            return added
        }
    }
}

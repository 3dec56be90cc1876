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
        let all = [changes.inserted, changes.updated, changes.deleted]
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

    /// Nil if nothing is different.
    fileprivate init?(
        _ object: ManagedObject, _ earlier: EarlierState?, _ left: [ObjectID: ManagedObject],
        _ context: ManagedObjectContext
    ) {
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
        func targets(_ ids: [ObjectID], _ relationship: Int) -> [ManagedObject] {
            let gone = ids.compactMap { left[$0] }
            let known = ids.filter {
                left[$0] == nil && (!$0.isTemporary || context.registry.object(for: $0) != nil)
            }
            let root = context.schema.entities[entity.relationships[relationship].destination]
            return gone + context.objects(with: known, under: root)
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
            // What no delete rule has taken from it goes with its row, or leads to an id that a save changes.
            for (index, relationship) in entity.relationships.enumerated() {
                switch relationship.storage {
                case .pairs:
                    members[index] = ([], targets(context.memberIDs(of: object, index), index))
                case .column:
                    if let id = context.targetID(of: object, index), self.targets[index] == nil {
                        self.targets[index] = (target(id, index), nil)
                    }
                case .inverseColumn, .transient: break
                }
            }
        }
        guard let rarer = object.rarer else {
            if isEmpty { return nil }
            return
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
            let before = earlier?.toMany[index] ?? ToManyState()
            if state.added == before.added && state.removed == before.removed { continue }
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
            members[index, default: ([], [])].came += targets(Array(came), index)
            members[index, default: ([], [])].went += targets(Array(went), index)
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
    }

    /// What takes it back.
    var reversed: ObjectEdit { ObjectEdit(taking: self) }

    private var isEmpty: Bool {
        isThere.before == isThere.after && columns.isEmpty && transients.isEmpty && targets.isEmpty
            && members.isEmpty
    }
}

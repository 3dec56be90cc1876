// Relationships in memory: both sides at once.
//
// Every change is a link or an unlink of two objects. Linking first frees whatever a to-one side was linked
// to, then notes the link on both sides; the other side is a fault that need not be read unless it is
// to-one itself. Without an inverse there is one side only.
//
// What was added to a pair of to-many relationships, or taken out of it, is an edit of both sides or of none: a side that does
// not know what is stored learns from the other one that its edit is none.
//
// Targets and members are kept as ids, so that objects do not hold each other alive; but see `keepsMembers`.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    private func relationship(_ object: ManagedObject, _ index: Int) -> SchemaRelationship {
        object.entity.relationships[index]
    }

    // MARK: Reading

    /// The id that a to-one relationship leads to.
    func targetID(of object: ManagedObject, _ index: Int) -> ObjectID? {
        if case .column(let column) = relationship(object, index).storage {
            return object.columnValue(column).reference
        }
        return object.transientTargets[index]
    }

    /// The object that a to-one relationship leads to.
    func target(of object: ManagedObject, _ index: Int) -> ManagedObject? {
        guard let id = targetID(of: object, index) else { return nil }
        if board.wants(.advice) { watchTarget(id, of: object, index) }
        return self.object(
            with: id, under: schema.entities[relationship(object, index).destination])
    }

    /// The ids of the members of a to-many: in their order, or ascending and new ones last.
    func memberIDs(of object: ManagedObject, _ index: Int) -> [ObjectID] {
        guard relationship(object, index).description.isToMany else {
            return targetID(of: object, index).map { [$0] } ?? []
        }
        if relationship(object, index).description.isOrdered {
            return orderedMembers(of: object, index)
        }
        return loadedMembers(of: object, index).sorted {
            ($0.isTemporary ? 1 : 0, $0.reference) < ($1.isTemporary ? 1 : 0, $1.reference)
        }
    }

    /// The members of a to-many: in their order, or by ascending id.
    func members(of object: ManagedObject, _ index: Int) -> [ManagedObject] {
        let members = membersWithRows(of: object, index) ?? membersByID(of: object, index)
        // Who has read them has made the extras.
        if keepsMembers, case .inverseColumn = relationship(object, index).storage {
            object.rarer?.keptMembers[index] = members
        }
        return members
    }

    private func membersByID(of object: ManagedObject, _ index: Int) -> [ManagedObject] {
        let ids = memberIDs(of: object, index)
        return objects(with: ids, under: schema.entities[relationship(object, index).destination])
    }

    /// How many members a to-many has.
    func memberCount(of object: ManagedObject, _ index: Int) -> Int {
        object.rarer?.toMany[index]?.count ?? loadedMembers(of: object, index).count
    }

    /// Whether an object is a member of a to-many.
    func isMember(_ id: ObjectID, of object: ManagedObject, _ index: Int) -> Bool {
        if let state = object.rarer?.toMany[index], state.isLoaded {
            return state.contains(id) == true
        }
        return loadedMembers(of: object, index).contains(id)
    }

    /// The members of a to-many; asks the store once.
    func loadedMembers(of object: ManagedObject, _ index: Int) -> Set<ObjectID> {
        if let members = object.toMany[index]?.current { return members }
        if object.flags.contains(.foreign) { object.fulfillIfNeeded() }
        let relationship = relationship(object, index)
        if hasLostLinks { findLostLinks(of: object, index) }
        keepMemberEdits(of: object, index)
        var inOrder: [ObjectID] = []
        let isStored =
            !object.isInserted && !object.isGone && (!object.hasTemporaryID || parent != nil)
        if isStored, relationship.storage != .transient {
            do {
                inOrder = try storedMembers(of: object, index)
            } catch {
                readError = error
                return []
            }
        }
        var stored = Set(inOrder)
        // What was taken out here is known to be a change of what is stored.
        let removed = object.toMany[index]?.removed ?? []
        let added = object.toMany[index]?.added ?? []
        if case .inverseColumn(_, let column) = relationship.storage {
            // A member that was moved here belongs to where it was moved, whatever the store says.
            stored = stored.filter { id in
                if removed.contains(id) { return true }
                guard let member = registry.object(for: id), let edit = member.edit(column) else {
                    return true
                }
                return edit.reference == object.objectID
            }
        }
        stored = stored.filter { id in
            guard !removed.contains(id), let member = registry.object(for: id) else { return true }
            return !isDeleted(member, from: relationship)
        }
        if relationship.description.isOrdered {
            object.toMany[index, default: ToManyState(isOrdered: true)].load(
                ordered: inOrder.filter(stored.contains))
        } else {
            object.toMany[index, default: ToManyState()].load(stored)
        }
        for id in added.union(removed) where object.toMany[index]?.hasEdit(of: id) == false {
            forgetPairEdit(of: object, index, id)
        }
        return object.toMany[index]?.current ?? stored
    }

    /// Whether a stored member is none any more since it is deleted. It stays one, be it read before or after that, if its own
    /// delete rule does nothing about it.
    @inline(__always)
    func isDeleted(_ member: ManagedObject, from relationship: SchemaRelationship) -> Bool {
        guard member.isDeleted else { return false }
        // No rule keeps what another context has deleted.
        if member.isGone || member.isDisplaced { return true }
        guard member.isPropagated, let inverse = relationship.inverse else {
            return member.isPropagated
        }
        let destination = schema.entities[relationship.destination]
        switch destination.relationships[inverse].description.deleteRule {
        case .noAction, .deny: return false
        case .nullify, .cascade: return true
        }
    }

    /// Forgets who came and left by edits that are none any more: a member's own side says where it belongs, and is no longer
    /// edited once it says what is stored. What is stored may be another thing by now.
    func keepMemberEdits(of object: ManagedObject, _ index: Int) {
        guard case .inverseColumn(_, let column) = relationship(object, index).storage,
            object.rarer?.toMany[index]?.hasChanges == true
        else { return }
        let id = object.objectID
        func edit(_ member: ObjectID) -> Value? { registry.object(for: member)?.edit(column) }
        object.toMany[index]?.keepEdits {
            edit($0)?.reference == id
        } isRemoved: {
            edit($0).map { $0.reference != id } ?? false
        }
    }

    /// Forgets on the other side of a pair what is no edit on this one: it is stored as it is here. Should the other side have
    /// read something older, it reads again.
    func forgetPairEdit(of object: ManagedObject, _ index: Int, _ member: ObjectID) {
        let relationship = relationship(object, index)
        guard case .pairs = relationship.storage, let inverse = relationship.inverse,
            let other = registry.object(for: member),
            let state = other.rarer?.toMany[inverse], state.hasEdit(of: object.objectID)
        else { return }
        if state.isLoaded { other.toMany[inverse]?.unload() }
        other.toMany[inverse]?.forgetEdit(of: object.objectID)
    }

    /// Records references to an object that an edit adds: it may have been deleted in between, and lost them.
    private func findLostLinks(of object: ManagedObject, _ index: Int) {
        let relationship = relationship(object, index)
        guard let inverse = relationship.inverse, !object.isGone else { return }
        let destination = schema.entities[relationship.destination]
        let id = object.objectID
        changed.look { other in
            guard other.entity.isKind(of: destination), !other.isDeleted, !other.isGone else {
                return true
            }
            let leadsHere =
                switch other.entity.relationships[inverse].storage {
                case .column(let column): other.edit(column)?.reference == id
                case .pairs: other.rarer?.toMany[inverse]?.added.contains(id) == true
                case .inverseColumn, .transient: false
                }
            if leadsHere {
                let isOrdered = relationship.description.isOrdered
                object.toMany[index, default: ToManyState(isOrdered: isOrdered)].add(other.objectID)
            }
            return true
        }
    }

    /// The members that are stored, as far as they were not read ahead.
    private func storedMembers(of object: ManagedObject, _ index: Int) throws(StoreError)
        -> [ObjectID]
    {
        if let prefetched,
            let members = prefetched.members[.init(owner: object.objectID, index: index)]
        {
            if board.wants([.faultHits, .advice]) {
                tellOfMembers(members, of: object, index, since: nil)
            }
            return members
        }
        let start = board.wants([.faultMisses, .advice]) ? Self.now() : nil
        do throws(StoreError) {
            let members = try source().members(
                ofRelationship: index, entity: object.entity.index, owners: [object.objectID])[0]
            if let start { tellOfMembers(members, of: object, index, since: start) }
            return members
        } catch {
            if let start { tellOfMembers([], of: object, index, since: start, error: error) }
            throw error
        }
    }

    // MARK: Setting

    /// Sets a to-one relationship.
    func setTarget(of object: ManagedObject, _ index: Int, _ target: ManagedObject?) {
        let old = targetID(of: object, index)
        guard !isNoMore(object) else { return }
        if object.rarer != nil { forgetLostTargets(of: object, index) }
        var meant = target
        if let target {
            check(target, for: object, index)
            meant = self.meant(by: target, object, index)
            // Shown still, though it is gone.
            if meant == nil, old == target.objectID { return touch(object, index, old) }
        }
        if let meant {
            if old == meant.objectID { return touch(object, index, old) }
            link(object, index, meant)
        } else if let old {
            let root = schema.entities[relationship(object, index).destination]
            unlink(object, index, objects(with: [old], under: root)[0])
        } else {
            touch(object, index, nil)
        }
        if let target, meant == nil { noteLostTargets([target.objectID], of: object, index) }
    }

    /// Setting what is there already makes an object changed all the same.
    private func touch(_ object: ManagedObject, _ index: Int, _ target: ObjectID?) {
        note(object, index, target: target)
    }

    /// Sets a to-many relationship.
    func setMembers(of object: ManagedObject, _ index: Int, _ members: Set<ManagedObject>) {
        guard !isNoMore(object) else { return }
        for member in members { check(member, for: object, index) }
        let (there, lost) = meant(by: members, object, index)
        let members = there.map { Set($0) } ?? members
        let old = loadedMembers(of: object, index)
        let new = Set(members.map(\.objectID))
        let root = schema.entities[relationship(object, index).destination]
        for member in objects(with: Array(old.subtracting(new)), under: root) {
            unlink(object, index, member)
        }
        for member in members.sorted(by: { $0.objectID.reference < $1.objectID.reference })
        where !old.contains(member.objectID) {
            link(object, index, member)
        }
        if old == new {
            objectWillChange(object)
            objectDidChange(object, isReal: false)
        }
        noteLostTargets(lost, of: object, index)
    }

    /// Stops if an object can be no target of a relationship, whatever has become of it.
    func check(_ target: ManagedObject, for object: ManagedObject, _ index: Int) {
        let relationship = relationship(object, index)
        let name = "\(object.entity.name).\(relationship.description.name)"
        precondition(
            target.managedObjectContext === self || target.managedObjectContext == nil,
            "\(name): the object belongs to another context: get it from this one by its objectID"
        )
        precondition(
            target.entity.isKind(of: schema.entities[relationship.destination]),
            "the destination of \(name) is \(schema.entities[relationship.destination].name), not \(target.entity.name)"
        )
    }

    // MARK: Linking

    /// Links two objects, on both sides.
    func link(_ object: ManagedObject, _ index: Int, _ target: ManagedObject) {
        let relationship = relationship(object, index)
        free(object, index, unless: target)
        if let inverse = relationship.inverse {
            free(target, inverse, unless: object)
            noteLink(target, inverse, object)
        }
        noteLink(object, index, target)
        settlePair(object, index, target)
    }

    /// A to-one side lets go of what it is linked to.
    private func free(_ object: ManagedObject, _ index: Int, unless target: ManagedObject) {
        let relationship = relationship(object, index)
        guard !relationship.description.isToMany, let old = targetID(of: object, index),
            old != target.objectID
        else { return }
        let root = schema.entities[relationship.destination]
        unlink(object, index, objects(with: [old], under: root)[0])
    }

    /// Unlinks two objects, on both sides.
    func unlink(_ object: ManagedObject, _ index: Int, _ target: ManagedObject) {
        noteUnlink(object, index, target)
        if let inverse = relationship(object, index).inverse {
            noteUnlink(target, inverse, object)
        }
        settlePair(object, index, target)
    }

    /// What is undone on the side of a pair that knows what is stored is no edit on the other one, which cannot tell.
    private func settlePair(_ object: ManagedObject, _ index: Int, _ target: ManagedObject) {
        let relationship = relationship(object, index)
        guard case .pairs = relationship.storage, let inverse = relationship.inverse,
            let state = object.rarer?.toMany[index],
            let other = target.rarer?.toMany[inverse], state.isLoaded != other.isLoaded
        else { return }
        if state.isLoaded, !state.hasEdit(of: target.objectID) {
            forgetPairEdit(of: object, index, target.objectID)
        } else if other.isLoaded, !other.hasEdit(of: object.objectID) {
            forgetPairEdit(of: target, inverse, object.objectID)
        }
    }

    private func noteLink(_ object: ManagedObject, _ index: Int, _ target: ManagedObject) {
        if relationship(object, index).description.isToMany {
            object.willChange(.relationship(index))
            objectWillChange(object)
            let isOrdered = relationship(object, index).description.isOrdered
            object.toMany[index, default: ToManyState(isOrdered: isOrdered)].add(target.objectID)
            if isOrdered, restoresOrder { object.toMany[index]?.restoreLast() }
            objectDidChange(object, isReal: true)
            object.didChange(.relationship(index))
        } else {
            note(object, index, target: target.objectID)
        }
    }

    private func noteUnlink(_ object: ManagedObject, _ index: Int, _ target: ManagedObject) {
        if object.isGone { return }
        if relationship(object, index).description.isToMany {
            object.willChange(.relationship(index))
            objectWillChange(object)
            let isOrdered = relationship(object, index).description.isOrdered
            object.toMany[index, default: ToManyState(isOrdered: isOrdered)].remove(target.objectID)
            objectDidChange(object, isReal: true)
            object.didChange(.relationship(index))
        } else if targetID(of: object, index) == target.objectID {
            note(object, index, target: nil)
        }
    }

    /// Sets one side of a to-one relationship.
    private func note(_ object: ManagedObject, _ index: Int, target: ObjectID?) {
        if case .column(let column) = relationship(object, index).storage {
            object.setColumn(column, target.value)
        } else {
            objectWillChange(object)
            object.willChange(.relationship(index))
            let old = object.transientTargets.updateValue(target ?? object.objectID, forKey: index)
            if target == nil { object.transientTargets[index] = nil }
            objectDidChange(object, isReal: old != target)
            object.didChange(.relationship(index))
        }
    }
}

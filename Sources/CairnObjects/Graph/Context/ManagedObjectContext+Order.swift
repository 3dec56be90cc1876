// Ordered to-many relationships: in which order the members stand.
//
// Whoever is linked comes to the end; what puts a member elsewhere links it first and moves it then. Keys are the store's
// business: a save says the order that is wanted, as far as it is not what the store makes by itself.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// The ids of the members of an ordered to-many, in their order.
    func orderedMembers(of object: ManagedObject, _ index: Int) -> [ObjectID] {
        if object.rarer?.toMany[index]?.isLoaded != true { _ = loadedMembers(of: object, index) }
        return object.toMany[index]?.inOrder() ?? []
    }

    /// Sets an ordered to-many relationship. A member that is named twice stands where it is named first.
    func setMembers(of object: ManagedObject, _ index: Int, _ members: [ManagedObject]) {
        guard !isNoMore(object) else { return }
        guard object.entity.relationships[index].description.isOrdered else {
            return setMembers(of: object, index, Set(members))
        }
        let (there, lost) = meant(by: members, object, index)
        let members = there ?? members
        defer { noteLostTargets(lost, of: object, index) }
        let old = orderedMembers(of: object, index)
        var new = members.map(\.objectID)
        // Mostly a little was changed at one place.
        var first = 0
        while first < old.count, first < new.count, old[first] == new[first] { first += 1 }
        if first == old.count, first == new.count {
            objectWillChange(object)
            objectDidChange(object, isReal: false)
            return
        }
        var (oldEnd, newEnd) = (old.count, new.count)
        while oldEnd > first, newEnd > first, old[oldEnd - 1] == new[newEnd - 1] {
            oldEnd -= 1
            newEnd -= 1
        }
        for member in members[first..<newEnd] { check(member, for: object, index) }
        var isTwice = false
        if newEnd > first {
            var known: Set<ObjectID> = []
            known.reserveCapacity(new.count)
            for id in new where !known.insert(id).inserted { isTwice = true }
        }
        if isTwice {
            var known: Set<ObjectID> = []
            new = new.filter { known.insert($0).inserted }
            oldEnd = old.count
            newEnd = new.count
            first = 0
        }
        let (gone, come) = (Set(old[first..<oldEnd]), Set(new[first..<newEnd]))
        let root = schema.entities[object.entity.relationships[index].destination]
        for member in objects(with: old[first..<oldEnd].filter { !come.contains($0) }, under: root)
        {
            unlink(object, index, member)
        }
        var linked: Set<ObjectID> = []
        for member in members
        where come.contains(member.objectID) && !gone.contains(member.objectID)
            && linked.insert(member.objectID).inserted
        {
            link(object, index, member)
        }
        setOrder(of: object, index, new)
    }

    /// Puts the members of an ordered to-many into an order. Ids of others are passed over, and members that are not named
    /// come last.
    func setOrder(of object: ManagedObject, _ index: Int, _ ids: [ObjectID]) {
        guard !isNoMore(object) else { return }
        let now = orderedMembers(of: object, index)
        if now == ids { return }
        let members = Set(now)
        var known: Set<ObjectID> = []
        var order = ids.filter { members.contains($0) && known.insert($0).inserted }
        if order.count < now.count { order += now.filter { !known.contains($0) } }
        if order == now { return }
        object.willChange(.relationship(index))
        objectWillChange(object)
        object.toMany[index]?.reorder(order)
        objectDidChange(object, isReal: true)
        object.didChange(.relationship(index))
    }

    /// Adds a member at a place of an ordered to-many, or moves it there.
    func insert(_ member: ManagedObject, into object: ManagedObject, _ index: Int, at place: Int) {
        guard !isNoMore(object) else { return }
        check(member, for: object, index)
        let id = member.objectID
        var order = orderedMembers(of: object, index)
        if let before = order.firstIndex(of: id) {
            order.remove(at: before)
        } else {
            link(object, index, member)
            // Linking may have taken another one out.
            order = orderedMembers(of: object, index)
            if order.last == id { order.removeLast() }
        }
        order.insert(id, at: min(place, order.count))
        setOrder(of: object, index, order)
    }

    // MARK: Saving

    /// What a save says of an object's ordered relationships.
    func addOrder(of object: ManagedObject, to request: inout SaveRequest) {
        guard schema.hasOrder, object.rarer != nil else { return }
        for index in object.toMany.keys.sorted() {
            guard let change = orderChange(of: object, index) else { continue }
            request.orderChanges.append(change)
        }
    }

    /// The order that is to be saved; nil if the store makes it by itself.
    private func orderChange(of object: ManagedObject, _ index: Int) -> SaveRequest.OrderChange? {
        let relationship = object.entity.relationships[index]
        guard relationship.keepsOrder, var state = object.toMany[index], state.hasChanges else {
            return nil
        }
        if state.hasOrderChange {
            return SaveRequest.OrderChange(
                owner: object.objectID, entity: object.entity.index, relationship: index,
                members: state.inOrder(), base: state.order?.base ?? [])
        }
        guard state.added.count > 1 || state.order?.returned.isEmpty == false else { return nil }
        let added = state.addedInOrder()
        if case .inverseColumn = relationship.storage, isInOrderOfCreation(added) { return nil }
        return SaveRequest.OrderChange(
            owner: object.objectID, entity: object.entity.index, relationship: index,
            members: added, base: nil)
    }

    /// Whether objects are all new and come in the order of their creation: so do the numbers that they get.
    private func isInOrderOfCreation(_ ids: [ObjectID]) -> Bool {
        var last: UInt64?
        for id in ids {
            guard id.isTemporary else { return false }
            if let last, last >= id.reference { return false }
            last = id.reference
        }
        return true
    }

    /// Whether a save has to say something about the order of an object's members.
    func hasOrderToSave(_ object: ManagedObject) -> Bool {
        guard schema.hasOrder, let rarer = object.rarer else { return false }
        return rarer.toMany.keys.contains { orderChange(of: object, $0) != nil }
    }

    /// Lists that somebody else has changed too are read again.
    func forgetOrder(_ lists: [SaveRequest.List]) {
        for list in lists {
            registry.object(for: list.owner)?.toMany[list.relationship]?.unload()
        }
    }
}

// The members of an ordered to-many relationship as something to be changed in place, for code that works by key.
//
// Invariants: it keeps nothing of its own; each question is answered by the object, each change made to it.
// Threads: the context's.

import CairnModel

/// The members of an object's ordered to-many relationship; changing it changes the object.
///
/// ```swift
/// let songs = playlist.mutableOrderedSetValue(forKey: "songs")
/// songs.append(opening)
/// songs.move(from: 3, to: 0)
/// ```
///
/// Copies refer to the same relationship. Iteration covers the members that exist when it begins.
public struct MutableOrderedMembers: Sequence {
    /// The same members where their order does not matter.
    private let base: MutableMembers

    init(of owner: ManagedObject, _ index: Int) { base = MutableMembers(of: owner, index) }

    private var owner: ManagedObject { base.owner }

    private var index: Int { base.index }

    private var context: ManagedObjectContext { base.context }

    private var ids: [ObjectID] { context.memberIDs(of: owner, index) }

    private func object(_ id: ObjectID) -> ManagedObject {
        let destination = owner.entity.relationships[index].destination
        return context.objects(with: [id], under: context.schema.entities[destination])[0]
    }

    /// The members by now.
    public var objects: [ManagedObject] { context.members(of: owner, index) }

    /// The number of members; does not create objects for them.
    public var count: Int { base.count }

    /// Whether there are no members.
    public var isEmpty: Bool { base.isEmpty }

    /// The places of the members.
    public var indices: Range<Int> { 0..<count }

    /// Goes over the members, in their order.
    public func makeIterator() -> IndexingIterator<[ManagedObject]> { base.makeIterator() }

    /// The member at an index. Setting it replaces the member.
    ///
    /// An object that is a member elsewhere moves here, and the list becomes one shorter.
    public subscript(place: Int) -> ManagedObject {
        get { object(ids[place]) }
        nonmutating set {
            var members = objects
            members[place] = newValue
            // The other place of an object that is there twice goes, wherever it is.
            if let other = members.indices.first(where: { $0 != place && members[$0] === newValue })
            {
                members.remove(at: other)
            }
            context.setMembers(of: owner, index, members)
        }
    }

    /// Whether an object is a member.
    public func contains(_ member: ManagedObject) -> Bool { base.contains(member) }

    /// The index of a member; nil if the object is not a member.
    public func firstIndex(of member: ManagedObject) -> Int? {
        guard member.managedObjectContext === owner.managedObjectContext else { return nil }
        return ids.firstIndex(of: member.objectID)
    }

    // MARK: Changing

    /// Adds a member at the end, and updates the inverse; returns whether it was not a member before. An existing member
    /// does not move.
    ///
    /// An object that a save or a merge has merged into another one stands for the survivor. A deleted object is not added,
    /// and the owner cannot be saved until the relationship is set again or the object is removed.
    @discardableResult
    public func append(_ member: ManagedObject) -> Bool {
        guard let member = base.newMember(member) else { return false }
        context.link(owner, index, member)
        return true
    }

    /// Adds members at the end.
    public func append(contentsOf members: some Sequence<ManagedObject>) {
        for member in Array(members) { append(member) }
    }

    /// Adds a member at an index, and updates the inverse; returns whether it was not a member before. An existing member
    /// does not move. See ``append(_:)`` for deleted objects.
    @discardableResult
    public func insert(_ member: ManagedObject, at place: Int) -> Bool {
        precondition(place >= 0 && place <= count, "\(base.name) has no index \(place)")
        guard let member = base.newMember(member) else { return false }
        context.insert(member, into: owner, index, at: place)
        return true
    }

    /// Removes the member at a place.
    @discardableResult
    public func remove(at place: Int) -> ManagedObject {
        let member = self[place]
        context.unlink(owner, index, member)
        return member
    }

    /// Removes a member, and keeps the other side; whether it was one.
    @discardableResult
    public func remove(_ member: ManagedObject) -> Bool { base.remove(member) }

    /// Moves the member at a place to where it has another place.
    public func move(from place: Int, to other: Int) {
        var order = ids
        precondition(order.indices.contains(other), "\(base.name) has no index \(other)")
        order.insert(order.remove(at: place), at: other)
        context.setOrder(of: owner, index, order)
    }

    /// Exchanges two members.
    public func swapAt(_ one: Int, _ other: Int) {
        var order = ids
        order.swapAt(one, other)
        context.setOrder(of: owner, index, order)
    }

    /// Puts the members in order by a comparison; equal ones stay as they are.
    public func sort(by isBefore: (ManagedObject, ManagedObject) throws -> Bool) rethrows {
        let sorted = try objects.sorted(by: isBefore)
        context.setOrder(of: owner, index, sorted.map(\.objectID))
    }

    /// Replaces all members.
    public func replaceAll(with members: some Sequence<ManagedObject>) {
        context.setMembers(of: owner, index, Array(members))
    }

    /// Removes all members.
    public func removeAll() { context.setMembers(of: owner, index, [ManagedObject]()) }
}

extension ManagedObjectMembers where Self: ManagedObject {
    /// The members of an ordered to-many relationship, for changes in place.
    ///
    /// The relationship must be an ordered to-many relationship of the entity: any other key is a programming error.
    public func mutableOrderedSetValue(forKey key: String) -> MutableOrderedMembers {
        guard let index = entity.relationshipIndex(named: key),
            entity.relationships[index].description.isToMany,
            entity.relationships[index].description.isOrdered
        else {
            preconditionFailure(
                "the entity \(entity.name) has no ordered to-many relationship \(key)")
        }
        return MutableOrderedMembers(of: self, index)
    }
}

// The members of a to-many relationship as something to be changed in place, for code that works by key.
//
// Invariants: it keeps nothing of its own; each question is answered by the object, each change made to it.
// Threads: the context's.

import CairnModel

/// The members of an object's to-many relationship; changing it changes the object.
///
/// ```swift
/// let tags = product.mutableSetValue(forKey: "tags")
/// tags.insert(red)
/// tags.remove(blue)
/// ```
///
/// Copies refer to the same relationship. Iteration covers the members that exist when it begins.
public struct MutableMembers: Sequence {
    let owner: ManagedObject
    let index: Int

    init(of owner: ManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
    }

    /// The context of the object. Whoever asks for it reads the relationship.
    var context: ManagedObjectContext {
        owner.access(relationship: index)
        guard let context = owner.managedObjectContext else {
            preconditionFailure(
                "\(name): an object outside a context has no relationships")
        }
        return context
    }

    /// What errors call the relationship.
    var name: String {
        "\(owner.entity.name).\(owner.entity.relationships[index].description.name)"
    }

    /// The members by now.
    public var objects: Set<ManagedObject> { Set(context.members(of: owner, index)) }

    /// The number of members; does not create objects for them.
    public var count: Int { context.memberCount(of: owner, index) }

    /// Whether there are no members.
    public var isEmpty: Bool { count == 0 }

    /// Iterates over the members: in order if the relationship is ordered, otherwise by ascending id.
    public func makeIterator() -> IndexingIterator<[ManagedObject]> {
        context.members(of: owner, index).makeIterator()
    }

    /// Whether an object is a member.
    public func contains(_ member: ManagedObject) -> Bool {
        member.managedObjectContext === owner.managedObjectContext
            && context.isMember(member.objectID, of: owner, index)
    }

    // MARK: Changing

    /// Adds a member, and updates the inverse; returns whether it was not a member before. Nothing is added to an object
    /// whose row is gone.
    ///
    /// An object that a save or a merge has merged into another one stands for the survivor. A deleted object is not added,
    /// and the owner cannot be saved until the relationship is set again or the object is removed.
    @discardableResult
    public func insert(_ member: ManagedObject) -> Bool {
        guard let member = newMember(member) else { return false }
        context.link(owner, index, member)
        return true
    }

    /// The object that is to be added for one; nil if it is a member, or no more, which is noted.
    func newMember(_ member: ManagedObject) -> ManagedObject? {
        if contains(member) || owner.isGone { return nil }
        let context = context
        context.check(member, for: owner, index)
        guard let meant = context.meant(by: member, owner, index) else {
            context.noteLostTargets([member.objectID], of: owner, index)
            return nil
        }
        return meant !== member && contains(meant) ? nil : meant
    }

    /// Removes a member, and keeps the other side; whether it was one.
    @discardableResult
    public func remove(_ member: ManagedObject) -> Bool {
        let context = context
        var member = member
        if !contains(member) {
            if context.forgetLostTarget(member, of: owner, index) { return true }
            guard let meant = context.meant(by: member, owner, index), contains(meant) else {
                return false
            }
            member = meant
        }
        context.unlink(owner, index, member)
        return true
    }

    /// Adds members.
    public func formUnion(_ members: some Sequence<ManagedObject>) {
        for member in Array(members) { insert(member) }
    }

    /// Removes members.
    public func subtract(_ members: some Sequence<ManagedObject>) {
        for member in Array(members) { remove(member) }
    }

    /// Removes all members but these.
    public func formIntersection(_ members: some Sequence<ManagedObject>) {
        let kept = Set(members)
        for member in self where !kept.contains(member) { remove(member) }
    }

    /// Removes all members.
    public func removeAll() { context.setMembers(of: owner, index, Set()) }
}

extension ManagedObjectMembers where Self: ManagedObject {
    /// The members of a to-many relationship, for changes in place.
    ///
    /// The relationship must be a to-many relationship of the entity: any other key is a programming error.
    public func mutableSetValue(forKey key: String) -> MutableMembers {
        guard let index = entity.relationshipIndex(named: key),
            entity.relationships[index].description.isToMany
        else {
            preconditionFailure("the entity \(entity.name) has no to-many relationship \(key)")
        }
        return MutableMembers(of: self, index)
    }
}

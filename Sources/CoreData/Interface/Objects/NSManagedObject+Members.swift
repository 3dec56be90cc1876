// What the functions of `@NSManagedAccessor` call: members of to-many relationships are added, removed and replaced.

import CairnObjects
public import Foundation

extension NSManagedObject {
    // MARK: Adding and removing

    /// Adds members to a relationship.
    public final func _add(_ name: StaticString, _ member: NSManagedObject) {
        members(name).insert(member)
    }

    /// Adds members to a relationship.
    public final func _add(_ name: StaticString, _ members: NSSet) {
        self.members(name).formUnion(Self.objects(members))
    }

    /// Adds members to a relationship.
    public final func _add(_ name: StaticString, _ members: NSOrderedSet) {
        self.members(name).formUnion(members.array.map(ManagedMemberSet.member))
    }

    /// Adds members to a relationship.
    public final func _add(_ name: StaticString, _ members: some Collection<NSManagedObject>) {
        self.members(name).formUnion(members.map { $0 })
    }

    /// Removes members of a relationship.
    public final func _remove(_ name: StaticString, _ member: NSManagedObject) {
        members(name).remove(member)
    }

    /// Removes members of a relationship.
    public final func _remove(_ name: StaticString, _ members: NSSet) {
        self.members(name).subtract(Self.objects(members))
    }

    /// Removes members of a relationship.
    public final func _remove(_ name: StaticString, _ members: NSOrderedSet) {
        self.members(name).subtract(members.array.map(ManagedMemberSet.member))
    }

    /// Removes members of a relationship.
    public final func _remove(_ name: StaticString, _ members: some Collection<NSManagedObject>) {
        self.members(name).subtract(members.map { $0 })
    }

    // MARK: Places

    /// Adds members in places.
    public final func _insert(_ name: StaticString, _ member: NSManagedObject, at place: Int) {
        list(name).insert(member, at: place)
    }

    /// Adds members in places.
    public final func _insert(
        _ name: StaticString, _ members: [NSManagedObject], at places: NSIndexSet
    ) { changed(name) { $0.insert(members, at: places as IndexSet) } }

    /// Removes members of a relationship.
    public final func _remove(_ name: StaticString, at place: Int) {
        list(name).remove(at: place)
    }

    /// Removes members of a relationship.
    public final func _remove(_ name: StaticString, at places: NSIndexSet) {
        changed(name) { $0.removeObjects(at: places as IndexSet) }
    }

    /// Gives the places of members to others.
    public final func _replace(_ name: StaticString, at place: Int, with member: NSManagedObject) {
        list(name)[place] = member
    }

    /// Gives the places of members to others.
    public final func _replace(
        _ name: StaticString, at places: NSIndexSet, with members: [NSManagedObject]
    ) { changed(name) { $0.replaceObjects(at: places as IndexSet, with: members) } }

    // MARK: The relationship

    /// Changes several members at once.
    private func changed(_ name: StaticString, _ change: (NSMutableOrderedSet) -> Void) {
        let list = list(name)
        let members = NSMutableOrderedSet(array: list.objects)
        change(members)
        list.replaceAll(with: members.array.map(ManagedMemberSet.member))
    }

    private func members(_ name: StaticString) -> MutableMembers {
        (self as ManagedObject).mutableSetValue(forKey: key(name))
    }

    private func list(_ name: StaticString) -> MutableOrderedMembers {
        (self as ManagedObject).mutableOrderedSetValue(forKey: key(name))
    }

    /// The relationship's name, which the function has with a capital letter: `URLs` stays what it is.
    private func key(_ name: StaticString) -> String {
        Self.key(name.description) { isToMany($0) != nil }
    }

    /// The name of those that differ in their first letter which there is.
    static func key(_ name: String, isKnown: (String) -> Bool) -> String {
        if isKnown(name) { return name }
        let capital = name.prefix(1).uppercased() + name.dropFirst()
        return isKnown(capital) ? capital : name
    }
}

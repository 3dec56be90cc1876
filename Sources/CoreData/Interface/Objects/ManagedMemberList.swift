// The members of an ordered relationship as an ordered set of Foundation.
//
// On Linux `NSMutableOrderedSet` has its members in storage of its own, past what a subclass says. So this one has them there,
// too, as they are when somebody asks for it; whatever changes them gives all of them to the object.
//
// Threads: the queue of the object's context.

import CairnObjects
import Foundation

/// An ordered set whose changes are changes of an object.
final class ManagedMemberList: NSMutableOrderedSet {
    /// Nil until the members are there.
    private var members: MutableOrderedMembers?

    init(_ members: MutableOrderedMembers) {
        super.init(capacity: 0)
        super.addObjects(from: members.objects)
        self.members = members
    }

    @available(*, unavailable)
    required convenience init(arrayLiteral elements: Any...) { preconditionFailure("unavailable") }

    @available(*, unavailable)
    required convenience init?(coder: NSCoder) { preconditionFailure("unavailable") }

    /// Gives the object what the members are now.
    private func apply() { members?.replaceAll(with: array.map(ManagedMemberSet.member)) }

    // MARK: One member

    override func insert(_ object: Any, at place: Int) {
        super.insert(object, at: place)
        apply()
    }

    override func removeObject(at place: Int) {
        super.removeObject(at: place)
        apply()
    }

    override func replaceObject(at place: Int, with object: Any) {
        super.replaceObject(at: place, with: object)
        apply()
    }

    override func setObject(_ object: Any, at place: Int) {
        super.setObject(object, at: place)
        apply()
    }

    override subscript(place: Int) -> Any {
        get { object(at: place) }
        set { setObject(newValue, at: place) }
    }

    override func add(_ object: Any) {
        super.add(object)
        apply()
    }

    override func remove(_ object: Any) {
        super.remove(object)
        apply()
    }

    override func exchangeObject(at one: Int, withObjectAt other: Int) {
        super.exchangeObject(at: one, withObjectAt: other)
        apply()
    }

    // MARK: Several members

    override func addObjects(from objects: [Any]) {
        super.addObjects(from: objects)
        apply()
    }

    override func insert(_ objects: [Any], at places: IndexSet) {
        super.insert(objects, at: places)
        apply()
    }

    override func moveObjects(at places: IndexSet, to place: Int) {
        super.moveObjects(at: places, to: place)
        apply()
    }

    override func replaceObjects(at places: IndexSet, with objects: [Any]) {
        super.replaceObjects(at: places, with: objects)
        apply()
    }

    override func removeObjects(at places: IndexSet) {
        super.removeObjects(at: places)
        apply()
    }

    override func removeObjects(in range: NSRange) {
        super.removeObjects(in: range)
        apply()
    }

    override func removeObjects(in objects: [Any]) {
        super.removeObjects(in: objects)
        apply()
    }

    override func removeAllObjects() {
        super.removeAllObjects()
        apply()
    }

    // MARK: Sets

    override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }

    override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: Array(other)) }

    override func minus(_ other: NSOrderedSet) { removeObjects(in: other.array) }

    override func minusSet(_ other: Set<AnyHashable>) { removeObjects(in: Array(other)) }

    override func intersect(_ other: NSOrderedSet) {
        removeObjects(in: array.filter { !other.contains($0) })
    }

    override func intersectSet(_ other: Set<AnyHashable>) {
        let other = NSSet(set: other)
        removeObjects(in: array.filter { !other.contains($0) })
    }

    // MARK: Order

    override func sort(comparator: (Any, Any) -> ComparisonResult) {
        super.sort(comparator: comparator)
        apply()
    }

    override func sort(
        options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult
    ) {
        super.sort(options: options, usingComparator: comparator)
        apply()
    }

    override func sortRange(
        _ range: NSRange, options: NSSortOptions = [],
        usingComparator comparator: (Any, Any) -> ComparisonResult
    ) {
        super.sortRange(range, options: options, usingComparator: comparator)
        apply()
    }

    override func sort(using sortDescriptors: [NSSortDescriptor]) {
        super.sort(using: sortDescriptors)
        apply()
    }
}

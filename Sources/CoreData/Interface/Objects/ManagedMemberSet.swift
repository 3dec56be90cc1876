// The members of a to-many relationship as a set of Foundation.
//
// It keeps nothing of its own: `NSMutableSet` asks a subclass for its primitives, and makes all else of them. On Linux a cast
// to a set of Swift alone does not ask, and is empty: there `allObjects`, or the property itself, is the way.
//
// Threads: the queue of the object's context.

import CairnObjects
import Foundation

/// A set whose changes are changes of an object.
final class ManagedMemberSet: NSMutableSet {
    private let members: MutableMembers

    init(_ members: MutableMembers) {
        self.members = members
        super.init(capacity: 0)
    }

    @available(*, unavailable)
    required init(capacity: Int) { preconditionFailure("unavailable") }

    @available(*, unavailable)
    required convenience init?(coder: NSCoder) { preconditionFailure("unavailable") }

    override var count: Int { members.count }

    override func member(_ object: Any) -> Any? {
        (object as? ManagedObject).flatMap { members.contains($0) ? $0 : nil }
    }

    override func objectEnumerator() -> NSEnumerator {
        NSArray(array: Array(members)).objectEnumerator()
    }

    override func add(_ object: Any) { members.insert(Self.member(object)) }

    override func remove(_ object: Any) {
        if let object = object as? ManagedObject { members.remove(object) }
    }

    override func removeAllObjects() { members.removeAll() }

    override var description: String { allObjects.description }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: allObjects) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: allObjects) }

    /// What is to be a member.
    static func member(_ any: Any) -> ManagedObject {
        guard let object = any as? ManagedObject else {
            preconditionFailure(
                "a relationship leads to managed objects, not to a \(type(of: any))")
        }
        return object
    }
}

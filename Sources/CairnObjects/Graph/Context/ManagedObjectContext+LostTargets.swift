// Objects that somebody relates others to although they have left the context, or are gone.
//
// A save makes a new object part of a stored one, a merge finds that others have folded an object, a deletion is saved: whoever
// holds the object goes on working with it. So a relationship is never set to what is not there:
//
//   1. An object that was folded into another one stands for that one.
//   2. One of a row that is there, which the context has let go of by a reset, stands for the row's object.
//   3. All others are no more. The relationship is set without them, and the object is not valid until it is set anew. But one
//      that the relationship shows still, since nobody has refreshed it, stays there as it was: whoever adds a member to those
//      that he has read means nothing by that one.
//
// Threads: the context's.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// The object that is meant by one that somebody relates another to: itself, or who is in its place; nil if it is no more.
    ///
    /// - Complexity: O(1); reads a row if the object has left the context.
    func meant(by target: ManagedObject, _ object: ManagedObject, _ index: Int) -> ManagedObject? {
        if target.managedObjectContext === self, !isLost(target) { return target }
        let destination = schema.entities[object.entity.relationships[index].destination]
        for id in [target.absorbedInto, target.objectID].compactMap(\.self) {
            guard let other = try? existingObject(with: id), !isLost(other),
                other.entity.isKind(of: destination)
            else { continue }
            return other
        }
        return nil
    }

    /// Who is meant by the members that a relationship is set to, in their order; nil if that is all of them. Besides the ids of
    /// those that are no more. Forgets those that it was set to before.
    func meant(
        by members: some Collection<ManagedObject>, _ object: ManagedObject, _ index: Int
    ) -> (there: [ManagedObject]?, lost: [ObjectID]) {
        if object.rarer != nil { forgetLostTargets(of: object, index) }
        if members.allSatisfy({ $0.managedObjectContext === self && !isLost($0) }) {
            return (nil, [])
        }
        var there: [ManagedObject] = []
        var lost: [ObjectID] = []
        for member in members {
            check(member, for: object, index)
            if let meant = meant(by: member, object, index) {
                there.append(meant)
            } else if isShown(member, by: object, index) {
                there.append(member)
            } else {
                lost.append(member.objectID)
            }
        }
        return (there, lost)
    }

    /// Whether a relationship shows an object, which may be gone.
    func isShown(_ target: ManagedObject, by object: ManagedObject, _ index: Int) -> Bool {
        guard target.managedObjectContext === self else { return false }
        guard object.entity.relationships[index].description.isToMany else {
            return targetID(of: object, index) == target.objectID
        }
        return isMember(target.objectID, of: object, index)
    }

    /// Notes objects that are no more and that a relationship was to lead to.
    func noteLostTargets(_ lost: [ObjectID], of object: ManagedObject, _ index: Int) {
        if lost.isEmpty || object.isGone { return }
        objectWillChange(object)
        object.extras.lostTargets[index, default: []].append(contentsOf: lost)
        objectDidChange(object, isReal: true)
    }

    /// Forgets the objects that are no more and that a relationship was to lead to: it is set anew.
    func forgetLostTargets(of object: ManagedObject, _ index: Int) {
        guard object.rarer?.lostTargets[index] != nil else { return }
        objectWillChange(object)
        object.extras.lostTargets[index] = nil
        objectDidChange(object, isReal: true)
    }

    /// Forgets one of them; whether it was one.
    func forgetLostTarget(_ target: ManagedObject, of object: ManagedObject, _ index: Int) -> Bool {
        guard let lost = object.rarer?.lostTargets[index], lost.contains(target.objectID) else {
            return false
        }
        let left = lost.filter { $0 != target.objectID }
        forgetLostTargets(of: object, index)
        noteLostTargets(left, of: object, index)
        return true
    }
}

extension ManagedObject {
    /// An error for each object that is no more and that a relationship was set to.
    final var errorsOfLostTargets: [StoreError] {
        guard let rarer, !rarer.lostTargets.isEmpty else { return [] }
        return rarer.lostTargets.inKeyOrder().flatMap { index, lost in
            let name = entity.relationships[index].description.name
            return lost.map { id in
                failure(
                    .validation,
                    "\(name) was set to an object that no longer exists (\(id)): it was deleted, or never saved. Set another object, or nil",
                    key: name, value: .objectID(id))
            }
        }
    }
}

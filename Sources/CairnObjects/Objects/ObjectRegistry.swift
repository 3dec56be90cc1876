// The objects of one context by id: one object for one id.
//
// The table holds its objects weakly. An object takes itself out when it goes, and that may happen on any
// thread, since the last reference can be dropped anywhere; so the table lies behind a lock. A lookup that
// meets an object which is just going finds nothing, and the caller makes a new one.
//
// Cost: a weak reference is a side allocation for each object that was ever registered and an atomic
// operation a lookup. Nobody outside this file knows, so the table can be replaced.
//
// Invariants: an entry whose object is gone is removed by that object's deinit, or overwritten before.
// Threads: `deregister` any; all else the context's.

import CairnModel
import CairnStore
import Synchronization

/// The table of a context's objects.
final class ObjectRegistry {
    private struct Entry {
        weak var object: ManagedObject?
    }

    /// How the store of the context names its objects; objects decode their cells with it.
    let identity: StoreIdentity
    private let lock = Mutex(())
    private var entries: [ObjectID: Entry] = [:]

    init(identity: StoreIdentity) {
        self.identity = identity
    }

    /// The object of that id, if somebody holds it.
    func object(for id: ObjectID) -> ManagedObject? {
        var found: ManagedObject?
        lock.withLock { _ in found = entries[id]?.object }
        return found
    }

    func register(_ object: ManagedObject) {
        lock.withLock { _ in entries[object.objectID] = Entry(object: object) }
    }

    /// Takes an object out that goes on living outside the context, or gets another id.
    func remove(_ object: ManagedObject) {
        var known: ManagedObject?
        lock.withLock { _ in
            known = entries[object.objectID]?.object
            if known === object { entries[object.objectID] = nil }
        }
        withExtendedLifetime(known) {}
    }

    /// Takes out the entry of an object that is going: its weak reference is nil by now. If a new object
    /// has taken the id meanwhile, the entry is that one's.
    func deregister(_ id: ObjectID) {
        // Held until the lock is free: if this becomes the new object's last reference meanwhile, its deinit
        // wants the lock.
        var other: ManagedObject?
        lock.withLock { _ in
            other = entries[id]?.object
            if other == nil { entries[id] = nil }
        }
        withExtendedLifetime(other) {}
    }

    /// All objects that somebody holds, in no order.
    var objects: [ManagedObject] {
        var found: [ManagedObject] = []
        lock.withLock { _ in found = entries.values.compactMap(\.object) }
        return found
    }
}

// The objects of one context by id: one object for one id.
//
// The tables hold their objects weakly, as addresses. An object takes itself out when it goes, and that may happen on
// any thread, since the last reference can be dropped anywhere; so the tables lie behind a lock, and an object's
// memory stays until its deinit has had the lock. A lookup that meets an object which is just going finds nothing,
// and the caller makes a new one, which takes the place over.
//
// Invariants: an entry whose object is gone is removed by that object's deinit, or overwritten before.
// Threads: `deregister` any; all else the context's.

import CCairn
import CairnModel
import CairnStore
import FoundationEssentials
import Synchronization

/// The tables of a context's objects.
final class ObjectRegistry: Sendable {
    /// How the store of the context names its objects; objects decode their cells with it.
    let identity: StoreIdentity
    /// What stands for the store in temporary ids.
    let temporaryStore: UUID

    /// Of one hierarchy.
    private struct Tables: ~Copyable {
        var permanent = ObjectTable()
        var temporary = ObjectTable()
    }

    /// The numbers of the hierarchies, and the tables of each.
    private struct State: ~Copyable {
        let tables: UnsafeMutablePointer<Tables>
        let count: Int

        init(_ count: Int) {
            self.count = count
            tables = .allocate(capacity: count)
            for index in 0..<count { (tables + index).initialize(to: Tables()) }
        }

        deinit {
            tables.deinitialize(count: count)
            tables.deallocate()
        }
    }

    private let hierarchies: [UInt32]
    private let state: Mutex<State>

    init(identity: StoreIdentity, temporaryStore: UUID) {
        self.identity = identity
        self.temporaryStore = temporaryStore
        hierarchies = Set(identity.hierarchies).sorted()
        state = Mutex(State(hierarchies.count))
    }

    /// The tables of a hierarchy; nil if the store has none of that number.
    func place(ofHierarchy hierarchy: UInt32) -> Int? { hierarchies.firstIndex(of: hierarchy) }

    private func place(_ id: ObjectID) -> Int? {
        guard id.isTemporary ? id.store == temporaryStore : id.store == identity.identifier else {
            return nil
        }
        return place(ofHierarchy: id.hierarchy)
    }

    /// The object of that id, if somebody holds it.
    func object(for id: ObjectID) -> ManagedObject? {
        guard let place = place(id) else { return nil }
        return object(id.reference, isTemporary: id.isTemporary, at: place)
    }

    /// The object of a number in the tables at a place, if somebody holds it.
    func object(_ number: UInt64, isTemporary: Bool, at place: Int) -> ManagedObject? {
        let retained = state.withLock { state in
            let found =
                isTemporary
                ? state.tables[place].temporary.object(number)
                : state.tables[place].permanent.object(number)
            return Address(found.flatMap { cairn_try_retain($0) })
        }
        return retained.object
    }

    /// Carries a retained object out of the lock.
    private struct Address: @unchecked Sendable {
        // It is taken at once by the caller, who is the only one to have it.
        let pointer: UnsafeMutableRawPointer?

        init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }

        var object: ManagedObject? {
            pointer.map { Unmanaged<ManagedObject>.fromOpaque($0).takeRetainedValue() }
        }
    }

    /// Enters an object under its number.
    func register(_ object: ManagedObject) {
        guard let place = object.scope?.place else { return }
        let (number, isTemporary) = (object.reference, object.hasTemporaryID)
        let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        object.isRegistered = true
        state.withLock { state in
            guard let pointer = UnsafeMutableRawPointer(bitPattern: address) else { return }
            if isTemporary {
                state.tables[place].temporary.set(number, pointer)
            } else {
                state.tables[place].permanent.set(number, pointer)
            }
        }
    }

    /// Takes an object out that goes on living outside the context, or gets another id.
    func remove(_ object: ManagedObject) {
        guard object.isRegistered else { return }
        object.isRegistered = false
        deregister(object)
    }

    /// Takes out the entry of an object that is going. If a new object has taken the number meanwhile, the entry is that
    /// one's.
    func deregister(_ object: ManagedObject) {
        guard let place = object.scope?.place else { return }
        let (number, isTemporary) = (object.reference, object.hasTemporaryID)
        let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        state.withLock { state in
            guard let pointer = UnsafeMutableRawPointer(bitPattern: address) else { return }
            if isTemporary {
                state.tables[place].temporary.remove(number, pointer)
            } else {
                state.tables[place].permanent.remove(number, pointer)
            }
        }
    }

    /// Gives new objects of one entity permanent numbers, one after the other in the order of the lists.
    func rename(_ objects: [ManagedObject], _ numbers: some Sequence<UInt64>) {
        let addresses = objects.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) }
        let places = objects.map { $0.scope?.place ?? 0 }
        let old = objects.map(\.reference)
        let new = Array(numbers)
        for (object, number) in zip(objects, new) {
            object.reference = number
            object.hasTemporaryID = false
        }
        state.withLock { state in
            for index in addresses.indices {
                guard let pointer = UnsafeMutableRawPointer(bitPattern: addresses[index]) else {
                    continue
                }
                state.tables[places[index]].temporary.remove(old[index], pointer)
                state.tables[places[index]].permanent.set(new[index], pointer)
            }
        }
    }

    /// All objects that somebody holds, in no order.
    var objects: [ManagedObject] {
        let found = state.withLock { state in
            var found: [Address] = []
            for index in 0..<state.count {
                func take(_ pointer: UnsafeMutableRawPointer) {
                    if let object = cairn_try_retain(pointer) { found.append(Address(object)) }
                }
                state.tables[index].permanent.forEach(take)
                state.tables[index].temporary.forEach(take)
            }
            return found
        }
        return found.compactMap(\.object)
    }
}

extension ObjectRegistry {
    /// The registry of objects that are in no context: it has none.
    static let nowhere = ObjectRegistry(
        identity: StoreIdentity(identifier: zero, hierarchies: []), temporaryStore: zero)

    private static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

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
    /// The coordinator of the context's stores, if there are several.
    let coordinator: PersistentStoreCoordinator?
    /// What stands for the store in temporary ids.
    let temporaryStore: UUID
    /// Who is told of what happens to the objects.
    let board: InstrumentBoard

    /// Of one hierarchy.
    private struct Tables: ~Copyable {
        var permanent = ObjectTable()
        var temporary = ObjectTable()
    }

    /// The numbers of the hierarchies, and the tables of each.
    private struct State: ~Copyable {
        let tables: UnsafeMutablePointer<Tables>
        let count: Int
        /// The addresses of objects that know members of relationships, or did.
        var withMembers: Set<UInt> = []

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
    /// New objects whose temporary numbers nobody has asked for yet.
    @exclusivity(unchecked) private nonisolated(unsafe) var waiting: [Unmanaged<ManagedObject>] = []
    // Touched by the context's thread alone.
    private let state: Mutex<State>

    init(
        identity: StoreIdentity, coordinator: PersistentStoreCoordinator? = nil,
        temporaryStore: UUID, board: InstrumentBoard
    ) {
        self.identity = identity
        self.coordinator = coordinator
        self.board = board
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
        guard let place = place(id) else { return coordinator.flatMap { object(for: id, of: $0) } }
        return object(id.reference, isTemporary: id.isTemporary, at: place)
    }

    @inline(never)
    private func object(for id: ObjectID, of coordinator: PersistentStoreCoordinator)
        -> ManagedObject?
    {
        guard !id.isTemporary, let (number, root) = coordinator.place(of: id),
            let place = place(ofHierarchy: identity.hierarchies[root])
        else { return nil }
        return object(number, isTemporary: false, at: place)
    }

    /// The number that stands for an id in the objects of the context.
    @inline(__always) func number(of id: ObjectID) -> UInt64 {
        guard let coordinator, !id.isTemporary else { return id.reference }
        return coordinator.place(of: id)?.number ?? id.reference
    }

    /// Sets a cell of a row that is made of what objects of the context show.
    func put(_ value: Value, _ column: Int, into cells: inout RowCellsBuilder) {
        if coordinator != nil, case .objectID(let id) = value, !id.isTemporary {
            cells.set(column, word: number(of: id))
        } else {
            cells.set(column, value: value)
        }
    }

    /// The object of a number in the tables at a place, if somebody holds it.
    func object(_ number: UInt64, isTemporary: Bool, at place: Int) -> ManagedObject? {
        if isTemporary { enterWaiting() }
        return state.withLock { state in
            Retained(
                isTemporary
                    ? state.tables[place].temporary.object(number)
                    : state.tables[place].permanent.object(number))
        }.object
    }

    /// Hands over the objects of numbers in the tables at a place to one body. For those that nobody holds another makes new
    /// ones, which are entered at the end: it adds its last one to the array.
    func objects(
        _ numbers: UnsafePointer<UInt64>, _ count: Int, at place: Int,
        in objects: inout [ManagedObject], known: (Int, ManagedObject) -> Void,
        new: (Int) -> ManagedObject
    ) {
        withUnsafeTemporaryAllocation(of: Retained.self, capacity: count) { found in
            state.withLock { state in
                for index in 0..<count {
                    let address = state.tables[place].permanent.object(numbers[index])
                    found.initializeElement(at: index, to: Retained(address))
                }
            }
            // From here on it holds those that were made.
            var isComplete = true
            for index in 0..<count {
                if let object = found[index].object {
                    found[index] = .none
                    known(index, object)
                    objects.append(object)
                } else {
                    let object = new(index)
                    object.isRegistered = true
                    found[index] = Retained(entering: object)
                    isComplete = false
                    objects.append(consume object)
                }
            }
            if isComplete { return }
            state.withLock { state in
                for index in 0..<count where found[index].address != 0 {
                    state.tables[place].permanent.set(numbers[index], found[index].address)
                }
            }
        }
    }

    /// Carries an object that was retained out of the lock: nothing if it is just going.
    private struct Retained {
        static let none = Retained(0)

        let address: UInt

        /// Retains nothing: somebody else keeps the object for so long.
        init(entering object: ManagedObject) {
            address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        }

        init(_ address: UInt) {
            let object = UnsafeMutableRawPointer(bitPattern: address)
            self.address = UInt(bitPattern: object.flatMap { cairn_try_retain($0) })
        }

        /// The object, to be taken once.
        var object: ManagedObject? {
            UnsafeMutableRawPointer(bitPattern: address).map {
                Unmanaged<ManagedObject>.fromOpaque($0).takeRetainedValue()
            }
        }
    }

    private func address(_ object: ManagedObject) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }

    /// Enters an object under its number.
    func register(_ object: ManagedObject) {
        guard let place = object.layout.pointee.place else { return }
        let (number, isTemporary, address) = (
            object.reference, object.hasTemporaryID, address(object)
        )
        object.isRegistered = true
        state.withLock { state in
            if isTemporary {
                state.tables[place].temporary.set(number, address)
            } else {
                state.tables[place].permanent.set(number, address)
            }
        }
    }

    /// Takes an object out that goes on living outside the context, or gets another id.
    func remove(_ object: ManagedObject) {
        if object.hasTemporaryID { enterWaiting() }
        guard object.isRegistered else { return }
        object.isRegistered = false
        deregister(
            object.reference, isTemporary: object.hasTemporaryID, at: object.layout.pointee.place,
            object)
    }

    /// Takes out the entry of an object that is going. If a new object has taken the number meanwhile, the entry is that
    /// one's.
    func deregister(_ number: UInt64, isTemporary: Bool, at place: Int?, _ object: ManagedObject) {
        guard let place else { return }
        let address = address(object)
        state.withLock { state in
            if isTemporary {
                state.tables[place].temporary.remove(number, address)
            } else {
                state.tables[place].permanent.remove(number, address)
            }
        }
    }

    /// Enters a new object under its temporary number, at the latest when somebody looks for one. Mostly nobody does before
    /// the save gives it another. Until then the context must keep it alive.
    func registerLater(_ object: ManagedObject) {
        guard object.layout.pointee.place != nil else { return }
        waiting.append(Unmanaged.passUnretained(object))
    }

    /// Enters the new objects that wait.
    func enterWaiting() {
        if waiting.isEmpty { return }
        let objects = waiting
        waiting = []
        for object in objects { register(object._withUnsafeGuaranteedRef { $0 }) }
    }

    /// Forgets the new objects that wait: the context lets them go.
    func forgetWaiting() { waiting = [] }

    /// Takes all new objects out of the table of temporary numbers, before they get others or leave.
    func beginRenaming(_ objects: [ManagedObject]) {
        if waiting.count == objects.count, !objects.contains(where: \.isRegistered) {
            waiting = []
        } else {
            enterWaiting()
            for object in objects { remove(object) }
        }
    }

    /// Gives objects that are in no table permanent numbers, those of the store that stands for `store` in references.
    func rename(_ objects: [ManagedObject], _ numbers: [UInt32], of store: UInt32) {
        let store = UInt64(store) << 32
        for (object, number) in zip(objects, numbers) {
            object.reference = store | UInt64(number)
            object.flags.subtract(.temporary)
            object.flags.formUnion(.registered)
        }
        let places = hierarchies.count == 1 ? [objects.count] : counts(objects)
        state.withLock { state in
            for place in 0..<state.count { state.tables[place].permanent.reserve(places[place]) }
            for object in objects {
                guard let place = object.layout.pointee.place else { continue }
                state.tables[place].permanent.set(
                    object.reference,
                    UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
            }
        }
    }

    private func counts(_ objects: [ManagedObject]) -> [Int] {
        var counts = hierarchies.map { _ in 0 }
        for object in objects {
            if let place = object.layout.pointee.place { counts[place] += 1 }
        }
        return counts
    }

    /// Notes that an object knows members of relationships, which others may change.
    func noteMembers(of object: ManagedObject) {
        let address = address(object)
        state.withLock { _ = $0.withMembers.insert(address) }
    }

    /// Forgets an object that is going, or leaves.
    func forgetMembers(of object: ManagedObject) {
        let address = address(object)
        state.withLock { _ = $0.withMembers.remove(address) }
    }

    /// The objects that know members of relationships, in no order; among them may be some that have forgotten them, or have
    /// left the context.
    var objectsWithMembers: [ManagedObject] {
        state.withLock { $0.withMembers.map { Retained($0) } }.compactMap(\.object)
    }

    /// All objects that somebody holds, in no order.
    var objects: [ManagedObject] {
        enterWaiting()
        let found = state.withLock { state in
            var found: [Retained] = []
            for index in 0..<state.count {
                state.tables[index].permanent.forEach { found.append(Retained($0)) }
                state.tables[index].temporary.forEach { found.append(Retained($0)) }
            }
            return found
        }
        return found.compactMap(\.object)
    }
}

extension ObjectRegistry {
    /// The registry of objects that are in no context: it has none.
    static let nowhere = ObjectRegistry(
        identity: StoreIdentity(identifier: zero, hierarchies: []), temporaryStore: zero,
        board: InstrumentBoard())

    private static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

// The states in use, and when a replaced page can be freed.
//
// Their table does not know of what kind they are: code for any kind of state would look its types up at each turn, and a
// snapshot comes and goes in less.
//
// Threads: any; one lock.

import Synchronization

/// The readable states of a store.
package final class StateRegistry<State: Sendable>: Sendable {
    private let table: PinTable

    init(_ state: State, epoch: UInt64, pool: PagePool) {
        table = PinTable(HeldState(state, epoch: epoch, pool: pool), epoch: epoch, pool: pool)
    }

    /// Whether somebody wants to know when a state is not read any more.
    var tellsOfReleases: Bool {
        get { table.tellsOfReleases.load(ordering: .relaxed) }
        set { table.tellsOfReleases.store(newValue, ordering: .relaxed) }
    }

    /// Keeps the published state readable until the result is let go.
    package func pin() -> PinnedState<State> { PinnedState(Self.held(table.pin()), table: table) }

    /// The published state, for a commit that is about to replace it and nobody else.
    func published() -> State { read { $0 } }

    /// Looks at the published state.
    @inline(__always)
    package func read<R>(_ body: (State) -> R) -> R {
        let held = current()
        return withExtendedLifetime(held) {
            let result = body(held.state)
            // What is read is read before this thread lets go of it, see `isUnused`.
            table.meet()
            return result
        }
    }

    /// Whether nobody else has a state that is published no more: then it may be changed, and used again.
    ///
    /// Who had it without a pin has let go of it. That orders his reading before what the caller does now, but by a
    /// count that the thread sanitizer does not see; a lock says the same in a way that it sees.
    func isUnused(_ held: inout HeldState<State>?) -> Bool {
        guard isKnownUniquelyReferenced(&held) else { return false }
        table.meet()
        return true
    }

    /// The same, shared.
    package func current() -> HeldState<State> { Self.held(table.current) }

    private static func held(_ object: AnyObject) -> HeldState<State> {
        unsafeDowncast(object, to: HeldState<State>.self)
    }

    /// What the pages of the published state are from.
    var pool: PagePool { table.pool }

    /// How many states are kept readable, the published one included.
    var count: Int { table.count }

    /// The number of the oldest state that is kept readable.
    var oldestEpoch: UInt64 { table.oldestEpoch }

    /// The numbers of the states that are kept readable, the oldest first.
    var epochs: [UInt64] { table.epochs }

    /// Says whether each state is to be compared with the one before it.
    func watch(_ isWatched: Bool) { table.isWatched.store(isWatched, ordering: .relaxed) }

    /// Says what is done when a state is not read any more, as long as `tellsOfReleases` is on. It may be done in any
    /// thread, whatever that has locked.
    func onRelease(_ body: @escaping @Sendable () -> Void) { table.onRelease(body) }

    /// Pages that only older states need.
    var keptPages: Int { table.keptPages }

    /// Makes a state the one that readers get.
    ///
    /// - Parameter ownPool: what its pages are from, if it shares none with the states before.
    /// - Returns: both states, if they are watched.
    @discardableResult
    func publish(
        _ state: State, epoch: UInt64, replaced: [Page], ownPool: PagePool? = nil
    ) -> StateTransition<State>? {
        var transition: StateTransition<State>?
        _ = publish(
            HeldState(state, epoch: epoch, pool: ownPool ?? pool), replaced: replaced,
            transition: &transition)
        return transition
    }

    /// Makes a state the one that readers get. Gives the one before, unless somebody has that pinned.
    ///
    /// - Parameter transition: gets both states, if they are watched.
    func publish(
        _ held: HeldState<State>, replaced: [Page], transition: inout StateTransition<State>?
    ) -> HeldState<State>? {
        var watched: (any AnyObject & Sendable)?
        let unused = table.publish(
            held, epoch: held.epoch, pool: held.pool, replaced: replaced, before: &watched)
        if let watched {
            transition = StateTransition(
                before: PinnedState(Self.held(watched), table: table),
                after: PinnedState(held, table: table))
        }
        return unused.map(Self.held)
    }

    /// What is wrong with the table, a sentence each.
    func _checkInvariants() -> [String] { table._checkInvariants() }
}

/// A state and its number, shared by all who read it: pinning costs one reference count, however many
/// arrays a state has.
package final class HeldState<State: Sendable>: @unchecked Sendable {
    // Changed only by a thread that alone has the object: before others have got it, and after they have let it go.
    @exclusivity(unchecked) private(set) var state: State
    @exclusivity(unchecked) private(set) var epoch: UInt64
    let pool: PagePool

    init(_ state: State, epoch: UInt64, pool: PagePool) {
        self.state = state
        self.epoch = epoch
        self.pool = pool
    }

    /// Changes the state. Nobody else has the object.
    @inline(__always) func change(_ body: (inout State) -> Void) { body(&state) }

    /// Exchanges the state and gives it another number. Nobody else has the object.
    func exchange(_ other: inout State, epoch: UInt64) {
        swap(&state, &other)
        self.epoch = epoch
    }
}

/// A state and the one that replaced it, both readable as long as this lives.
struct StateTransition<State: Sendable>: Sendable {
    let before: PinnedState<State>
    let after: PinnedState<State>
}

/// A state that stays readable as long as this lives.
package final class PinnedState<State: Sendable>: Sendable {
    private let held: HeldState<State>
    private let table: PinTable

    fileprivate init(_ held: HeldState<State>, table: PinTable) {
        self.held = held
        self.table = table
    }

    package var state: State { held.state }
    var epoch: UInt64 { held.epoch }

    deinit { table.unpin(epoch: held.epoch) }
}

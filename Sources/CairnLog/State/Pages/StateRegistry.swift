// The states in use, and when a replaced page can be freed.
//
// Their table does not depend on the state's type: generic code would look its types up on each call, and a
// snapshot is created and released in less time.
//
// Threads: any; one lock.

import Synchronization

/// The readable states of a store.
package final class StateRegistry<State: Sendable>: Sendable {
    private let table: PinTable

    init(_ state: State, epoch: UInt64, pool: PagePool) {
        table = PinTable(HeldState(state, epoch: epoch, pool: pool), epoch: epoch, pool: pool)
    }

    /// Whether releases of states are reported.
    var tellsOfReleases: Bool {
        get { table.tellsOfReleases.load(ordering: .relaxed) }
        set { table.tellsOfReleases.store(newValue, ordering: .relaxed) }
    }

    /// Keeps the published state readable until the result is released.
    package func pin() -> PinnedState<State> { PinnedState(Self.held(table.pin()), table: table) }

    /// Returns the published state; only for the commit that is about to replace it.
    func published() -> State { read { $0 } }

    /// Reads the published state.
    @inline(__always)
    package func read<R>(_ body: (State) -> R) -> R {
        let held = current()
        return withExtendedLifetime(held) {
            let result = body(held.state)
            // All reads happen before this thread releases it, see `isUnused`.
            table.meet()
            return result
        }
    }

    /// Whether a state that is no longer published has no other owner: then it may be changed and reused.
    ///
    /// Readers that had it without a pin have released it. That orders their reads before the caller's
    /// writes, but through a reference count that the thread sanitizer does not see; a lock expresses the
    /// same order visibly.
    func isUnused(_ held: inout HeldState<State>?) -> Bool {
        guard isKnownUniquelyReferenced(&held) else { return false }
        table.meet()
        return true
    }

    /// Returns the published state, shared.
    package func current() -> HeldState<State> { Self.held(table.current) }

    private static func held(_ object: AnyObject) -> HeldState<State> {
        unsafeDowncast(object, to: HeldState<State>.self)
    }

    /// The pool of the published state's pages.
    var pool: PagePool { table.pool }

    /// The number of states that are kept readable, including the published one.
    var count: Int { table.count }

    /// The number of the oldest state that is kept readable.
    var oldestEpoch: UInt64 { table.oldestEpoch }

    /// The numbers of the states that are kept readable, oldest first.
    var epochs: [UInt64] { table.epochs }

    /// Sets whether each state is compared with the previous one.
    func watch(_ isWatched: Bool) { table.isWatched.store(isWatched, ordering: .relaxed) }

    /// Sets the closure to call when a state is no longer read, while `tellsOfReleases` is on. It may be
    /// called in any thread, with any locks held.
    func onRelease(_ body: @escaping @Sendable () -> Void) { table.onRelease(body) }

    /// The number of pages that only older states need.
    var keptPages: Int { table.keptPages }

    /// Publishes a state for readers.
    ///
    /// - Parameter ownPool: the pool of its pages, if it shares none with earlier states.
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

    /// Publishes a state for readers. Returns the previous one, unless it is pinned.
    ///
    /// - Parameter transition: receives both states, if they are watched.
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

    /// Returns the problems of the table, a sentence each.
    func _checkInvariants() -> [String] { table._checkInvariants() }
}

/// A state and its number, shared by all readers: pinning costs one reference count, however many arrays a
/// state has.
package final class HeldState<State: Sendable>: @unchecked Sendable {
    // Only changed by a thread that is the sole owner of the object: before others have received it, and
    // after they have released it.
    @exclusivity(unchecked) private(set) var state: State
    @exclusivity(unchecked) private(set) var epoch: UInt64
    let pool: PagePool

    init(_ state: State, epoch: UInt64, pool: PagePool) {
        self.state = state
        self.epoch = epoch
        self.pool = pool
    }

    /// Changes the state. The caller must be the only owner of the object.
    @inline(__always) func change(_ body: (inout State) -> Void) { body(&state) }

    /// Exchanges the state and its number. The caller must be the only owner of the object.
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

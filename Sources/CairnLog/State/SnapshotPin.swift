// The state that a snapshot retains, and the list of all snapshots.
//
// A snapshot belongs to its owner alone: the engine only knows the state that it retains, and can release
// that. Snapshots therefore need no weak references, which would make every use of them more expensive.
//
// Threads: any; a lock for each, one for the list.

import CairnStore
import Synchronization

/// The state of a snapshot, until the engine lets it expire.
final class SnapshotPin: @unchecked Sendable {
    // `place` is read and written under the lock of the list alone.

    /// Why a snapshot expired.
    struct Expiry: Sendable {
        /// The size of files that it kept from being removed, in bytes.
        let keptBytes: UInt64
        /// The size that all snapshots together may retain.
        let limit: UInt64
    }

    private struct Content: Sendable {
        var state: PinnedState<EngineState>?
        var expiry: Expiry?
        /// The state after expiry, as long as something still runs on it.
        var rest: WeakState?
    }

    private final class WeakState: Sendable {
        weak let state: PinnedState<EngineState>?

        init(_ state: PinnedState<EngineState>) { self.state = state }
    }

    private let content: Mutex<Content>
    let commit: UInt64
    /// The name of the snapshot, if it has one.
    let name: String?
    fileprivate var place = 0

    init(_ state: PinnedState<EngineState>, name: String?) {
        commit = state.epoch
        self.name = name
        content = Mutex(Content(state: state))
    }

    /// Releases the state, as soon as nothing runs on it; false if it was already released.
    func expire(_ expiry: Expiry) -> Bool {
        // Objects released with the state must not be deinitialized under the lock.
        let state = content.withLock { content -> PinnedState<EngineState>? in
            guard let state = content.state else { return nil }
            content = Content(state: nil, expiry: expiry, rest: WeakState(state))
            return state
        }
        return state != nil
    }

    /// Whether the state is kept, even if only by what still runs on an expired snapshot.
    var isHeld: Bool { content.withLock { $0.state != nil || $0.rest?.state != nil } }

    /// The state, unless the snapshot expired.
    var state: PinnedState<EngineState>? { content.withLock { $0.state } }

    /// Returns the state, or throws the reason for its expiry.
    func readable() throws(StoreError) -> PinnedState<EngineState> {
        if let state { return state }
        let who = name.map { "the snapshot \"\($0)\"" } ?? "the snapshot"
        let why = content.withLock { $0.expiry }.map {
            ": it retained \($0.keptBytes) bytes of compacted files, and all snapshots together may retain \($0.limit) (snapshotLimit)"
        }
        throw StoreError(
            .snapshotExpired,
            "\(who) of commit \(commit) has expired\(why ?? ""); take a new one")
    }
}

/// The states that open snapshots retain.
final class SnapshotPins: Sendable {
    private let pins = Mutex<[SnapshotPin]>([])

    /// All pins, in no order.
    var all: [SnapshotPin] { pins.withLock { $0 } }

    func add(_ pin: SnapshotPin) {
        pins.withLock { pins in
            pin.place = pins.count
            pins.append(pin)
        }
    }

    func remove(_ pin: SnapshotPin) {
        pins.withLock { pins in
            guard let last = pins.popLast(), last !== pin else { return }
            last.place = pin.place
            pins[pin.place] = last
        }
    }
}

// What a snapshot retains of the engine, and the list of all snapshots.
//
// A snapshot itself is nobody's but its owner's: the engine knows only what it keeps, and can take that away. So no
// snapshot is referred to weakly, which would make every use of it dearer.
//
// Threads: any; a lock for each, one for the list.

import CairnStore
import Synchronization

/// The state of a snapshot, until the engine lets it expire.
final class SnapshotPin: @unchecked Sendable {
    // `place` is read and written under the lock of the list alone.

    /// Why a snapshot was given up.
    struct Expiry: Sendable {
        /// Bytes of files that it kept from being removed.
        let keptBytes: UInt64
        /// What all snapshots together may keep.
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
    /// Who has it, as far as that was said.
    let name: String?
    fileprivate var place = 0

    init(_ state: PinnedState<EngineState>, name: String?) {
        commit = state.epoch
        self.name = name
        content = Mutex(Content(state: state))
    }

    /// Lets go of the state, as soon as nothing runs on it; false if that was done before.
    func expire(_ expiry: Expiry) -> Bool {
        // What ends with the state must not end under the lock.
        let state = content.withLock { content -> PinnedState<EngineState>? in
            guard let state = content.state else { return nil }
            content = Content(state: nil, expiry: expiry, rest: WeakState(state))
            return state
        }
        return state != nil
    }

    /// Whether the state is kept, for whatever runs on it if the snapshot is expired.
    var isHeld: Bool { content.withLock { $0.state != nil || $0.rest?.state != nil } }

    /// The state, unless it is expired.
    var state: PinnedState<EngineState>? { content.withLock { $0.state } }

    /// The state, or the error that says why it is expired.
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

/// What the snapshots that somebody has keep.
final class SnapshotPins: Sendable {
    private let pins = Mutex<[SnapshotPin]>([])

    /// All of them, in no order.
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

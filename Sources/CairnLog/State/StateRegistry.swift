// Which states are in use, and when a page that was replaced can be free.
//
// A page with birth b that commit r replaced is needed by the pinned states from b to r - 1. It is kept with
// the youngest of them. When that one is let go, the page moves to the next older pinned state, if that is
// not older than the page; else it is free. Waiting for the oldest pin instead would keep every page copied
// since.
//
// Invariants: ST2: what is kept is at most the sum over pinned states of their difference to the next younger
// one. The published state is always in the table.
// Threads: any; one lock.

import Synchronization

/// The states of a store that somebody can read.
final class StateRegistry<State: Sendable>: Sendable {
    private struct Entry: Sendable {
        let epoch: UInt64
        let state: State
        var pins = 0
        var kept: [Page] = []
    }

    /// Oldest first; the last one is published.
    private let entries: Mutex<[Entry]>
    private let pool: PagePool

    init(_ state: State, epoch: UInt64, pool: PagePool) {
        entries = Mutex([Entry(epoch: epoch, state: state)])
        self.pool = pool
    }

    /// Keeps the published state readable until the result is let go.
    func pin() -> PinnedState<State> {
        entries.withLock { entries in
            let last = entries.count - 1
            entries[last].pins += 1
            return PinnedState(
                state: entries[last].state, epoch: entries[last].epoch, registry: self)
        }
    }

    /// The published state, for a commit that is about to replace it and nobody else.
    func published() -> State {
        entries.withLock { $0[$0.count - 1].state }
    }

    /// How many states are kept readable, the published one included.
    var count: Int { entries.withLock { $0.count } }

    /// Pages that only older states need.
    var keptPages: Int { entries.withLock { $0.reduce(0) { $0 + $1.kept.count } } }

    /// Makes a state the one that readers get.
    func publish(_ state: State, epoch: UInt64, replaced: [Page]) {
        var free: [UInt] = []
        // A state that nobody reads ends outside the lock: what it holds may have system calls to make.
        var ended: Entry?
        entries.withLock { entries in
            let last = entries.count - 1
            precondition(
                epoch > entries[last].epoch, "states are published in the order of commits")
            if entries[last].pins == 0 { ended = entries.removeLast() }
            Self.keep(replaced, in: &entries, before: entries.count, free: &free)
            entries.append(Entry(epoch: epoch, state: state))
        }
        if !free.isEmpty { pool.give(free) }
        withExtendedLifetime(ended) {}
    }

    /// Puts pages with the youngest state below `index`, or frees them.
    private static func keep(
        _ pages: [Page], in entries: inout [Entry], before index: Int, free: inout [UInt]
    ) {
        guard index > 0 else {
            free.append(contentsOf: pages.lazy.map(\.address))
            return
        }
        for page in pages {
            if page.birth <= entries[index - 1].epoch {
                entries[index - 1].kept.append(page)
            } else {
                free.append(page.address)
            }
        }
    }

    fileprivate func unpin(epoch: UInt64) {
        var free: [UInt] = []
        var ended: Entry?
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.epoch == epoch }) else {
                preconditionFailure("a pinned state is in the table")
            }
            entries[index].pins -= 1
            guard entries[index].pins == 0, index < entries.count - 1 else { return }
            let removed = entries.remove(at: index)
            Self.keep(removed.kept, in: &entries, before: index, free: &free)
            ended = removed
        }
        if !free.isEmpty { pool.give(free) }
        withExtendedLifetime(ended) {}
    }
}

/// A state that stays readable as long as this lives.
final class PinnedState<State: Sendable>: Sendable {
    let state: State
    let epoch: UInt64
    private let registry: StateRegistry<State>

    fileprivate init(state: State, epoch: UInt64, registry: StateRegistry<State>) {
        self.state = state
        self.epoch = epoch
        self.registry = registry
    }

    deinit { registry.unpin(epoch: epoch) }
}

// The states in use, and when a replaced page can be freed.
//
// A page with birth b that commit r replaced is needed by the pinned states from b to r - 1. It is kept with
// the newest of them. When that one is released, the page moves to the next older pinned state, unless that
// is older than the page; then it is freed. Waiting for the oldest pin instead would keep every page copied
// since.
//
// A state may be created from scratch, in pages of its own pool. It shares no page with earlier states: their
// pool ends with the last of them.
//
// Invariants: ST2: at most the sum over pinned states of their difference to the next newer one is kept. The
// published state is always in the table.
// Threads: any; one lock.

import Synchronization

/// The pinned states, and the pages that are kept for them.
final class PinTable: Sendable {
    private struct Entry: Sendable {
        let held: any AnyObject & Sendable
        let epoch: UInt64
        let pool: PagePool
        var pins = 0
        var kept: [Page] = []
    }

    /// Oldest first; the last one is published.
    private let entries: Mutex<[Entry]>
    /// Whether releases of states are reported.
    let tellsOfReleases = Atomic(false)
    private let released = Mutex<(@Sendable () -> Void)?>(nil)
    /// Whether a replaced state is compared with its replacement.
    let isWatched = Atomic(false)

    init(_ held: any AnyObject & Sendable, epoch: UInt64, pool: PagePool) {
        entries = Mutex([Entry(held: held, epoch: epoch, pool: pool)])
    }

    /// Returns the published state, which is kept until `unpin`.
    func pin() -> any AnyObject & Sendable {
        entries.withLock { entries in
            let last = entries.count - 1
            entries[last].pins += 1
            return entries[last].held
        }
    }

    /// The published state.
    var current: any AnyObject & Sendable { entries.withLock { $0[$0.count - 1].held } }

    /// Orders what this thread did before what another does after it has called this too.
    func meet() { entries.withLock { _ in } }

    /// The pool of the published state's pages.
    var pool: PagePool { entries.withLock { $0[$0.count - 1].pool } }

    /// The number of states that are kept readable, including the published one.
    var count: Int { entries.withLock { $0.count } }

    /// The number of the oldest state that is kept readable.
    var oldestEpoch: UInt64 { entries.withLock { $0[0].epoch } }

    /// The numbers of the states that are kept readable, oldest first.
    var epochs: [UInt64] { entries.withLock { $0.map(\.epoch) } }

    /// Sets the closure to call when a state is no longer read, while `tellsOfReleases` is on. It may be
    /// called in any thread, with any locks held.
    func onRelease(_ body: @escaping @Sendable () -> Void) { released.withLock { $0 = body } }

    /// The number of pages that only older states need.
    var keptPages: Int { entries.withLock { $0.reduce(0) { $0 + $1.kept.count } } }

    /// Publishes a state for readers. Returns the previous one, unless it is pinned.
    ///
    /// - Parameter before: receives the previous state if states are watched; then both it and the new one
    ///   are pinned once.
    func publish(
        _ held: any AnyObject & Sendable, epoch: UInt64, pool: PagePool, replaced: [Page],
        before watched: inout (any AnyObject & Sendable)?
    ) -> (any AnyObject & Sendable)? {
        var free: [UInt] = []
        // Releasing a state may release its contents, and their deinitializers must not run under the lock.
        let (dropped, before, isAllFree) = entries.withLock {
            entries -> (Entry?, PagePool, Bool) in
            let last = entries.count - 1
            let before = entries[last].pool
            // Under the lock: a caller that starts to watch and then takes a snapshot misses no later state.
            let isWatched = isWatched.load(ordering: .relaxed)
            if isWatched {
                entries[last].pins += 1
                watched = entries[last].held
            }
            precondition(
                epoch > entries[last].epoch,
                "states are published in the order of commits")
            let dropped = entries[last].pins == 0 ? entries.removeLast() : nil
            // Mostly nothing older is being read.
            let isAllFree = entries.isEmpty
            if !isAllFree {
                Self.keep(replaced, of: before, in: &entries, before: entries.count, free: &free)
            }
            entries.append(Entry(held: held, epoch: epoch, pool: pool, pins: isWatched ? 1 : 0))
            return (dropped, before, isAllFree)
        }
        if isAllFree, !replaced.isEmpty { before.give(replaced) }
        if !free.isEmpty { before.give(free) }
        return dropped?.held
    }

    /// Keeps pages with the newest state below `index`, or frees them.
    private static func keep(
        _ pages: [Page], of pool: PagePool, in entries: inout [Entry], before index: Int,
        free: inout [UInt]
    ) {
        guard index > 0, entries[index - 1].pool === pool else {
            free.append(contentsOf: pages.lazy.map(\.address))
            return
        }
        let epoch = entries[index - 1].epoch
        for page in pages {
            if page.birth <= epoch {
                entries[index - 1].kept.append(page)
            } else {
                free.append(page.address)
            }
        }
    }

    func unpin(epoch: UInt64) {
        var free: [UInt] = []
        let dropped = entries.withLock { entries -> Entry? in
            let index = Self.position(of: epoch, in: entries)
            entries[index].pins -= 1
            guard entries[index].pins == 0, index < entries.count - 1 else { return nil }
            let dropped = entries.remove(at: index)
            Self.keep(
                dropped.kept, of: dropped.pool, in: &entries, before: index, free: &free)
            return dropped
        }
        if let dropped, !free.isEmpty { dropped.pool.give(free) }
        let isRelease = dropped != nil && tellsOfReleases.load(ordering: .relaxed)
        withExtendedLifetime(dropped) {}
        if isRelease { released.withLock { $0 }?() }
    }

    /// Returns the position of a state in the table; most readers hold the published one.
    private static func position(of epoch: UInt64, in entries: [Entry]) -> Int {
        var low = 0
        var high = entries.count - 1
        if entries[high].epoch == epoch { return high }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].epoch < epoch { low = middle + 1 } else { high = middle }
        }
        precondition(entries[low].epoch == epoch, "a pinned state is in the table")
        return low
    }

    // MARK: Checking

    /// Returns the problems of the table, a sentence each.
    func _checkInvariants() -> [String] {
        entries.withLock { entries in
            var problems: [String] = []
            var seen: Set<UInt> = []
            for (index, entry) in entries.enumerated() {
                let isPublished = index == entries.count - 1
                if index > 0, entries[index - 1].epoch >= entry.epoch {
                    problems.append("state \(entry.epoch) is behind a younger one")
                }
                if !isPublished, entry.pins <= 0 {
                    problems.append("state \(entry.epoch) is kept and nobody reads it")
                }
                if isPublished, !entry.kept.isEmpty {
                    problems.append("the published state keeps pages that no state needs")
                }
                for page in entry.kept {
                    if page.birth > entry.epoch {
                        problems.append(
                            "state \(entry.epoch) keeps a page of commit \(page.birth)")
                    }
                    if !seen.insert(page.address).inserted {
                        problems.append(
                            "state \(entry.epoch) keeps a page that is kept already")
                    }
                }
            }
            return problems
        }
    }
}

// What others have written and a context has not merged yet.
//
//   receive  whoever commits puts in what the commit changed, and wakes the context if it sleeps
//   disown   the context takes out what it has written itself
//   take     the context takes all of it at once: many commits while it was busy are one merge
//
// What waits is runs of numbers. Beyond a bound they are dropped, and the context reads all of its objects anew instead.
//
// Invariants: commits of a store come in their order, so nothing comes of one below the last one.
// Threads: any.

import CairnStore
import FoundationEssentials
import Synchronization

/// What waits to be merged into a context.
final class ChangeInbox: Sendable {
    /// Changes to be merged together.
    struct Waiting: Sendable {
        /// By entity.
        var entities: [Int: EntityChanges] = [:]
        /// What differs in the rows; nil if that is not known.
        var rows: RowChanges? = RowChanges()
        /// Whether the context may have read what is older than all of it.
        var hasOlderReads = false
        /// Whether more has changed than was kept.
        var isIncomplete = false

        var isEmpty: Bool { entities.isEmpty && !isIncomplete }

        fileprivate var runs: Int {
            entities.values.reduce(rows?.runs ?? 0) { $0 + $1.runs }
        }

        fileprivate mutating func add(_ changes: [EntityChanges], _ rows: RowChanges?) {
            if let rows { self.rows?.formUnion(rows) } else { self.rows = nil }
            for change in changes {
                entities[change.entity, default: EntityChanges(entity: change.entity)].add(change)
            }
        }
    }

    fileprivate typealias StoreCommit = StoreState.StoreCommit

    fileprivate struct State: Sendable {
        /// The newest ones, so that the context can take out its own.
        var commits: [(commit: StoreCommit, changes: [EntityChanges], rows: RowChanges?)] = []
        var older = Waiting()
        /// Runs in all that is kept.
        var runs = 0
        /// By store.
        var lastCommits: [UUID: UInt64] = [:]
        /// By store: all commits behind this one are told.
        var firstCommits: [UUID: UInt64] = [:]
        /// The context's own commits that are still to come.
        var own: Set<StoreCommit> = []
        var isWoken = false

        var isEmpty: Bool { commits.isEmpty && older.isEmpty }
    }

    private let state = Mutex(State())
    private let observation = Mutex<ChangeObservation?>(nil)
    /// Has the context come and take what waits; nil if it comes by itself.
    private let wake: (@Sendable () -> Void)?
    /// Says which numbers the objects of a store have in the context, if there are several.
    private let coordinator: PersistentStoreCoordinator?

    /// So many commits are kept apart, and so many runs at all.
    fileprivate static let mostCommits = 64
    fileprivate static let mostRuns = 1 << 16

    init(_ store: (any PersistentStore)?, wake: (@Sendable () -> Void)?) {
        self.wake = wake
        coordinator = store as? PersistentStoreCoordinator
        guard let store else { return }
        let observation = store.observeChanges { [weak self] in self?.receive($0) }
        self.observation.withLock { $0 = observation }
        let first = (try? store.snapshot()).map(StoreState.commits) ?? []
        state.withLock { state in
            for first in first { state.firstCommits[first.store] = first.commit }
        }
    }

    /// Whether nothing waits.
    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// Whether nothing waits, and all that was committed since the beginning was taken, up to these commits and no others.
    func hasTaken(_ commits: [StoreState.StoreCommit]) -> Bool {
        state.withLock { state in
            state.isEmpty
                && commits.allSatisfy { commit in
                    guard let first = state.firstCommits[commit.store] else { return false }
                    return max(first, state.lastCommits[commit.store] ?? 0) == commit.commit
                }
        }
    }

    private func receive(_ set: ChangeSet) {
        var changes = try? set.entities()
        let store = set.identity.identifier
        var rows = (try? set.rows()) ?? nil
        if let coordinator {
            changes = changes.map { coordinator.moved($0, from: store) }
            rows = rows.flatMap { coordinator.moved($0, from: store) }
        }
        let isToWake = state.withLock { [rows] state in
            let commit = StoreCommit(store: store, commit: set.commit)
            state.lastCommits[store] = set.commit
            if state.own.remove(commit) != nil { return false }
            state.own = state.own.filter { $0.store != store || $0.commit > set.commit }
            if changes?.isEmpty == true { return false }
            if let changes { state.add(commit, changes, rows) } else { state.forget() }
            return state.wakes()
        }
        if isToWake { wake?() }
    }

    /// Takes out what the context has written itself.
    func disown(_ commit: UInt64, of store: UUID) {
        let own = StoreCommit(store: store, commit: commit)
        state.withLock { state in
            if commit > state.lastCommits[store] ?? 0 {
                state.own.insert(own)
            } else {
                state.commits.removeAll { $0.commit == own }
            }
        }
    }

    /// Takes out what a save has written, to one store or to several.
    func disown(_ result: SaveResult, of store: UUID) {
        guard let commit = result.commit else { return }
        if result.commits.isEmpty { return disown(commit, of: store) }
        for (store, commit) in result.commits { disown(commit, of: store) }
    }

    /// All that waits; nil if that is nothing.
    func take() -> Waiting? {
        state.withLock { state in
            state.isWoken = false
            if state.isEmpty { return nil }
            var waiting = state.older
            for (_, changes, rows) in state.commits { waiting.add(changes, rows) }
            state.commits = []
            state.older = Waiting()
            state.runs = 0
            return waiting
        }
    }

    /// Says that the context may show what is older than all that waits, or has read it: what differs in the rows that wait is
    /// not all that differs then.
    func noteOlderReads() {
        state.withLock { state in
            state.older.rows = nil
            state.older.hasOlderReads = true
        }
    }

    /// Says that something could not be merged.
    func putBack() { state.withLock { $0.forget() } }

    /// Says that the context was woken and cannot merge now.
    func postpone() { state.withLock { $0.isWoken = false } }

    /// Has the context come if anything waits.
    func wakeAgain() {
        let isToWake = state.withLock { $0.isEmpty ? false : $0.wakes() }
        if isToWake { wake?() }
    }
}

extension ChangeInbox.State {
    fileprivate mutating func add(
        _ commit: ChangeInbox.StoreCommit, _ changes: [EntityChanges], _ rows: RowChanges?
    ) {
        if older.isIncomplete { return }
        runs += changes.reduce(rows?.runs ?? 0) { $0 + $1.runs }
        commits.append((commit, changes, rows))
        if commits.count > ChangeInbox.mostCommits {
            for (_, changes, rows) in commits { older.add(changes, rows) }
            commits = []
            runs = older.runs
        }
        if runs > ChangeInbox.mostRuns { forgetRows() }
        if runs > ChangeInbox.mostRuns { forget() }
    }

    /// Keeps which objects have changed, and not what differs in them.
    private mutating func forgetRows() {
        older.rows = nil
        for index in commits.indices { commits[index].rows = nil }
        runs = commits.reduce(older.runs) { sum, commit in
            commit.changes.reduce(sum) { $0 + $1.runs }
        }
    }

    /// Keeps no more than that something has changed.
    fileprivate mutating func forget() {
        commits = []
        runs = 0
        older = ChangeInbox.Waiting(rows: nil, isIncomplete: true)
    }

    /// Whether the context is to be woken, which is not done twice.
    fileprivate mutating func wakes() -> Bool {
        defer { isWoken = true }
        return !isWoken
    }
}

extension EntityChanges {
    fileprivate var runs: Int { inserted.runs.count + updated.runs.count + deleted.runs.count }

    fileprivate mutating func add(_ other: EntityChanges) {
        inserted.formUnion(other.inserted)
        updated.formUnion(other.updated)
        deleted.formUnion(other.deleted)
    }
}

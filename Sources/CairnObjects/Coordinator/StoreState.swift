// Which state of which stores something was read of: what tells whether it would be read again just so.
//
// A store is itself, and not its identifier: one that was put back from a copy, or opened beside it, has the same identifier and
// may have the same commits with other contents.
//
// Threads: a value.

import CairnStore
import FoundationEssentials

/// Which state of which stores was read.
struct StoreState: Sendable, Equatable {
    /// The store or coordinator that was asked; one that is gone is no other's equal.
    private weak let store: (any PersistentStore)?
    /// The coordinator's stores are those of this version.
    private let version: Int
    /// The commit that stands for all of them, as the snapshot says it.
    let commit: UInt64
    /// The commit of each store.
    let commits: [StoreCommit]

    /// A commit of one store.
    struct StoreCommit: Hashable, Sendable {
        let store: UUID
        let commit: UInt64
    }

    /// Nil if the snapshot does not say which state it is of: those of commits begin with 1, or the stores are empty.
    init?(_ snapshot: any StoreSnapshot, of store: any PersistentStore) {
        self.store = store
        commit = snapshot.commit
        commits = Self.commits(of: snapshot)
        version = (snapshot as? CoordinatedSnapshot)?.version ?? 0
        guard commits.contains(where: { $0.commit > 0 }) else { return nil }
    }

    /// The commit of each store.
    static func commits(of snapshot: any StoreSnapshot) -> [StoreCommit] {
        if let snapshot = snapshot as? CoordinatedSnapshot { return snapshot.commits }
        return [StoreCommit(store: snapshot.identity.identifier, commit: snapshot.commit)]
    }

    /// Whether the store is still there.
    var isPresent: Bool { store != nil }

    static func == (left: StoreState, right: StoreState) -> Bool {
        guard let store = left.store, let other = right.store else { return false }
        return store === other && left.version == right.version && left.commits == right.commits
    }
}

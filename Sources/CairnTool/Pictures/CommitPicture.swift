// Pictures of a store's commits over time, from its files and its history.
//
//   1. A store in a folder has the commits in its files. The history contains those before them.
//   2. For other stores only the history is known.
//
// Threads: one.

import CairnLog
import CairnPictures
import CairnStore
import FoundationEssentials

/// Creates pictures of commits over time.
enum CommitPicture {
    /// Returns the commits of a store.
    ///
    /// - Parameters:
    ///   - place: the place from the command line.
    ///   - store: the same store, if it can be opened.
    static func timeline(at place: String, _ store: (any CommandStore)?) throws -> CommitTimeline {
        var commits: [CommitTimeline.Commit] = []
        if !DatabaseURL.isOne(place) {
            try CommitListing.forEach(at: place) {
                commits.append(
                    .init(
                        $0.number, time: $0.time, inserted: $0.inserted, updated: $0.updated,
                        deleted: $0.deleted))
            }
        }
        let first = commits.map(\.number).min() ?? .max
        guard let store, let bounds = try store.historyBounds() else {
            return CommitTimeline(commits)
        }
        let cursor = try store.historyCursor(after: bounds.horizon)
        while let transaction = try cursor.next(), transaction.transactionNumber < first {
            commits.append(commit(transaction))
        }
        return CommitTimeline(commits)
    }

    private static func commit(_ transaction: PersistentHistoryTransaction)
        -> CommitTimeline.Commit
    {
        func count(_ type: PersistentHistoryChangeType) -> UInt64 {
            (transaction.changes?.groups ?? []).reduce(0) {
                $0 + ($1.type == type ? UInt64($1.numbers.count) : 0)
            }
        }
        return .init(
            transaction.transactionNumber,
            time: transaction.timestamp.timeIntervalSinceReferenceDate, inserted: count(.insert),
            updated: count(.update), deleted: count(.delete))
    }
}

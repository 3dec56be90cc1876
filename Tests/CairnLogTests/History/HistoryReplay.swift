// Which objects there are by what the history says, held against a snapshot.

import CairnModel
import CairnStore

@testable import CairnLog

struct HistoryReplay {
    /// What does not fit together.
    struct Contradiction: Error {
        let what: String
    }

    /// The objects that were made and not deleted.
    private var live: Set<ObjectID> = []
    /// The row versions of the last snapshot.
    private var versions: [ObjectID: UInt32] = [:]
    /// Up to where the history was read.
    private(set) var token: PersistentHistoryToken?
    /// Transactions by author.
    private(set) var counts: [String: Int] = [:]

    /// Goes on to the state of now: each transaction makes what was not there, changes and deletes what was, and together
    /// they name each row that is another one than in the last snapshot.
    mutating func follow(_ store: LogStore) throws {
        var fetch = StoreFetch(entity: 0)
        fetch.includesRows = true
        let snapshot = try store.snapshot()
        let found = try snapshot.fetch(fetch)
        let changed = try replay(store, through: snapshot.commit)
        let now = Dictionary(
            uniqueKeysWithValues: zip(found.ids, found.rows).map { ($0, $1.version) })
        guard live == Set(now.keys) else {
            let (missing, more) = (Set(now.keys).subtracting(live), live.subtracting(now.keys))
            throw Contradiction(
                what:
                    "commit \(snapshot.commit): the history lacks \(missing.count) objects and has \(more.count) that are gone"
            )
        }
        for (id, version) in now where versions[id] != version && !changed.contains(id) {
            throw Contradiction(
                what:
                    "commit \(snapshot.commit): object \(id.reference) was changed by no transaction"
            )
        }
        versions = now
    }

    private mutating func replay(_ store: LogStore, through commit: UInt64) throws -> Set<ObjectID>
    {
        var changed: Set<ObjectID> = []
        let stream = try store.fetchHistory(.fetchHistory(after: token))
        while let transaction = try stream.next(), transaction.transactionNumber <= commit {
            for change in transaction.changes ?? [] {
                let id = change.changedObjectID
                let isRight =
                    switch change.changeType {
                    case .insert: live.insert(id).inserted
                    case .update: live.contains(id)
                    case .delete: live.remove(id) != nil
                    }
                guard isRight else {
                    throw Contradiction(
                        what:
                            "transaction \(transaction.transactionNumber): \(change.changeType) of object \(id.reference)"
                    )
                }
                changed.insert(id)
            }
            counts[transaction.author ?? "", default: 0] += 1
            token = transaction.token
        }
        return changed
    }
}

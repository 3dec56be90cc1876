// A store that is fed, and what became of it, told without ids: the numbers of objects are each store's own.

import CairnModel
import CairnStore
import Synchronization
import Testing

/// What was told of changes.
private final class Told: Sendable {
    private let sets = Mutex<[ChangeSet]>([])

    func add(_ set: ChangeSet) { sets.withLock { $0.append(set) } }

    func take() -> [ChangeSet] {
        sets.withLock { sets in
            defer { sets = [] }
            return sets
        }
    }
}

/// A store, and the names of its objects.
final class FedStore {
    let store: any HistoryStore
    /// What objects are called, those among them that are gone.
    private var names: [ObjectID: String] = [:]
    private let told = Told()
    private var observation: ChangeObservation?
    private var seen: UInt64

    /// From what is stored already on.
    init(_ store: any HistoryStore) throws {
        self.store = store
        seen = try store.snapshot().commit
        observation = store.observeChanges { [told] set in told.add(set) }
    }

    /// What can be said of a batch.
    struct Account: Equatable {
        var result: [String] = []
        var outcomes: [BatchRowOutcome] = []
        var content: [String] = []
        var told: [String] = []
        var history: [String] = []
    }

    func feed(_ request: BatchInsertRequest) throws -> Account {
        var account = Account()
        do {
            let result = try store.execute(request)
            try note()
            account.result = [
                "\(result.insertedCount) \(result.updatedCount) \(result.unchangedCount) \(result.skippedCount)",
                "\(result.keylessCount) \(result.keylessRows) \(result.repeatedCount) \(result.repeatedRows)",
                "\(result.createdTargetCount) \(result.deletedCount) \(result.markedCount)",
                "\(result.commit != nil)",
            ]
            account.result += result.objectIDs.map(name)
            account.result += result.missingIDs.map(name).sorted()
            account.outcomes = result.outcomes
        } catch let error as StoreError {
            try note()
            account.result = ["\(error.code)", "\(error.context.row ?? -1)"]
            account.result += error.details.map { "\($0.code) \($0.context.row ?? -1)" }
        }
        account.content = try content()
        for set in told.take() {
            for (list, ids) in [
                ("inserted", try set.insertedObjectIDs()), ("updated", try set.updatedObjectIDs()),
                ("deleted", try set.deletedObjectIDs()),
            ] {
                account.told += ids.map { "\(list) \(name($0))" }.sorted()
            }
        }
        let cursor = try store.historyCursor(after: seen)
        while let transaction = try cursor.next() {
            seen = transaction.transactionNumber
            var changes: [String] = []
            let all = try #require(transaction.changes)
            for change in all {
                changes.append(
                    "\(change.changeType) \(name(change.changedObjectID)) \(change.updatedProperties?.sorted() ?? []) \(change.tombstone?.description ?? "")"
                )
            }
            account.history += changes.sorted() + ["commit"]
        }
        return account
    }

    private func name(_ id: ObjectID) -> String { names[id] ?? "?" }

    private func rows(_ entity: SchemaEntity) throws -> [Row] {
        var fetch = StoreFetch(entity: entity.index)
        fetch.includesRows = true
        return try store.snapshot().fetch(fetch).rows.sorted { $0.id.reference < $1.id.reference }
    }

    /// Notes what objects are called: those without a name by what they say, and how many such there were before.
    private func note() throws {
        var unnamed: [String: Int] = [:]
        for entity in store.schema.entities where entity.root == entity.index {
            for row in try rows(entity) {
                let concrete = store.schema.entities[row.entity]
                let value = row.cells.value(0, of: concrete, in: store.identity)
                if case .string(let text) = value {
                    names[row.id] = text
                } else {
                    let text = values(row).description
                    unnamed[text, default: 0] += 1
                    names[row.id] = "\(text) \(unnamed[text] ?? 0)"
                }
            }
        }
    }

    private func values(_ row: Row) -> [String] {
        let concrete = store.schema.entities[row.entity]
        return concrete.columns.indices.map { column in
            let value = row.cells.value(column, of: concrete, in: store.identity)
            return if case .objectID(let id) = value { name(id) } else { "\(value)" }
        }
    }

    private func content() throws -> [String] {
        try store.schema.entities.filter { $0.root == $0.index }.flatMap { entity in
            try rows(entity).map { "\($0.version) \(values($0))" }.sorted()
        }
    }
}

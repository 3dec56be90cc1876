// The changes of a commit, for the observers of the store.
//
// Threads: immutable.

import CairnStore

final class CommittedChanges: ChangeSource {
    private let told: StoreChanges

    init(_ told: StoreChanges) { self.told = told }

    func changes() throws(StoreError) -> StoreChanges { told }
}

/// Changes that are no longer known.
final class ForgottenChanges: ChangeSource {
    func changes() throws(StoreError) -> StoreChanges {
        throw StoreError(
            .historyTokenExpired,
            "the store no longer knows what changed: read everything again")
    }
}

extension StoreChanges {
    /// What a transaction of the history has changed. What differs in the rows is not in it.
    init(_ transaction: PersistentHistoryTransaction) {
        var entities: [Int: EntityChanges] = [:]
        for group in transaction.changes?.groups ?? [] {
            var changes = entities[group.entity] ?? EntityChanges(entity: group.entity)
            switch group.type {
            case .insert: changes.inserted.formUnion(group.numbers)
            case .update: changes.updated.formUnion(group.numbers)
            case .delete: changes.deleted.formUnion(group.numbers)
            }
            entities[group.entity] = changes
        }
        self.init(entities: entities.keys.sorted().compactMap { entities[$0] }, rows: nil)
    }
}
